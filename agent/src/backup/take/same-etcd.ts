import { candidatesOf } from '../catalog/candidate.ts';
import type { Entry } from '../catalog/catalog.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import { isOf, linesOf } from '../catalog/identity/identity.ts';
import { sameEtcdElsewhere } from '../catalog/identity/locate.ts';
import { tooDeepAmong } from '../catalog/identity/misplaced.ts';
import { fallText, higherBefore, type Reached } from '../catalog/revision-fall.ts';
import type { Origin, StoreRequest, Target } from './request.ts';
import type { TargetRun } from './target-run.ts';

const UNKNOWN = 'unknown';

/**
 * Returns the newest snapshot of an etcd that no restore connects with those of these cluster ids. `known`: the snapshots
 * that say what was restored.
 */
export function otherEtcdAmong(
  entries: readonly Entry[],
  named: NamedCluster,
  ids: readonly string[],
  known = entries,
): Entry | undefined {
  const isOwn = (entry: Entry) => isOf(named, entry) && entry.manifest?.source.clusterId !== UNKNOWN;
  const own = ids.filter((id) => id !== UNKNOWN);
  if (own.length === 0) return undefined;
  const connected = new Set(own);
  for (const { family } of linesOf(known.filter(isOwn)))
    if (own.some((id) => family.has(id))) for (const id of family) connected.add(id);
  return entries.find((entry) => isOwn(entry) && !connected.has(entry.manifest!.source.clusterId));
}

/**
 * Returns a warning for a backup of an etcd into a folder that has snapshots of another one, unless restores connect the two.
 * `lineage`: the etcd clusters that it was restored from.
 */
function otherEtcdWarning(
  entries: readonly Entry[],
  named: NamedCluster,
  clusterId: string,
  lineage: readonly string[],
): string | undefined {
  if (clusterId === UNKNOWN) return undefined;
  const newest = otherEtcdAmong(entries, named, [clusterId, ...lineage]);
  if (!newest) return undefined;
  const other = newest.manifest!.source.clusterId;
  return `${folderOf(named)} has snapshots of another etcd (cluster id ${other}, newest ${newest.id}), and this one has the cluster id ${clusterId}; if it is another cluster, pass a --cluster or --namespace of its own; if it was restored from that one, and this store has no note of it (the restore used another store, or another tool), pass --restored-from=${other}`;
}

/** Returns a warning for a backup that is not encrypted, in a folder that has encrypted snapshots of the agent. */
function plaintextWarning(
  entries: readonly Entry[],
  named: NamedCluster,
  recipients: readonly string[],
): string | undefined {
  if (recipients.length > 0) return undefined;
  // Of a file that was adopted, the recipients are not known.
  const encrypted = entries.find((entry) => isOf(named, entry) && entry.manifest?.object.encryption?.recipients.length);
  if (!encrypted) return undefined;
  return `this backup is not encrypted, but ${folderOf(named)} has encrypted snapshots, such as ${encrypted.id}; pass --age-recipient to encrypt it too`;
}

/** Returns a warning for a backup of an etcd that had a higher revision before, under the same cluster id. */
function fallWarning(entries: readonly Entry[], named: NamedCluster, now: Reached): string | undefined {
  const own = entries.filter((entry) => isOf(named, entry));
  const before = higherBefore(candidatesOf(own), now);
  return before && fallText(before, now, ' now');
}

/** Returns a warning for a backup into a store that begins inside the folder of a cluster, by the snapshots in its own folder. */
function tooDeepWarning(entries: readonly Entry[], named: NamedCluster, placed: Target['placed']): string | undefined {
  const misplaced = tooDeepAmong(entries, named);
  const where = misplaced && placed?.(misplaced);
  return where && `the store ${misplaced?.isGuess ? 'may begin' : 'begins'} inside the folder of a cluster${where}`;
}

/** Returns what the snapshots in a store say against this backup. */
export function warningsFor(
  entries: readonly Entry[],
  { placed }: Target,
  request: StoreRequest,
  { source: { clusterId }, revision }: Origin,
  lineage: readonly string[],
): string[] {
  const ofFolder = [
    otherEtcdWarning(entries, request, clusterId, lineage),
    plaintextWarning(entries, request, request.recipients ?? []),
    tooDeepWarning(entries, request, placed),
  ];
  const fall = fallWarning(entries, request, { clusterId, revision, createdAt: new Date() });
  return [...(request.key ? [] : ofFolder), fall].filter((warning) => warning !== undefined);
}

/** Milliseconds that a finished backup still waits for the warning. */
const AFTERWARDS = 1_000;

/**
 * Runs the work, and meanwhile looks in the stores of these runs for another folder with snapshots of the same etcd, or for
 * signs that the path of the store is another one, and warns of it. Never changes the result of the work.
 */
export async function warningOfSameEtcd<T>(
  runs: readonly TargetRun[],
  request: StoreRequest,
  clusterId: string,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  let failed = false;
  const look = async ({ target: { store, placed }, context }: TargetRun) => {
    const signal = AbortSignal.any([context.signal, ended.signal]);
    const warning = await sameEtcdElsewhere(store, request, clusterId, { signal, placed });
    if (warning && !failed) context.log.warn({ store: store.url }, warning);
  };
  const looks = Promise.all(clusterId === UNKNOWN ? [] : runs.map(look));
  try {
    const result = await work();
    const timer = setTimeout(() => ended.abort(), AFTERWARDS);
    await looks.finally(() => clearTimeout(timer));
    return result;
  } catch (error) {
    failed = true;
    throw error;
  } finally {
    ended.abort();
    await looks;
  }
}
