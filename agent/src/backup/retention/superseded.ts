import { isDeepStrictEqual } from 'node:util';
import { type Entry, inFuture, isVerified, readEntry } from '../catalog/catalog.ts';
import type { Folder } from '../catalog/folder.ts';
import { ownerOf } from '../catalog/identity/identity.ts';
import { type Brief, revisionOf, type SnapshotManifest, type WithRevision } from '../catalog/manifest.ts';
import { earliestOf, timeOf } from '../catalog/passed-over.ts';

/** A snapshot in the folder, reduced to what says whether a payload without a manifest is still needed. */
export interface Dated {
  readonly id: string;
  /** Milliseconds. */
  readonly time: number;
  /** Undefined if the etcd is not known, as that of an adopted snapshot, or is that of another cluster. */
  readonly clusterId?: string;
  readonly revision?: number;
  /** Milliseconds. Since when, and until when, the snapshots before it were of the same etcd. */
  readonly since?: number;
  readonly until?: number;
  readonly verified: boolean;
}

export function dated(brief: Omit<Brief, 'object' | 'cluster'>, verified: boolean): Dated {
  const { id, createdAt, source, content, sameEtcdSince, sameEtcdUntil } = brief;
  const revision = revisionOf({ content });
  return {
    ...{ id, time: Date.parse(createdAt), verified },
    clusterId: source.clusterId === 'unknown' ? undefined : source.clusterId,
    revision,
    since: sameEtcdSince === undefined ? undefined : Date.parse(sameEtcdSince),
    until: sameEtcdUntil === undefined ? undefined : Date.parse(sameEtcdUntil),
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
 * must not fall in between: that of an etcd which was emptied does. If retention has deleted the one before it, a later one says
 * so.
 */
export function successorOf(time: number, dated: readonly Dated[]): Dated | undefined {
  const sorted = dated.toSorted((a, b) => a.time - b.time);
  const at = sorted.findIndex((each) => each.time > time);
  const [before, next] = [sorted[at - 1], sorted[at]];
  if (next?.clusterId === undefined) return undefined;
  const says = ({ clusterId, since, until }: Dated) =>
    clusterId === next.clusterId && since !== undefined && until !== undefined && since < time && time <= until;
  const isProved = before ? before.clusterId === next.clusterId : sorted.some(says);
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

type OfEtcd = WithRevision & { readonly source: Pick<Brief['source'], 'clusterId'> };

const follows = (one: OfEtcd, before: OfEtcd): boolean =>
  one.source.clusterId !== 'unknown' &&
  one.source.clusterId === before.source.clusterId &&
  isLater({ revision: revisionOf(one) }, { revision: revisionOf(before) });

/**
 * The time in which every snapshot of the folder is known to be of the etcd of a run, whose revision never fell. `entries`, newest
 * first, are those that the run has found. It ends with the newest of them: what a run that overlaps this one adds after that is
 * not known before the next run. `isUnderWay`: another run may still add one that is older than the newest.
 */
export function sameEtcdSpan(
  own: OfEtcd,
  entries: readonly Entry[],
  folder: string,
  isUnderWay: boolean,
): Pick<SnapshotManifest, 'sameEtcdSince' | 'sameEtcdUntil'> {
  const found = entries.map((entry) => (ownerOf(entry) === folder ? entry.manifest : undefined));
  const [previous] = found;
  if (!previous || entries.some(({ manifest }) => !manifest) || !follows(own, previous)) return {};
  const { createdAt, sameEtcdSince, sameEtcdUntil } = previous;
  const begun = { sameEtcdSince: createdAt, sameEtcdUntil: createdAt };
  if (sameEtcdSince === undefined || sameEtcdUntil === undefined) return begun;
  const since = Date.parse(sameEtcdSince);
  const within = entries.findIndex(({ manifest }) => Date.parse(manifest!.createdAt) < since);
  const known = within < 0 ? found : found.slice(0, within);
  const isOne = known.every((one, at) => at === 0 || (one && follows(known[at - 1]!, one)));
  if (!isOne) return begun;
  return { sameEtcdSince, sameEtcdUntil: isUnderWay ? sameEtcdUntil : createdAt };
}

/** Whether the revision of an etcd is known not to have fallen. */
export const isLater = (one: Pick<Dated, 'revision'>, before: Pick<Dated, 'revision'>): boolean =>
  one.revision !== undefined && before.revision !== undefined && one.revision >= before.revision;

/** Returns a function that reads a snapshot again, once: the index may be wrong. */
export function stillVerified(folder: Folder): (one: Dated) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const read = async (one: Dated) => {
    const entry = await readEntry(folder, one.id);
    return entry?.manifest !== undefined && isVerified(entry) && isDeepStrictEqual(dated(entry.manifest, true), one);
  };
  return (one) => {
    const reading = known.get(one.id) ?? read(one);
    known.set(one.id, reading);
    return reading;
  };
}
