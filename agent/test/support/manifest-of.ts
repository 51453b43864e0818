import { createHash } from 'node:crypto';
import { MANIFEST_SCHEMA, type SnapshotManifest } from '../../src/backup/catalog/manifest.ts';

export interface ManifestChanges {
  readonly id?: string;
  readonly createdAt?: string;
  readonly cluster?: Partial<SnapshotManifest['cluster']>;
  readonly source?: Partial<SnapshotManifest['source']>;
  readonly content?: Partial<SnapshotManifest['content']>;
  readonly object?: Partial<SnapshotManifest['object']>;
  readonly verified?: SnapshotManifest['verified'];
  readonly sameEtcdSince?: string;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Returns the manifest of a snapshot (database and trailer) that is stored as these bytes. */
export function manifestOf(
  snapshot: Buffer,
  stored: Buffer = snapshot,
  changes: ManifestChanges = {},
): SnapshotManifest {
  const { id = 'etcd-snapshot-20261121-023807-3f9c2a', createdAt = '2026-11-21T02:38:07.000Z' } = changes;
  return {
    schema: MANIFEST_SCHEMA,
    id,
    createdAt,
    cluster: { name: 'orders', ...changes.cluster },
    source: { clusterId: 'c0', alarms: [], ...changes.source },
    content: {
      sizeBytes: snapshot.length,
      sha256: sha256(snapshot),
      trailerSha256: snapshot.subarray(-32).toString('hex').padStart(64, '0'),
      ...changes.content,
    },
    object: {
      key: `orders/${id}.db`,
      sizeBytes: stored.length,
      sha256: sha256(stored),
      compression: 'none',
      ...changes.object,
    },
    timing: { startedAt: createdAt, finishedAt: createdAt, seconds: 0 },
    trigger: 'manual',
    verified: 'verified' in changes ? changes.verified : { level: 'read', at: createdAt },
    ...(changes.sameEtcdSince !== undefined && { sameEtcdSince: changes.sameEtcdSince }),
    agent: { version: 'test' },
  };
}
