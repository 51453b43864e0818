import type { View } from '../engine/view.ts';
import { isSetBack } from './facts.ts';
import { agentAt, statusOf } from './observations.ts';

/** A recorded member whose volume still has its data. */
export interface Survivor {
  ordinal: number;
  memberId: string;
  podUid: string;
  volumeId: string;
  /** Its etcd answers, so it has not restarted since quorum was lost and can be backed up as it is. */
  answers: boolean;
}

const memberOrdinals = (v: View): number[] => Object.keys(v.record.members).map(Number);

function survivorAt(v: View, ordinal: number): Survivor | undefined {
  const agent = agentAt(v, ordinal);
  const member = v.record.members[ordinal]!;
  const identity = agent?.volume.identity;
  if (!agent?.volume.walPresent || identity?.memberId !== member.memberId) return undefined;
  // It may have been promoted a moment before the quorum was lost.
  if (!member.everVoter && agent.etcd?.isLearner !== false) return undefined;
  const { memberId, volumeId } = member;
  const answers = statusOf(v, memberId) !== undefined;
  // A salvage recreates the pod, and an ephemeral volume goes with its pod.
  if (v.spec.ephemeral && !answers) return undefined;
  return { ordinal, memberId, podUid: agent.podUid, volumeId, answers };
}

/**
 * Applied entries were committed, so the survivor that applied more has more acknowledged writes. The term says less: a
 * member that was cut off raises it without any entry of those terms.
 */
const newerFirst = (v: View, a: Survivor, b: Survivor): number => {
  const [left, right] = [agentAt(v, a.ordinal)?.etcd, agentAt(v, b.ordinal)?.etcd];
  return (
    (right?.appliedIndex ?? 0) - (left?.appliedIndex ?? 0) ||
    (right?.committedIndex ?? 0) - (left?.committedIndex ?? 0) ||
    (right?.term ?? 0) - (left?.term ?? 0)
  );
};

/** Every member's volume is known to exist or to be lost; otherwise a better survivor may be hidden. */
const allKnown = (v: View): boolean => memberOrdinals(v).every((ordinal) => agentAt(v, ordinal) !== undefined);

/** The index that was committed at this survivor; undefined: unknown, as of every member that does not start. */
const committed = (v: View, { ordinal }: Survivor): number | undefined => agentAt(v, ordinal)?.etcd?.committedIndex;

/** Storage has set it back behind its mark, and another survivor has come to that mark. */
const isSurpassed = (v: View, { ordinal, memberId }: Survivor, others: readonly Survivor[]): boolean => {
  const mark = v.record.members[ordinal]!.reached?.index ?? 0;
  return isSetBack(v, ordinal, memberId) && others.some((other) => (committed(v, other) ?? -1) >= mark);
};

/** The survivor that the request names, otherwise the newest one if none may be hidden. */
export function survivor(v: View): Survivor | undefined {
  const named = v.spec.recovery?.survivor;
  if (named !== undefined) return v.record.members[named] && survivorAt(v, named);
  if (!allKnown(v)) return undefined;
  const found = memberOrdinals(v)
    .map((ordinal) => survivorAt(v, ordinal))
    .filter((one) => one !== undefined);
  const living = found.filter((one) => !isSurpassed(v, one, found));
  // With a single survivor it does not matter how much it has.
  if (living.length > 1 && living.some((one) => committed(v, one) === undefined)) return undefined;
  return living.sort((a, b) => newerFirst(v, a, b))[0];
}
