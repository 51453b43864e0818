// Which snapshot to restore.
import { integer, matching, object, objectKey, objectName, oneOf, rules, secretName, sha256, time } from './schema.mjs';
import { jobIdentity, store } from './store.mjs';

const whichOfStore = ['snapshotId', 'key', 'latestVerifiedBefore'];
const source = object(
  'The snapshot: that of an EtcdBackup (backupName), or one in a store.',
  {
    backupName: objectName('A completed EtcdBackup of this namespace.', 'EtcdBackup'),
    store: store('Where the snapshot lies. Needs one of snapshotId, key and latestVerifiedBefore.'),
    clusterName: matching(
      'The name under which the backups were stored. Default: that of the cluster that is restored.',
      63,
      /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/,
      "is no name of a cluster: use letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
    ),
    clusterNamespace: matching(
      'The namespace that the backups were taken in. Default: that of the cluster that is restored.',
      63,
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
      "is not a namespace: use lower-case letters, digits and '-', beginning and ending with a letter or digit",
    ),
    snapshotId: matching(
      'The id of the snapshot, as `etcd-agent list` prints it.',
      200,
      /^[A-Za-z0-9][A-Za-z0-9_+-]*$/,
      'is no id of a snapshot: write it like etcd-snapshot-20261121-023807-3f9c2a, without folder and ending',
    ),
    key: objectKey('The exact key of the snapshot in the store, without its prefix.'),
    latestVerifiedBefore: time('The newest verified snapshot that was taken before this time.'),
  },
  rules(
    [oneOf('backupName', 'store'), 'name exactly one of backupName and store'],
    [
      `has(self.store) == ${oneOf(...whichOfStore)}`,
      `store needs exactly one of ${whichOfStore.join(', ')}, and backupName none of them`,
    ],
    [
      '!has(self.clusterName) || has(self.snapshotId) || has(self.latestVerifiedBefore)',
      'clusterName is of use only with snapshotId or latestVerifiedBefore: remove it',
    ],
    [
      '!has(self.clusterNamespace) || has(self.snapshotId) || has(self.latestVerifiedBefore)',
      'clusterNamespace is of use only with snapshotId or latestVerifiedBefore: remove it',
    ],
  ),
);

/** Everything about a snapshot that is to be restored. */
export const restoreFields = {
  'source!': source,
  identitySecret: secretName('A Secret whose files are age identities, for an encrypted snapshot.'),
  sha256: sha256('What the snapshot must have as its SHA-256, once decrypted and decompressed.'),
  expectedRevision: integer('The revision that the snapshot must be at.', 1),
  ...jobIdentity,
};

export const restoreRules = [
  [
    '!has(self.source.store) || !has(self.source.store.command) || has(self.image)',
    'a command store needs image: the one that holds its executables and the agent',
    { fieldPath: '.image', reason: 'FieldValueRequired' },
  ],
];
