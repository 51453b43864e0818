import { isDeepStrictEqual } from 'node:util';
import type { CallOptions, Store } from '../../store/store.ts';
import { type Entry, isVerified, readEntry } from '../catalog/catalog.ts';
import { ownerOf } from '../catalog/identity/identity.ts';
import { type Brief, revisionOf } from '../catalog/manifest.ts';
import { earliestOf, timeOf } from '../catalog/passed-over.ts';
import { inFuture } from '../catalog/select.ts';

/** A snapshot in the folder, reduced to what says whether a payload without a manifest is still needed. */
export interface Dated {
  readonly id: string;
  /** Milliseconds. */
  readonly time: number;
  /** Undefined if the etcd is not known, as that of an adopted snapshot, or is that of another cluster. */
  readonly clusterId?: string;
  readonly revision?: number;
  /** Milliseconds. Since when the snapshots before it were of the same etcd. */
  readonly since?: number;
  readonly verified: boolean;
}

export function dated(brief: Omit<Brief, 'object' | 'cluster'>, verified: boolean): Dated {
  const { id, createdAt, source, content, sameEtcdSince } = brief;
  const revision = revisionOf({ content });
  return {
    ...{ id, time: Date.parse(createdAt), verified },
    ...(source.clusterId !== 'unknown' && { clusterId: source.clusterId }),
    ...(revision !== undefined && { revision }),
    ...(sameEtcdSince !== undefined && { since: Date.parse(sameEtcdSince) }),
  };
}

/** Leaves out snapshots that are dated in the future, and those without a readable manifest, with which no payload is swept. */
export function datedOf(folder: string, entries: readonly Entry[], now: Date): Dated[] {
  return entries.flatMap((entry) => {
    const { manifest } = entry;
    if (!manifest || inFuture(entry, now)) return [];
    const found = dated(manifest, isVerified(entry));
    return [ownerOf(entry) === folder ? found : { id: found.id, time: found.time, verified: false }];
  });
}

/** Returns when a payload was taken at the latest, in milliseconds. A name of ours holds only seconds. */
export function takenBy(payload: Pick<Entry, 'id' | 'objects'>): number {
  const stored = Math.max(0, ...payload.objects.map(({ modified }) => modified.getTime()));
  return Math.max(earliestOf(payload), Math.min(timeOf(payload), stored));
}

/**
 * Returns the newest verified snapshot that proves a payload from this time superfluous. Nobody knows whether the payload is
 * good and of which etcd, so the snapshots before and after it must be of the same etcd as the verified one, and the revision
 * must not fall in between: that of an etcd which was emptied does. If retention has deleted the one before it, the one after
 * it says so.
 */
export function successorOf(time: number, dated: readonly Dated[]): Dated | undefined {
  const sorted = dated.toSorted((a, b) => a.time - b.time);
  const at = sorted.findIndex((each) => each.time > time);
  const [before, next] = [sorted[at - 1], sorted[at]];
  if (next?.clusterId === undefined) return undefined;
  const isProved = before ? before.clusterId === next.clusterId : next.since !== undefined && next.since < time;
  if (!isProved) return undefined;
  let last = before ?? next;
  let found: Dated | undefined;
  for (const each of sorted.slice(at)) {
    if (each.clusterId !== next.clusterId) continue;
    if (!isLater(each, last)) break;
    last = each;
    if (each.verified) found = each;
  }
  return found;
}

/** Since when the snapshots before this one are of the same etcd, if `previous` is the newest of them. */
export function sinceOf(manifest: Brief, previous: Brief | undefined): string | undefined {
  if (!previous) return undefined;
  const [own, before] = [dated(manifest, true), dated(previous, true)];
  if (own.clusterId === undefined || own.clusterId !== before.clusterId || !isLater(own, before)) return undefined;
  return previous.sameEtcdSince ?? previous.createdAt;
}

/** Whether the revision of an etcd is known not to have fallen. */
export const isLater = (one: Pick<Dated, 'revision'>, before: Pick<Dated, 'revision'>): boolean =>
  one.revision !== undefined && before.revision !== undefined && one.revision >= before.revision;

/** Returns a function that reads a snapshot again, once: the index may be wrong. */
export function stillVerified(store: Store, folder: string, options: CallOptions): (one: Dated) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const read = async (one: Dated) => {
    const entry = await readEntry(store, folder, one.id, options);
    return entry?.manifest !== undefined && isVerified(entry) && isDeepStrictEqual(dated(entry.manifest, true), one);
  };
  return (one) => {
    const reading = known.get(one.id) ?? read(one);
    known.set(one.id, reading);
    return reading;
  };
}
