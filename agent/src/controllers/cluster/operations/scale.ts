import type { Claim } from '../../port/observed.ts';
import { rule } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import {
  allVotersHealthy,
  healthy,
  highestMember,
  isSeeded,
  isWanted,
  learners,
  memberAt,
  placed,
  safeRemove,
  voters,
  wantedSize,
} from '../facts/facts.ts';
import type { PlacedMember } from '../facts/member-view.ts';
import { agentAt, podAt, recorded, statefulSet } from '../facts/observations.ts';
import { imageFits, templateMayRun } from '../facts/upgrade-path.ts';
import { opBase, write } from './record/write.ts';
import { intendRemoval } from './remove.ts';

/** A restore or a deletion has removed the pods, or is about to. */
const podsMayGo = (v: View): boolean => {
  const { op } = v.record;
  if (op?.kind === 'Delete') return true;
  return (op?.kind === 'Restore' || op?.kind === 'Recover') && v.record.phase === 'Restoring';
};

const replicasNeeded = (v: View): number => (isSeeded(v) ? highestMember(v) + 1 : Math.max(1, wantedSize(v)));

export const isMixed = (v: View): boolean => v.record.versions.allowedMinors.length > 1;

const pods = (v: View): number => statefulSet(v)?.replicas ?? Number.POSITIVE_INFINITY;

/** Every wanted ordinal that has a pod is a healthy voter. */
const settled = (v: View): boolean =>
  allVotersHealthy(v) &&
  learners(v).length === 0 &&
  [...Array(Math.min(pods(v), wantedSize(v))).keys()].every((ordinal) => memberAt(v, ordinal) !== undefined);

const victim = (v: View): PlacedMember | undefined =>
  placed(voters)(v).find((member) => member.ordinal === highestMember(v));

const keptHealthy = (v: View): boolean =>
  voters(v).every((member) => !isWanted(v, member.ordinal) || healthy(v, member.id)) &&
  [...Array(wantedSize(v)).keys()].every((ordinal) => memberAt(v, ordinal) !== undefined);

const memberClaim = (v: View, claim: Claim): boolean => {
  const member = recorded(v, claim.ordinal);
  return (
    member?.everVoter === true &&
    agentAt(v, claim.ordinal)?.volume.identity?.memberId === member.memberId &&
    !claim.deleting
  );
};

const claims = (v: View): Claim[] => (v.o.claims.known ? v.o.claims.v : []);

export const raiseReplicas = rule({
  name: 'RaiseReplicas',
  does: 'ScaleTo',
  from: 'running',
  to: 'running',
  when: {
    'no restore or deletion removes the pods': (v) => !podsMayGo(v),
    'a member has no pod': (v) => pods(v) < replicasNeeded(v),
  },
  requires: { 'the image has the version that the template names': imageFits },
  effect: (v) => ({
    ...{ kind: 'ScaleTo', replicas: replicasNeeded(v), basedOn: statefulSet(v)!.rv },
    // A member had a pod.
    setBackFrom: isSeeded(v) ? pods(v) : undefined,
  }),
});

export const annotateEpoch = rule({
  name: 'AnnotateEpoch',
  does: 'AnnotateEpoch',
  from: 'running',
  to: 'running',
  when: {
    'template is known': (v) => statefulSet(v) !== undefined,
    'its epoch is not the minEpoch': (v) => statefulSet(v)!.minEpoch !== v.record.minEpoch,
  },
  effect: (v) => ({ kind: 'AnnotateEpoch', epoch: v.record.minEpoch, basedOn: statefulSet(v)!.rv }),
});

export const annotateClaim = rule<Claim>({
  name: 'AnnotateClaim',
  does: 'AnnotateClaim',
  from: 'running',
  to: 'running',
  each: claims,
  when: {
    'it holds a voter': memberClaim,
    'it does not name this epoch': (v, claim) =>
      claim.clusterUid !== v.record.clusterUid || claim.epoch !== v.record.epoch,
  },
  effect: (v, { ordinal, uid, rv }) => {
    const { clusterUid, epoch } = v.record;
    return { kind: 'AnnotateClaim', ordinal, uid, clusterUid, epoch, basedOn: rv };
  },
});

export const growPods = rule({
  // All pods at once: they join one by one, and until then each counts as missing in the pod disruption budget.
  // Otherwise a drain could take one of two voters while the third is on its way.
  name: 'GrowPod',
  does: 'ScaleTo',
  from: 'running',
  to: 'running',
  when: { 'fewer pods than wanted': (v) => pods(v) < wantedSize(v) },
  requires: {
    'every pod is a healthy voter': settled,
    'a new pod may run its version': templateMayRun,
  },
  effect: (v) => ({ kind: 'ScaleTo', replicas: wantedSize(v), basedOn: statefulSet(v)!.rv }),
});

export const shrink = rule({
  name: 'Shrink',
  does: 'WriteRecord',
  from: 'running',
  to: 'removing',
  when: {
    'the highest member is a voter that is not wanted': (v) =>
      victim(v) !== undefined && highestMember(v) >= wantedSize(v),
  },
  requires: {
    'no learner': (v) => learners(v).length === 0,
    'every member that stays is healthy': keptHealthy,
    'no upgrade half done': (v) => !isMixed(v),
    'the voters that stay are healthy and a quorum': (v) => safeRemove(v, victim(v)!.id),
  },
  effect: (v) => intendRemoval(v, victim(v)!, 'Shrink'),
});

export const lowerReplicas = rule({
  name: 'LowerReplicas',
  does: 'ScaleTo',
  from: 'running',
  to: 'running',
  when: { 'more pods than wanted': (v) => statefulSet(v) !== undefined && pods(v) > wantedSize(v) },
  requires: { 'no member is there': (v) => pods(v) > highestMember(v) + 1 },
  effect: (v) => ({
    kind: 'ScaleTo',
    replicas: Math.max(wantedSize(v), highestMember(v) + 1),
    basedOn: statefulSet(v)!.rv,
  }),
});

export const pruneClaim = rule<Claim>({
  name: 'PruneClaim',
  does: 'WriteRecord',
  from: 'running',
  to: 'removing',
  each: claims,
  when: {
    'its ordinal is not wanted': (v, { ordinal }) => ordinal >= wantedSize(v),
    'policy Delete': (v) => v.spec.onShrink === 'Delete',
    'it is not being deleted': (_, claim) => !claim.deleting,
  },
  requires: {
    'no member is there': (v, { ordinal }) => ordinal > highestMember(v),
    'no pod is there': (v, { ordinal }) => pods(v) <= ordinal && v.o.pods.known && podAt(v, ordinal) === undefined,
  },
  effect: (v, { ordinal, uid }) =>
    write(v, {
      op: { ...opBase(v), kind: 'Remove', ordinal, memberId: '', why: 'Shrink', step: 'claim', claimUid: uid },
    }),
});
