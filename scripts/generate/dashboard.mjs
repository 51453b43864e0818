// `npm run generate`: writes the dashboard that the library puts into a ConfigMap. With --check, fails if it is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboard } from '../dashboard/dashboard.mjs';

const file = join(import.meta.dirname, '../../src/monitoring/dashboard-model.ts');
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
if (!process.argv.includes('--check')) {
  writeFileSync(file, fresh);
} else if (readFileSync(file, 'utf8') !== fresh) {
  console.error('src/monitoring/dashboard-model.ts is out of date: run npm run generate');
  process.exitCode = 1;
}
