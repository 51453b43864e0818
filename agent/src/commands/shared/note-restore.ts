import {
  type Entry,
  manifestKey,
  memberNoteKey,
  putJson,
  readCatalog,
  restoreNoteKey,
} from '../../backup/catalog/catalog.ts';
import { Folder } from '../../backup/catalog/folder.ts';
import { folderOf, type NamedCluster } from '../../backup/catalog/identity/folder.ts';
import { noteKeyOf } from '../../backup/catalog/restore-notes.ts';
import { isRefused } from '../../backup/catalog/withdraw.ts';
import type { Log } from '../../lib/log.ts';
import { budgetOf, type CallOptions, type Store } from '../../store/store.ts';
import { said } from '../advice/advice.ts';
import type { CommandContext } from '../cli/command.ts';

/** A note about a restore for later backups and restores. It is stored beside the snapshot. */
interface NewNote {
  readonly key: string;
  readonly id: string;
  /** Not of an agreement. */
  readonly clusterId?: string;
  /** Cluster id of the snapshot, for the warning. */
  readonly from: string;
  /** First revision of the restored cluster. */
  readonly revision?: number;
  /** For a control plane: its other nodes recognize their restore by bump and token. */
  readonly bump?: number;
  readonly token?: string;
  /** For a control plane of several nodes: each of them marks, by the note of its member, that the cluster has served. */
  readonly marksServing?: boolean;
}

/**
 * Key of the note: beside the snapshot in its folder. A snapshot under an exact key is not in the catalog, so its note lies
 * beside the newest snapshot of the same line. Without such a snapshot it lies beside the exact key: another restore from there
 * must still find the revisions of this one.
 */
export async function noteKey(
  entry: Entry,
  named: NamedCluster,
  clusterId: string,
  readAll: () => Promise<readonly Entry[]>,
): Promise<string> {
  const isInFolder = entry.manifestKey === manifestKey(folderOf(named), entry.id);
  const beside = noteKeyOf(entry, isInFolder ? [entry] : await readAll(), named, clusterId);
  return beside ?? restoreNoteKey(entry.manifestKey, clusterId);
}

/** Longest time in milliseconds that the notes of a restore hold it up. */
export const NOTE_LIMIT = 10_000;

/**
 * Key of the note for a snapshot that may have been deleted since it was read, for example by retention. The note then
 * belongs beside the newest snapshot of the same line.
 */
export async function noteKeyNow(
  store: Store,
  entry: Entry,
  named: NamedCluster,
  clusterId: string,
  options: CallOptions,
): Promise<string> {
  let all: Promise<readonly Entry[]> | undefined;
  const readAll = () => {
    all ??= readCatalog(new Folder(store, folderOf(named), options.signal), { until: budgetOf(store).answers() });
    return all;
  };
  const isThere = (await store.stat(entry.manifestKey, options)) !== undefined;
  const besideNewest = isThere ? undefined : noteKeyOf(entry, await readAll(), named, clusterId);
  // An empty listing more likely means an unreachable store than an empty one: the failed write is then reported.
  return besideNewest ?? noteKey(entry, named, clusterId, readAll);
}

/**
 * Writes a note unless there is one: another member may have been first, or an earlier run that was killed later. Returns whether
 * it was written.
 */
export async function writeNote(
  store: Store,
  { key, from: _, ...note }: NewNote,
  signal: AbortSignal,
): Promise<boolean> {
  // Check first: with credentials that only allow reading, an existing note is enough.
  if (await store.stat(key, { signal }).catch(() => undefined)) return false;
  const document = { schema: 'cdk8s-etcd/restore/v1', ...note, at: new Date().toISOString() };
  try {
    await putJson(store, key, document, { signal, onlyNew: true });
    return true;
  } catch (error) {
    if (!isRefused(error)) throw error;
    return false;
  }
}

/**
 * Notes that a member was restored and may have voted, so that this is known even if the member loses its disk. The node of a
 * control plane notes it once the cluster has served. A later restore as the same member replaces the note; with credentials that
 * only allow reading, an existing one is enough.
 */
export async function writeMemberNote(
  store: Store,
  key: string,
  member: Readonly<Record<'id' | 'clusterId' | 'memberId' | 'name' | 'peerUrls' | 'at', string>> & {
    readonly bump?: number | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const document = { schema: 'cdk8s-etcd/restored-member/v1', ...member };
  const at = memberNoteKey(key, member.memberId);
  await putJson(store, at, document, { signal }).catch(async (error) => {
    if (!(await store.stat(at, { signal }).catch(() => undefined))) throw error;
  });
}

/**
 * Writes a note so that later backups of the restored cluster treat the snapshots of the old one as its own history.
 * Logs a warning and returns false if the note cannot be written.
 */
export async function noteRestore(
  store: Store,
  note: NewNote,
  { signal, log }: Pick<CommandContext, 'signal' | 'log'>,
): Promise<boolean> {
  try {
    await writeNote(store, note, signal);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    warnNotNoted(note.from, error, log);
    return false;
  }
}

export const warnNotNoted = (from: string, error: unknown, log: Log, others = ''): void =>
  log.warn(
    `cannot note the restore in the store (${said(error)})${from === 'unknown' ? '' : `; pass --restored-from ${from} to the next backup`}${others}`,
  );
