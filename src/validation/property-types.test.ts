import { Chart, Size, Testing } from 'cdk8s';
import { schedule, valid } from '../../test/synth';
import {
  BackupStore,
  EtcdBackup,
  EtcdBackupSchedule,
  EtcdCluster,
  EtcdReconciler,
  EtcdRestore,
  EtcdTls,
  EtcdVersion,
  RestoreSource,
  Retention,
} from '..';

// Mistakes that JavaScript allows, and TypeScript with an `any`.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Props = any;

const chart = () => new Chart(Testing.app(), 'shop');
const cluster = (props: Props) => new EtcdCluster(chart(), 'orders', props);
const reconciler = (props: Props) => new EtcdReconciler(chart(), 'reconciler', props);
const backup = (props: Props) => new EtcdBackup(chart(), 'now', props);
const restore = (props: Props) => new EtcdRestore(chart(), 'back', props);

test.each<[(props: Props) => unknown, Props, string]>([
  [
    cluster,
    { version: '3.6.16' },
    "shop/orders: version: '3.6.16' is not an EtcdVersion; write for example EtcdVersion.V3_6 or EtcdVersion.of('3.6.16'), or leave it out",
  ],
  [cluster, { size: '3' }, "shop/orders: size: '3' is not a number; write 3, or leave it out"],
  [cluster, { name: 3 }, "shop/orders: name: 3 is not text; write '3', or leave it out"],
  [cluster, { paused: 'true' }, "shop/orders: paused: 'true' is not true or false; write true, or leave it out"],
  [cluster, { sise: 3 }, 'shop/orders: sise: is not a property; write size, or remove it'],
  [cluster, { backups: [] }, 'shop/orders: backups: is not a property; remove it'],
  [
    cluster,
    { tls: EtcdTls.fromSecrets({ peer: 'p', server: 's' } as Props) },
    "shop/orders: tls: client: is missing; give the name of a Secret, such as 'orders-client'",
  ],
  [
    schedule,
    { store: BackupStore.s3({ bucket: 'backups' } as Props) },
    "shop/nightly: store: credentials: is missing; give S3Credentials.fromSecret('NAME'), or S3Credentials.workloadIdentity() for none",
  ],
  [
    schedule,
    { store: BackupStore.s3(undefined as Props) },
    'shop/nightly: store: undefined is not an object of properties',
  ],
  [
    schedule,
    { retention: Retention.last('3' as Props) },
    "shop/nightly: retention: last: '3' is not a number; write 3, or leave it out",
  ],
  [cluster, { quota: '4Gi' }, "shop/orders: quota: '4Gi' is not a Size; write for example Size.gibibytes(8)"],
  [
    cluster,
    { volumes: [{ name: 'scratch', emptyDir: { sizeLimit: Size.mebibytes(5) } }] },
    'shop/orders: volumes[0].emptyDir.sizeLimit: an object of Size cannot be written in a manifest; write text, a number',
  ],
  [
    cluster,
    { annotations: { since: new Date() } },
    'shop/orders: annotations.since: an object of Date cannot be written',
  ],
  [cluster, { volume: { size: 8 } }, 'shop/orders: volume.size: 8 is not a Size'],
  [cluster, { volume: '8Gi' }, "shop/orders: volume: '8Gi' is not an object"],
  [
    cluster,
    { resources: { cpuRequest: '1' } },
    'shop/orders: resources: a plain object is not an EtcdResources; write EtcdResources.SMALL',
  ],
  [cluster, { tuning: EtcdVersion.V3_6 }, 'shop/orders: tuning: an object of EtcdVersion is not an EtcdTuning'],
  [cluster, { tls: true }, 'shop/orders: tls: true is not an EtcdTls'],
  [cluster, { spread: null }, 'shop/orders: spread: null is not an EtcdSpread'],
  [cluster, { networkAccess: [] }, 'shop/orders: networkAccess: a list is not a NetworkAccess'],
  [cluster, { imagePullSecrets: [undefined] }, 'shop/orders: imagePullSecrets[0]: is missing; give'],
  [cluster, { imagePullSecrets: 'mirror' }, "shop/orders: imagePullSecrets: 'mirror' is not a list"],
  [cluster, { labels: null }, 'shop/orders: labels: null is not an object'],
  [cluster, { reconciler: 'mine' }, "shop/orders: reconciler: 'mine' is not an IEtcdReconciler"],
  [reconciler, { tolerations: {} }, 'shop/reconciler: tolerations: a plain object is not a list'],
  [
    schedule,
    { schedule: '0 * * * *' },
    "shop/nightly: schedule: '0 * * * *' is not a Cron; write for example Cron.hourly()",
  ],
  [schedule, { store: undefined }, 'shop/nightly: store: is missing; give for example BackupStore.s3({'],
  [schedule, { timeout: 30 }, 'shop/nightly: timeout: 30 is not a Duration'],
  [backup, { cluster: 'orders' }, "shop/now: cluster: 'orders' is not an IEtcdCluster"],
  [restore, { source: RestoreSource.backup('a') }, 'shop/back: cluster: is missing; give the construct of a cluster'],
])('%# %j', (make, props, message) => {
  expect(() => make(props)).toThrow(message);
});

test.each([
  ['storage', 'volume'],
  ['replicas', 'size'],
  ['pvcPolicy', 'onShrink or onDelete'],
])('%s, as in YAML, is %s', (yaml, property) => {
  expect(() => cluster({ [yaml]: {} })).toThrow(
    new RegExp(`^shop/orders: ${yaml}: is not a property; write ${property}$`),
  );
});

test('a schedule of a cluster without a store', () => {
  expect(() => cluster({}).addBackupSchedule('nightly', {} as Props)).toThrow(
    /^shop\/orders\/nightly: schedule: is missing; give /,
  );
});

test.each<[string, Props, RegExp]>([
  [
    'a word for an EtcdTls',
    { previous: 'managed' },
    /^shop\/orders: tls: previous: 'managed' is not an EtcdTls; write for example [^\n]*$/,
  ],
  [
    'another property',
    { previus: EtcdTls.managed() },
    /^shop\/orders: tls: previus: is not a property; write previous, or remove it$/,
  ],
  [
    'a mistake further in',
    { previous: EtcdTls.managed({ names: [] } as Props) },
    /^shop\/orders: tls: previous: names: is not a [^\n]*$/,
  ],
])('TLS is switched off with %s', (_, props, message) => {
  expect(() => cluster({ tls: EtcdTls.none(props) })).toThrow(message);
});

test.each([-1, '24h'])('a time that is not a Duration: %p', (time: Props) => {
  expect(() => cluster({ tls: EtcdTls.managed({ acceptPlaintextFor: time }) })).toThrow(
    /^shop\/orders: tls: acceptPlaintextFor: .* is not a Duration; write for example Duration.minutes\(5\), or leave it out$/,
  );
});

test('an existing etcd cluster without endpoints', () => {
  expect(() => EtcdCluster.fromEndpoints(chart(), 'theirs', undefined as Props)).toThrow(
    /^shop\/theirs: clientEndpoints: is missing; give it in brackets, \[…\]$/,
  );
});

test('all mistakes in the properties are reported at once', () => {
  expect(() => cluster({ size: '3', sise: 3 })).toThrow(/^shop\/orders: size: .*\nshop\/orders: sise: [^\n]*$/);
});

describe('a construct that cannot be made there', () => {
  const shop = chart();
  new EtcdCluster(shop, 'orders');
  const taken = "id: 'shop' already has a construct with this id; give each its own";

  test.each<[string, () => unknown, string]>([
    ['a cluster', () => new EtcdCluster(shop, 'orders'), `shop/orders: ${taken}`],
    ['a reconciler', () => new EtcdReconciler(shop, 'orders'), `shop/orders: ${taken}`],
    ['a schedule', () => new EtcdBackupSchedule(shop, 'orders', valid), `shop/orders: ${taken}`],
    [
      'in an app',
      () => new EtcdCluster(Testing.app(), 'orders'),
      'orders: scope: is not inside a chart; give one, new Chart',
    ],
    ['nowhere', () => new EtcdCluster(undefined as Props, 'orders'), 'orders: scope: is not a construct; give a chart'],
    ['without an id', () => new EtcdCluster(shop, ''), "shop: id: '' is not an id; give a name in quotes"],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(message);
  });
});

test.each([3, undefined])('a bucket that is not text: %p', (bucket: Props) => {
  expect(() => schedule({ store: BackupStore.s3({ bucket } as Props) })).toThrow(
    `shop/nightly: store: bucket: ${bucket === undefined ? 'is missing; give text' : `${bucket} is not text`}`,
  );
});
