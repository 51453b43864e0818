import * as z from 'zod/mini';
import { type Entry, readDocument } from '../../backup/catalog/catalog.ts';
import { revisionOf } from '../../backup/catalog/manifest.ts';
import { timeOf } from '../../backup/catalog/passed-over.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Store } from '../../store/store.ts';

/** A revision that clients may have seen. */
export interface Seen {
  readonly revision: number;
  /** What says so. */
  readonly where: string;
  readonly clusterId?: string;
  /** Of a member that answers: it knows a leader. */
  readonly hasQuorum?: boolean;
  /** It began after the snapshot was taken: how far the cluster came before cannot be seen in it. */
  readonly isFresh?: boolean;
}

/** What a restore left in the store or in this node's journals. */
export interface RestoreNote {
  readonly id: string;
  readonly clusterId: string;
  /** With which the restored cluster began; undefined: another command noted it, which did not know. */
  readonly revision?: number;
  readonly bump?: number;
  readonly token?: string;
  /** What this node did with it: served, begun or undone without serving, or nothing that is known. */
  readonly part: 'served' | 'begun' | 'none';
  /** Noted within the last hour: other nodes may be at it. */
  readonly isRecent: boolean;
  /** A member of it answers, and has a quorum. */
  readonly isAlive: boolean;
}

export interface Served {
  /** What every node finds out. */
  readonly inStore: readonly Seen[];
  /** What only this node knows: its data, and the members that answer it. */
  readonly here: readonly Seen[];
  readonly notes: readonly RestoreNote[];
  /** What may have gone farther than all of these. */
  readonly unknown: readonly string[];
}

const NOTHING: Seen = { revision: 0, where: 'nothing' };
export const highestOf = (seen: readonly Seen[]): Seen =>
  seen.reduce((highest, each) => (each.revision > highest.revision ? each : highest), NOTHING);

/** What a restore that this node knows of came to: from a journal, or from what a killed run has made. */
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
  /** What is to be restored: its revision will be known. */
  readonly restored: Entry;
  readonly here: readonly Seen[];
  readonly own: readonly OwnRestore[];
  readonly signal?: AbortSignal;
}

/** Collects every revision that is known to have been served, and what is missing in that. */
export async function servedBefore({ store, entries, restored, here, own, signal }: ServedRequest): Promise<Served> {
  const inStore = entries.flatMap(({ id: backup, manifest }) => {
    const revision = manifest && revisionOf(manifest);
    return revision === undefined
      ? []
      : [{ revision, where: `the backup ${backup}`, clusterId: manifest!.source.clusterId }];
  });
  const stored = await notesIn(store, entries, signal);
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

/** Returns the highest revision that the backups in the store and the notes of earlier restores know of; 0 for none. */
export async function highestInStore(
  request: Pick<ServedRequest, 'store' | 'entries' | 'restored' | 'signal'>,
): Promise<number> {
  const { inStore, notes } = await servedBefore({ ...request, here: [], own: [] });
  return Math.max(0, ...inStore.map(({ revision }) => revision), ...notes.map(({ revision }) => revision ?? 0));
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

/** Those taken after the newest one of which the revision is known: what came before is below it. */
function backupsUnread(entries: readonly Entry[], restored: Entry): string[] {
  const tells = (entry: Entry) => entry.id === restored.id || knowsRevision(entry);
  const newest = Math.max(timeOf(restored), ...entries.filter(tells).map(timeOf));
  return entries
    .filter((entry) => !tells(entry) && timeOf(entry) >= newest)
    .map(({ id, problem }) => `${id} was taken since, and ${problem ?? 'does not say its revision'}`);
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
    .map(({ id, clusterId }) => `${id} was restored as the cluster ${clusterId}, of which there is no backup`);
}

const noteSchema = z.object({
  // One of a snapshot in no folder lies beside another one.
  id: z.optional(z.string()),
  at: z.optional(z.string()),
  revision: z.optional(z.int()),
  bump: z.optional(z.int()),
  token: z.optional(z.string()),
});

const NOTE = /\.restored-([0-9a-f]+)\.json$/;

async function notesIn(store: Store, entries: readonly Entry[], signal: AbortSignal | undefined) {
  const found = entries.flatMap(({ id, objects }) =>
    objects.flatMap(({ key }) => {
      const [, clusterId] = NOTE.exec(key) ?? [];
      return clusterId === undefined ? [] : [{ id, clusterId, key }];
    }),
  );
  return Promise.all(found.map((each) => readNote(store, each, signal)));
}

async function readNote(
  store: Store,
  { id, clusterId, key }: { readonly id: string; readonly clusterId: string; readonly key: string },
  signal: AbortSignal | undefined,
) {
  const document = await readDocument(store, key, signal ? { signal } : {}).catch(unlessGivenOut);
  return { id, clusterId, ...noteSchema.safeParse(document).data };
}

/** Notes of the same cluster id, beside whatever snapshot: `key` is that of one of them. */
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

/** A note in cold storage, under a key that was withdrawn, or gone meanwhile: its name says of which cluster it is. */
function unlessGivenOut(error: unknown): undefined {
  const codes: number[] = [ExitCode.storeRefused, ExitCode.nothingThere];
  if (!(error instanceof AgentError) || !codes.includes(error.exitCode)) throw error;
}
