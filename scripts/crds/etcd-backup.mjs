import { common, conditions } from './conditions.mjs';
import { ageColumn, column, crd, reasonColumns } from './crd.mjs';
import { auth, endpointRules, endpoints, tls } from './endpoints.mjs';
import { backupRevision } from './etcd-cluster.mjs';
import { jobAccountRule, podRules } from './pods.mjs';
import { compression, encryption, jobFields } from './schedule.mjs';
import {
  clusterName,
  duration,
  folder,
  integer,
  isPath,
  list,
  object,
  oneOf,
  rules,
  text,
  time,
  withDefault,
} from './schema.mjs';
import { jobIdentity, store } from './store.mjs';

const spec = object(
  'The snapshot to take. Immutable.',
  {
    clusterName: clusterName('The EtcdCluster of this namespace to back up.'),
    endpoints: endpoints('Client URLs of an existing etcd cluster to back up.'),
    tls,
    auth,
    schedule: text(
      'The name of a backup schedule of the cluster, whose stores, encryption and other settings apply.',
      63,
      { minLength: 1 },
    ),
    store: store('The store for the snapshot.'),
    key: text(
      'The key of a copy of the snapshot in the store. It may contain {{ .Namespace }}, {{ .Name }}, {{ .UID }} and {{ .CreationTimestamp }} of this EtcdBackup. Retention keeps the newest snapshot with this key.',
      512,
      rules(
        [
          "self.matches(r'^([^{}]|[{][{] *[.](Namespace|Name|UID|CreationTimestamp) *[}][}])*$')",
          'has an unknown field: use {{ .Namespace }}, {{ .Name }}, {{ .UID }} and {{ .CreationTimestamp }}',
        ],
        [isPath, "is not a valid key of an object: write it like etcd/orders.db, without '/' at the ends, '.' or '..'"],
      ),
    ),
    prefix: folder(
      'The folder in the store, instead of its prefix. The snapshot is stored in a folder below it, with the name of the cluster or, for endpoints, of this EtcdBackup.',
    ),
    compression,
    encryption,
    timeouts: object('Timeouts of the backup.', {
      dial: withDefault('5s', duration('How long to wait for a connection to a member.')),
      total: withDefault('1h', duration('The longest time for the whole backup.')),
    }),
    ...jobIdentity,
    ...jobFields,
  },
  rules(
    [
      'self == oldSelf',
      'an EtcdBackup is one snapshot and cannot be changed: create another one with another name',
      { reason: 'FieldValueForbidden' },
    ],
    ...podRules,
    jobAccountRule,
    [
      oneOf('clusterName', 'endpoints'),
      'give exactly one of clusterName (an EtcdCluster of this namespace) and endpoints (any other etcd cluster)',
    ],
    [oneOf('schedule', 'store'), 'give exactly one of schedule (of the cluster) and store'],
    [
      '!has(self.schedule) || has(self.clusterName)',
      'schedule needs clusterName, because only an EtcdCluster has schedules: with endpoints give store instead',
      { fieldPath: '.schedule', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.tls) || has(self.endpoints)',
      'tls is only for endpoints: remove it, because an EtcdCluster has its own',
      { fieldPath: '.tls', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.auth) || has(self.endpoints)',
      'auth is only for endpoints: remove it',
      { fieldPath: '.auth', reason: 'FieldValueForbidden' },
    ],
    ...endpointRules,
    [
      '!has(self.key) || !has(self.prefix)',
      'prefix cannot be combined with key, which is the complete name of the object: remove prefix, or key',
      { fieldPath: '.prefix', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.encryption) || has(self.store)',
      'encryption is set by the schedule: remove it, or give store instead of schedule',
      { fieldPath: '.encryption', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.store) || !has(self.store.command) || has(self.image)',
      'a command store needs image: give an image with its executables and the agent',
      { fieldPath: '.image', reason: 'FieldValueRequired' },
    ],
  ),
);

const status = object('The state and the result of the backup.', {
  ...common,
  phase: text(
    'Pending, BackingUp, Completed or Failed. The last two are final: Completed means that the snapshot was stored at completionTime, not that it still exists.',
    64,
  ),
  startTime: time('The time at which its Job was created.'),
  completionTime: time('The time at which it was completed or failed.'),
  snapshotTime: time('The time at which the snapshot was taken.'),
  source: text('The cluster or the first endpoint.', 512),
  snapshotId: text('The id of the snapshot. Retention may have deleted it since: see snapshotDeletedAt.', 253),
  snapshotDeletedAt: time(
    'The time at which a later run deleted the snapshot in its first store. Not known of other deletions.',
  ),
  deletedSnapshots: list(
    'The snapshots that the retention of this run deleted in its first store: the first 64.',
    text('The id of a snapshot.', 253),
    1,
    64,
  ),
  key: text('The key of the object.', 1024),
  revision: backupRevision,
  sizeBytes: integer('The size in bytes of the decrypted and decompressed snapshot.', 0),
  sha256: text('The SHA-256 of the decrypted and decompressed snapshot.', 64),
  verified: text('The verification level that it passed: stream, read or open.', 32),
  jobName: text('The name of its Job.', 253),
  conditions: conditions('Completed, Failed, Ready, Reconciling, Stalled'),
});

export const etcdBackup = crd({
  kind: 'EtcdBackup',
  plural: 'etcdbackups',
  shortName: 'etcdbk',
  description: 'A single snapshot of an EtcdCluster or of any other etcd cluster. It is taken once.',
  nameLength: 52,
  spec,
  status,
  columns: [
    column('Phase', '.status.phase'),
    column('Source', '.status.source'),
    column('Revision', '.status.revision', { type: 'integer' }),
    column('Size', '.status.sizeBytes', { type: 'integer', description: 'In bytes.' }),
    column('Verified', '.status.verified'),
    ageColumn,
    ...reasonColumns,
  ],
});
