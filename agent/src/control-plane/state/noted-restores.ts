import * as z from 'zod/mini';
import { isRestoreNote, readDocument, restoredCluster, restoreNote } from '../../backup/catalog/catalog.ts';
import { isId } from '../../backup/catalog/snapshot-id.ts';
import { isPlausible } from '../../backup/payload/plausible-revision.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import type { Store } from '../../store/store.ts';

/** Note of a restore in the store. What an older or damaged note does not say is undefined. */
export interface RestoreNote {
  readonly id: string;
  readonly clusterId: string;
  /** First revision of the restored cluster. */
  readonly revision?: number | undefined;
  readonly bump?: number | undefined;
  readonly token?: string | undefined;
  readonly at?: string | undefined;
}

const noteSchema = z.object({
  // Set if the restored snapshot is not in a folder, so that its note is stored next to another snapshot.
  id: z.optional(z.string()),
  at: z.optional(z.string()),
  revision: z.optional(z.number()),
  bump: z.optional(z.number()),
  token: z.optional(z.string()),
});

const OUTSIDE = 'a snapshot outside the folder';
/** The id of a note, which may be forged: it is printed, and suggested as a name. */
const idOr = (other: string, id: string | undefined) => (id !== undefined && isId(id) ? id : other);

/** Keys of the notes of restores, also of single members, as far as the store lists them. */
export async function noteKeysIn(store: Store, prefix: string, signal: AbortSignal): Promise<string[]> {
  const keys: string[] = [];
  const list = async () => {
    for await (const { key } of store.list(prefix, { signal })) if (isRestoreNote(key)) keys.push(key);
  };
  await unlessAborted(list(), signal).catch(() => {});
  return keys;
}

/** Reads the notes among these keys, as far as the store gives them out. */
export async function readNotes(store: Store, keys: readonly string[], signal: AbortSignal): Promise<RestoreNote[]> {
  const notes = keys.filter(isOfCluster);
  const found = await Promise.all(notes.map((key) => readNote(store, key, signal).catch(() => [])));
  return found.flat();
}

/** Reads all notes of a cluster, next to any snapshot. `key` is the key of one of them. */
export async function notesBeside(store: Store, key: string, signal: AbortSignal): Promise<RestoreNote[]> {
  const keys = (await keysBeside(store, key, signal)).filter(isOfCluster);
  return Promise.all(keys.map((each) => readNote(store, each, signal)));
}

/** As `notesBeside`, and the notes of the single members, which say the same of their restore. */
export async function allNotesBeside(
  store: Store,
  key: string,
  signal: AbortSignal,
): Promise<Pick<RestoreNote, 'id' | 'bump'>[]> {
  const keys = await keysBeside(store, key, signal);
  const ofCluster = await Promise.all(keys.filter(isOfCluster).map((each) => readNote(store, each, signal)));
  const members = keys.filter((each) => !isOfCluster(each));
  const ofMembers = await Promise.all(members.map((each) => readFields(store, each, signal)));
  return [...ofCluster, ...ofMembers.flatMap(({ id, bump }) => (id !== undefined && isId(id) ? [{ id, bump }] : []))];
}

const isOfCluster = (key: string): boolean => restoredCluster(key) !== undefined;

async function keysBeside(store: Store, key: string, signal: AbortSignal): Promise<string[]> {
  const clusterId = restoredCluster(key);
  const keys: string[] = [];
  for await (const { key: each } of store.list(folderOfKey(key), { signal }))
    if (restoreNote.exec(each)?.[1] === clusterId) keys.push(each);
  return keys;
}

const folderOfKey = (key: string): string => key.slice(0, key.lastIndexOf('/') + 1);

export async function readNote(store: Store, key: string, signal: AbortSignal): Promise<RestoreNote> {
  const [suffix, clusterId] = restoreNote.exec(key)!;
  const { id, revision, bump, token, at } = await readFields(store, key, signal);
  return {
    id: idOr(idOr(OUTSIDE, key.slice(folderOfKey(key).length, -suffix.length)), id),
    clusterId: clusterId!,
    revision: isPlausible(revision) && revision > 0 ? revision : undefined,
    bump,
    token,
    at,
  };
}

async function readFields(store: Store, key: string, signal: AbortSignal): Promise<z.infer<typeof noteSchema>> {
  const document = await unlessAborted(readDocument(store, key, { signal }), signal).catch(ignoreUnreadable);
  const { bump, ...fields } = noteSchema.safeParse(document).data ?? {};
  return { ...fields, bump: isPlausible(bump) ? bump : undefined };
}

/** Ignores a note that is in cold storage, encrypted with a revoked key, or deleted meanwhile: its name still gives the cluster id. */
function ignoreUnreadable(error: unknown): undefined {
  const codes: number[] = [ExitCode.storeRefused, ExitCode.nothingThere];
  if (!(error instanceof AgentError) || !codes.includes(error.exitCode)) throw error;
}
