import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode } from '../../../lib/errors.ts';
import { waitLimit } from '../../../lib/limits/answer-limit.ts';
import { isTimeout } from '../../../lib/limits/run-limit.ts';
import { unlessAborted } from '../../../lib/limits/unless-aborted.ts';
import { callCounter } from '../../../lib/memory.ts';
import { quoted } from '../../../lib/quoted.ts';
import type { CallOptions, Store } from '../../../store/store.ts';
import { manifestKey, PAYLOAD, readManifest } from '../catalog.ts';
import type { Manifest } from '../manifest.ts';
import { isSnapshotId, splitName } from '../snapshot-id.ts';
import { folderOf, isCluster, isNamespace, type Misplaced, misplacedManifest, type NamedCluster } from './folder.ts';
import type { Wanted } from './identity.ts';

export interface LocateOptions extends CallOptions {
  readonly warn: (message: string) => void;
}

/**
 * Finds the folder of a cluster if no namespace is given: the one folder of its name. Throws `refused` if there are
 * several.
 */
export async function locate(store: Store, wanted: Wanted, options: LocateOptions): Promise<Wanted> {
  const { cluster, namespace } = wanted;
  if (namespace === '') return { ...wanted, namespace: undefined };
  if (namespace !== undefined) return wanted;
  const all = await unlessAborted(listFolders(store, options), options.signal).catch(async (error) => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    // The credentials may allow listing of the cluster's own folder only.
    if (!(await unlessAborted(hasObjects(store, folderOf({ cluster }), options), options.signal))) {
      const advice = 'pass --namespace, or --namespace= for none';
      throw new AgentError(error.exitCode, `${error.message}, so the folder of ${cluster} cannot be found; ${advice}`);
    }
    options.warn(`cannot check whether a namespace also has a cluster ${cluster}: ${error.message}; pass --namespace`);
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
  const flags = found.map((each) => `--namespace=${each.namespace ?? ''}`);
  const nested = found.find((each) => each.namespace === cluster);
  const mistake = nested
    ? `; if ${cluster} is no namespace, a backup with a --store one folder too deep has made ${nested.folder}`
    : '';
  throw new AgentError(
    ExitCode.refused,
    `${store.url} holds snapshots of ${found.length} clusters named ${cluster}: ${found.map(described).sort().join(', ')}${mistake}; pass ${flags.sort().join(' or ')}`,
  );
}

async function hasObjects(store: Store, folder: string, { signal }: CallOptions): Promise<boolean> {
  for await (const _ of store.list(`${folder}/`, { signal })) return true;
  return false;
}

function described({ folder, count, payloads }: Folder): string {
  if (count > 0) return `${folder} (${count})`;
  return `${folder} (${payloads > 0 ? `${payloads} without a manifest, as a killed backup or copy leaves it` : 'no snapshot, only objects that lay beside one'})`;
}

/**
 * Throws `nothingThere` if the store's directory does not exist. For commands that only read: the first backup creates
 * the directory, so a missing one means a wrong name.
 */
export async function refuseMissing(store: Store, options: CallOptions): Promise<void> {
  if ((await store.isThere?.(options)) !== false) return;
  throw new AgentError(
    ExitCode.nothingThere,
    `${store.url}: the directory does not exist; check --store, or take a first backup, which creates it`,
  );
}

const shown = 5;
/** Milliseconds. A hint is not worth a longer wait. */
export const LIMIT = 10_000;

export interface HintOptions extends CallOptions {
  /** Milliseconds. */
  readonly limit?: number;
}

/**
 * Returns a hint for a command that found no snapshot: the folders that the store has for the same name in other
 * namespaces, otherwise all folders. Empty if there are none, or if they cannot be listed within `limit`: a hint never
 * changes the outcome of a command.
 */
export async function otherFoldersHint(
  store: Store,
  wanted: NamedCluster,
  { signal, limit = LIMIT }: HintOptions,
): Promise<string> {
  const within = limited(signal, limit);
  const counts = await unlessAborted(listFolders(store, { signal: within }), within).catch(() => {
    if (signal && !isTimeout(signal)) signal.throwIfAborted();
    return [];
  });
  const others = counts.filter(({ folder }) => folder !== folderOf(wanted));
  // The folder is the right one, so no hint is needed.
  if (others.length < counts.length) return '';
  const namesakes = others.filter(({ cluster }) => cluster === wanted.cluster);
  const found = namesakes.length > 0 ? namesakes : others;
  if (found.length === 0) return '';
  const named = found.map(described).sort();
  const more = named.length > shown ? ` and ${named.length - shown} more` : '';
  const flag = namesakes.length > 0 ? '--namespace' : '--cluster and --namespace';
  return `; it has snapshots of ${named.slice(0, shown).join(', ')}${more}: check ${flag}`;
}

/**
 * Returns which cluster has the snapshot, to follow an error that says that another has none of this id. Empty if none has it,
 * or if that is not known in time.
 */
export async function folderWith(
  store: Store,
  id: string,
  wanted: NamedCluster,
  { signal, limit = LIMIT }: HintOptions,
): Promise<string> {
  const within = limited(signal, limit);
  const find = async () => {
    for await (const { key } of store.list('', { signal: within })) {
      const owner = key.endsWith(`/${id}.json`) ? ownerOfKey(key) : undefined;
      if (owner && folderOf(owner) !== folderOf(wanted)) return `; ${folderOf(owner)} has it: pass ${flagsOf(owner)}`;
    }
    return '';
  };
  return unlessAborted(find(), within).catch(() => {
    if (signal && !isTimeout(signal)) signal.throwIfAborted();
    return '';
  });
}

/** Folders that are looked into. */
const READ = 20;
const AT_ONCE = 8;
/** Milliseconds for each folder, so that all of them fit into the limit of the hint even if most hang. */
const EACH = 3_000;
/** Manifests of each kind of name that may be read, until one names its etcd. */
const EACH_KIND = 4;
/** Milliseconds after which the next manifest of a folder is read too. */
const NEXT = 500;

interface SameEtcdOptions extends HintOptions {
  /**
   * Says where the store begins that the snapshots were written to, to follow a sentence about this one. Undefined if the path of
   * this one does not lead there.
   */
  readonly placed?: ((misplaced: Misplaced) => string | undefined) | undefined;
}

/**
 * Returns a warning for a backup into a folder that has no snapshot yet: another folder has snapshots of the same etcd, so
 * the name may be wrong, or the path of the store. Lists the names in the store and reads of each folder the newest manifest,
 * by its name, that names its etcd: an adopted one does not, and others may be files of other programs. What the store does
 * not give out in time is ignored.
 */
export async function sameEtcdElsewhere(
  store: Store,
  wanted: NamedCluster,
  clusterId: string,
  { signal, limit = LIMIT, placed }: SameEtcdOptions,
): Promise<string | undefined> {
  const within = limited(signal, limit);
  const own = folderOf(wanted);
  const isNamesake = ({ cluster }: Folder) => Number(cluster === wanted.cluster);
  let folders: Folder[] = [];
  const same = new Set<Folder>();
  let deep: string | undefined;
  let high: string | undefined;
  const find = async () => {
    // A hint must not use up the patience with the store, which the backup needs.
    const asked = (await store.unlimited?.()) ?? store;
    const root = newFolder({ cluster: '' }, '');
    const others = (await listFolders(asked, { signal: within, root })).filter(({ folder }) => folder !== own);
    const sorted = others.sort((a, b) => isNamesake(b) - isNamesake(a));
    folders = [...(root.count > 0 ? [root] : []), ...sorted].slice(0, READ);
    const next = folders.values();
    const work = async () => {
      for (const other of next) {
        const found = await newestOf(asked, other, within);
        const misplaced = found && misplacedManifest(other.folder, found);
        const isSame = found?.source.clusterId === clusterId;
        const where =
          misplaced && placed?.(misplaced.above === undefined ? { ...misplaced, isGuess: true } : misplaced);
        const isDeep = misplaced?.above !== undefined && (isSame || misplaced.cluster === wanted.cluster);
        if (where && isDeep) deep ??= where;
        else if (where && isSame && misplaced.below !== undefined) high ??= where;
        else if (isSame && other !== root) same.add(other);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };
  await unlessAborted(find(), within).catch(() => {});
  const none = `${own} has no snapshots yet`;
  if (deep) return `${none} in ${store.url}${deep}`;
  // An earlier mistake may have left a few in a third folder.
  const [other, ...more] = folders.filter((each) => same.has(each)).sort((a, b) => b.count - a.count);
  if (!other) return high && `${none} in ${store.url}${high}`;
  const also =
    more.length > 0 ? `, and so ${more.length === 1 ? 'has' : 'have'} ${more.map(described).join(', ')}` : '';
  return `${none}, but ${other.folder} has some of this etcd (cluster id ${clusterId})${also}; if that is its folder, pass ${flagsOf(other)}`;
}

/** The newest manifest of a folder that names its etcd, as far as this can be read in time. */
async function newestOf(store: Store, { folder, newest }: Folder, within: AbortSignal): Promise<Manifest | undefined> {
  if (within.aborted) return undefined;
  const signal = AbortSignal.any([within, AbortSignal.timeout(EACH)]);
  const read = async (id: string): Promise<Manifest | undefined> => {
    const reading = unlessAborted(readManifest(store, manifestKey(folder || '.', id), { signal }), signal);
    const found = await reading.catch(() => undefined);
    return found && 'manifest' in found && found.manifest.source.clusterId !== 'unknown' ? found.manifest : undefined;
  };
  const begun: Promise<Manifest | undefined>[] = [];
  for (const id of [...newest.own, ...newest.others]) {
    if (signal.aborted) break;
    const reading = read(id);
    begun.push(reading);
    const found = await Promise.race([reading, sleep(NEXT)]);
    if (found !== undefined) return found;
  }
  return (await Promise.all(begun)).find((found) => found !== undefined);
}

/** With `--timeout`, a hint takes only a part of the time that is left. */
export const limited = (signal: AbortSignal | undefined, limit: number): AbortSignal =>
  AbortSignal.any([waitLimit(limit, signal), ...(signal ? [signal] : [])]);

/** The cluster in whose folder an object lies. Undefined if no cluster can have this folder. */
function ownerOfKey(key: string): NamedCluster | undefined {
  const [, cluster, namespace, ...more] = key.split('/').reverse();
  const isFolder = cluster && isCluster(cluster) && more.length === 0;
  return isFolder && (namespace === undefined || isNamespace(namespace)) ? { cluster, namespace } : undefined;
}

const flagsOf = ({ cluster, namespace = '' }: NamedCluster): string =>
  [`--cluster=${cluster}`, `--namespace=${namespace}`].map(quoted).join(' ');

export interface Folder extends NamedCluster {
  readonly folder: string;
  /** Number of manifests. */
  count: number;
  /** The last ids that have a manifest, in the order of the names: those of the agent's own form, and others. */
  readonly newest: { readonly own: string[]; readonly others: string[] };
  payloads: number;
}

/** Adds an id to a short list that is sorted from the last name to the first. */
function keepLast(ids: string[], id: string): void {
  if (ids.length === EACH_KIND && id <= ids.at(-1)!) return;
  ids.push(id);
  ids.sort().reverse().splice(EACH_KIND);
}

const newFolder = (owner: NamedCluster, folder: string): Folder => ({
  ...{ cluster: owner.cluster, namespace: owner.namespace, folder },
  ...{ count: 0, payloads: 0, newest: { own: [], others: [] } },
});

interface ListOptions extends CallOptions {
  /** Takes up the manifests that lie in no folder. */
  readonly root?: Folder;
}

/** The folders that hold what may be snapshots. */
export async function listFolders(store: Store, { signal, root }: ListOptions): Promise<Folder[]> {
  const found = new Map<string, Folder>();
  const countObject = callCounter(2_000);
  for await (const { key } of store.list('', { signal })) {
    countObject();
    const owner = key.includes('/') ? ownerOfKey(key) : root;
    const split = owner && splitName(key.slice(key.lastIndexOf('/') + 1));
    if (!split || !(split.suffix === '.json' || isSnapshotId(split.id))) continue;
    const folder = owner === root ? '' : folderOf(owner);
    const known = owner === root ? root : (found.get(folder) ?? newFolder(owner, folder));
    if (known !== root) found.set(folder, known);
    if (split.suffix === '.json') {
      known.count++;
      keepLast(isSnapshotId(split.id) ? known.newest.own : known.newest.others, split.id);
    } else if (PAYLOAD.test(split.suffix)) known.payloads++;
  }
  return [...found.values()];
}
