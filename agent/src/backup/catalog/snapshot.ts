import { dirname } from 'node:path/posix';
import { AgentError, type ExitCode } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import type { CallOptions, Store, StoredObject } from '../../store/store.ts';
import type { Unusable } from './documents.ts';
import {
  adoptingKeys,
  deletingKey,
  exactManifestKey,
  manifestKey,
  pinKey,
  reservationKey,
  restoredCluster,
  takingKey,
} from './keys.ts';
import type { Brief, SnapshotManifest, Verification } from './manifest.ts';
import { isSnapshotId } from './snapshot-id.ts';

/**
 * What a snapshot is; nothing else says so. With a whole manifest and payload: `verified` at level `read` or higher, without any
 * finding against it; `unverified`, without a finding; `failed`, by a later verification; or of a `suspect` source. `broken`: the
 * payload is missing or has another size, or the manifest cannot be used. If that is not known, why not. Without a manifest: a run
 * may be `writing` it, by its marker, or without one (`young`); that run was `killed`; its manifest was `lost`, as nothing else
 * explains it; or retention is `deleting` it, or was killed meanwhile.
 */
export type SnapshotState =
  | ('verified' | 'unverified' | 'failed' | 'suspect' | 'broken')
  | NonNullable<Unusable['unread']>
  | ('writing' | 'young' | 'killed' | 'lost' | 'deleting');

/** One snapshot as the store holds it. */
export interface Entry {
  readonly id: string;
  readonly manifestKey: string;
  readonly state: SnapshotState;
  /** Undefined if it cannot be read; then `problem` says why. */
  readonly manifest?: Brief;
  readonly verification?: Pick<Verification, 'level' | 'outcome' | 'detail' | 'damaged' | 'modified'>;
  readonly pinned: boolean;
  /** Cluster ids of the etcd clusters that were restored from it. */
  readonly restoredAs: readonly string[];
  /** Why the snapshot is not whole. */
  readonly problem?: string;
  /** What can be done about the store, if it did not return an object in time. */
  readonly finding?: Finding | undefined;
  /** Every object of this snapshot. */
  readonly objects: readonly StoredObject[];
}

/** One snapshot with its complete manifest. */
export interface WholeEntry extends Entry {
  readonly manifest: SnapshotManifest;
  readonly verification?: Verification;
}

type Facts = Pick<Entry, 'manifest' | 'verification' | 'problem'> & Pick<Unusable, 'unread'>;

/** Returns the state of a snapshot with a manifest. */
export function stateOf({ manifest, verification, problem, unread }: Facts): SnapshotState {
  if (unread) return unread;
  if (!manifest || problem) return 'broken';
  if (manifest.source.suspect?.length) return 'suspect';
  if (verification?.outcome === 'failed') return 'failed';
  const found = [manifest.verified, verification?.outcome === 'verified' ? verification : undefined];
  return found.some((one) => one && one.level !== 'stream') ? 'verified' : 'unverified';
}

/** Returns the snapshot as a later verification leaves it. */
export const withFinding = (entry: Entry, verification: Entry['verification']): Entry => {
  const found = { ...entry, verification };
  return entry.problem === undefined ? { ...found, state: stateOf(found) } : found;
};

export const isVerified = ({ state }: Pick<Entry, 'state'>): boolean => state === 'verified';

const UNREAD: readonly SnapshotState[] = ['newer', 'refused', 'damaged', 'unreachable'] satisfies Unusable['unread'][];

// Milliseconds. A snapshot may be dated slightly in the future, because clocks differ.
const TOLERANCE = 5 * 60_000;

/** Whether a snapshot is dated in the future, by more than clocks may differ. */
export function inFuture({ manifest }: Pick<Entry, 'manifest'>, now = new Date()): boolean {
  return manifest !== undefined && Date.parse(manifest.createdAt) > now.getTime() + TOLERANCE;
}

/** Whether it is not known how good the snapshot is. */
export const isUnread = ({ state }: Pick<Entry, 'state'>): boolean => UNREAD.includes(state);

/** The state as people and scripts read it. */
export const stateWord = (entry: Pick<Entry, 'state'>): string => (isUnread(entry) ? 'unread' : entry.state);

/** The snapshots that the store does not give out now. */
export const silentAmong = <T extends Pick<Entry, 'state'>>(entries: readonly T[]): readonly T[] =>
  entries.filter(({ state }) => state === 'unreachable');

/** Names them in one line. Undefined if there is none. */
export function silentText(entries: readonly Entry[]): string | undefined {
  const [first, ...more] = silentAmong(entries);
  if (!first) return undefined;
  return `${first.id}: ${first.problem}${more.length > 0 ? ` (and ${more.length} more that cannot be read)` : ''}`;
}

/** Error of a snapshot whose manifest or payload is missing, damaged or withheld. A command adds the way out. */
export class IncompleteError extends AgentError {
  readonly entry: Entry;

  constructor(exitCode: ExitCode, message: string, entry: Entry) {
    super(exitCode, message);
    this.entry = entry;
  }
}

/** Suffix that follows the id in the name of a payload of the agent. */
export const PAYLOAD = /^\.db(\.gz|\.zst)?(\.age)?$/;

/** What the listing shows of a snapshot. */
export const named = (folder: string, id: string, objects: readonly StoredObject[]) => ({
  id,
  manifestKey: manifestKey(folder, id),
  pinned: objects.some(({ key }) => key === pinKey(folder, id)),
  restoredAs: objects.flatMap(({ key }) => restoredCluster(key) ?? []),
  objects,
});

type Listed = Pick<Entry, 'id' | 'manifestKey' | 'objects'>;

const hasMarker = ({ id, manifestKey: key, objects }: Listed, keyOf: (folder: string, id: string) => string): boolean =>
  objects.some((object) => object.key === keyOf(dirname(key), id));

/** Whether a name of the user's is reserved for the backup that is writing the snapshot. */
export const isReserved = (entry: Listed): boolean => hasMarker(entry, reservationKey);

/** Whether the store lists a manifest of the snapshot, readable or not. */
export const hasManifest = ({ manifestKey: key, objects }: Listed): boolean =>
  objects.some((object) => object.key === key);

/** Whether a marker shows that a payload under a name of the user's is the agent's. Beside a manifest it shows nothing. */
export const isMarked = (entry: Listed): boolean =>
  !hasManifest(entry) && [reservationKey, takingKey, deletingKey].some((keyOf) => hasMarker(entry, keyOf));

/** The payload among the objects of a snapshot: at the exact key, or by the name that the agent gives it. */
export const payloadIn = ({ id, manifestKey: key, objects }: Listed): StoredObject | undefined =>
  objects.find((object) => exactManifestKey(object.key) === key) ??
  objects.find((object) => PAYLOAD.test(object.key.slice(key.lastIndexOf('/') + 1 + id.length)));

const LOST = 'it has no manifest: its backup or copy was killed, or the manifest was deleted';
const WITHOUT = {
  writing: 'it has no manifest: its backup is still running, or was killed',
  /** A copy, and an agent that writes no marker, may be writing the payload. */
  young: 'it has no manifest: its backup or copy is still running, or was killed, or its manifest was deleted',
  killed: LOST,
  lost: LOST,
  deleting: 'it has no manifest: retention is deleting it, or was killed meanwhile; the sweep deletes the rest',
};

function stateWithout(entry: Listed, payload: StoredObject, now: Date): keyof typeof WITHOUT {
  if (hasMarker(entry, deletingKey)) return 'deleting';
  const isOfRun = hasMarker(entry, takingKey) || isReserved(entry);
  if (mayRunUntil(payload, now)) return isOfRun ? 'writing' : 'young';
  return isOfRun ? 'killed' : 'lost';
}

/** Returns a snapshot that has a payload and no manifest. Undefined for any other objects. */
export function withoutManifest(
  folder: string,
  id: string,
  objects: readonly StoredObject[],
  now: Date,
): Entry | undefined {
  const entry = named(folder, id, objects);
  const payload = isSnapshotId(id) || isMarked(entry) ? payloadIn(entry) : undefined;
  if (!payload || hasManifest(entry)) return undefined;
  const state = stateWithout(entry, payload, now);
  return { ...entry, state, problem: WITHOUT[state] };
}

/** Returns what is left of a snapshot without a manifest, whether or not there is a payload. */
export const lostWith = (folder: string, id: string, objects: readonly StoredObject[]): Entry => ({
  ...{ ...named(folder, id, objects), state: 'lost', problem: WITHOUT.lost },
});

/** Whether no run can be writing or deleting what has no manifest. */
export const isLost = ({ state }: Pick<Entry, 'state'>): boolean => state === 'killed' || state === 'lost';

/** Whether the manifest of a snapshot may not be there yet. */
export const isYoung = ({ state }: Pick<Entry, 'state'>): boolean => state === 'writing' || state === 'young';

/** Milliseconds. A backup stores the payload, reads it back, and only then writes the manifest. */
const UNDER_WAY = 3_600_000;

/** Until when the run that wrote a payload or a marker may still be running. Undefined if it is over. */
export function mayRunUntil({ modified }: StoredObject, now: Date): string | undefined {
  if (modified.getTime() <= now.getTime() - UNDER_WAY) return undefined;
  const end = new Date(modified.getTime() + UNDER_WAY);
  return Number.isNaN(end.getTime()) ? 'it ends' : end.toISOString();
}

/** Why a name that a backup has reserved with this marker is left alone. */
export const reservedBy = (reservation: StoredObject, now: Date): string =>
  mayRunUntil(reservation, now)
    ? `a backup is writing it: ${reservation.key} exists; wait until it ends; if it was killed, delete that file`
    : `its backup was killed, or has been running for over an hour: ${reservation.key} exists; if no backup is running, delete that file`;

/** Milliseconds. The marker of an `adopt` that was killed counts no longer than this. */
const ADOPTING = 86_400_000;

/** Whether `adopt` may be reading one of the payloads, by the store's clock. */
export async function isAdopting(
  store: Store,
  payloads: readonly Pick<StoredObject, 'key'>[],
  now: number,
  options: CallOptions,
): Promise<boolean> {
  for (const { key } of payloads) {
    for await (const { modified } of store.list(adoptingKeys(key), options)) {
      // An invalid time does not count as old.
      if (!(modified.getTime() <= now - ADOPTING)) return true;
    }
  }
  return false;
}
