import { Cron, Duration, Size } from 'cdk8s';
import { cluster } from '../../test/clusters';
import { s3 } from '../../test/synth';
import {
  AutoCompaction,
  DeletionPolicy,
  Encryption,
  type EtcdCluster,
  type EtcdClusterProps,
  EtcdReconciler,
  EtcdResources,
  EtcdTls,
  EtcdTuning,
  EtcdVersion,
  NetworkAccess,
  type NoSpacePolicy,
  ReplacePolicy,
} from '..';

const schedule = { schedule: Cron.hourly(), store: s3 };
const recipient = 'age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh';
const recovery = { id: 'first', acceptDataLoss: true };

/** What synthesis says about each mistake. */
const mistakes: [EtcdClusterProps, string][] = [
  [{ name: 'Orders' }, "name: 'Orders' is no name of a Service; use lower-case letters, digits and '-'"],
  [{ name: '7days' }, "name: '7days' is no name of a Service"],
  [{ name: 'n'.repeat(51) }, 'has 51 characters; use at most 50'],
  [{ size: 0 }, 'size: 0 is no size of an etcd cluster; use 1, 3, 5 or 7'],
  [{ size: 8 }, 'size: 8 is no size'],
  [{ size: 2.5 }, 'size: 2.5 is no size'],
  [{ size: 2 }, 'size: 2 members survive no more failures than 1; use 1 or 3, or say allowEvenSize: true'],
  [{ size: 4 }, 'size: 4 members survive no more failures than 3; use 3 or 5, or say'],
  [{ version: EtcdVersion.of('3.4.34') }, 'version: etcd 3.4.34 is not supported; use 3.5, 3.6 or 3.7'],
  [{ image: 'etcd:latest' }, "image: 'etcd:latest' does not tell which etcd it has"],
  [{ registry: 'a b' }, "registry: 'a b' is no registry"],
  [{ agentImage: '' }, "agentImage: '' is no image"],
  [{ imagePullSecrets: ['A'] }, "imagePullSecrets: 'A' is no Kubernetes name"],
  [{ volume: { size: Size.gibibytes(1) } }, 'volume: size 1Gi is too small for etcd'],
  [{ quota: Size.gibibytes(4) }, 'quota: 4Gi needs a volume of 9216Mi, twice as much and 1Gi, and volume has 8Gi'],
  [{ resources: EtcdResources.of({ cpuRequest: 'x' }) }, "resources: cpuRequest 'x' is no amount of CPU"],
  [{ tuning: EtcdTuning.of({ autoCompaction: AutoCompaction.revisions(-1) }) }, 'tuning: autoCompaction: -1 revisions'],
  [{ settings: { 'max-requests': 1 } }, "settings: 'max-requests' is no key of etcd's configuration"],
  [{ tls: EtcdTls.certManager({ issuer: 'ca' }) }, 'tls: certificates hold the name of the namespace'],
  [{ clusterDomain: 'Cluster.Local' }, "clusterDomain: 'Cluster.Local' is no Kubernetes name"],
  [{ networkAccess: NetworkAccess.from({}) }, 'networkAccess: a peer names nobody'],
  [{ metricsAccess: NetworkAccess.from({}) }, 'metricsAccess: a peer names nobody'],
  [{ priorityClassName: 'High' }, "priorityClassName: 'High' is no Kubernetes name"],
  [{ labels: { 'cdk8s-etcd.dev/x': '1' } }, "labels: 'cdk8s-etcd.dev/x' is the reconciler's own; remove it"],
  [
    { podAnnotations: { 'cdk8s-etcd.dev/epoch': '1' } },
    "podAnnotations: 'cdk8s-etcd.dev/epoch' is the reconciler's own",
  ],
  [
    { replace: ReplacePolicy.manual({ ordinal: 7, memberId: 'ab' }) },
    "replace: ordinal: 7 is no member's number; use 0 to 6",
  ],
  [{ replace: ReplacePolicy.manual({ ordinal: 0, memberId: '0xAB' }) }, "replace: memberId: '0xAB' is no member id"],
  [
    {
      replace: ReplacePolicy.onVolumeLoss({ ordinal: 1, memberId: 'a' }, { ordinal: 1, memberId: 'b' }),
    },
    'replace: ordinal 1 is asked for twice; remove one',
  ],
  [{ recovery }, 'recovery: backs the survivor up first, and there is no backup schedule'],
  [{ onDelete: DeletionPolicy.DELETE }, 'finalBackup: there is no backup schedule that says where to; call addBackup'],
  [{ finalBackup: true }, 'finalBackup: there is no backup schedule'],
  [{ backupSchedule: 'nightly' }, "backupSchedule: there is no 'nightly'; call addBackupSchedule, or leave it out"],
  [
    { volume: { ephemeral: true }, onDelete: DeletionPolicy.RETAIN },
    'onDelete: is of no use with an ephemeral volume, which goes with its pod; remove one',
  ],
  [{ onShrink: 'Keep' as DeletionPolicy }, "onShrink: 'Keep' is none of Retain, Delete; use one of these"],
  [{ onDelete: 'delete' as DeletionPolicy }, "onDelete: 'delete' is none of Retain, Delete"],
  [{ onNoSpace: '' as NoSpacePolicy }, "onNoSpace: '' is none of Report, CompactDefragDisarm"],
  [{ reconciler: EtcdReconciler.external({ name: 'Theirs' }) }, "reconciler: serviceAccountName: 'Theirs' is no"],
  [{ version: EtcdVersion.of(undefined as unknown as string) }, "version: 'undefined' is no released version of etcd"],
  [{ quota: Size.kibibytes(1023) }, 'quota: 1023Ki leaves no room for data; give 1Mi or more'],
  [{ volume: { ephemeral: true }, onShrink: DeletionPolicy.DELETE }, 'onShrink: is of no use with an ephemeral'],
];

test.each(mistakes.map(([props, message]) => ({ props, message })))('$message', ({ props, message }) => {
  expect(cluster(props).node.validate()).toEqual([expect.stringContaining(message)]);
});

test.each<[EtcdClusterProps, string]>([
  [{ recovery: { ...recovery, acceptDataLoss: false } }, 'recovery: acceptDataLoss is false, and a recovery loses'],
  [{ recovery: { ...recovery, id: 'A' } }, "recovery: id: 'A' is no Kubernetes name"],
  [{ recovery: { ...recovery, id: 'r'.repeat(64) } }, 'has 64 characters; use at most 63'],
  [{ recovery: { ...recovery, survivor: -1 } }, "recovery: survivor: -1 is no member's number"],
  [{ recovery: { ...recovery, identitySecret: '' } }, "recovery: identitySecret: '' is no Kubernetes name"],
  [{ backupSchedule: 'daily' }, "backupSchedule: there is no 'daily'; use nightly, or leave it out"],
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
])('%s is no mistake', (_, props) => {
  expect(cluster(props).node.validate()).toEqual([]);
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
    "recovery: identitySecret: none given, and schedule 'nightly', whose settings count, encrypts its backups; name a Secret with the age identity",
  ]);
  expect(problems('age')).toEqual([]);
  expect(problems(undefined, 'plain')).toEqual([]);
});

test('several mistakes are several lines', () => {
  expect(cluster({ size: 9, registry: '', priorityClassName: '' }).node.validate()).toHaveLength(3);
});
