import type { Claim, Pod } from '../../port/observed.ts';
import { implied, rule } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import {
  evidenceLasts,
  hasLostVolume,
  isForced,
  isGone,
  isTombstoned,
  isWanted,
  learners,
  placed,
  safeRemove,
  started,
  voters,
} from '../facts/facts.ts';
import type { PlacedMember } from '../facts/member-view.ts';
import { agentAt, claimAt, lasts, podsOf, requestOf } from '../facts/observations.ts';
import { crowdsOut } from '../facts/places.ts';
import { imageFits, mayJoin } from '../facts/upgrade-path.ts';
import { tombstone, write } from './record/write.ts';
import { claimToDiscard, intendRemoval, isClaimKnown } from './remove.ts';

// Repairs: members without a volume, learners that cannot become voters, pods with retired data, volumes on a member's node.

/** The learner cannot become a voter: it is not wanted, is on another volume than its permit's, or has a version that may not join. */
function unusable(v: View, learner: PlacedMember): boolean {
  const { ordinal, agent, request: volumeId, permit } = learner;
  if (!isWanted(v, ordinal) || isForced(v, learner)) return true;
  if (agent?.state === 'Refused' && refusedVersions.includes(agent.reason ?? '')) return evidenceLasts(v, learner);
  const ours = permit?.memberId === learner.id;
  if (volumeId === undefined) return !ours && lasts(v, v.o.since.down[learner.id], v.s.learnerStuck);
  const refused = ours ? permit.volumeId !== volumeId : !mayJoin(v, ordinal);
  return evidenceLasts(v, learner) && (refused || started(learner));
}

const refusedVersions = ['VersionRefused', 'NeedsSnapshot'];

/** The pod runs data of a removed member or of an older epoch. Its gate quarantines them when the pod restarts. */
function runsRetiredData(v: View, pod: Pod): boolean {
  const agent = agentAt(v, pod.ordinal);
  const identity = agent?.volume.identity;
  if (!agent?.volume.walPresent || identity === undefined || gateStates.includes(agent.state)) return false;
  return isTombstoned(v, identity.memberId) || identity.epoch < v.record.epoch;
}

const gateStates = ['Init', 'WaitPermit', 'Preparing', 'Restoring'];

/**
 * Members of this epoch of which the record, or a volume, knows. The tombstone of a volume's member may be lost with a record, or
 * not be among the last. While the id of the etcd cluster is not known, the list may be another cluster's.
 */
function membersOfEpoch(v: View): { ordinal: number; memberId: string }[] {
  const recorded = Object.entries(v.record.members).map(([at, { memberId }]) => ({ ordinal: Number(at), memberId }));
  const onVolumes = podsOf(v).flatMap(({ ordinal }) => {
    const { walPresent, identity } = agentAt(v, ordinal)?.volume ?? {};
    const isOurs = walPresent && identity?.epoch === v.record.epoch && identity.memberId !== undefined;
    return isOurs && !isTombstoned(v, identity.memberId) ? [{ ordinal, memberId: identity.memberId! }] : [];
  });
  return v.record.clusterId === undefined ? [] : [...recorded, ...onVolumes];
}

export const tombstoneVanished = rule<{ ordinal: number; memberId: string }>({
  name: 'TombstoneVanished',
  does: 'WriteRecord',
  // Below Remove.finish, which tombstones the member of its operation.
  from: 'running',
  to: 'running',
  each: membersOfEpoch,
  when: {
    'a member that is recorded, or whose data are on a volume, is not in the list': (v, { memberId }) =>
      isGone(v, memberId),
  },
  effect: (v, { ordinal, memberId }) => write(v, tombstone(v, ordinal, memberId, 'not in the member list')),
});

export const restartRetired = rule<Pod>({
  name: 'RestartRetired',
  does: 'DeletePod',
  from: 'running',
  to: 'running',
  each: podsOf,
  when: {
    'it runs retired data': runsRetiredData,
    'its ordinal is wanted': (v, pod) => isWanted(v, pod.ordinal),
    'it is not being deleted': (_, pod) => !pod.deleting,
  },
  requires: { 'the image has the version that the template names': imageFits },
  effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
});

export const removeDead = rule<PlacedMember>({
  name: 'RemoveDead',
  does: 'WriteRecord',
  from: 'running',
  to: 'removing',
  each: placed(voters),
  when: {
    'its volume is lost': hasLostVolume,
    'policy OnVolumeLoss': (v) => v.spec.replace.policy === 'OnVolumeLoss',
  },
  requires: {
    'the evidence has lasted': evidenceLasts,
  },
  effect: (v, m) => intendRemoval(v, m, 'Dead'),
});

export const removeForced = rule<PlacedMember>({
  name: 'RemoveForced',
  does: 'WriteRecord',
  from: 'running',
  to: 'removing',
  each: placed(voters),
  when: { 'replace.force names its member id': isForced },
  requires: {
    'claims are known': isClaimKnown,
    'the voters that stay are healthy and a quorum': (v, m) => safeRemove(v, m.id),
  },
  effect: (v, m) => intendRemoval(v, m, 'Forced', claimToDiscard(v, m)),
});

export const collectLearner = rule<PlacedMember>({
  name: 'GcLearner',
  does: 'WriteRecord',
  from: 'joining',
  to: 'removing',
  each: placed(learners),
  when: { 'it cannot become a voter': unusable },
  requires: { 'claims are known': isClaimKnown },
  effect: (v, m) => intendRemoval(v, m, 'Learner', claimToDiscard(v, m)),
});

// A new volume may be created on the node of a member's volume, so that the member's pod cannot be scheduled. The empty volume goes.

/** Data in its quarantine are data, too (protocol.md: NoDataDeleted). */
const isEmpty = (v: View, { ordinal }: Pod): boolean =>
  requestOf(v, ordinal) !== undefined && agentAt(v, ordinal)?.volume.quarantineCount === 0;

/** The claim of its volume, if that never held a voter. */
const newClaim = (v: View, { ordinal }: Pod): Claim | undefined => {
  const claim = claimAt(v, ordinal);
  return claim?.clusterUid === undefined ? claim : undefined;
};

export const freeNode = [
  rule<Pod>({
    name: 'FreeNode.claim',
    does: 'DeleteClaim',
    from: 'running',
    to: 'running',
    each: podsOf,
    when: {
      'its volume is empty': implied('nobody gets a permit where a voter’s pod waits; beside a late one', isEmpty),
      'a voter’s pod waits for its node': (v, { ordinal }) => crowdsOut(v, ordinal),
      'its claim is new, and stays': (v, pod) => newClaim(v, pod)?.deleting === false,
    },
    requires: { 'the evidence has lasted': evidenceLasts },
    effect: (v, pod) => {
      const { ordinal, uid, rv } = newClaim(v, pod)!;
      return { kind: 'DeleteClaim', ordinal, uid, basedOn: rv };
    },
  }),
  rule<Pod>({
    name: 'FreeNode.pod',
    does: 'DeletePod',
    from: 'running',
    to: 'running',
    each: podsOf,
    when: {
      'its volume is empty': isEmpty,
      'its claim is being deleted': (v, { ordinal }) => claimAt(v, ordinal)?.deleting === true,
      'its ordinal is wanted': (v, { ordinal }) => isWanted(v, ordinal),
      'it is not being deleted': (_, pod) => !pod.deleting,
    },
    requires: { 'the image has the version that the template names': imageFits },
    effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
  }),
];
