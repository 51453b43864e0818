import { common, conditions } from './conditions.mjs';
import { ageColumn, column, crd, reasonColumns } from './crd.mjs';
import { backupRevision, compression, encryption } from './etcd-cluster.mjs';
import {
  clusterName,
  duration,
  flag,
  folder,
  integer,
  list,
  matching,
  object,
  oneOf,
  rules,
  set,
  text,
  time,
} from './schema.mjs';
import { files, jobIdentity, secretFiles, store } from './store.mjs';

const endpoint = matching(
  'Such as https://etcd-0.etcd:2379. Without a scheme: https with tls, else http.',
  512,
  /^(https?:\/\/)?([a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}\/?$/,
  'is no etcd endpoint: write https://HOST:2379, with the port and without a path',
);

const tls = object(
  'TLS towards endpoints.',
  {
    'files!': files('`ca.crt`, and `tls.crt` with `tls.key` for a client certificate.'),
    clientCertificate: flag('The files hold a client certificate. Default: true.', { default: true }),
  },
  rules([
    '!has(self.files.configMapName) || !self.clientCertificate',
    'a ConfigMap is no place for the key of a client certificate: use a Secret, or set clientCertificate: false',
  ]),
);

const spec = object(
  'One snapshot. Immutable.',
  {
    clusterName: clusterName('An EtcdCluster of this namespace.'),
    endpoints: list('An etcd that something else runs.', endpoint, 1, 16, set),
    tls,
    auth: secretFiles('`username` and `password` of a user of endpoints that has the role root.'),
    schedule: text('A backup schedule of the cluster: its stores, encryption and other settings apply.', 63, {
      minLength: 1,
    }),
    store: store('Where the snapshot goes.'),
    key: text(
      'Exactly this object in the store: may hold {{ .Namespace }}, {{ .Name }}, {{ .UID }} and {{ .CreationTimestamp }} of this EtcdBackup. Retention leaves it alone.',
      512,
      rules(
        [
          "self.matches(r'^([^{}]|[{][{] *[.](Namespace|Name|UID|CreationTimestamp) *[}][}])*$')",
          'knows no such field: use {{ .Namespace }}, {{ .Name }}, {{ .UID }} and {{ .CreationTimestamp }}',
        ],
        [
          "!self.matches(r'(^|/)[.]{0,2}(/|$)')",
          "is no key of an object: write it like etcd/orders.db, without '/' at the ends, '.' or '..'",
        ],
      ),
    ),
    prefix: folder(
      'The folder in the store, in place of its prefix. In it the snapshot lies in a folder with the name of the cluster, or with that of this EtcdBackup for endpoints.',
    ),
    compression,
    encryption,
    timeouts: object('How long to wait.', {
      dial: duration('For a connection to a member. Default: 5s.'),
      total: duration('For everything. Default: 1h.'),
    }),
    ...jobIdentity,
  },
  rules(
    [
      'self == oldSelf',
      'an EtcdBackup is one snapshot and cannot be changed: make another one, with another name',
      { reason: 'FieldValueForbidden' },
    ],
    [
      oneOf('clusterName', 'endpoints'),
      'name exactly one of clusterName (an EtcdCluster of this namespace) and endpoints (any other etcd)',
    ],
    [oneOf('schedule', 'store'), 'name exactly one of schedule (of the cluster) and store'],
    [
      '!has(self.schedule) || has(self.clusterName)',
      'schedule is one of an EtcdCluster: with endpoints give store instead',
      { fieldPath: '.schedule', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.tls) || has(self.endpoints)',
      'tls is for endpoints: an EtcdCluster has its own, so remove it',
      { fieldPath: '.tls', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.auth) || has(self.endpoints)',
      'auth is for endpoints: remove it',
      { fieldPath: '.auth', reason: 'FieldValueForbidden' },
    ],
    [
      "has(self.tls) || !has(self.endpoints) || !self.endpoints.exists(each, each.startsWith('https://'))",
      'an https endpoint needs tls: name the Secret with its ca.crt in tls.files',
      { fieldPath: '.tls', reason: 'FieldValueRequired' },
    ],
    [
      "!has(self.tls) || !has(self.endpoints) || !self.endpoints.exists(each, each.startsWith('http://'))",
      'an endpoint is plain http, but tls is given: write https://, or remove tls',
      { fieldPath: '.endpoints' },
    ],
    [
      '!has(self.key) || !has(self.prefix)',
      'key is the whole name of the object: remove prefix, or key',
      { fieldPath: '.prefix', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.encryption) || has(self.store)',
      'encryption is that of the schedule: remove it, or give store instead of schedule',
      { fieldPath: '.encryption', reason: 'FieldValueForbidden' },
    ],
    [
      '!has(self.store) || !has(self.store.command) || has(self.image)',
      'a command store needs image: the one that holds its executables and the agent',
      { fieldPath: '.image', reason: 'FieldValueRequired' },
    ],
  ),
);

const status = object('What became of it.', {
  ...common,
  phase: text(
    'Pending, BackingUp, Completed or Failed. The last two are final: Completed says what was stored at completionTime, not that it is still there.',
    64,
  ),
  startTime: time('When its Job was made.'),
  completionTime: time('When it was completed or failed.'),
  source: text('The cluster or the first endpoint.', 512),
  snapshotId: text('The id of the snapshot. Retention may have deleted it since.', 253),
  key: text('The key of the object.', 1024),
  revision: backupRevision,
  sizeBytes: integer('The size of the plain snapshot.', 0),
  sha256: text('The SHA-256 of the plain snapshot.', 64),
  verified: text('How much is proven: stream, read or open.', 32),
  jobName: text('Its Job.', 253),
  conditions: conditions('Completed, Failed'),
});

export const etcdBackup = crd({
  kind: 'EtcdBackup',
  plural: 'etcdbackups',
  shortName: 'etcdbk',
  description: 'One snapshot, taken once, of an EtcdCluster or of any other etcd.',
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
