import { conditions } from './conditions.mjs';
import { ageColumn, column, crd, reasonColumnsOf } from './crd.mjs';
import {
  choice,
  clusterName,
  flag,
  integer,
  list,
  matching,
  named,
  object,
  oneOf,
  rules,
  secretName,
  text,
  time,
} from './schema.mjs';

const key = (description) => text(description, 1024, { minLength: 1 });

/** Its name is part of that of a Role. */
const filledSecret = (description) => ({ ...secretName(description), maxLength: 242 });

const permission = named(
  'EtcdPermissionSpec',
  object(
    'A permission.',
    {
      prefix: text(
        'The keys that begin with this text.',
        1024,
        rules(["self != ''", 'must not be empty: for every key give all instead']),
      ),
      key: key('This key alone.'),
      range: object(
        'The keys of a range, in the order of their bytes.',
        {
          'from!': key('The first key.'),
          'to!': key('The end of the range, which does not belong to it.'),
        },
        rules([
          'bytes(self.from) < bytes(self.to)',
          'from must be less than to, in the order of their bytes: exchange them',
        ]),
      ),
      all: flag('Every key. It can only be true.'),
      'access!': choice('What the user may do with these keys. Watching a key is reading it.', [
        'Read',
        'Write',
        'ReadWrite',
      ]),
    },
    rules(
      [oneOf('prefix', 'key', 'range', 'all'), 'give exactly one of prefix, key, range and all'],
      ['!has(self.all) || self.all', 'all can only be true: remove it, and give prefix, key or range'],
    ),
  ),
);

/** CEL expression: the permissions a and b are for the same keys. */
const sameKeys =
  'has(a.prefix) ? has(b.prefix) && a.prefix == b.prefix : ' +
  'has(a.key) ? has(b.key) && a.key == b.key : ' +
  'has(a.range) ? has(b.range) && a.range.from == b.range.from && a.range.to == b.range.to : ' +
  '!has(a.all) || has(b.all)';

const spec = object(
  'The user and its permissions.',
  {
    'clusterName!': clusterName('The EtcdCluster of this namespace. Immutable.'),
    userName: matching(
      'The name of the user in etcd, and the common name of its certificate, if it has one. Immutable. Default: the name of this object.',
      64,
      /^[A-Za-z0-9]([-A-Za-z0-9_.:@/]*[A-Za-z0-9])?$/,
      "is not a valid name of a user: use letters, digits, '-', '_', '.', ':', '@' and '/', beginning and ending with a letter or digit",
    ),
    'permissions!': list(
      'What the user may read and write. Without any, it may do nothing.',
      permission,
      0,
      64,
      rules([
        `self.all(a, self.exists_one(b, ${sameKeys}))`,
        'two permissions are for the same keys: give one of them, with access: ReadWrite for both',
      ]),
    ),
    certificateSecret: filledSecret(
      'With tls.managed of the cluster: the Secret that the reconciler fills with ca.crt, tls.crt and tls.key. It must exist: the reconciler only fills it.',
    ),
    passwordSecret: filledSecret(
      'Instead of a certificate, the user has a password: the Secret that the reconciler fills with username and password, and from which it takes the password. It must exist: the reconciler only fills it. A password that is there already is used as it is. The client also needs a certificate that the members accept, such as that in tls.clientSecret of the cluster.',
    ),
  },
  rules(
    [
      'self.clusterName == oldSelf.clusterName',
      'clusterName cannot be changed: create another EtcdUser',
      { fieldPath: '.clusterName', reason: 'FieldValueForbidden' },
    ],
    [
      'has(self.userName) == has(oldSelf.userName) && (!has(self.userName) || self.userName == oldSelf.userName)',
      'userName cannot be changed: create another EtcdUser',
      { fieldPath: '.userName', reason: 'FieldValueForbidden' },
    ],
    [
      "!has(self.userName) || (self.userName != 'root' && self.userName != self.clusterName + '-backup')",
      'userName must not be root or <cluster>-backup, which the reconciler and the backups use: give another name',
      { fieldPath: '.userName' },
    ],
    [
      '!has(self.passwordSecret) || !has(self.certificateSecret)',
      'passwordSecret cannot be combined with certificateSecret: remove one of them',
      { fieldPath: '.passwordSecret', reason: 'FieldValueForbidden' },
    ],
  ),
);

const status = object('The state of the user.', {
  observedGeneration: integer('The generation of the spec that this status describes.', 0),
  conditions: conditions('Ready, Reconciling, Stalled'),
  userName: text('The name of the user in etcd.', 253),
  certificate: object(
    'With certificateSecret: the certificate that the reconciler issued. Null or absent: there is none.',
    {
      'notAfter!': time('The time at which it expires.'),
      renewAt: time('The time at which the reconciler renews it.'),
    },
    { nullable: true },
  ),
});

const ofReady = (field) => `.status.conditions[?(@.type=="Ready")].${field}`;

const [reasonColumn, messageColumn] = reasonColumnsOf(ofReady);

export const etcdUser = crd({
  kind: 'EtcdUser',
  plural: 'etcdusers',
  shortName: 'etcdus',
  description: 'A user of an EtcdCluster, who identifies itself by a certificate or a password, and its permissions.',
  nameLength: 253,
  spec,
  status,
  unseen: ({ observedGeneration, reason, message }) => ({
    observedGeneration,
    conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: '1970-01-01T00:00:00Z', reason, message }],
  }),
  columns: [
    column('Cluster', '.spec.clusterName'),
    column('User', '.status.userName'),
    column('Ready', ofReady('status')),
    reasonColumn,
    ageColumn,
    messageColumn,
  ],
  rules: rules(
    [
      "!has(self.spec.passwordSecret) || (has(self.spec.userName) ? self.spec.userName : self.metadata.name) != self.spec.clusterName + '-client'",
      'a user with a password must not be called <cluster>-client, which is the name in the certificate of all clients, so nobody would need the password: give another userName',
      { fieldPath: '.spec.userName' },
    ],
    [
      "has(self.spec.userName) || (self.metadata.name.size() <= 64 && self.metadata.name != 'root' && self.metadata.name != self.spec.clusterName + '-backup')",
      'without spec.userName the user has the name of this object, which must not be longer than 64 characters, root or <cluster>-backup: give spec.userName',
    ],
  ),
});
