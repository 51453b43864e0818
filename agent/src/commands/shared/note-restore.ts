import { type Entry, manifestKey, memberNoteKey, putJson, readCatalog } from '../../backup/catalog/catalog.ts';
import { isRefused } from '../../backup/catalog/claim.ts';
import { folderOf, type NamedCluster } from '../../backup/catalog/folder.ts';
import { noteKeyOf } from '../../backup/catalog/restore-notes.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import type { CommandContext } from '../cli/command.ts';

/** What later backups and restores have to know of a restore: it lies beside the snapshot. */
export interface RestoreNote {
  readonly key: string;
  readonly id: string;
  readonly clusterId: string;
  /** The cluster id of the snapshot, for the warning. */
  readonly from: string;
  /** With which the cluster begins: no later restore may come out below what it served since. */
  readonly revision?: number;
  /** Of a control plane: by these its other nodes know the restore as the one that they are part of. */
  readonly bump?: number;
  readonly token?: string;
}

/** Undefined when nothing is to be connected. */
export async function noteKey(
  entry: Entry,
  named: NamedCluster,
  clusterId: string,
  readAll: () => Promise<readonly Entry[]>,
): Promise<string | undefined> {
  const isInFolder = entry.manifestKey === manifestKey(folderOf(named), entry.id);
  return noteKeyOf(entry, isInFolder ? [entry] : await readAll(), named, clusterId);
}

/** Of one that may have been deleted since it was read, as retention does: its note lies beside the newest of its line. */
export async function noteKeyNow(
  store: Store,
  entry: Entry,
  named: NamedCluster,
  clusterId: string,
  options: CallOptions,
): Promise<string | undefined> {
  const readAll = () => readCatalog(store, folderOf(named), options);
  const isThere = (await store.stat(entry.manifestKey, options)) !== undefined;
  const elsewhere = isThere ? undefined : noteKeyOf(entry, await readAll(), named, clusterId);
  // A store that shows nothing at all is more likely away than empty: that it takes no note is said.
  return elsewhere ?? noteKey(entry, named, clusterId, readAll);
}

/** Leaves what is noted already: that run may have been killed before it came to this, or another member was first. */
export async function writeNote(
  store: Store,
  { key, from: _, ...note }: RestoreNote,
  signal: AbortSignal,
): Promise<void> {
  await putOnce(store, key, { schema: 'cdk8s-etcd/restore/v1', ...note }, signal);
}

/** A member that lost its disk so is known to have been restored, and maybe to have voted. */
export async function writeMemberNote(
  store: Store,
  key: string,
  member: { readonly id: string; readonly clusterId: string; readonly memberId: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  const document = { schema: 'cdk8s-etcd/restored-member/v1', ...member };
  await putOnce(store, memberNoteKey(key, member.memberId), document, signal);
}

async function putOnce(store: Store, key: string, document: object, signal: AbortSignal): Promise<void> {
  // Whoever may only read may find it there.
  if (await store.stat(key, { signal }).catch(() => undefined)) return;
  const dated = { ...document, at: new Date().toISOString() };
  await putJson(store, key, dated, { signal, onlyNew: true }).catch((error) => {
    if (!isRefused(error)) throw error;
  });
}

/** Later backups of the restored cluster so know the snapshots of the old one as its own past. False: it could not be noted. */
export async function noteRestore(
  store: Store,
  note: RestoreNote,
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
    `the restore could not be noted in the store (${messageOf(error)}); give --restored-from ${from} to the next backup${others}`,
  );
