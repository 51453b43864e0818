import type { Entry } from '../backup/catalog.ts';

/** More than a Kubernetes writes between two backups. */
const STEP = 1_000_000_000;

/** The next full step beyond these revisions. */
export const bumpBeyond = (revisions: readonly number[]): number =>
  (Math.floor(Math.max(0, ...revisions) / STEP) + 1) * STEP;

/**
 * How far the revision jumps: beyond all that snapshots of this store have seen, as an earlier restore may have jumped before.
 * A client that has seen a later revision than etcd has would hear of nothing until etcd comes to it.
 */
export const bumpOf = (entries: readonly Entry[]): number =>
  bumpBeyond(entries.map(({ manifest }) => manifest?.content.hashKV?.revision ?? 0));
