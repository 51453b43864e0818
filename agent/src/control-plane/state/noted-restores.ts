import * as z from 'zod/mini';
import {
  clusterOfMember,
  isRestoreNote,
  readDocument,
  restoredCluster,
  restoreNote,
} from '../../backup/catalog/catalog.ts';
import { isId } from '../../backup/catalog/snapshot-id.ts';
import { isPlausible } from '../../backup/payload/plausible-revision.ts';
import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import type { Store } from '../../store/store.ts';

/** Note of a restore in the store. What an older or damaged note does not say is undefined. An agreement names no revision: it has not begun. */
export interface RestoreNote {
  readonly id: string;
  /** For an agreement the hash in its name, which is not a cluster. */
  readonly clusterId: string;
  /** First revision of the restored cluster. */
  readonly revision?: number | undefined;
  readonly bump?: number | undefined;
  readonly token?: string | undefined;
  /** Its nodes mark it once its cluster has served. Those of an older agent do not. */
  readonly marksServing?: boolean | undefined;
}

const noteSchema = z.object({
  // Set if the restored snapshot is not in a folder, so that its note is stored next to another snapshot.
  id: z.optional(z.string()),
  revision: z.optional(z.number()),
  bump: z.optional(z.number()),
  token: z.optional(z.string()),
  marksServing: z.optional(z.boolean()),
});

const OUTSIDE = 'a snapshot outside the folder';
/** The id of a note, which may be forged: it is printed, and suggested as a name. */
const idOr = (other: string, id: string | undefined) => (id !== undefined && isId(id) ? id : other);

/** What notes say of restores, as far as the store gives it out. */
export interface Noted {
  /** Keys of all notes, also of single members. */
  readonly noteKeys: readonly string[];
  readonly notes: readonly RestoreNote[];
  /** Why not all of them were read. */
  readonly unread: string | undefined;
}

/** Reads the notes under these prefixes. Those of single members count by their names. */
export async function notedIn(store: Store, prefixes: readonly string[], signal: AbortSignal): Promise<Noted> {
  const noteKeys: string[] = [];
  let unread: string | undefined;
  const orUnread = (work: Promise<unknown>) =>
    unlessAborted(work, signal).catch((error) => {
      unread ??= messageOf(error);
    });
  const list = async (prefix: string) => {
    for await (const { key } of store.list(prefix, { signal })) if (isRestoreNote(key)) noteKeys.push(key);
  };
  await Promise.all(prefixes.map((prefix) => orUnread(list(prefix))));
  const notes: RestoreNote[] = [];
  const read = async (key: string) => notes.push(await readNote(store, key, signal));
  await Promise.all(noteKeys.filter((key) => clusterOfMember(key) === undefined).map((key) => orUnread(read(key))));
  return { noteKeys, notes, unread };
}

/** Reads all notes of a cluster and of its members, next to any snapshot. `key` is the key of one of them. */
export async function notesBeside(store: Store, key: string, signal: AbortSignal): Promise<RestoreNote[]> {
  const clusterId = restoredCluster(key);
  const keys: string[] = [];
  for await (const { key: each } of store.list(folderOfKey(key), { signal }))
    if ([restoredCluster(each), clusterOfMember(each)].includes(clusterId)) keys.push(each);
  return Promise.all(keys.map((each) => readNote(store, each, signal)));
}

const folderOfKey = (key: string): string => key.slice(0, key.lastIndexOf('/') + 1);

export async function readNote(store: Store, key: string, signal: AbortSignal): Promise<RestoreNote> {
  const [suffix, , clusterId] = restoreNote.exec(key)!;
  const document = await unlessAborted(readDocument(store, key, { signal }), signal).catch(ignoreUnreadable);
  const { id, bump, revision, ...fields } = noteSchema.safeParse(document).data ?? {};
  return {
    ...fields,
    id: idOr(idOr(OUTSIDE, key.slice(folderOfKey(key).length, -suffix.length)), id),
    clusterId: clusterId!,
    revision: isPlausible(revision) && revision > 0 ? revision : undefined,
    bump: isPlausible(bump) ? bump : undefined,
  };
}

/** Ignores a note that is in cold storage, encrypted with a revoked key, or deleted meanwhile: its name still gives the cluster id. */
function ignoreUnreadable(error: unknown): undefined {
  const codes: number[] = [ExitCode.storeRefused, ExitCode.nothingThere];
  if (!(error instanceof AgentError) || !codes.includes(error.exitCode)) throw error;
}
