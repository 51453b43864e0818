import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { IDLE_TIMEOUT } from '../../store/patient-store.ts';
import { budgetOf } from '../../store/store.ts';
import { type Entry, manifestKey } from '../catalog/catalog.ts';
import type { Listing } from '../catalog/folder.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import { otherEtcdAmong } from '../catalog/identity/identity.ts';
import { Turns } from '../catalog/silence.ts';
import { type CopyContext, type CopyOutcome, copySnapshot, isWithheld } from './copy.ts';

export interface Copies {
  readonly outcomes: readonly CopyOutcome[];
  /** Why the others were not tried. */
  readonly stopped?: unknown;
}

/** What stores say if they take nothing more. */
const FULL = /\b(volume|store|disk) is full\b|\bquota is used up\b|\bno space left\b/i;

/**
 * Copies one snapshot after the other. One that the source or the target fails, refuses or hangs with does not end the run,
 * but several in a row do. `knowsIdle`: the target ends calls that hang by itself, and knows better when they do.
 */
export async function copyEach(
  chosen: readonly Entry[],
  context: CopyContext,
  { knowsIdle }: { readonly knowsIdle: boolean },
): Promise<Copies> {
  const { signal, log } = context;
  const isAlone = chosen.length === 1;
  const from = new Turns(context.from, isAlone);
  const to = new Turns(context.to, isAlone || knowsIdle, IDLE_TIMEOUT);
  // Time for the first that hangs. Each one adds that for the next.
  budgetOf(context.to).extend(IDLE_TIMEOUT);
  const outcomes: CopyOutcome[] = [];
  for (const entry of chosen) {
    try {
      const outcome = await copySnapshot(entry, { ...context, from: from.next(), to: to.next() });
      outcomes.push(outcome);
      if (['failed', 'refused'].includes(outcome.outcome)) log.error(outcome.detail);
      if (outcome.outcome === 'copied') to.count(false);
      if (isWithheld(entry)) continue;
      from.count(outcome.exitCode === ExitCode.storeUnreachable);
      if (from.isOver) return { outcomes, stopped: new AgentError(ExitCode.storeUnreachable, outcome.detail) };
    } catch (error) {
      signal.throwIfAborted();
      const failed = failedAtTarget(entry, error);
      if (!failed) return { outcomes, stopped: error };
      outcomes.push(failed);
      log.error(failed.detail);
      to.count(true);
      if (to.isOver) return { outcomes, stopped: error };
    }
  }
  return { outcomes };
}

/** Returns the outcome of a snapshot that the target did not take or return. Undefined if it would take no other either. */
function failedAtTarget({ id, manifest }: Entry, error: unknown): CopyOutcome | undefined {
  if (!(error instanceof AgentError)) return undefined;
  const { storeUnreachable, storeRefused, nothingThere } = ExitCode;
  const isOfOne = ([storeUnreachable, storeRefused, nothingThere] as ExitCode[]).includes(error.exitCode);
  const message = messageOf(error);
  if (!isOfOne || FULL.test(message)) return undefined;
  const exitCode = error.exitCode === storeRefused ? storeRefused : storeUnreachable;
  const storedBytes = manifest?.object.sizeBytes;
  return { id, outcome: 'failed', detail: `${id}: ${message}`, exitCode, storedBytes: storedBytes || undefined };
}

/**
 * Returns the outcome of a snapshot, which fails if the target does not list it any more: a run deletes or changes what was
 * there when the copy began, or what it has put.
 */
export function ifStillThere(
  outcome: CopyOutcome,
  { manifest }: Pick<Entry, 'manifest'>,
  listing: Listing,
): CopyOutcome {
  const { id } = outcome;
  if (outcome.outcome !== 'copied' && outcome.outcome !== 'there') return outcome;
  const payload = manifest && listing.find(manifest.object.key);
  const isGone = !listing.find(manifestKey(listing.path, id)) || (manifest && !payload);
  if (!isGone && payload?.size === manifest?.object.sizeBytes) return outcome;
  const detail = `${id}: was ${isGone ? 'deleted' : 'changed'} at the target meanwhile; run \`copy\` again`;
  return { ...outcome, outcome: 'failed', detail, exitCode: ExitCode.storeUnreachable };
}

interface Folders {
  readonly chosen: readonly Entry[];
  readonly there: readonly Entry[];
  /** Reads every snapshot of the source: one that is not copied may connect the two etcds. */
  readonly readAll: () => Promise<readonly Entry[]>;
}

/** Returns a warning if the target's folder has snapshots of an etcd that no restore connects with those that are copied. */
export async function otherEtcdWarning(
  { chosen, there, readAll }: Folders,
  named: NamedCluster,
): Promise<string | undefined> {
  const ids = [...new Set(chosen.flatMap(({ manifest }) => manifest?.source.clusterId ?? []))];
  const find = (known: readonly Entry[]) => otherEtcdAmong(there, named, ids, [...there, ...known]);
  const other = find(chosen) && find(await readAll());
  if (!other?.manifest) return undefined;
  const { clusterId } = other.manifest.source;
  const own = ids.filter((id) => id !== 'unknown').join(', ');
  return `${folderOf(named)} has snapshots of another etcd (cluster id ${clusterId}, newest ${other.id}), and those that are copied have the cluster id ${own}`;
}
