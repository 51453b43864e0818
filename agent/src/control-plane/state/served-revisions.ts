import * as z from 'zod/mini';
import { type Entry, looseNotes, readDocument, restoreNoteKey } from '../../backup/catalog/catalog.ts';
import { revisionOf } from '../../backup/catalog/manifest.ts';
import { isUndated, mayBeFrom, timeOf } from '../../backup/catalog/passed-over.ts';
import { isId } from '../../backup/catalog/snapshot-id.ts';
import { hasBeyond, isPlausible, knownRevisionOf, LAST_REVISION } from '../../backup/payload/plausible-revision.ts';
import { BUMP_STEP } from '../../backup/restore/bump-beyond.ts';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import type { Store, StoredObject } from '../../store/store.ts';
import { idsOf } from './cluster-lineage.ts';

/** A revision that clients may have seen. */
export interface Seen {
  readonly revision: number;
  /** Source of this revision, for errors. */
  readonly where: string;
  readonly clusterId?: string;
  /** For a member that answers: true if it has a leader. */
  readonly hasQuorum?: boolean;
  /** The data began after the snapshot, so they do not show how far the cluster got before. */
  readonly isFresh?: boolean;
  /** Why the data may have a higher revision. */
  readonly unread?: string | undefined;
}

/** Note of a restore, from the store or from this node's journals. */
export interface RestoreNote {
  readonly id: string;
  readonly clusterId: string;
  /** First revision of the restored cluster. Undefined if the command that wrote the note did not know it. */
  readonly revision?: number;
  readonly bump?: number;
  readonly token?: string;
  /**
   * What this node did in the restore: it served, it began without serving (and may have undone it), or nothing is
   * known.
   */
  readonly part: 'served' | 'begun' | 'none';
  /** Why the store did not return it this time. */
  readonly unread?: string;
  /** Noted within the last hour, so other nodes may still be restoring. */
  readonly isRecent: boolean;
  /** A member of the restored cluster answers and has a quorum. */
  readonly isAlive: boolean;
}

export interface Served {
  /** Revisions that every node finds. */
  readonly inStore: readonly Seen[];
  /** Revisions that only this node knows, from its data and the members that it reaches. */
  readonly here: readonly Seen[];
  readonly notes: readonly RestoreNote[];
  /** Sources in the store whose revision is unknown and may be higher. */
  readonly unknown: readonly string[];
  /**
   * Sources that only a person can judge, even if the data here are the newest: a member or data with a revision that
   * no etcd reaches, and objects that the store did not return this time. Another node may be able to read them, and
   * find another number.
   */
  readonly mustAsk: readonly string[];
  /** Ids of the cluster that is restored: of the snapshot and what is related to it, and of the data here. */
  readonly clusterIds: readonly string[];
  /** Objects of restores from snapshots outside the folder. */
  readonly outside?: readonly StoredObject[];
}

const NOTHING: Seen = { revision: 0, where: 'nothing' };
export const highestOf = (seen: readonly Seen[]): Seen =>
  seen.reduce((highest, each) => (each.revision > highest.revision ? each : highest), NOTHING);

/** Result of an earlier restore on this node, from a journal or from the data that a killed run prepared. */
export interface OwnRestore {
  readonly id: string;
  readonly token: string;
  readonly bump: number;
  readonly clusterId: string;
  readonly revision: number;
  readonly hasServed: boolean;
}

export interface ServedRequest {
  readonly store: Store;
  readonly entries: readonly Entry[];
  /** What has notes of restores and no manifest. */
  readonly noted?: readonly Entry[];
  /** The snapshot to restore. Its revision will be known from its content. */
  readonly restored: Entry;
  readonly here: readonly Seen[];
  readonly own: readonly OwnRestore[];
  readonly signal?: AbortSignal;
  /** A note that cannot be read for any reason counts by its name alone. */
  readonly skipUnread?: boolean;
  /** Folder of the cluster, where also the restores from snapshots outside are noted. */
  readonly folder?: string;
}

/** Each snapshot once. */
const withNoted = (entries: readonly Entry[], noted: readonly Entry[]): Entry[] => {
  const known = new Set(entries.map(({ id }) => id));
  return [...entries, ...noted.filter(({ id }) => !known.has(id))];
};

/** Collects every revision that is known to have been served, and the sources whose revision is unknown. */
export async function servedBefore({
  store,
  entries,
  noted = [],
  restored,
  here,
  own,
  signal,
  skipUnread = false,
  folder,
}: ServedRequest): Promise<Served> {
  const inStore = entries.flatMap(({ id: backup, manifest }) => {
    if (!manifest || revisionOf(manifest) === undefined) return [];
    const revision = knownRevisionOf(manifest) ?? 0;
    return [{ revision, where: `the backup ${backup}`, clusterId: manifest.source.clusterId }];
  });
  // Concurrently: a listing that hangs must not use up the time for the notes.
  const listing = outsideFolder({ store, entries, restored, folder }, signal, skipUnread);
  const [beside, ...found] = await Promise.all([
    listing,
    notesIn(store, withNoted(entries, noted), signal, skipUnread),
    listing.then(({ entries: those }) => notesIn(store, those, signal, skipUnread)),
  ]);
  const stored = found.flat();
  const alive = new Set(here.filter(({ hasQuorum }) => hasQuorum).map(({ clusterId }) => clusterId));
  const notes = [...stored, ...own.map((each) => ({ ...each, at: undefined }))].map(({ at, ...note }) => ({
    ...note,
    part: partIn(own, note),
    isRecent: at !== undefined && Math.abs(Date.now() - Date.parse(at)) < HOUR,
    isAlive: alive.has(note.clusterId),
  }));
  const isAway = ({ unread }: Entry) => unread === 'unreachable';
  const unknown = [...beside.unknown, ...backupsUnread(entries, restored), ...notesUnread(entries, notes)];
  const mustAsk = [
    ...beside.unknown,
    ...backupsUnread(entries, restored, isAway),
    ...stored.flatMap(({ unread }) => unread ?? []),
    ...here
      .filter(({ revision }) => !hasBeyond(revision))
      .map(({ where, revision }) => `${where} names revision ${revision}, which no etcd reaches`),
    ...here.flatMap(({ where, unread }) => (unread === undefined ? [] : [`${where} cannot be read: ${unread}`])),
  ];
  // Its cluster id still counts.
  const believed = here.map((seen) => (hasBeyond(seen.revision) ? seen : { ...seen, revision: 0 }));
  const outside = beside.entries.flatMap(({ objects }) => objects);
  // The data here, not a member that answers.
  const local = here.filter(({ hasQuorum, isFresh }) => hasQuorum === undefined && !isFresh);
  const clusterIds = [...idsOf(restored, entries), ...local.flatMap(({ clusterId }) => clusterId ?? [])];
  return { inStore, here: believed, notes, unknown, mustAsk, clusterIds, outside };
}

/**
 * Finds the notes of restores from snapshots outside the folder: next to the snapshot under an exact key, and all that
 * the folder keeps.
 */
async function outsideFolder(
  { store, entries, restored, folder }: Pick<ServedRequest, 'store' | 'entries' | 'restored' | 'folder'>,
  signal: AbortSignal | undefined,
  skipUnread: boolean,
): Promise<{ entries: Pick<Entry, 'id' | 'objects'>[]; unknown: string[] }> {
  const isExact = !entries.some(({ manifestKey }) => manifestKey === restored.manifestKey);
  const places = [
    ...(isExact ? [{ id: restored.id, prefix: restoreNoteKey(restored.manifestKey, '').replace(/\.json$/, '') }] : []),
    ...(folder === undefined ? [] : [{ id: OUTSIDE, prefix: looseNotes(folder) }]),
  ];
  const found = await Promise.all(
    places.map(async ({ id, prefix }) => {
      try {
        const objects = await unlessAborted(listed(store, prefix, signal), signal);
        return { entries: [{ id, objects }], unknown: [] };
      } catch (error) {
        if (!skipUnread) throw error;
        return { entries: [], unknown: [`the restores of ${id} cannot be listed: ${messageOf(error)}`] };
      }
    }),
  );
  return { entries: found.flatMap((each) => each.entries), unknown: found.flatMap((each) => each.unknown) };
}

async function listed(store: Store, prefix: string, signal: AbortSignal | undefined): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const object of store.list(prefix, signal ? { signal } : {})) objects.push(object);
  return objects;
}

export interface HighestKnown {
  readonly revision: number;
  /** Why the revision is a guess. Empty if it is known. */
  readonly unknown: readonly string[];
}

/**
 * Returns the highest revision that was served according to the content of the snapshot, the backups in the store and the notes
 * of earlier restores. Each source that is unknown counts as one step beyond what is known.
 */
export async function highestInStore({
  revision: restored,
  ...request
}: Pick<ServedRequest, 'store' | 'entries' | 'noted' | 'restored' | 'signal' | 'folder'> & {
  /** Revision of the snapshot, by its content. */
  readonly revision: number;
}): Promise<HighestKnown> {
  const { inStore, notes, unknown } = await servedBefore({ ...request, here: [], own: [], skipUnread: true });
  const known = [...inStore, ...notes].map(({ revision }) => revision ?? 0);
  return { revision: beyondUnknown(Math.max(restored, ...known), unknown), unknown };
}

/** Adds a step for each source that is unknown. */
export const beyondUnknown = (revision: number, unknown: readonly string[]): number =>
  Math.min(revision + unknown.length * BUMP_STEP, LAST_REVISION);

const LISTED = 3;

/** One line for the person who restores, or undefined if nothing is unknown. */
export function guessText(unknown: readonly string[]): string | undefined {
  if (unknown.length === 0) return undefined;
  const more = unknown.length > LISTED ? `; and ${unknown.length - LISTED} more` : '';
  return `the highest revision that was served is a guess: ${unknown.slice(0, LISTED).join('; ')}${more}; after the restore, restart clients that keep a cache`;
}

const HOUR = 3_600_000;

const partIn = (own: readonly OwnRestore[], { clusterId }: { clusterId: string }): RestoreNote['part'] => {
  const [mine] = own
    .filter((each) => each.clusterId === clusterId)
    .sort((a, b) => Number(b.hasServed) - Number(a.hasServed));
  if (!mine) return 'none';
  return mine.hasServed ? 'served' : 'begun';
};

const knowsRevision = ({ manifest }: Entry): boolean => knownRevisionOf(manifest) !== undefined;

/** Backups with an unknown revision that are, or may be, newer than every backup with a known one. Older backups have lower revisions. */
function backupsUnread(
  entries: readonly Entry[],
  restored: Entry,
  isAsked: (entry: Entry) => boolean = () => true,
): string[] {
  const isKnown = (entry: Entry) => entry.id === restored.id || knowsRevision(entry);
  const newest = Math.max(timeOf(restored), ...entries.filter(isKnown).map(timeOf));
  return entries
    .filter((entry) => !isKnown(entry) && mayBeFrom(entry, newest) && isAsked(entry))
    .map((entry) => `${entry.id} ${isUndated(entry) ? 'may have been' : 'was'} taken later, and ${whyUnknown(entry)}`);
}

function whyUnknown({ problem, manifest }: Entry): string {
  const revision = manifest && revisionOf(manifest);
  if (revision !== undefined) return `its manifest names revision ${revision}, which no etcd reaches`;
  return problem ?? 'its revision is unknown';
}

function notesUnread(
  entries: readonly Entry[],
  notes: readonly Pick<RestoreNote, 'id' | 'clusterId' | 'revision' | 'unread'>[],
): string[] {
  const known = entries.filter(knowsRevision);
  const hasBackup = (clusterId: string) =>
    known.some(
      ({ manifest }) => manifest?.source.clusterId === clusterId || manifest?.cluster.lineage?.includes(clusterId),
    );
  return notes
    .filter(({ revision, clusterId }) => revision === undefined && !hasBackup(clusterId))
    .map(
      ({ id, clusterId, unread }) =>
        `${id} was restored as the cluster ${clusterId}, which has no backup${unread === undefined ? ', and its note names no revision' : ''}`,
    );
}

const noteSchema = z.object({
  // Set if the restored snapshot is not in a folder, so that its note is stored next to another snapshot.
  id: z.optional(z.string()),
  at: z.optional(z.string()),
  revision: z.optional(z.number()),
  bump: z.optional(z.number()),
  token: z.optional(z.string()),
});

const NOTE = /\.restored-([0-9a-f]+)\.json$/;

type StoredNote = Omit<RestoreNote, 'part' | 'isRecent' | 'isAlive'> & { readonly at?: string | undefined };

async function notesIn(
  store: Store,
  entries: readonly Pick<Entry, 'id' | 'objects'>[],
  signal: AbortSignal | undefined,
  skipUnread: boolean,
): Promise<StoredNote[]> {
  const found = entries.flatMap(({ id, objects }) =>
    objects.flatMap(({ key }) => {
      const [, clusterId] = NOTE.exec(key) ?? [];
      return clusterId === undefined ? [] : [{ id, clusterId, key }];
    }),
  );
  return Promise.all(
    found.map((each) =>
      unlessAborted(readNote(store, each, signal), signal).catch((error) => {
        if (!skipUnread) throw error;
        const { id, clusterId, key } = each;
        const why = signal?.aborted ? 'the store does not answer in time' : messageOf(error);
        return { id, clusterId, unread: `the note ${key} cannot be read: ${why}` };
      }),
    ),
  );
}

const OUTSIDE = 'a snapshot outside the folder';
/** The id of a note, which may be forged: it is printed, and suggested as a name. */
const idOr = (other: string, id: string | undefined) => (id !== undefined && isId(id) ? id : other);

async function readNote(
  store: Store,
  { id, clusterId, key }: { readonly id: string; readonly clusterId: string; readonly key: string },
  signal: AbortSignal | undefined,
): Promise<StoredNote> {
  const document = await readDocument(store, key, signal ? { signal } : {}).catch(ignoreUnreadable);
  const { id: own, revision, bump, ...rest } = noteSchema.safeParse(document).data ?? {};
  return {
    ...{ id: idOr(id, own), clusterId, ...rest },
    ...(isPlausible(revision) && revision > 0 && { revision }),
    ...(isPlausible(bump) && { bump }),
  };
}

/** Reads all notes with the same cluster id, next to any snapshot. `key` is the key of one of them. */
export async function notesBeside(store: Store, key: string, signal: AbortSignal) {
  const folder = key.slice(0, key.lastIndexOf('/') + 1);
  const [suffix, clusterId] = NOTE.exec(key)!;
  const keys: string[] = [];
  for await (const { key: each } of store.list(folder, { signal })) if (each.endsWith(suffix)) keys.push(each);
  const named = keys.map((each) => ({
    id: idOr(OUTSIDE, each.slice(folder.length, -suffix.length)),
    clusterId: clusterId!,
    key: each,
  }));
  return Promise.all(named.map((each) => readNote(store, each, signal)));
}

/** Ignores a note that is in cold storage, encrypted with a revoked key, or deleted meanwhile: its name still gives the cluster id. */
function ignoreUnreadable(error: unknown): undefined {
  const codes: number[] = [ExitCode.storeRefused, ExitCode.nothingThere];
  if (!(error instanceof AgentError) || !codes.includes(error.exitCode)) throw error;
}
