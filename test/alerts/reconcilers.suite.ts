// Two reconcilers in one namespace: each is judged by itself.
import { App, Chart } from 'cdk8s';
import { EtcdCluster, EtcdReconciler } from '../../src';
import { Promtool } from './promtool';
import { always, type Faulty, own, reconciler, secondsOf, timeline } from './scenario';

const chart = new Chart(new App(), 'chart', { namespace: 'shop' });
const first = new EtcdReconciler(chart, 'first', { replicas: 2, selector: { team: 'a' } });
const second = new EtcdReconciler(chart, 'second', { name: 'second', selector: { team: 'b' } });
new EtcdCluster(chart, 'orders', { reconciler: first, labels: { team: 'a' } }).addMonitoring();
for (const each of [first, second]) each.addMonitoring();
const promtool = new Promtool(chart);
afterAll(() => promtool.dispose());

const ofSecond = 'namespace="shop", reconciler="second", pod="second-0"';
const leads = `etcd_reconciler_leader{${ofSecond}}`;
const well = { [leads]: always(1), [`etcd_reconciler_synced{${ofSecond}, resource="pods"}`]: always(1) };

/** The first one is gone, and with it what it said of its cluster. */
const gone: Readonly<Record<string, Faulty>> = {
  [own('etcd_reconciler_last_pass_timestamp_seconds')]: { well: secondsOf },
  ...Object.fromEntries([0, 1].map((pod) => [reconciler('etcd_reconciler_leader', pod), { well: 1 - pod }])),
  ...Object.fromEntries(
    [0, 1].flatMap((pod) =>
      ['pods', 'jobs'].map((kind) => [reconciler('etcd_reconciler_synced', pod, `resource="${kind}"`), { well: 1 }]),
    ),
  ),
};
const down = { alertname: 'EtcdReconcilerDown', reconciler: 'etcd-reconciler' };
const inactive = { alertname: 'EtcdReconcilerInactive', reconciler: 'second' };
const span = { from: 30, to: 60, end: 80 };

const fires = (faults: Readonly<Record<string, Faulty>>, expected: readonly Record<string, string>[]): string =>
  promtool.fires(
    timeline({ ...well, ...faults }, span),
    new Map([
      [29, []],
      [45, expected],
      [75, []],
    ]),
    'alertname, reconciler',
  );

test('both well: no alert', () => expect(fires({}, [])).toBe(''));

test('the first one is gone: one alert, that of its cluster, and none on the second one', () =>
  expect(fires(gone, [down])).toBe(''));

test('neither leads: the alert on the cluster of the first one does not silence that on the second one', () =>
  expect(fires({ ...gone, [leads]: { well: 1, fault: 0 } }, [down, inactive])).toBe(''));
