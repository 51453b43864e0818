import { Chart, Cron, Testing } from 'cdk8s';
import { s3, valid } from '../../test/synth';
import {
  BackupStore,
  EtcdBackup,
  EtcdBackupSchedule,
  type EtcdBackupScheduleProps,
  EtcdCluster,
  Retention,
  S3Credentials,
} from '..';

const app = () => Testing.app();
const chart = (in_: ReturnType<typeof app>, id: string, namespace?: string) => new Chart(in_, id, { namespace });
const problemsOf = (each: { node: { validate(): string[] } }) => each.node.validate();
const other = { endpoints: ['other-etcd:2379'] };

/** The mistakes of two schedules of one app. */
function two(
  first: Partial<EtcdBackupScheduleProps>,
  second: Partial<EtcdBackupScheduleProps>,
  [one, another]: [string | undefined, string | undefined] = ['shop', 'shop'],
): string[][] {
  const in_ = app();
  const a = new EtcdBackupSchedule(chart(in_, 'a', one), 'first', { ...valid, ...first });
  const b = new EtcdBackupSchedule(chart(in_, 'b', another), 'second', { ...valid, ...second });
  return [problemsOf(a), problemsOf(b)];
}

describe('two etcds of one name', () => {
  const refused = [
    [],
    [
      'store: s3://backups/shop/orders is where a/first stores the backups of another etcd cluster, so a restore could use the wrong data; give one of the two another cluster name, or its store a folder of its own (if both are the same etcd cluster, give them a common endpoint)',
    ],
  ];

  test('that share a folder are refused', () => expect(two({}, other)).toEqual(refused));

  test('are refused with a store that is written in another way', () => {
    const endpoint = 'https://s3.eu-west-1.amazonaws.com';
    const store = BackupStore.s3({
      bucket: 'backups',
      endpoint,
      prefix: '/',
      credentials: S3Credentials.fromSecret('x'),
    });
    expect(two({}, { ...other, store })).toEqual(refused);
  });

  test('are refused in a store that was added', () => {
    const in_ = app();
    new EtcdBackupSchedule(chart(in_, 'a', 'shop'), 'first', valid);
    const second = new EtcdBackupSchedule(chart(in_, 'b', 'shop'), 'second', {
      ...valid,
      ...other,
      store: BackupStore.filesystem({ claimName: 'backup' }),
    });
    second.addStore(s3);
    expect(problemsOf(second)).toEqual([
      expect.stringMatching(/^store 2: s3:\/\/backups\/shop\/orders is where a\/first/),
    ]);
  });

  test.each<[string, Partial<EtcdBackupScheduleProps>]>([
    ['name', { cluster: 'carts' }],
    [
      'bucket',
      { store: BackupStore.s3({ bucket: 'others', region: 'r', credentials: S3Credentials.fromSecret('s') }) },
    ],
    ['volume', { store: BackupStore.filesystem({ claimName: 'backup' }) }],
  ])('are fine with another %s', (_, props) => expect(two({}, { ...other, ...props })).toEqual([[], []]));

  test.each<[string, [string | undefined, string | undefined]]>([
    ['in another namespace', ['shop', 'reports']],
    ['in charts whose namespace is not known', [undefined, undefined]],
  ])('are fine %s', (_, namespaces) => expect(two({}, other, namespaces)).toEqual([[], []]));

  test('one of which was removed are fine', () => {
    const in_ = app();
    const first = chart(in_, 'a', 'shop');
    new EtcdBackupSchedule(first, 'first', valid);
    const second = new EtcdBackupSchedule(chart(in_, 'b', 'shop'), 'second', { ...valid, ...other });
    first.node.tryRemoveChild('first');
    expect(problemsOf(second)).toEqual([]);
  });

  test('are refused when one is backed up once', () => {
    const in_ = app();
    new EtcdBackupSchedule(chart(in_, 'a', 'shop'), 'first', valid);
    const into = (id: string, props: object) =>
      problemsOf(new EtcdBackup(chart(in_, id, 'shop'), 'now', { store: s3, endpoints: ['x:2379'], ...props }));
    expect(into('b', { name: 'orders' })).toEqual([
      expect.stringMatching(
        /^store: s3:\/\/backups\/shop\/orders is where a\/first stores the backups of another etcd/,
      ),
    ]);
    expect(into('c', { name: 'orders', key: 'orders.db' }).filter((each) => each.startsWith('store'))).toEqual([]);
    expect(into('d', { name: 'theirs' })).toEqual([]);
  });
});

describe('two schedules of one etcd into one folder', () => {
  const last = (count: number) => ({ retention: Retention.last(count) });
  const refused = [
    [],
    [
      'store: s3://backups/shop/orders is where a/first stores the backups of the same etcd cluster with another retention, so each would delete what the other keeps; give both the same retention, or give one of the stores a folder of its own',
    ],
  ];

  test.each([
    ['different', last(24), last(8)],
    ['that of the first alone', last(24), {}],
    ['that of the second alone', {}, last(8)],
  ])('are refused with %s retention', (_, first, second) => expect(two(first, second)).toEqual(refused));

  test.each([
    ['no', {}, {}],
    ['the same', last(24), last(24)],
    [
      'the same',
      { retention: Retention.tiers({ hourly: 24, daily: 7 }) },
      { retention: Retention.tiers({ daily: 7, hourly: 24 }) },
    ],
  ])('are fine with %s retention', (_, first, second) => expect(two(first, second)).toEqual([[], []]));

  test('are known by one endpoint, however it is written', () => {
    expect(two({ endpoints: ['etcd-0:2379', 'etcd-1:2379'] }, { endpoints: ['http://ETCD-1:2379/'] })).toEqual([
      [],
      [],
    ]);
  });

  test('of a cluster', () => {
    const cluster = new EtcdCluster(chart(app(), 'a', 'shop'), 'orders');
    cluster.addBackupSchedule('hourly', { schedule: Cron.hourly(), store: s3, ...last(24) });
    const daily = cluster.addBackupSchedule('daily', { schedule: Cron.daily(), store: s3, ...last(7) });
    expect(problemsOf(daily)).toEqual([
      expect.stringMatching(/is where a\/orders\/hourly stores .* another retention/),
    ]);
  });

  test('a backup that is taken once has no retention to differ in', () => {
    const in_ = chart(app(), 'a', 'shop');
    const cluster = new EtcdCluster(in_, 'orders');
    cluster.addBackupSchedule('hourly', { schedule: Cron.hourly(), store: s3, ...last(24) });
    expect(problemsOf(new EtcdBackup(in_, 'now', { cluster, store: s3 }))).toEqual([]);
  });
});
