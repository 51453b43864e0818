// `npm run generate`: writes the dashboard that the library puts into a ConfigMap. With --check, fails if it is out of date.
import { dashboard } from '../dashboard/dashboard.mjs';
import { generated } from '../lib/generated.mjs';

const json = JSON.stringify(dashboard(), undefined, 1).replace(/[\\`]|\$(?=\{)/g, '\\$&');
const fresh = `// Generated from scripts/dashboard/ by npm run generate. jsii compiles no JSON modules, so it is a text.

/** Returns the dashboard as Grafana imports it. */
export const dashboardModel = (): DashboardModel => JSON.parse(text);

interface DashboardModel {
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

const text = \`${json}\`;
`;
generated('src/monitoring/dashboard-model.ts', () => fresh);
