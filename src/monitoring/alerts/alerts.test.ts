import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { alertsOnConditions } from './condition-alerts';
import { alertsOnMembers } from './member-alerts';
import { alertsOnReconciler } from './reconciler-alerts';

const page = readFileSync(join(__dirname, '../../../docs/operations/alerts.md'), 'utf8');
const scope = { cluster: 'orders', namespace: 'shop' };

test.each(alertsOnConditions(scope))('$name is in the table with its severity and time', (alert) => {
  expect(page).toContain(`| \`${alert.name}\` | ${alert.severity} | ${alert.for} |`);
});

test.each([...alertsOnMembers(scope), ...alertsOnReconciler(scope)])(
  '$name has the heading that it links to',
  (alert) => {
    const [, text = ''] = page.split(`\n### ${alert.name}\n`);
    expect(text.toLowerCase()).toMatch(new RegExp(`^${alert.severity}\\b`));
  },
);

test('the page has no other alert', () => {
  const names = [...alertsOnConditions(scope), ...alertsOnMembers(scope), ...alertsOnReconciler(scope)].map(
    ({ name }) => name,
  );
  const described = [...page.matchAll(/^(?:### |\| `)(Etcd\w+)/gm)].map(([, name]) => name);
  expect(described.sort()).toEqual(names.sort());
});

test('every expression selects this cluster only', () => {
  for (const { expr } of [...alertsOnConditions(scope), ...alertsOnMembers(scope), ...alertsOnReconciler(scope)]) {
    const selectors = expr.match(/etcd_[a-z_]+\{/g) ?? [];
    expect(selectors.length).toBeGreaterThan(0);
    expect(expr.split('namespace="shop",etcd_cluster="orders"')).toHaveLength(selectors.length + 1);
  }
});
