import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { alertsOnBackups } from '../../../src/monitoring/alerts/backup-alerts.ts';
import { clusterAlerts } from '../../../src/monitoring/alerts/cluster-alerts.ts';
import { alertsOnReconcilerItself } from '../../../src/monitoring/alerts/reconciler-itself-alerts.ts';
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

test('the alerts and the dashboards use metrics that exist, with labels that they have', () => {
  const scope = { cluster: 'orders', namespace: 'shop' };
  const alerts = [
    ...clusterAlerts(scope, 'etcd-reconciler').flatMap(({ alerts }) => alerts),
    ...alertsOnBackups({ ...scope, cronJob: 'orders-nightly' }, 7_200),
    ...alertsOnReconcilerItself({ namespace: 'shop', reconciler: 'etcd-reconciler' }, 2),
  ];
  const models = (['cluster', 'backup', 'reconciler'] as const).map(dashboardModel);
  const panels = models.flatMap(({ panels }) => panels.flatMap(({ targets = [] }) => targets));
  const used = [...alerts, ...panels].flatMap(({ expr }) => [
    ...expr.matchAll(/(etcd_(?:cluster|agent|reconciler|backup)_\w+)\{([^}]*)\}/g),
  ]);
  expect(used.length).toBeGreaterThan(20);
  const wrong = used.filter(([, name = '', matchers = '']) => {
    // Prometheus adds the labels of the target.
    const ofTarget = ['namespace', 'etcd_cluster', 'pod', 'cronjob', 'reconciler'];
    const labels = [...(metrics[name as keyof typeof metrics]?.labels ?? []), ...ofTarget];
    const asked = [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
    return !Object.hasOwn(metrics, name) || asked.some((label) => !labels.includes(label));
  });
  expect(wrong.map(([text]) => text)).toEqual([]);
});
