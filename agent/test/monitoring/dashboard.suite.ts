import { setTimeout as sleep } from 'node:timers/promises';
import { dashboardModel } from '../../../src/monitoring/dashboard-model.ts';
import { availableMinors } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { Prometheus } from './prometheus.ts';

// No agent and no reconciler run here: the panels with their metrics are tried on Kubernetes, by the suite `dashboard`.
const own = /etcd_(cluster|agent|reconciler|backup)_\w+\{/;
const ofEtcd = dashboardModel('cluster').panels.flatMap(({ title, targets = [] }) => {
  const isOfEtcd = targets.length > 0 && targets.every(({ expr }) => !own.test(expr));
  return isOfEtcd ? { title, queries: targets } : [];
});
/** It shows nothing while no request fails. */
const withoutFailures = 'Failed requests per second';
const scope = { namespace: 'shop', etcd_cluster: 'orders' };

/** As Grafana does. */
const filled = (expr: string) =>
  expr
    .replaceAll('$namespace', scope.namespace)
    .replaceAll('$etcd_cluster', scope.etcd_cluster)
    .replaceAll('$__rate_interval', '10s');

test('panels ask for metrics of etcd', () => expect(ofEtcd.length).toBeGreaterThan(10));

test.each(availableMinors().filter((minor) => minor !== '3.4'))(
  'each panel has data of a cluster of etcd %s under load, and shows a leader that is lost',
  async (minor) => {
    await using etcd = await EtcdCluster.start({ minor, size: 3 });
    const targets = etcd.members.map(({ clientUrl }, ordinal) => ({
      address: new URL(clientUrl).host,
      labels: { ...scope, pod: `orders-${ordinal}`, endpoint: 'metrics' },
    }));
    await using prometheus = await Prometheus.start(targets);
    const client = await etcd.connect();
    for (const until = Date.now() + 12_000; Date.now() < until; await sleep(20)) await client.put('a').value('b');
    client.close();

    // A quantile is not a number here where nothing was measured: these etcds do not wait for the disk.
    const empty: string[] = [];
    for (const { title, queries } of ofEtcd) {
      for (const { expr } of queries) {
        const samples = await prometheus.query(filled(expr));
        if (samples.length === 0 && title !== withoutFailures) empty.push(`${title}: ${expr}`);
      }
    }
    expect({ minor, empty }).toEqual({ minor, empty: [] });

    const shown = async (title: string) =>
      prometheus.query(filled(ofEtcd.find((panel) => panel.title === title)!.queries[0]!.expr));
    const leads = (await shown('Leader')).filter(({ value }) => value === 1);
    expect(leads).toHaveLength(1);
    const leader = Number(leads[0]!.labels.pod!.slice('orders-'.length));
    await etcd.member(leader).kill();
    await sleep(10_000);
    expect((await shown('Leader')).filter(({ value }) => value === 1)).not.toEqual(leads);
    expect((await shown('Members with a leader'))[0]!.value).toBe(2);
    expect(Math.max(...(await shown('Leader changes in 15 minutes')).map(({ value }) => value))).toBeGreaterThan(0);
  },
);
