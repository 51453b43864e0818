import { Cron, Duration, JsonPatch, Size } from 'cdk8s';
import { cluster } from '../../test/clusters';
import { s3 } from '../../test/synth';
import {
  AutoCompaction,
  DeletionPolicy,
  Encryption,
  EtcdBackup,
  type EtcdCluster,
  type EtcdClusterProps,
  EtcdPermission,
  EtcdReconciler,
  EtcdResources,
  EtcdRestore,
  EtcdTls,
  EtcdTuning,
  EtcdVersion,
  NetworkAccess,
  type NoSpacePolicy,
  ReplacePolicy,
  RestoreSource,
} from '..';

const schedule = { schedule: Cron.hourly(), store: s3 };
const recipient = 'age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh';
const recovery = { id: 'first', acceptDataLoss: true };

/** The message of synthesis for each mistake. */
const mistakes: [EtcdClusterProps, string][] = [
  [{ name: 'Orders' }, "name: 'Orders' is not a valid Service name; use lower-case letters, digits and '-'"],
  [{ name: '7days' }, "name: '7days' is not a valid Service name"],
  [{ name: 'n'.repeat(51) }, 'has 51 characters; use at most 50'],
  [{ size: 0 }, 'size: 0 is too small: give at least 1'],
  [{ size: 8 }, 'size: 8 is too large: give at most 7'],
  [{ size: 2.5 }, 'size: 2.5 is not a whole number: round it'],
  [{ size: 2 }, 'size: an even size survives no more failures than the odd size below it: choose 1, 3, 5 or 7'],
  [{ size: 4 }, 'size: an even size survives no more failures'],
  [{ version: EtcdVersion.of('3.4.34') }, 'version: etcd 3.4.34 is not supported; use 3.5, 3.6 or 3.7'],
  [{ image: 'etcd:latest' }, "image: 'etcd:latest' does not show which version of etcd it contains"],
  [{ registry: 'a b' }, "registry: 'a b' is not a valid registry"],
  [{ agentImage: '' }, "agentImage: '' is not a valid image"],
  [{ imagePullSecrets: ['A'] }, "imagePullSecrets[0].name: 'A' is not a valid name of a Secret"],
  [{ volume: { size: Size.gibibytes(1) } }, "volume.size: '1Gi' must be a quantity of at least 2Gi"],
  [
    { quota: Size.gibibytes(4) },
    'quota: needs a volume of twice its size and 1Gi: make volume.size larger, or quota smaller',
  ],
  [{ resources: EtcdResources.of({ cpuRequest: 'x' }) }, "resources.cpuRequest: 'x' is not a valid amount of CPU"],
  [
    { tuning: EtcdTuning.of({ autoCompaction: AutoCompaction.revisions(-1) }) },
    'tuning: autoCompaction: -1 is not a valid number of revisions',
  ],
  [{ settings: { 'max-requests': 1 } }, "settings: 'max-requests' is not a key of etcd's configuration"],
  [{ tls: EtcdTls.certManager({ issuer: 'ca' }) }, 'tls: the certificates contain the name of the namespace'],
  [{ clusterDomain: 'Cluster.Local' }, "clusterDomain: 'Cluster.Local' is not a valid DNS domain"],
  [{ networkAccess: NetworkAccess.peers({}) }, 'networkAccess.peers[0]: a peer is either pods'],
  [{ metricsAccess: NetworkAccess.peers({}) }, 'metricsAccess.peers[0]: a peer is either pods'],
  [{ egress: { apiServer: [] } }, 'egress.apiServer: is empty: give at least 1 item'],
  [{ priorityClassName: 'High' }, "priorityClassName: 'High' is not a valid name of a PriorityClass"],
  [{ labels: { 'cdk8s-etcd.dev/x': '1' } }, "labels: 'cdk8s-etcd.dev/x' is reserved for the reconciler; remove it"],
  [
    { podAnnotations: { 'cdk8s-etcd.dev/epoch': '1' } },
    'podAnnotations: has an annotation that begins with cdk8s-etcd.dev/, which the reconciler needs: remove it',
  ],
  [
    { replace: ReplacePolicy.manual({ ordinal: 7, memberId: 'ab' }) },
    'replace.force[0].ordinal: 7 is too large: give at most 6',
  ],
  [
    { replace: ReplacePolicy.manual({ ordinal: 0, memberId: '0xAB' }) },
    "replace.force[0].memberId: '0xAB' is not a valid member id",
  ],
  [
    {
      replace: ReplacePolicy.onVolumeLoss({ ordinal: 1, memberId: 'a' }, { ordinal: 1, memberId: 'b' }),
    },
    'replace.force[1]: has the same ordinal as [0]',
  ],
  [
    { recovery },
    'recovery: a recovery backs up the survivor first and needs a backup schedule: add one (addBackupSchedule)',
  ],
  [
    { onDelete: DeletionPolicy.DELETE },
    'finalBackup: a final backup, which onDelete: Delete requires by default, needs a backup schedule: add one (addBackupSchedule), or set finalBackup: false',
  ],
  [{ finalBackup: true }, 'finalBackup: a final backup'],
  [
    { backupSchedule: 'nightly' },
    'backupSchedule: is not one of the backup schedules: give one of them, or leave it out',
  ],
  [{ onShrink: 'Keep' as DeletionPolicy }, "onShrink: 'Keep' is not one of Retain, Delete: write one of these"],
  [{ onDelete: 'delete' as DeletionPolicy }, "onDelete: 'delete' is not one of Retain, Delete"],
  [{ onNoSpace: '' as NoSpacePolicy }, "onNoSpace: '' is not one of Report, CompactDefragDisarm"],
  [{ reconciler: EtcdReconciler.external({ name: 'Theirs' }) }, "reconciler: serviceAccountName: 'Theirs' is no"],
  [
    { version: EtcdVersion.of(undefined as unknown as string) },
    "version: 'undefined' is not a released version of etcd",
  ],
  [{ quota: Size.kibibytes(1023) }, "quota: '1023Ki' must be a quantity of at least 1Mi"],
  [{ volume: { ephemeral: true, storageClass: 'ssd' } }, 'volume.ephemeral: has no volume claim'],
  [{ volume: { ephemeral: true, readWriteOncePod: true } }, 'volume.ephemeral: has no volume claim'],
  [{ volume: { size: Size.mebibytes(2047) } }, "volume.size: '2047Mi' must be a quantity of at least 2Gi"],
  [{ volume: { storageClass: 'Fast SSD' } }, "volume.storageClass: 'Fast SSD' is not a valid name of a StorageClass"],
  [{ tuning: EtcdTuning.of({ snapshotCount: 0 }) }, 'tuning.snapshotCount: 0 is too small: give at least 1'],
  [
    { podAnnotations: { 'example.com/a': 'x'.repeat(20_000) } },
    'podAnnotations.example.com/a: has 20000 characters: give at most 16384',
  ],
  [{ annotations: { 'a b': 'c' } }, "annotations: 'a b' is not a valid name of a label or annotation"],
  [{ service: { annotations: { '-a': 'c' } } }, "service.annotations: '-a' is not a valid name of a label"],
  [{ serviceAccountAnnotations: { 'a/b/c': 'd' } }, "serviceAccountAnnotations: 'a/b/c' is not a valid name"],
  [{ podLabels: { '': 'c' } }, "podLabels: '' is not a valid name of a label or annotation"],
  [{ volume: { labels: { 'A.example/b': 'c' } } }, "volume.labels: 'A.example/b' is not a valid name of a label"],
  [
    { networkAccess: NetworkAccess.peers({ cidr: '::ffff:10.0.0.0/104' }) },
    "networkAccess.peers[0].cidr: '::ffff:10.0.0.0/104' is not a valid range of addresses",
  ],
  [
    { egress: { apiServer: [{ cidr: '10.0.0.0/8', ports: Array(33).fill(443) }] } },
    'egress.apiServer[0].ports: has 33 items: give at most 32',
  ],
  [
    { volume: { ephemeral: true }, onShrink: DeletionPolicy.DELETE },
    'onShrink or onDelete: has no effect with volume.ephemeral',
  ],
];

test.each(mistakes.map(([props, message]) => ({ props, message })))('$message', ({ props, message }) => {
  expect(cluster(props).node.validate()).toEqual([expect.stringContaining(message)]);
});

test.each<[EtcdClusterProps, string]>([
  [
    { recovery: { ...recovery, acceptDataLoss: false } },
    'recovery.acceptDataLoss: must be true: writes that the survivor does not have are lost',
  ],
  [{ recovery: { ...recovery, id: 'A' } }, "recovery.id: 'A' is not a valid id"],
  [{ recovery: { ...recovery, id: 'r'.repeat(64) } }, 'recovery.id: has 64 characters: give at most 63'],
  [{ recovery: { ...recovery, survivor: -1 } }, 'recovery.survivor: -1 is too small'],
  [{ recovery: { ...recovery, identitySecret: '' } }, "recovery.identitySecret: '' is not a valid name of a Secret"],
  [{ backupSchedule: 'daily' }, 'backupSchedule: is not one of the backup schedules'],
])('with a schedule: %j', (props, message) => {
  const orders = cluster(props);
  orders.addBackupSchedule('nightly', schedule);
  expect(orders.node.validate()).toEqual([expect.stringContaining(message)]);
});

test.each<[string, EtcdClusterProps]>([
  ['an even size that is meant', { size: 4, allowEvenSize: true }],
  ['one member', { size: 1 }],
  ['seven members', { size: 7 }],
  ['the longest name', { name: 'n'.repeat(50) }],
  ['a deletion without a last backup', { onDelete: DeletionPolicy.DELETE, finalBackup: false }],
  ['an ephemeral volume', { volume: { ephemeral: true, size: Size.gibibytes(4) } }],
  ['a longer memory', { tuning: EtcdTuning.of({ autoCompaction: AutoCompaction.periodic(Duration.days(7)) }) }],
])('%s is not a mistake', (_, props) => {
  expect(cluster(props).node.validate()).toEqual([]);
});

test('a wrong size is the only message, without those on the endpoints that follow from it', () => {
  const orders = cluster({ size: 0 });
  orders.addBackupSchedule('nightly', schedule);
  expect(orders.node.findAll().flatMap(({ node }) => node.validate())).toEqual([
    'size: 0 is too small: give at least 1',
  ]);
});

describe('with a wrong name', () => {
  const everything = (name: string, named: { name?: string; secretName?: string } = {}) => {
    const orders = cluster({ name });
    orders.addBackupSchedule('nightly', { ...schedule, name: named.name });
    orders.addUser('api', { can: [EtcdPermission.readKey('/a')], ...named });
    new EtcdBackup(orders, 'backup', { cluster: orders, schedule: 'nightly', name: named.name });
    new EtcdRestore(orders, 'restore', {
      cluster: orders,
      source: RestoreSource.latestVerifiedBefore(s3, '2026-11-21T02:30:00Z'),
      name: named.name,
    });
    return orders.node.findAll().flatMap(({ node }) => node.validate());
  };

  test.each(['Orders', 'orders_1', 'n'.repeat(60)])(
    '%s is the only message, without those that follow from it',
    (name) => {
      expect(everything(name)).toEqual([expect.stringContaining(`name: '${name}' `)]);
    },
  );

  test('the mistakes that do not follow from it are reported too', () => {
    expect(everything('Orders', { name: 'Own', secretName: 'Secret' })).toEqual([
      expect.stringContaining("name: 'Orders' "),
      expect.stringContaining("name: 'Own' "),
      expect.stringContaining("name: 'Own' "),
      expect.stringContaining("secretName: 'Secret' "),
      ...Array(2).fill(expect.stringContaining("name: 'Own' ")),
    ]);
  });
});

test('a schedule is what recovery, a last backup and a name ask for', () => {
  const orders: EtcdCluster = cluster({ recovery, onDelete: DeletionPolicy.DELETE, backupSchedule: 'nightly' });
  orders.addBackupSchedule('nightly', schedule);
  expect(orders.node.validate()).toEqual([]);
});

test('a recovery must be able to read the backup that it takes', () => {
  const problems = (identitySecret?: string, backupSchedule?: string) => {
    const orders = cluster({ recovery: { ...recovery, identitySecret }, backupSchedule });
    orders.addBackupSchedule('nightly', { ...schedule, encryption: Encryption.age({ recipients: [recipient] }) });
    orders.addBackupSchedule('plain', { ...schedule, schedule: Cron.weekly() });
    return orders.node.validate();
  };
  expect(problems()).toEqual([
    'recovery: identitySecret is missing, but the schedule that backs up the survivor encrypts: name the Secret with the age identity',
  ]);
  expect(problems('age')).toEqual([]);
  expect(problems(undefined, 'nightly')).toHaveLength(1);
  expect(problems(undefined, 'plain')).toEqual([]);
});

test('several mistakes are several lines', () => {
  expect(cluster({ size: 9, registry: '', priorityClassName: '' }).node.validate()).toHaveLength(3);
});

test('a patch between two validations is seen', () => {
  const subject = cluster();
  expect(subject.node.validate()).toEqual([]);
  subject.customResource.addJsonPatch(JsonPatch.add('/spec/quota', 'much'));
  expect(subject.node.validate()).toEqual([expect.stringContaining('quota: ')]);
});
