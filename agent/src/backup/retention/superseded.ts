import type { CallOptions, Store } from '../../store/store.ts';
import { type Entry, isVerified, readEntry } from '../catalog/catalog.ts';
import { ownerOf } from '../catalog/identity/identity.ts';
import { earliestOf, timeOf } from '../catalog/passed-over.ts';
import { inFuture } from '../catalog/select.ts';

/** A snapshot of the folder's own cluster, reduced to what says whether a payload without a manifest is still needed. */
export interface Dated {
  readonly id: string;
  /** Milliseconds. */
  readonly time: number;
  readonly clusterId: string;
  readonly verified: boolean;
}

/** Leaves out snapshots whose etcd is not known, such as adopted ones, and those that are dated in the future. */
export function datedOf(folder: string, entries: readonly Entry[], now: Date): Dated[] {
  return entries.flatMap((entry) => {
    const { id, manifest } = entry;
    const clusterId = manifest?.source.clusterId;
    if (!manifest || clusterId === undefined || clusterId === 'unknown') return [];
    if (ownerOf(entry) !== folder || inFuture(entry, now)) return [];
    return [{ id, time: Date.parse(manifest.createdAt), clusterId, verified: isVerified(entry) }];
  });
}

/** Returns when a payload was taken at the latest, in milliseconds. A name of ours holds only seconds. */
export function takenBy(payload: Pick<Entry, 'id' | 'objects'>): number {
  const stored = Math.max(0, ...payload.objects.map(({ modified }) => modified.getTime()));
  return Math.max(earliestOf(payload), Math.min(timeOf(payload), stored));
}

/**
 * Returns the newest verified snapshot that makes a payload from this time superfluous. Nobody knows whether the payload is
 * good and of which etcd, so the snapshots before and after it must be of the same etcd as the verified one.
 */
export function successorOf(time: number, dated: readonly Dated[]): Dated | undefined {
  const sorted = dated.toSorted((a, b) => a.time - b.time);
  const next = sorted.find((each) => each.time > time);
  const before = sorted.findLast((each) => each.time <= time);
  if (!next || (before && before.clusterId !== next.clusterId)) return undefined;
  return sorted.findLast((each) => each.verified && each.time > time && each.clusterId === next.clusterId);
}

/** Returns a function that reads a snapshot again, once: the index may be wrong. */
export function stillVerified(store: Store, folder: string, options: CallOptions): (one: Dated) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const read = async ({ id }: Dated) => {
    const entry = await readEntry(store, folder, id, options);
    return entry !== undefined && isVerified(entry);
  };
  return (one) => {
    const reading = known.get(one.id) ?? read(one);
    known.set(one.id, reading);
    return reading;
  };
}
