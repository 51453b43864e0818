import * as z from 'zod/mini';
import { type Entry, readDocument } from '../../backup/catalog/catalog.ts';
import { revisionOf } from '../../backup/catalog/manifest.ts';
import { timeOf } from '../../backup/catalog/passed-over.ts';
import { BUMP_STEP, HIGHEST_REVISION } from '../../backup/restore/bump-beyond.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Store } from '../../store/store.ts';

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
}

/** Note of a restore, from the store or from this node's journals. */
export interface RestoreNote {
  readonly id: string;
  readonly clusterId: string;
  /** First revision of the restored cluster. Undefined if the command that wrote the note did not know it. */
  readonly revision?: number;
  readonly bump?: number;
  readonly token?: string;
  /** Part of this node in the restore: it served, it began (and may have undone) without serving, or none is known. */
  readonly part: 'served' | 'begun' | 'none';
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
  /** Sources whose revision is unknown and may be higher. */
  readonly unknown: readonly string[];
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
  /** The snapshot to restore. Its revision will be known from its content. */
  readonly restored: Entry;
  readonly here: readonly Seen[];
  readonly own: readonly OwnRestore[];
  readonly signal?: AbortSignal;
  /** A note that cannot be read for any reason counts by its name alone. */
  readonly skipUnread?: boolean;
}

/** Collects every revision that is known to have been served, and the sources whose revision is unknown. */
export async function servedBefore({
  store,
  entries,
  restored,
  here,
  own,
  signal,
  skipUnread = false,
}: ServedRequest): Promise<Served> {
  const inStore = entries.flatMap(({ id: backup, manifest }) => {
    const revision = manifest && revisionOf(manifest);
    return revision === undefined
      ? []
      : [{ revision, where: `the backup ${backup}`, clusterId: manifest!.source.clusterId }];
  });
  const stored = await notesIn(store, entries, signal, skipUnread);
  const alive = new Set(here.filter(({ hasQuorum }) => hasQuorum).map(({ clusterId }) => clusterId));
  const notes = [...stored, ...own.map((each) => ({ ...each, at: undefined }))].map(({ at, ...note }) => ({
    ...note,
    part: partIn(own, note),
    isRecent: at !== undefined && Math.abs(Date.now() - Date.parse(at)) < HOUR,
    isAlive: alive.has(note.clusterId),
  }));
  const unknown = [...backupsUnread(entries, restored), ...notesUnread(entries, notes)];
  return { inStore, here, notes, unknown };
}

/**
 * Returns the highest revision that the backups in the store and the notes of earlier restores know of; 0 for none. A note
 * that cannot be read, or that does not know its revision, counts as a restore that began one step beyond what is known.
 */
export async function highestInStore({
  warn,
  ...request
}: Pick<ServedRequest, 'store' | 'entries' | 'restored' | 'signal'> & {
  readonly warn?: (line: string) => void;
}): Promise<number> {
  const { inStore, notes, unknown } = await servedBefore({ ...request, here: [], own: [], skipUnread: true });
  for (const line of unknown) warn?.(`the highest revision that was served is a guess: ${line}`);
  const revisions = [...inStore, ...notes].map(({ revision }) => revision ?? 0);
  const highest = Math.max(0, ...revisions.filter((revision) => revision <= HIGHEST_REVISION));
  const guessed = notesUnread(request.entries, notes).length;
  return highest + guessed * BUMP_STEP;
}

const HOUR = 3_600_000;

const partIn = (own: readonly OwnRestore[], { clusterId }: { clusterId: string }): RestoreNote['part'] => {
  const [mine] = own
    .filter((each) => each.clusterId === clusterId)
    .sort((a, b) => Number(b.hasServed) - Number(a.hasServed));
  if (!mine) return 'none';
  return mine.hasServed ? 'served' : 'begun';
};

const knowsRevision = ({ manifest }: Entry): boolean => manifest !== undefined && revisionOf(manifest) !== undefined;

/** Backups with an unknown revision that are newer than every backup with a known one. Older backups have lower revisions. */
function backupsUnread(entries: readonly Entry[], restored: Entry): string[] {
  const isKnown = (entry: Entry) => entry.id === restored.id || knowsRevision(entry);
  const newest = Math.max(timeOf(restored), ...entries.filter(isKnown).map(timeOf));
  return entries
    .filter((entry) => !isKnown(entry) && timeOf(entry) >= newest)
    .map(({ id, problem }) => `${id} was taken later, and ${problem ?? 'its revision is unknown'}`);
}

function notesUnread(
  entries: readonly Entry[],
  notes: readonly Pick<RestoreNote, 'id' | 'clusterId' | 'revision'>[],
): string[] {
  const known = entries.filter(knowsRevision);
  const hasBackup = (clusterId: string) =>
    known.some(
      ({ manifest }) => manifest?.source.clusterId === clusterId || manifest?.cluster.lineage?.includes(clusterId),
    );
  return notes
    .filter(({ revision, clusterId }) => revision === undefined && !hasBackup(clusterId))
    .map(({ id, clusterId }) => `${id} was restored as the cluster ${clusterId}, which has no backup`);
}

const noteSchema = z.object({
  // Set if the restored snapshot is not in a folder, so that its note is stored next to another snapshot.
  id: z.optional(z.string()),
  at: z.optional(z.string()),
  revision: z.optional(z.int()),
  bump: z.optional(z.int()),
  token: z.optional(z.string()),
});

const NOTE = /\.restored-([0-9a-f]+)\.json$/;

async function notesIn(store: Store, entries: readonly Entry[], signal: AbortSignal | undefined, skipUnread: boolean) {
  const found = entries.flatMap(({ id, objects }) =>
    objects.flatMap(({ key }) => {
      const [, clusterId] = NOTE.exec(key) ?? [];
      return clusterId === undefined ? [] : [{ id, clusterId, key }];
    }),
  );
  return Promise.all(
    found.map((each) =>
      readNote(store, each, signal).catch((error) => {
        if (!skipUnread) throw error;
        return { id: each.id, clusterId: each.clusterId, at: undefined };
      }),
    ),
  );
}

async function readNote(
  store: Store,
  { id, clusterId, key }: { readonly id: string; readonly clusterId: string; readonly key: string },
  signal: AbortSignal | undefined,
) {
  const document = await readDocument(store, key, signal ? { signal } : {}).catch(ignoreUnreadable);
  return { id, clusterId, ...noteSchema.safeParse(document).data };
}

/** Reads all notes with the same cluster id, next to any snapshot. `key` is the key of one of them. */
export async function notesBeside(store: Store, key: string, signal: AbortSignal) {
  const folder = key.slice(0, key.lastIndexOf('/') + 1);
  const [suffix, clusterId] = NOTE.exec(key)!;
  const keys: string[] = [];
  for await (const { key: each } of store.list(folder, { signal })) if (each.endsWith(suffix)) keys.push(each);
  const named = keys.map((each) => ({
    id: each.slice(folder.length, -suffix.length),
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
