// Rules of a chart without a namespace are about the reconcilers of this name in all namespaces.
import { App, Chart } from 'cdk8s';
import { EtcdCluster, EtcdReconciler } from '../../src';
import { Promtool } from './promtool';
import { own, reconciler, secondsOf, timeline } from './scenario';

const chart = new Chart(new App(), 'chart');
const monitored = new EtcdReconciler(chart, 'reconciler', { replicas: 2 });
new EtcdCluster(chart, 'orders', { reconciler: monitored }).addMonitoring();
monitored.addMonitoring();
const promtool = new Promtool(chart);
afterAll(() => promtool.dispose());

const lastPass = 'etcd_reconciler_last_pass_timestamp_seconds';
const other = `${lastPass}{namespace="other", etcd_cluster="orders"}`;
const span = { from: 30, to: 60, end: 80 };

test('a reconciler that is down in one namespace does not silence the alert on that of another', () => {
  const faults = {
    // The one in `other` looks after its cluster no longer; the one in `shop` has no cluster, and does not lead.
    [other]: { well: secondsOf, fault: 30 * 60 },
    [own(lastPass)]: {},
    [reconciler('etcd_reconciler_leader', 0)]: { well: 1, fault: 0 },
  };
  const inactive = { alertname: 'EtcdReconcilerInactive' };
  const expected = new Map([
    [29, []],
    [50, [inactive]],
    [75, []],
  ]);
  expect(promtool.fires(timeline(faults, span), expected)).toBe('');
});
