import { AgentError, ExitCode, type Warn } from '../../../lib/errors.ts';
import type { Finding } from '../../../lib/finding.ts';
import { isTimeout } from '../../../lib/limits/timed-out-error.ts';
import { unlessAborted } from '../../../lib/limits/unless-aborted.ts';
import { callCounter } from '../../../lib/memory.ts';
import { budgetOf, type CallOptions, type Store } from '../../../store/store.ts';
import { PAYLOAD } from '../catalog.ts';
import { isSnapshotId, splitName } from '../snapshot-id.ts';
import { folderOf, isCluster, isNamespace, type NamedCluster } from './folder.ts';
import type { WantedSnapshots } from './identity.ts';

export interface LocateOptions extends CallOptions {
  readonly warn: Warn;
}

/**
 * Finds the folder of a cluster if no namespace is given: the one folder of its name. Throws `refused` if there are
 * several.
 */
export async function locate(store: Store, wanted: WantedSnapshots, options: LocateOptions): Promise<WantedSnapshots> {
  const { cluster, namespace } = wanted;
  if (namespace === '') return { ...wanted, namespace: undefined };
  if (namespace !== undefined) return wanted;
  const all = await unlessAborted(listFolders(store, options), options.signal).catch(async (error) => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    // The credentials may allow listing of the cluster's own folder only.
    if (!(await unlessAborted(hasObjects(store, folderOf({ cluster }), options), options.signal))) {
      const message = `${error.message}, so the folder of ${cluster} cannot be found`;
      throw new AgentError(error.exitCode, message, { finding: { kind: 'namespaceUnknown' } });
    }
    const unchecked = `cannot check whether a namespace also has a cluster ${cluster}: ${error.message}`;
    options.warn(unchecked, { kind: 'namespaceUnchecked' });
    return [];
  });
  const folders = all.filter((each) => each.cluster === cluster);
  // A folder whose manifests are lost may still be the one that is wanted.
  const holding = folders.filter(({ count, payloads }) => count + payloads > 0);
  const found = holding.length > 0 ? holding : folders;
  for (const passed of folders.filter((each) => !found.includes(each))) {
    options.warn(`${store.url}: ${described(passed)} is ignored`);
  }
  if (found.length < 2) return { ...wanted, namespace: found[0]?.namespace };
  const namespaces = found.map((each) => each.namespace ?? '').sort();
  const tooDeep = namespaces.includes(cluster) ? cluster : undefined;
  throw new AgentError(
    ExitCode.refused,
    `${store.url} holds snapshots of ${found.length} clusters named ${cluster}: ${found.map(described).sort().join(', ')}`,
    { finding: { kind: 'severalFolders', namespaces, tooDeep } },
  );
}

async function hasObjects(store: Store, folder: string, { signal }: CallOptions): Promise<boolean> {
  for await (const _ of store.list(`${folder}/`, { signal })) return true;
  return false;
}

function described({ folder, count, payloads }: StoreFolder): string {
  if (count > 0) return `${folder} (${count})`;
  return `${folder} (${payloads > 0 ? `${payloads} without a manifest, as a killed backup or copy leaves it` : 'no snapshot, only objects that lay beside one'})`;
}

/**
 * Throws `nothingThere` if the store's directory does not exist. For commands that only read: the first backup creates
 * the directory, so a missing one means a wrong name.
 */
export async function refuseMissing(store: Store, options: CallOptions): Promise<void> {
  if ((await store.isThere?.(options)) !== false) return;
  throw new AgentError(ExitCode.nothingThere, `${store.url}: the directory does not exist`, {
    finding: { kind: 'noDirectory' },
  });
}

/** Milliseconds. What stands elsewhere is not worth a longer wait. */
export const LIMIT = 10_000;

export interface LookOptions extends CallOptions {
  /** Milliseconds. */
  readonly limit?: number;
}

/**
 * For a command that found no snapshot: the folders that the store has for the same name in other namespaces, otherwise all
 * folders. Undefined if there are none, or if they cannot be listed within `limit`: this never changes the outcome of a command.
 */
export async function otherFolders(
  store: Store,
  wanted: NamedCluster,
  { signal, limit = LIMIT }: LookOptions,
): Promise<Finding | undefined> {
  const within = limited(store, signal, limit);
  const counts = await unlessAborted(listFolders(store, { signal: within }), within).catch(() => {
    if (signal && !isTimeout(signal)) signal.throwIfAborted();
    return [];
  });
  const others = counts.filter(({ folder }) => folder !== folderOf(wanted));
  // Otherwise the folder is the right one.
  if (others.length === 0 || others.length < counts.length) return undefined;
  const namesakes = others.filter(({ cluster }) => cluster === wanted.cluster);
  const isNamesake = namesakes.length > 0;
  return { kind: 'elsewhere', folders: (isNamesake ? namesakes : others).map(described).sort(), isNamesake };
}

/**
 * Returns which cluster has a snapshot that another has not. Undefined if none has it, or if that is not known in time.
 */
export async function holderOf(
  store: Store,
  id: string,
  wanted: NamedCluster,
  { signal, limit = LIMIT }: LookOptions,
): Promise<NamedCluster | undefined> {
  const within = limited(store, signal, limit);
  const find = async () => {
    for await (const { key } of store.list('', { signal: within })) {
      const owner = key.endsWith(`/${id}.json`) ? ownerOfKey(key) : undefined;
      if (owner && folderOf(owner) !== folderOf(wanted)) return owner;
    }
    return undefined;
  };
  return unlessAborted(find(), within).catch(() => {
    if (signal && !isTimeout(signal)) signal.throwIfAborted();
    return undefined;
  });
}

/** A run with a time limit gives only a part of the time that is left. */
export const limited = (store: Store, signal: AbortSignal | undefined, limit: number): AbortSignal =>
  AbortSignal.any([budgetOf(store).wait(limit).signal, ...(signal ? [signal] : [])]);

/** The cluster in whose folder an object lies. Undefined if no cluster can have this folder. */
function ownerOfKey(key: string): NamedCluster | undefined {
  const [, cluster, namespace, ...more] = key.split('/').reverse();
  const isFolder = cluster && isCluster(cluster) && more.length === 0;
  return isFolder && (namespace === undefined || isNamespace(namespace)) ? { cluster, namespace } : undefined;
}

export interface StoreFolder extends NamedCluster {
  readonly folder: string;
  /** Number of manifests. */
  count: number;
  payloads: number;
}

/** The folders that hold what may be snapshots. */
export async function listFolders(store: Store, { signal }: CallOptions): Promise<StoreFolder[]> {
  const found = new Map<string, StoreFolder>();
  const countObject = callCounter(2_000);
  for await (const { key } of store.list('', { signal })) {
    countObject();
    const owner = ownerOfKey(key);
    const split = owner && splitName(key.slice(key.lastIndexOf('/') + 1));
    if (!split || !(split.suffix === '.json' || isSnapshotId(split.id))) continue;
    const folder = folderOf(owner);
    const known = found.get(folder) ?? { ...owner, folder, count: 0, payloads: 0 };
    found.set(folder, known);
    if (split.suffix === '.json') known.count++;
    else if (PAYLOAD.test(split.suffix)) known.payloads++;
  }
  return [...found.values()];
}
