import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Alert } from './alert';
import { alertsOnBackups } from './backup-alerts';
import { alertsOnConditions } from './condition-alerts';
import { alertsOnMembers } from './member-alerts';
import { alertsOnReconciler } from './reconciler-alerts';
import { alertsOnReconcilerItself } from './reconciler-itself-alerts';

const page = readFileSync(join(__dirname, '../../../docs/operations/alerts.md'), 'utf8');
const namespace = 'shop';
const scope = { cluster: 'orders', namespace };
const onConditions = alertsOnConditions(scope);
const ofCluster = [...alertsOnMembers(scope), ...alertsOnReconciler(scope, 'etcd-reconciler')];
const ofBackups = alertsOnBackups({ ...scope, cronJob: 'orders-nightly' }, 7_200);
const ofReconciler = alertsOnReconcilerItself({ namespace, reconciler: 'etcd-reconciler' }, 2);
const withHeading = [...ofCluster, ...ofBackups, ...ofReconciler];

test.each(onConditions)('$name is in the table with its severity and time', (alert) => {
  expect(page).toContain(`| \`${alert.name}\` | ${alert.severity} | ${alert.for} |`);
});

test.each(withHeading)('$name has the heading that it links to', (alert) => {
  const [, text = ''] = page.split(`\n### ${alert.name}\n`);
  expect(text.toLowerCase()).toMatch(new RegExp(`^${alert.severity}\\b`));
});

test('the page has no other alert, and no name is there twice', () => {
  const names = [...onConditions, ...withHeading].map(({ name }) => name);
  const described = [...page.matchAll(/^(?:### |\| `)(Etcd\w+)/gm)].map(([, name]) => name);
  expect(described.sort()).toEqual(names.sort());
});

test.each<[string, readonly Alert[], string]>([
  ['cluster', [...onConditions, ...ofCluster], 'namespace="shop",etcd_cluster="orders"'],
  ['schedule', ofBackups, 'namespace="shop",etcd_cluster="orders",cronjob="orders-nightly"'],
  ['reconciler', ofReconciler, 'namespace="shop",reconciler="etcd-reconciler"'],
])('every expression selects this %s only', (_, alerts, matchers) => {
  for (const { expr } of alerts) {
    const selectors = expr.match(/(?:etcd_[a-z_]+|ALERTS)\{/g) ?? [];
    expect(selectors.length).toBeGreaterThan(0);
    expect(expr.split(matchers)).toHaveLength(selectors.length + 1);
  }
});
