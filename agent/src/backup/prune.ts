import type { CallOptions, Store } from '../store/store.ts';
import type { Candidate } from './candidate.ts';
import { type Entry, isVerified, manifestKey } from './catalog.ts';
import { type Decision, decide, type RetentionContext, vetoOf } from './retention.ts';
import type { RetentionSpec } from './retention-spec.ts';

export interface PruneResult {
  readonly decisions: readonly Decision[];
  /** Or would be, in a dry run. */
  readonly deleted: readonly string[];
  /** Refused by the store's object lock. */
  readonly retained: readonly string[];
  /** How many wait for the next run. */
  readonly deferred: number;
  /** Why nothing at all could be deleted. */
  readonly veto?: string;
}

export function toCandidate(entry: Entry): Candidate {
  const { id, manifest, pinned } = entry;
  return {
    id,
    createdAt: manifest && new Date(manifest.createdAt),
    clusterName: manifest?.cluster.name,
    namespace: manifest?.cluster.namespace,
    clusterId: manifest?.source.clusterId,
    lineage: manifest?.cluster.lineage,
    verified: isVerified(entry),
    pinned,
    locked: false,
    readable: manifest !== undefined,
    exactKey: false,
  };
}

/** Decides by the policy and deletes accordingly; with `dryRun` it only says what would go. */
export async function prune(
  store: Store,
  cluster: string,
  entries: readonly Entry[],
  policy: RetentionSpec | undefined,
  context: RetentionContext,
  options: CallOptions & { readonly dryRun?: boolean },
): Promise<PruneResult> {
  const candidates = entries.map(toCandidate);
  const decisions = decide(candidates, policy, context);
  const veto = vetoOf(candidates, policy, context);
  const idsTo = (wanted: Decision['action']) => decisions.filter(({ action }) => action === wanted).map(({ id }) => id);
  const doomed = idsTo('delete');
  const waiting = idsTo('defer');
  if (options.dryRun) return { decisions, deleted: doomed, retained: [], deferred: waiting.length, veto };
  const deleted: string[] = [];
  const retained: string[] = [];
  // What an object lock holds must not stop the rest for ever: the next in line takes its place.
  for (const id of [...doomed, ...waiting]) {
    if (deleted.length === doomed.length) break;
    const entry = entries.find((candidate) => candidate.id === id);
    if (!entry) continue;
    ((await deleteSnapshot(store, cluster, entry, options)) === 'deleted' ? deleted : retained).push(id);
  }
  const deferred = doomed.length + waiting.length - deleted.length - retained.length;
  return { decisions, deleted, retained, deferred, veto };
}

/** The manifest goes first: from then on it is no snapshot, and what a kill leaves behind is swept. The payload goes last. */
async function deleteSnapshot(
  store: Store,
  cluster: string,
  { id, objects, manifest }: Entry,
  options: CallOptions,
): Promise<'deleted' | 'retained'> {
  const first = manifestKey(cluster, id);
  if ((await store.delete(first, options)) === 'retained') return 'retained';
  // Never what only the manifest names: it may be somebody else's.
  const last = objects.find(({ key }) => key === manifest?.object.key)?.key;
  const rest = objects.map(({ key }) => key).filter((key) => key !== first && key !== last);
  for (const key of [...rest, ...(last ? [last] : [])]) await store.delete(key, options);
  return 'deleted';
}
