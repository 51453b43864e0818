import { resolve } from 'node:path';
import {
  clusterOfMember,
  type Entry,
  isMemberNote,
  looseNoteKey,
  manifestKey,
  orNothing,
  readDocument,
  restoreNoteKey,
} from '../../backup/catalog/catalog.ts';
import { folderOf } from '../../backup/catalog/identity/folder.ts';
import { isId } from '../../backup/catalog/snapshot-id.ts';
import { knownRevisionOf } from '../../backup/payload/plausible-revision.ts';
import type { DataDirResult } from '../../backup/restore/restore.ts';
import { type DataDirRequest, type Marker, readMarker } from '../../backup/restore/restore-marker.ts';
import { nextToken } from '../../backup/restore/token.ts';
import { notesBeside, type RestoreNote } from '../../control-plane/state/noted-restores.ts';
import { clusterIdOf, idsOf, membersOf } from '../../etcd/offline/cluster-id.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import type { Store } from '../../store/store.ts';
import { said } from '../advice/advice.ts';
import type { CommandContext } from '../cli/command.ts';
import { answeringOf } from '../shared/answering.ts';
import { NOTE_LIMIT, noteKey, writeNote } from '../shared/note-restore.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { bumpFlag, sha256Flag } from '../shared/snapshot-flags.ts';

export type ReadEntry = Entry & Required<Pick<Entry, 'manifest'>>;

/**
 * Keys of the note about a restore. The first lies in the folder, where the other members look. A snapshot outside the folder
 * may have one beside it too, for a later restore from there.
 */
export async function noteKeys(
  entry: Entry,
  opened: OpenedStore,
  clusterId: string,
  context: CommandContext,
): Promise<[string, ...string[]]> {
  const folder = folderOf(opened);
  const key = await noteKey(entry, opened, clusterId, () => answeringOf(opened, context));
  const isBesideExact =
    entry.manifestKey !== manifestKey(folder, entry.id) && key === restoreNoteKey(entry.manifestKey, clusterId);
  return isBesideExact ? [looseNoteKey(folder, clusterId), key] : [key];
}

export const noteOf = (
  { id, clusterId = '', revision, bumpRevision: bump, initialClusterToken: token }: Marker,
  { manifest }: ReadEntry,
) => ({
  ...{ id, clusterId, bump, from: manifest.source.clusterId },
  revision,
  token,
});

/**
 * Writes a note before the restore and compares it with those of the other members. Members that are restored at the same time
 * do not see each other's notes before. Without a note, only flags can fix what all members restore. Returns what removes the
 * note again if the restore fails.
 */
export async function claim(
  made: Marker,
  opened: OpenedStore,
  context: CommandContext,
  entry: ReadEntry,
): Promise<() => Promise<void>> {
  const { store } = opened;
  const { id, clusterId = '', bumpRevision: bump } = made;
  const { signal } = context.budget.wait(NOTE_LIMIT);
  const created: string[] = [];
  const undo = () => removeNotes(store, created).catch(() => {});
  const otherBeside = (key: string) => otherNote(store, key, made, signal);
  let other: Awaited<ReturnType<typeof otherBeside>>;
  try {
    const keys = await noteKeys(entry, opened, clusterId, context);
    other = await otherBeside(keys[0]);
    if (!other) {
      for (const key of keys) if (await writeNote(store, { ...noteOf(made, entry), key }, signal)) created.push(key);
      other = await otherBeside(keys[0]);
    }
  } catch (error) {
    if (!context.signal.aborted && isFixed(context)) {
      // The warning follows after the member is restored.
      return undo;
    }
    await undo();
    context.signal.throwIfAborted();
    throw cannotNote(error, entry, bump);
  }
  if (!other) return undo;
  await undo();
  throw new MixedError({ id, clusterId, bump, token: made.initialClusterToken }, other);
}

type OtherNote = Pick<RestoreNote, 'id' | 'bump'>;

/**
 * Finds a note of this cluster, or of one of its members, that differs from what this member was restored from. A store without
 * conditional writes may replace the note of the cluster by a later one: each member compares before its restore, and again
 * after its own note, so that of two with different numbers one sees the other.
 */
export async function otherNote(
  store: Store,
  key: string,
  { id, bumpRevision: bump }: Pick<Marker, 'id' | 'bumpRevision'>,
  signal: AbortSignal,
): Promise<OtherNote | undefined> {
  const differs = (note: OtherNote) => note.id !== id || (note.bump ?? bump) !== bump;
  return (await notesBeside(store, key, signal)).find(differs);
}

/** Two members of one cluster were restored from different data. */
export class MixedError extends AgentError {
  constructor(own: Omit<RestoreNote, 'revision'>, other: OtherNote) {
    const number = other.bump === undefined ? '' : ` with --bump-revision=${other.bump}`;
    super(
      ExitCode.refused,
      `another member was restored from ${other.id}${number} as the same cluster ${own.clusterId}, this one from ${own.id} with ${own.bump}; pass one id, one --bump-revision and the same new --initial-cluster-token to all members, for example ${nextToken([own.id, other.id].sort().join(), own.token)}`,
    );
  }
}

const cannotNote = (error: unknown, { manifest }: ReadEntry, bump: number) =>
  new AgentError(
    ExitCode.refused,
    `cannot note the restore in the store (${said(error)}), where the other members compare theirs with it; pass --sha256=${manifest.content.sha256} and --bump-revision=${bump} to all members`,
  );

/** The number that the members agree on. `undo` removes the note of it if the restore fails. */
export interface Agreed {
  readonly bump: number;
  readonly undo: () => Promise<void>;
}

/** Agrees on one number with the other members, which may be restored at the same time: the first one to note it decides. */
export async function agree(
  bump: number,
  entry: ReadEntry,
  { initialCluster, initialClusterToken: token = '' }: DataDirRequest,
  opened: OpenedStore,
  context: CommandContext,
): Promise<Agreed> {
  const { id, manifest } = entry;
  const { store } = opened;
  const clusterId = clusterIdOf(initialCluster, token) ?? '';
  const { signal } = context.budget.wait(NOTE_LIMIT);
  const revision = knownRevisionOf(manifest);
  const own = { id, clusterId, bump, token, from: manifest.source.clusterId };
  const document = revision === undefined ? own : { ...own, revision: revision + bump };
  const created: string[] = [];
  const undo = () => removeNotes(store, created).catch(() => {});
  const noted = async () => {
    const keys = await noteKeys(entry, opened, clusterId, context);
    for (const key of keys) if (await writeNote(store, { ...document, key }, signal)) created.push(key);
    return notesBeside(store, keys[0], signal);
  };
  let notes: readonly RestoreNote[];
  try {
    notes = await unlessAborted(noted(), signal);
  } catch (error) {
    await undo();
    context.signal.throwIfAborted();
    throw cannotNote(error, entry, bump);
  }
  const other = notes.find((note) => note.id !== id);
  if (!other) return { bump: notes.find((note) => note.bump !== undefined)?.bump ?? bump, undo };
  await undo();
  throw new MixedError(own, other);
}

/** Whether the flags fix the data: the same flags give every member the same snapshot and revision. */
const isFixed = ({ settings }: CommandContext) =>
  sha256Flag(settings) !== undefined && bumpFlag(settings) !== undefined;

/**
 * Returns the id of the snapshot that another member, or this one, was restored from as the same cluster. Undefined if none was,
 * null if the store does not say so in time.
 */
export async function begunWith(
  entry: Entry,
  { dataDir, initialCluster, initialClusterToken: token }: DataDirRequest,
  opened: OpenedStore,
  context: CommandContext,
): Promise<string | undefined | null> {
  const clusterId = token === undefined ? undefined : clusterIdOf(initialCluster, token);
  if (clusterId === undefined) return undefined;
  const marker = await readMarker(resolve(dataDir)).catch(() => undefined);
  if (marker?.clusterId === clusterId) return marker.id;
  const notes = await notesOf(entry, clusterId, opened, context);
  return notes ? notes.find(({ id }) => isId(id))?.id : null;
}

/** Whether the store has a note that a cluster of this id was restored. Undefined if it does not say so in time. */
export const isNoted = async (...of: Parameters<typeof notesOf>): Promise<boolean | undefined> => {
  const notes = await notesOf(...of);
  return notes && notes.length > 0;
};

async function notesOf(entry: Entry, clusterId: string, opened: OpenedStore, context: CommandContext) {
  const { signal } = context.budget.wait(NOTE_LIMIT);
  try {
    const [key] = await noteKeys(entry, opened, clusterId, context);
    return await unlessAborted(notesBeside(opened.store, key, signal), signal);
  } catch {
    context.signal.throwIfAborted();
    return undefined;
  }
}

/** The peer URLs of a member, in a form that can be compared. */
export const peerUrlsOf = (initialCluster: string, name: string): string =>
  [...(membersOf(initialCluster).get(name) ?? [])].sort().join();

/** The other members of which the store has a note. */
export interface NotedOthers {
  readonly count: number;
  /** Names of members that were restored again since then, as members of another cluster. They do not count. */
  readonly again: readonly string[];
}

/** Finds the notes of the other members. Undefined if the store does not say so. */
export async function notedOthers(
  { name, initialCluster }: DataDirRequest,
  { clusterId = '', token = '' }: DataDirResult,
  opened: OpenedStore,
  context: CommandContext,
): Promise<NotedOthers | undefined> {
  const { signal } = context.budget.wait(NOTE_LIMIT);
  const { store } = opened;
  try {
    const keys: string[] = [];
    for await (const { key: each } of store.list(`${folderOf(opened)}/`, { signal })) keys.push(each);
    const foreign = keys.filter((each) => ![undefined, clusterId].includes(clusterOfMember(each)));
    const read = (each: string) => orNothing(readDocument(store, each, { signal }));
    const since = await Promise.all(foreign.map(read));
    const others = [...(idsOf(initialCluster, token)?.memberIds ?? [])].filter(([member]) => member !== name);
    /** A member of another cluster may have the same name. The note of an older agent has no URLs. */
    const isOf = (note: Record<string, unknown> | undefined, member: string) =>
      note?.name === member && [undefined, peerUrlsOf(initialCluster, member)].includes(note.peerUrls as string);
    const noted = others.flatMap(([member, id]) => {
      const own = keys.find((each) => isMemberNote(each, clusterId, id));
      return own === undefined ? [] : [{ member, own }];
    });
    const again: string[] = [];
    for (const { member, own } of foreign.length > 0 ? noted : []) {
      const at = timeOf(await read(own));
      if (since.some((note) => isOf(note, member) && timeOf(note) >= at)) again.push(member);
    }
    return { count: noted.length - again.length, again };
  } catch {
    return undefined;
  }
}

const timeOf = (note: Record<string, unknown> | undefined): number => Date.parse(String(note?.at));
const memberNotes = (noteKey: string) => noteKey.replace(/\.json$/, '-');

/** Removes notes of this run, unless another member was restored since and relies on them. */
async function removeNotes(store: Store, [first, ...more]: readonly string[]): Promise<void> {
  if (first === undefined) return;
  // The run may have ended because of its own signal.
  const options = { signal: AbortSignal.timeout(NOTE_LIMIT) };
  for await (const _ of store.list(memberNotes(first), options)) return;
  for (const key of [first, ...more]) await store.delete(key, options);
}
