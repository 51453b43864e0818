// The fields that select the snapshot to restore.
import {
  integer,
  matching,
  named,
  namespaceName,
  object,
  objectKey,
  objectName,
  oneOf,
  rules,
  secretName,
  sha256,
  time,
} from './schema.mjs';
import { jobIdentity, store } from './store.mjs';

const whichOfStore = ['snapshotId', 'key', 'latestVerifiedBefore'];
const source = named(
  'RestoreSourceSpec',
  object(
    'The snapshot to restore: the snapshot of an EtcdBackup (backupName), or a snapshot in a store.',
    {
      backupName: objectName('The name of a completed EtcdBackup in this namespace.', 'EtcdBackup'),
      store: store('The store with the snapshot. Requires one of snapshotId, key and latestVerifiedBefore.'),
      clusterName: matching(
        'The name under which the backups were stored. Default: the name of the cluster that is restored.',
        63,
        /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/,
        "is not a valid name of a cluster: use letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
      ),
      clusterNamespace: namespaceName(
        'The namespace in which the backups were taken. Default: the namespace of the cluster that is restored.',
      ),
      snapshotId: matching(
        'The id of the snapshot, as `etcd-agent list` prints it.',
        200,
        /^[A-Za-z0-9][A-Za-z0-9_+-]*$/,
        'is not a valid snapshot id: write it like etcd-snapshot-20261121-023807-3f9c2a, without folder and file extension',
      ),
      key: objectKey('The key of the snapshot or of a copy of it in the store, without its prefix.'),
      latestVerifiedBefore: time('Selects the newest verified snapshot that was taken before this time.'),
    },
    rules(
      [oneOf('backupName', 'store'), 'give exactly one of backupName and store'],
      [
        `has(self.store) == ${oneOf(...whichOfStore)}`,
        `store needs exactly one of ${whichOfStore.join(', ')}, and backupName none of them`,
      ],
      [
        '!has(self.clusterName) || has(self.snapshotId) || has(self.latestVerifiedBefore)',
        'clusterName has an effect only with snapshotId or latestVerifiedBefore: remove it',
        { fieldPath: '.clusterName' },
      ],
      [
        '!has(self.clusterNamespace) || has(self.snapshotId) || has(self.latestVerifiedBefore)',
        'clusterNamespace has an effect only with snapshotId or latestVerifiedBefore: remove it',
        { fieldPath: '.clusterNamespace' },
      ],
    ),
  ),
);

/** The fields that an origin and an EtcdRestore share. */
export const restoreFields = {
  'source!': source,
  identitySecret: secretName('A Secret whose files are age identities. Required for an encrypted snapshot.'),
  sha256: sha256('The expected SHA-256 of the decrypted and decompressed snapshot.'),
  expectedRevision: integer('The expected revision of the snapshot.', 1, undefined, {
    maximum: Number.MAX_SAFE_INTEGER,
  }),
  ...jobIdentity,
};

export const restoreRules = [
  [
    '!has(self.source.store) || !has(self.source.store.command) || has(self.image)',
    'a command store needs image: give an image with its executables and the agent',
    { fieldPath: '.image', reason: 'FieldValueRequired' },
  ],
];
