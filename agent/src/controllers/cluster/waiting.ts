import type { ClusterStatus } from '../../protocol/cluster-status.ts';
import type { Pass } from './reconcile.ts';

/** What the next action waits for, and since when, in ms. Unknown: this process has not seen it yet; an earlier one may have. */
export type Waiting = { readonly for: string; readonly since: number } | 'unknown' | undefined;

type Seen = Pick<Pass, 'observed' | 'plan'> & { readonly now: number };

/** A wait ends when its action is carried out, or is no longer wanted. A pass that sees too little does not end it. */
export function waitingOf({ plan, observed: { cluster, record }, now }: Seen, before: Waiting): Waiting {
  if (!cluster.known || !record.known) return before;
  const last = before === 'unknown' ? toldBy(cluster.v?.status) : before;
  const { waits, effect, rule } = plan;
  if (waits === undefined) return effect && last && rule !== actionOf(last) ? last : undefined;
  const goesOn = last && actionOf(last) === actionOf({ for: waits }) && last.since <= now;
  return { for: waits, since: goesOn ? last.since : now };
}

const toldBy = ({ waiting }: Partial<ClusterStatus> = {}) =>
  waiting && { for: waiting.for, since: Date.parse(waiting.since) };

/** The rule that waits. The words after it say what it lacks, which may change meanwhile. */
const actionOf = (waiting: { readonly for: string }): string | undefined => waiting.for.split(' waits: ')[0];

/** ms. Most waits are shorter, and each would be a write of the status. */
const worthSaying = 15_000;

/** What the status says of it. */
export const toldOf = (waiting: Waiting, { plan, now }: Seen): ClusterStatus['waiting'] =>
  plan.waits !== undefined && waiting && waiting !== 'unknown' && now - waiting.since >= worthSaying
    ? { for: waiting.for, since: new Date(waiting.since).toISOString().replace(/\.\d+/, '') }
    : undefined;
