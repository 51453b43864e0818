import { common, conditions } from './conditions.mjs';
import { ageColumn, column, crd, reasonColumns } from './crd.mjs';
import {
  choice,
  duration,
  flag,
  integer,
  list,
  mapBy,
  matching,
  object,
  rules,
  secretName,
  text,
  time,
  timeZone,
} from './schema.mjs';
import { restoreFields, restoreRules } from './source.mjs';
import { jobIdentity, scheduledStore } from './store.mjs';

export const backupRevision = integer(
  'The revision when it began. Writes go on meanwhile: the snapshot has this much, or more.',
  0,
);

export const encryption = object('Encrypts the snapshot before it is stored.', {
  'age!': object(
    'With age. Only whoever has the secret key of one recipient can read it.',
    { 'recipients!': list('Public keys, age1….', text('A public key.', 2100), 1, 16) },
    rules([
      "self.recipients.all(recipient, recipient.startsWith('age1'))",
      'recipients must be public keys, age1…, as `age-keygen -y` prints them: a secret key must not stand here',
    ]),
  ),
});
export const compression = choice('How the snapshot is compressed. Default: zstd.', ['none', 'gzip', 'zstd']);

const ordinal = (description) => integer(description, 0, 6);
const memberId = (description) =>
  matching(
    description,
    16,
    /^[0-9a-f]+$/,
    'is no id of a member: write it in hexadecimal, as status.members and `etcdctl member list` have it',
  );
const deletion = (description) => choice(description, ['Retain', 'Delete'], { default: 'Retain' });

const schedule = object(
  'The settings of one backup schedule. Its CronJob is rendered by `cluster.addBackupSchedule`.',
  {
    'name!': matching(
      'Its name.',
      63,
      /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
      "is no name of a schedule: use letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
    ),
    cronJobName: text('The name of its CronJob. Default: <cluster>-<name>.', 52),
    'cron!': text('When, as in a CronJob: minute, hour, day of month, month, day of week.', 128, { minLength: 1 }),
    timeZone: timeZone('The time zone of cron. Default: that of the controller manager, mostly UTC.'),
    'stores!': list('Where the backups go; each store has its own retention.', scheduledStore, 1, 8),
    compression,
    encryption,
    verify: choice('How much of a backup is proven before it counts. Default: read.', ['stream', 'read', 'open']),
    dialTimeout: duration('How long to wait for a connection to a member. Default: 5s.'),
    timeout: duration('When the agent gives up on a try. Default: by the size of the database.'),
    ...jobIdentity,
  },
  rules([
    '!self.stores.exists(store, has(store.command)) || has(self.image)',
    'a command store needs image: the one that holds its executables and the agent',
    { fieldPath: '.image', reason: 'FieldValueRequired' },
  ]),
);

const backup = object(
  'Backups. Written by `cluster.addBackupSchedule`; Secrets by name only.',
  {
    schedules: list('The backup schedules of this cluster.', schedule, 0, 16, mapBy('name')),
    schedule: text(
      'The schedule whose settings are used for the backup before an upgrade, at the end, before a restore, and of a survivor. Default: the first one.',
      63,
    ),
    requiredForUpgrade: flag('Without a schedule an upgrade is refused.', { default: false }),
  },
  rules([
    '!has(self.schedule) || (has(self.schedules) && self.schedules.exists(each, each.name == self.schedule))',
    'schedule is none of schedules: name one of them, or leave it out to use the first',
    { fieldPath: '.schedule' },
  ]),
);

const recovery = object(
  'Goes on from a surviving member after most members were lost for good. Acted on once per id.',
  {
    'id!': matching(
      'A name of your choice. Another recovery needs another one.',
      63,
      /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
      "is no id: use lower-case letters, digits, '-' and '.', such as 2026-11-21-zone-b",
    ),
    action: choice('What is done.', ['RestoreFromSurvivor'], { default: 'RestoreFromSurvivor' }),
    'acceptDataLoss!': flag('Writes that the survivor does not have are lost: say true to accept that.'),
    survivor: ordinal('The ordinal of the survivor. Default: the member that has the most.'),
    identitySecret: secretName('A Secret whose files are age identities, when the schedule encrypts.'),
  },
  rules([
    'self.acceptDataLoss',
    'acceptDataLoss must be true: writes that the survivor does not have are lost. If the other members can come back, remove recovery and wait for them',
    { fieldPath: '.acceptDataLoss' },
  ]),
);

const storage = object('The volume of each member.', {
  'size!': text(
    'How large it is, at least 2Gi. A change is not acted on yet.',
    32,
    rules([
      "isQuantity(self) && quantity(self).compareTo(quantity('2Gi')) >= 0",
      'must be a quantity of at least 2Gi, such as 8Gi: etcd preallocates its log, and needs room for a second copy of its database',
    ]),
  ),
  ephemeral: flag('An emptyDir instead of a PersistentVolumeClaim: a pod that is deleted loses its data.', {
    default: false,
  }),
});

const replace = object('When a member is replaced.', {
  policy: choice(
    'OnVolumeLoss: when its pod comes with an empty volume. Manual: only what force names.',
    ['OnVolumeLoss', 'Manual'],
    {
      default: 'OnVolumeLoss',
    },
  ),
  force: list(
    'Members to replace now. One that is already gone is ignored.',
    object('A member.', {
      'ordinal!': ordinal('The ordinal of its pod.'),
      'memberId!': memberId('Its id, so that its successor is left alone.'),
      discardVolume: flag('Also deletes its PersistentVolumeClaim, for a volume that died with its node.', {
        default: false,
      }),
    }),
    0,
    7,
    mapBy('ordinal'),
  ),
});

const spec = object(
  'The desired state. Written by `new EtcdCluster(…)`, which also renders the StatefulSet and all the rest.',
  {
    size: integer('How many voting members.', 1, 7, { default: 3 }),
    allowEvenSize: flag('Allows an even size.', { default: false }),
    'version!': matching(
      'The version of etcd, that of the image in the StatefulSet.',
      16,
      /^3\.([56]\.(1[1-9]|[2-9][0-9]|[1-9][0-9]{2})|7\.(0|[1-9][0-9]{0,2}))$/,
      'is not a supported version of etcd: write 3.5.11, 3.6.11, 3.7.0 or a later patch of these, such as 3.6.16',
    ),
    paused: flag('The reconciler only watches and reports.', { default: false }),
    tls: flag('TLS for clients and between members. Cannot be switched later.', { default: false }),
    clientTlsSecret: secretName(
      'With tls: the client certificate of the reconciler and of backups (ca.crt, tls.crt, tls.key).',
    ),
    replace,
    origin: object(
      'Begins this cluster with the data of a backup. Counts only once, when the cluster is made.',
      restoreFields,
      rules(...restoreRules),
    ),
    recovery,
    storage,
    pvcPolicy: object('What becomes of PersistentVolumeClaims.', {
      onShrink: deletion('When size is lowered.'),
      onDelete: deletion('When this EtcdCluster is deleted.'),
    }),
    backup,
    finalBackup: object('One more backup before a deletion.', {
      'required!': flag('A deletion waits for it. Default: true with pvcPolicy.onDelete: Delete, else false.'),
    }),
    maintenance: object('What the reconciler does by itself.', {
      onNoSpace: choice(
        'When the database reached its quota. Report: only tell. CompactDefragDisarm: make room, and let writes in again.',
        ['Report', 'CompactDefragDisarm'],
        { default: 'CompactDefragDisarm' },
      ),
    }),
  },
  rules(
    [
      'self.size % 2 == 1 || self.allowEvenSize',
      'an even size survives no more failures than the odd size below it: choose 1, 3, 5 or 7, or set allowEvenSize: true',
      { fieldPath: '.size' },
    ],
    [
      'self.tls == oldSelf.tls',
      'tls cannot be switched in place: make a new EtcdCluster with tls, and spec.origin from a backup of this one',
      { fieldPath: '.tls', reason: 'FieldValueForbidden' },
    ],
    [
      '!self.tls || has(self.clientTlsSecret)',
      'tls needs clientTlsSecret: the Secret with the client certificate of the reconciler and of backups',
      { fieldPath: '.clientTlsSecret', reason: 'FieldValueRequired' },
    ],
    [
      'self.tls || !has(self.clientTlsSecret)',
      'clientTlsSecret is of no use without tls: remove it (tls itself is chosen when a cluster is made)',
      { fieldPath: '.clientTlsSecret', reason: 'FieldValueForbidden' },
    ],
    [
      'has(self.origin) == has(oldSelf.origin) && (!has(self.origin) || self.origin == oldSelf.origin)',
      'origin counts only when the cluster is made, so it can be neither added, changed nor removed: to restore into this cluster, make an EtcdRestore',
      { fieldPath: '.origin', reason: 'FieldValueForbidden' },
    ],
    [
      '(has(self.storage) && self.storage.ephemeral) == (has(oldSelf.storage) && oldSelf.storage.ephemeral)',
      'storage.ephemeral cannot be switched in place: make a new EtcdCluster, with spec.origin from a backup of this one',
      { fieldPath: '.storage', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.pvcPolicy) || !has(self.storage) || !self.storage.ephemeral',
      'pvcPolicy is of no use with storage.ephemeral, which has no PersistentVolumeClaims: remove it',
      { fieldPath: '.pvcPolicy', reason: 'FieldValueForbidden' },
    ],
    [
      "!(has(self.finalBackup) ? self.finalBackup.required : has(self.pvcPolicy) && self.pvcPolicy.onDelete == 'Delete') || (has(self.backup) && has(self.backup.schedules) && self.backup.schedules.size() > 0)",
      'a final backup, which pvcPolicy.onDelete: Delete asks for by default, needs a backup schedule: add one to backup.schedules, or set finalBackup.required: false',
      { fieldPath: '.finalBackup' },
    ],
    [
      '!has(self.recovery) || (has(self.backup) && has(self.backup.schedules) && self.backup.schedules.size() > 0)',
      'a recovery backs the survivor up first, and no backup schedule says where to: add one to backup.schedules',
      { fieldPath: '.recovery' },
    ],
  ),
);

const member = object('A member.', {
  'ordinal!': ordinal('The ordinal of its pod.'),
  pod: text('Its pod.', 253),
  memberId: text('Its id in etcd.', 16),
  role: text('Leader, Follower or Learner.', 32),
  version: text('The version that runs.', 32),
  healthy: flag('It answers, knows the leader and keeps up.'),
  dbSize: integer('The size of its database in bytes.', 0),
  lag: integer('How many log entries it is behind.', 0),
  reason: text('What is wrong with it.', 1024),
});

const status = object('What the reconciler sees. It leaves out what it does not know.', {
  ...common,
  epoch: integer('How often the cluster began: 1, and one more with each restore.', 0),
  clusterId: text('The id of the cluster in etcd.', 16),
  clusterUid: text('Unlike the uid of this object it outlives a deletion with retained volumes.', 64),
  size: integer('How many pods there should be now.', 0, 7),
  readyVoters: integer('How many voting members are healthy, with a pod that is ready.', 0, 7),
  voters: integer('How many voting members there are.', 0, 7),
  learner: text('The pod of the member that is being added.', 253),
  leader: text('The pod of the leader.', 253),
  version: text('The version of the cluster.', 32),
  minVersion: text('The lowest version that a member runs.', 32),
  lastBackup: object('The newest good backup.', {
    'id!': text('Its id.', 253),
    'at!': time('When it was taken.'),
    schedule: text('Its schedule.', 63),
    revision: backupRevision,
    sizeBytes: integer('Its size.', 0),
    sha256: text('The SHA-256 of the plain snapshot.', 64),
    verified: text('How much is proven: stream, read or open.', 32),
  }),
  lastRestoreId: text('The newest restore.', 253),
  observedAt: time('When the reconciler looked, and said so: at every change, and every ten minutes without one.'),
  members: list('The members.', member, 0, 16, mapBy('ordinal')),
  conditions: conditions('Available, Ready, Progressing, Degraded, QuorumLost, Stalled, Alarm, BackupHealthy'),
});

export const etcdCluster = crd({
  kind: 'EtcdCluster',
  plural: 'etcdclusters',
  shortName: 'etcd',
  description:
    'An etcd cluster. This object alone runs nothing: `new EtcdCluster(chart, NAME)` of cdk8s-etcd renders it together with its StatefulSet and all the rest.',
  nameLength: 50,
  spec,
  status,
  scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.voters' },
  columns: [
    column('Size', '.spec.size', { type: 'integer', description: 'How many voting members there should be.' }),
    column('Voters', '.status.voters', { type: 'integer', description: 'How many there are.' }),
    column('Ready', '.status.readyVoters', { type: 'integer', description: 'How many of them are healthy.' }),
    column('Version', '.status.version'),
    column('Leader', '.status.leader'),
    column('Phase', '.status.phase'),
    column('Backup-Age', '.status.lastBackup.at', { type: 'date', description: 'The age of the newest good backup.' }),
    column('Observed', '.status.observedAt', {
      type: 'date',
      description: 'How old this is. More than 15 minutes: no reconciler looks after the cluster.',
    }),
    ageColumn,
    ...reasonColumns,
  ],
  rules: rules(
    [
      "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
      'metadata.name must be a DNS label that begins with a letter, such as orders: the names of Services and pods begin with it',
    ],
    [
      "!self.metadata.name.matches('-(peers|jobs|etcd-reconciler|[0-9]+-client)$')",
      'metadata.name must not end in -peers, -jobs, -etcd-reconciler or -<number>-client: objects of other clusters may be called so',
    ],
  ),
});
