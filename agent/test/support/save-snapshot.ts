import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SnapshotManifest } from '../../src/backup/catalog/manifest.ts';
import { EtcdMember } from '../../src/etcd/etcd-member.ts';
import type { EtcdCluster } from '../harness/etcd-cluster.ts';
import { manifestOf } from './manifest-of.ts';

export interface SavedSnapshot {
  /** Database and trailer. */
  readonly snapshot: Buffer;
  readonly manifest: SnapshotManifest;
}

/**
 * Saves a snapshot with etcdctl, and creates its manifest. `meanwhile` runs after HashKV was read and before the
 * snapshot is saved.
 */
export async function saveSnapshot(etcd: EtcdCluster, meanwhile?: () => Promise<unknown>): Promise<SavedSnapshot> {
  const { endpoints } = etcd;
  const member = await EtcdMember.connect(endpoints[0]!, { endpoints, dialTimeout: 5_000 });
  const { revision, clusterId } = await member.status();
  const hashKV = { revision, membersAgreeing: 0, ...(await member.hashKV(revision, 5_000)) };
  member.close();
  await meanwhile?.();
  const file = join(tmpdir(), `saved-${process.pid}-${revision}.db`);
  await etcd.etcdctl('snapshot', 'save', file);
  const snapshot = await readFile(file);
  await rm(file);
  return { snapshot, manifest: manifestOf(snapshot, snapshot, { source: { clusterId }, content: { hashKV } }) };
}
