import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { alertsOnConditions } from '../../../src/monitoring/alerts/condition-alerts.ts';
import { alertsOnMembers } from '../../../src/monitoring/alerts/member-alerts.ts';
import { alertsOnReconciler } from '../../../src/monitoring/alerts/reconciler-alerts.ts';
import { dashboardModel } from '../../../src/monitoring/dashboard-model.ts';
import { metrics } from '../../src/lib/metrics/table.ts';

const root = join(import.meta.dirname, '../../..');
/** A metric of etcd itself. */
const notOurs = ['etcd_cluster_version'];

test('the documentation names no metric of ours that does not exist', async () => {
  const found: string[] = [];
  for await (const page of glob('{docs,quickstart,examples}/**/*.{md,mts,ts,yaml}', { cwd: root })) {
    const text = await readFile(join(root, page), 'utf8');
    const names = [...text.matchAll(/\betcd_(?:reconciler|cluster|agent|backup)_\w*[a-z]\b/g)].map(([name]) => name);
    found.push(...names);
    const unknown = names.filter((name) => !Object.hasOwn(metrics, name) && !notOurs.includes(name));
    expect({ page, unknown }).toEqual({ page, unknown: [] });
  }
  expect(new Set(found).size).toBeGreaterThan(20);
});

test('the alerts and the dashboard use metrics that exist, with labels that they have', () => {
  const scope = { cluster: 'orders', namespace: 'shop' };
  const alerts = [...alertsOnConditions(scope), ...alertsOnMembers(scope), ...alertsOnReconciler(scope)];
  const panels = dashboardModel().panels.flatMap(({ targets = [] }) => targets);
  const used = [...alerts, ...panels].flatMap(({ expr }) => [
    ...expr.matchAll(/(etcd_(?:cluster|agent|reconciler|backup)_\w+)\{([^}]*)\}/g),
  ]);
  expect(used.length).toBeGreaterThan(20);
  const wrong = used.filter(([, name = '', matchers = '']) => {
    // Prometheus adds the labels of the target.
    const labels = [...(metrics[name as keyof typeof metrics]?.labels ?? []), 'namespace', 'etcd_cluster', 'pod'];
    const asked = [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
    return !Object.hasOwn(metrics, name) || asked.some((label) => !labels.includes(label));
  });
  expect(wrong.map(([text]) => text)).toEqual([]);
});
