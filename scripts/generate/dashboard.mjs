// `npm run generate`: writes the dashboards that the library puts into ConfigMaps. With --check, fails if they are out of date.
import { dashboards } from '../dashboard/dashboard.mjs';
import { generated } from '../lib/generated.mjs';

const texts = Object.entries(dashboards()).map(([name, model]) => {
  const json = JSON.stringify(model, undefined, 1).replace(/[\\`]|\$(?=\{)/g, '\\$&');
  return `  ${name}: \`${json}\`,\n`;
});
const fresh = `// Generated from scripts/dashboard/ by npm run generate. jsii compiles no JSON modules, so each is a text.

/** Returns a dashboard as Grafana imports it. */
export const dashboardModel = (of: DashboardName): DashboardModel => JSON.parse(texts[of]);

export type DashboardName = keyof typeof texts;

interface DashboardModel {
  readonly uid: string;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

const texts = {
${texts.join('')}};
`;
generated('src/monitoring/dashboard-model.ts', () => fresh);
