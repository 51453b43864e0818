import { changedFields } from '../../../../../src/cluster/manifests/made-from.ts';
import { podName } from '../../port/names.ts';
import type { View } from '../engine/view.ts';
import { answers, beforeFence, hasReadyPod, healthy, isBorn, learners, nameOf, voters } from './facts.ts';
import type { MemberView } from './member-view.ts';
import { podsOf, statefulSet, statusOf } from './observations.ts';
import { switchStep } from './transport-steps.ts';

/** Whether a member counts as healthy: for a rule that acts, or for a report. */
type IsHealthy = (v: View, memberId: string) => boolean;

/** The fields of the spec that are not as in the one that the manifests were made from. Those of an earlier release do not say it. */
export function changedSince(v: View): string[] {
  const before = statefulSet(v)?.madeFrom;
  const now = v.cluster.madeFrom;
  return before === undefined || now === undefined ? [] : changedFields(before, now);
}

/** The first difference from the spec; undefined: the cluster is ready. */
export function lacking(v: View, isHealthy: IsHealthy = healthy): string | undefined {
  const { size, version } = v.spec;
  if (!isBorn(v)) return 'it has not reached its size yet';
  if (v.record.op !== undefined && beforeFence(v) === undefined) return 'an operation is in flight';
  if (!v.o.members.known) return 'no quorum answers';
  const [learner] = learners(v);
  if (learner) return `${nameOf(v, learner)} is joining`;
  if (voters(v).length !== size) return `${voters(v).length} of ${size} voters exist`;
  for (const member of voters(v)) {
    const why = unwell(v, member, isHealthy);
    if (why) return `${nameOf(v, member)} ${why}`;
  }
  const sts = statefulSet(v);
  if (!sts?.observed) return 'the StatefulSet controller has not seen the newest template yet';
  const old = podsOf(v).find((pod) => pod.revision !== sts.updateRevision);
  if (old) return `pod ${podName(v.cluster, old.ordinal)} has another template`;
  const step = switchStep(v);
  if (step !== undefined) return step;
  const other = voters(v).find(({ id }) => statusOf(v, id)?.version !== version);
  return other && `${nameOf(v, other)} runs ${statusOf(v, other.id)?.version}, the spec names ${version}`;
}

function unwell(v: View, member: MemberView, isHealthy: IsHealthy): string | undefined {
  if (!answers(v, member.id)) return 'does not answer';
  if (!hasReadyPod(member)) return 'answers, but its pod is not ready';
  return isHealthy(v, member.id)
    ? undefined
    : `answers, and counts as healthy after ${Math.round(v.s.stable / 1000)} s`;
}
