import { Chart, Testing } from 'cdk8s';
import { EtcdBackup, EtcdCluster, EtcdReconciler, EtcdRestore, EtcdVersion, RestoreSource } from '../src';
import { schedule } from './synth';

// What JavaScript lets everybody write, and TypeScript with an `any`.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Props = any;

const chart = () => new Chart(Testing.app(), 'shop');
const cluster = (props: Props) => new EtcdCluster(chart(), 'orders', props);
const reconciler = (props: Props) => new EtcdReconciler(chart(), 'reconciler', props);
const backup = (props: Props) => new EtcdBackup(chart(), 'now', props);
const restore = (props: Props) => new EtcdRestore(chart(), 'back', props);

test.each<[(props: Props) => unknown, Props, string]>([
  [cluster, { version: '3.6.16' }, "shop/orders: version: '3.6.16' is no EtcdVersion; give one, or leave it out"],
  [cluster, { quota: '4Gi' }, "shop/orders: quota: '4Gi' is no Size"],
  [cluster, { volume: { size: 8 } }, 'shop/orders: volume.size: 8 is no Size'],
  [cluster, { volume: '8Gi' }, "shop/orders: volume: '8Gi' is no object"],
  [cluster, { resources: { cpuRequest: '1' } }, 'shop/orders: resources: an object of Object is no EtcdResources'],
  [cluster, { tuning: EtcdVersion.V3_6 }, 'shop/orders: tuning: an object of EtcdVersion is no EtcdTuning'],
  [cluster, { tls: true }, 'shop/orders: tls: true is no EtcdTls'],
  [cluster, { spread: null }, 'shop/orders: spread: null is no EtcdSpread'],
  [cluster, { networkAccess: [] }, 'shop/orders: networkAccess: an object of Array is no NetworkAccess'],
  [cluster, { imagePullSecrets: 'mirror' }, "shop/orders: imagePullSecrets: 'mirror' is no array"],
  [cluster, { labels: null }, 'shop/orders: labels: null is no object'],
  [cluster, { reconciler: 'mine' }, "shop/orders: reconciler: 'mine' is no IEtcdReconciler"],
  [reconciler, { tolerations: {} }, 'shop/reconciler: tolerations: an object of Object is no array'],
  [schedule, { schedule: '0 * * * *' }, "shop/nightly: schedule: '0 * * * *' is no Cron; give one"],
  [schedule, { store: undefined }, 'shop/nightly: store: undefined is no BackupStore; give one'],
  [schedule, { timeout: 30 }, 'shop/nightly: timeout: 30 is no Duration'],
  [backup, { cluster: 'orders' }, "shop/now: cluster: 'orders' is no IEtcdCluster"],
  [restore, { source: RestoreSource.backup('a') }, 'shop/back: cluster: undefined is no IEtcdCluster; give one'],
])('%# %j', (make, props, message) => {
  expect(() => make(props)).toThrow(message);
});

test('a schedule of a cluster without a store', () => {
  expect(() => cluster({}).addBackupSchedule('nightly', {} as Props)).toThrow(
    /^shop\/orders\/nightly: schedule: undefined is no Cron/,
  );
});

test('somebody else’s etcd without endpoints', () => {
  expect(() => EtcdCluster.fromEndpoints(chart(), 'theirs', undefined as Props)).toThrow(
    /^shop\/theirs: clientEndpoints: undefined is no array; give one$/,
  );
});
