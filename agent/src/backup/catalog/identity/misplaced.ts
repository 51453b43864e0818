import type { Misplaced } from '../../../lib/finding.ts';
import { isTimeout } from '../../../lib/limits/timed-out-error.ts';
import { unlessAborted } from '../../../lib/limits/unless-aborted.ts';
import { callCounter } from '../../../lib/memory.ts';
import type { Store } from '../../../store/store.ts';
import { type Entry, exactManifestKey, isOfExactKey, isValidKey, manifestKey, readManifest } from '../catalog.ts';
import { isSnapshotId, isSnapshotName, splitName } from '../snapshot-id.ts';
import { folderOf, misplacedManifest, type NamedCluster } from './folder.ts';
import { isOf } from './identity.ts';
import { LIMIT, type LookOptions, limited } from './locate.ts';

/** Folders whose manifest is read. */
const READ = 5;

export interface Around {
  /** Undefined if every snapshot lies where it belongs, as far as this is known in time. */
  readonly misplaced?: Misplaced;
  /** The first names in the store. Empty if it has no object at all, undefined if that is not known. */
  readonly names?: readonly string[];
  /** Whether the folder of the cluster has any object. */
  readonly hasFolder?: boolean;
  /** An exact key with a snapshot of the cluster, or of any if none is wanted. */
  readonly exactKey?: string;
  /** Files in the root of the store that have the ending of a snapshot and no manifest, the last name first. */
  readonly loose?: readonly string[];
}

/** Names in a hint. */
const SHOWN = 3;

/**
 * What a store without a snapshot of the cluster has instead: snapshots whose manifests belong into another folder, so
 * that the path of the store is too deep or too high, or other files.
 */
export async function lookAround(
  store: Store,
  wanted: NamedCluster,
  { signal, limit = LIMIT }: LookOptions,
): Promise<Around> {
  const within = limited(store, signal, limit);
  const look = async (): Promise<Around> => {
    // Names of the user's, as adopted files have them, may also be those of other programs' files.
    const [lastOwn, lastOther] = [new Map<string, string>(), new Map<string, string>()];
    const names: string[] = [];
    const exact: string[] = [];
    const root = new Set<string>();
    let hasFolder = false;
    const countObject = callCounter(2_000);
    for await (const { key } of store.list('', { signal: within })) {
      countObject();
      if (names.length < SHOWN) names.push(key);
      hasFolder ||= key.startsWith(`${folderOf(wanted)}/`);
      const slash = key.lastIndexOf('/');
      if (slash < 0) root.add(key);
      const split = splitName(key.slice(slash + 1));
      if (key.endsWith('.json') && !isSnapshotId(split?.id ?? '') && exact.length < READ) exact.push(key);
      if (split?.suffix !== '.json') continue;
      const folder = key.slice(0, Math.max(0, slash));
      const last = isSnapshotId(split.id) ? lastOwn : lastOther;
      if ((last.get(folder) ?? '') < key) last.set(folder, key);
    }
    const isWanted = (folder: string) =>
      folder === folderOf(wanted) ? 2 : Number(folder === '' || `/${folder}`.endsWith(`/${wanted.cluster}`));
    for (const last of [lastOwn, lastOther]) {
      for (const folder of [...last.keys()].sort((a, b) => isWanted(b) - isWanted(a)).slice(0, READ)) {
        const misplaced = await placeOf(store, folder, last.get(folder)!, within);
        if (misplaced) return { misplaced, names, hasFolder };
      }
    }
    for (const key of exact) {
      const exactKey = await exactKeyOf(store, key, wanted, within);
      if (exactKey !== undefined) return { names, hasFolder, exactKey };
    }
    const isLoose = (key: string) => isSnapshotName(key) && isValidKey(key) && !root.has(exactManifestKey(key));
    return { names, hasFolder, loose: [...root].filter(isLoose).sort().reverse() };
  };
  return unlessAborted(look(), within).catch(() => {
    if (signal && !isTimeout(signal)) signal.throwIfAborted();
    return {};
  });
}

/**
 * A snapshot in the folder of a cluster that belongs to another one, whose folder ends so: the store begins too deep, unless
 * the folder has whole snapshots of its own cluster.
 */
export function tooDeepAmong(entries: readonly Entry[], named: NamedCluster): Misplaced | undefined {
  for (const { id, manifest } of entries) {
    const misplaced = manifest && misplacedManifest(folderOf(named), manifest);
    if (misplaced?.above === undefined) continue;
    const isMixed = entries.some((entry) => isOf(named, entry) && entry.problem === undefined);
    return { ...misplaced, ...(isMixed && { id, isGuess: true }) };
  }
  return undefined;
}

/** Compares the folder of a manifest with the cluster that it names. */
async function placeOf(store: Store, folder: string, key: string, signal: AbortSignal): Promise<Misplaced | undefined> {
  const read = await readManifest(store, key, { signal });
  if (!read || 'problem' in read) return undefined;
  return key === manifestKey(folder || '.', read.manifest.id) ? misplacedManifest(folder, read.manifest) : undefined;
}

/** Returns the exact key whose manifest this is. */
async function exactKeyOf(
  store: Store,
  at: string,
  { cluster, namespace }: NamedCluster,
  signal: AbortSignal,
): Promise<string | undefined> {
  const read = await readManifest(store, at, { signal });
  if (!read || 'problem' in read || !isOfExactKey(at, read.manifest)) return undefined;
  const { name, namespace: own } = read.manifest.cluster;
  return cluster === '' || (cluster === name && namespace === own) ? at.replace(/\.json$/, '') : undefined;
}
