import { minorOf } from '../../../protocol/versions.ts';
import type { Pod } from '../../port/observed.ts';
import { implied, rule, steps } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { answers, isSeeded, lagOf, learners, memberAt, quorumLostLong, safeRestart, voters } from '../facts/facts.ts';
import type { PlacedMember } from '../facts/member-view.ts';
import { agentAt, lasts, podAt, podsOf, recorded, statefulSet, statusOf } from '../facts/observations.ts';
import { speaksOtherwise } from '../facts/transport.ts';
import { imageFits, templateMayRun } from '../facts/upgrade-path.ts';
import { opBase, write } from './record/write.ts';
import { intendRemoval, leads, otherLeader } from './remove.ts';
import { isMixed } from './scale.ts';

// Pods follow the template, and the record's schemes, one by one: broken ones first, then followers from the highest ordinal, the leader last.
export const outdated = (v: View, pod: Pod): boolean =>
  (isOfAnother(v, pod) || speaksOtherwise(v, pod)) && !pod.deleting;

/** Its successor would have another template. */
export const isOfAnother = (v: View, pod: Pod): boolean => {
  const sts = statefulSet(v);
  return sts?.observed === true && pod.revision !== sts.updateRevision;
};

const voterAt = (v: View, ordinal: number): PlacedMember | undefined => {
  const member = memberAt(v, ordinal);
  return member && !member.isLearner ? member : undefined;
};

const isBroken = (v: View, { ordinal }: Pod): boolean =>
  !answers(v, voterAt(v, ordinal)?.id ?? '') || agentAt(v, ordinal)?.reason === 'VersionMismatch';

const isLeader = (v: View, { ordinal }: Pod): boolean => leads(v, voterAt(v, ordinal)?.id ?? '');

export const inOrder = (v: View): Pod[] => {
  const pods = podsOf(v).toSorted((a, b) => b.ordinal - a.ordinal);
  const sound = pods.filter((pod) => !isBroken(v, pod));
  return [
    ...pods.filter((pod) => isBroken(v, pod)),
    ...sound.filter((pod) => !isLeader(v, pod)),
    ...sound.filter((pod) => isLeader(v, pod)),
  ];
};

/** The first outdated voter in order; a later one does not overtake it while it waits. */
const next = (v: View): Pod[] =>
  inOrder(v)
    .filter((pod) => outdated(v, pod) && voterAt(v, pod.ordinal))
    .slice(0, 1);

const onlyOutdated = 'its subjects are outdated pods';

/** Once every voter runs a minor, etcd's cluster version follows within seconds, and an older binary no longer starts. */
const mayGoBack = (v: View): boolean => {
  const { current } = v.record.versions;
  const back = isMixed(v) && minorOf(statefulSet(v)?.version ?? '') === current;
  return !back || voters(v).some(({ status }) => minorOf(status?.version ?? '') === current);
};

/** Old observations restart no member. */
const rootsToLoad = (v: View): string | undefined => {
  const { looked, rootsToLoad: roots } = v.cluster.certificates ?? {};
  return looked && looked.age <= v.s.certificatesOld && statefulSet(v) ? roots : undefined;
};

const deletion = (v: View) => v.op('DeletePod');

const memberOfOp = (v: View): PlacedMember | undefined => {
  const op = deletion(v);
  return op && voterAt(v, op.ordinal);
};

const podOfOp = (v: View): Pod | undefined => {
  const op = deletion(v);
  const pod = op && podAt(v, op.ordinal);
  return pod?.uid === op?.podUid ? pod : undefined;
};

const isReady = (pod: Pod | undefined): boolean => pod?.ready === true && !pod.deleting;

/**
 * The pod disruption budget counts every pod of the StatefulSet, including those that have yet to join, and has room for one
 * when all are ready. An eviction that it refuses is not retried for a while, so that other rules have their turn.
 * The eviction of a pod that is not ready does not use up the budget.
 */
const budgetHasRoom = (v: View, pod: Pod): boolean => {
  if (!pod.ready) return true;
  if (v.o.refused && !lasts(v, v.o.refused.at, v.s.evictAgain)) return false;
  const all = [...Array(statefulSet(v)?.replicas ?? 0).keys()];
  return all.every((ordinal) => ordinal === pod.ordinal || isReady(podAt(v, ordinal)));
};

const caughtUp = (v: View): boolean => voters(v).every(({ id }) => !answers(v, id) || lagOf(v, id) < v.s.restartLag);

export const restartSteps = [
  ...steps({ from: 'restarting', to: 'restarting' }, [
    rule({
      name: 'RestartPod.moveLeader',
      does: 'MoveLeader',
      when: {
        'op DeletePod': (v) => memberOfOp(v) !== undefined && podOfOp(v) !== undefined,
        'the member leads': (v) => leads(v, memberOfOp(v)!.id),
        'another voter can lead': (v) => otherLeader(v, memberOfOp(v)!.id) !== undefined,
      },
      effect: (v) => ({ kind: 'MoveLeader', leader: memberOfOp(v)!.id, to: otherLeader(v, memberOfOp(v)!.id)! }),
    }),
    rule({
      name: 'RestartPod.call',
      does: 'DeletePod',
      when: { 'op DeletePod, its pod is still there': (v) => podOfOp(v)?.deleting === false },
      requires: {
        'it is a voter': (v) => memberOfOp(v) !== undefined,
        // The template may have changed since; RestartPod.drop, below, then ends the operation.
        'the template may run': templateMayRun,
        'it is not ready, or the budget has room': (v) => budgetHasRoom(v, podOfOp(v)!),
        'every other voter is healthy, and a quorum stays': (v) => safeRestart(v, memberOfOp(v)!.id),
      },
      effect: (v) => {
        const { ordinal, podUid } = deletion(v)!;
        return { kind: 'DeletePod', ordinal, uid: podUid, evict: podOfOp(v)!.ready };
      },
    }),
  ]),
  ...steps({ when: { 'op DeletePod': (v) => deletion(v) !== undefined }, from: 'restarting', to: 'running' }, [
    rule({
      name: 'RestartPod.finish',
      does: 'WriteRecord',
      requires: { 'the pod is gone, or going': (v) => v.o.pods.known && podOfOp(v)?.deleting !== false },
      effect: (v) => {
        const { ordinal, version, nextVersion } = deletion(v)!;
        const member = recorded(v, ordinal);
        const { members } = v.record;
        const restarted = member && version === nextVersion;
        return write(v, {
          members: restarted ? { ...members, [ordinal]: { ...member, restartedOn: nextVersion } } : members,
          op: undefined,
        });
      },
    }),
    rule({
      name: 'RestartPod.drop',
      does: 'WriteRecord',
      requires: { 'pods are known': (v) => v.o.pods.known },
      effect: (v) => write(v, { op: undefined }),
    }),
  ]),
];

export const annotateRoots = rule({
  // etcd reads whom it trusts only when it starts. The annotation changes the template, which the rules below follow.
  name: 'AnnotateRoots',
  does: 'AnnotateRoots',
  from: 'running',
  to: 'running',
  when: {
    'members must restart to load a new root': (v) => rootsToLoad(v) !== undefined,
    'no restart for it has begun': (v) => statefulSet(v)!.roots !== rootsToLoad(v),
  },
  effect: (v) => ({ kind: 'AnnotateRoots', roots: rootsToLoad(v)!, basedOn: statefulSet(v)!.rv }),
});

export const restartPod = rule<Pod>({
  name: 'RestartPod',
  does: 'WriteRecord',
  from: 'running',
  to: 'restarting',
  each: next,
  when: {
    'not as the template and the record have it': implied(onlyOutdated, outdated),
    'volumes persist': (v) => !v.spec.ephemeral,
  },
  requires: {
    'the template may run': templateMayRun,
    'its version still starts on the data': mayGoBack,
    'the others have caught up': caughtUp,
    'it is not ready, or the budget has room': budgetHasRoom,
    // A voter that does not serve keeps a learner from being promoted, so it is restarted even while there is one.
    'it is not ready, or there is no learner': implied(
      'a learner’s pod is not ready, so that the budget has no room for one that is',
      (v, pod) => !pod.ready || learners(v).length === 0,
    ),
    'every other voter is healthy, and a quorum stays': implied(
      'RestartPod.call, of the operation that begins here, asks again; here so that the slot is not taken to wait',
      (v, pod) => safeRestart(v, memberAt(v, pod.ordinal)!.id),
    ),
  },
  effect: (v, { ordinal, uid }) =>
    write(v, {
      op: {
        ...opBase(v),
        kind: 'DeletePod',
        ordinal,
        podUid: uid,
        version: statusOf(v, memberAt(v, ordinal)!.id)?.version,
        nextVersion: statefulSet(v)!.version,
      },
    }),
});

export const replacePod = rule<Pod>({
  name: 'ReplacePod',
  does: 'WriteRecord',
  from: 'running',
  to: 'removing',
  each: next,
  when: {
    'not as the template and the record have it': implied(onlyOutdated, outdated),
    'volumes do not persist': (v) => v.spec.ephemeral,
    'it is not the only voter': (v) => voters(v).length > 1,
  },
  requires: {
    'the template may run': templateMayRun,
    'its version still starts on the data': mayGoBack,
    'no learner': (v) => learners(v).length === 0,
    'every other voter is healthy, and a quorum stays': (v, pod) => safeRestart(v, memberAt(v, pod.ordinal)!.id),
  },
  effect: (v, pod) => intendRemoval(v, memberAt(v, pod.ordinal)!, 'Roll'),
});

// Pods that are restarted at once, because they serve no clients.

/** A rebuilt record may lack the member. */
const neverVoted = (v: View, { ordinal }: Pod): boolean => {
  if (recorded(v, ordinal)?.everVoter) return false;
  if (v.o.members.known) return memberAt(v, ordinal)?.isLearner !== false;
  return !isSeeded(v) || agentAt(v, ordinal)?.volume.walPresent === false;
};

export const restartUnstarted = rule<Pod>({
  // None of its containers has begun, so its restart disturbs no operation, and no operation waits for a pod that cannot start.
  name: 'RestartUnstarted',
  does: 'DeletePod',
  from: 'running',
  to: 'running',
  each: podsOf,
  when: {
    'not as the template and the record have it': outdated,
    'it does not start': (v, { began, ordinal }) => !began && lasts(v, v.o.since.silent?.[ordinal], v.s.stable),
  },
  requires: { 'the image has the version that the template names': imageFits },
  effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
});

export const restartUnborn = rule<Pod>({
  name: 'RestartUnborn',
  does: 'DeletePod',
  from: 'running',
  to: 'running',
  each: podsOf,
  when: {
    'not as the template and the record have it': outdated,
    'it never voted': neverVoted,
    'it is not ready': implied('only a voter’s pod is ready; a second check, by kubelet', (_, pod) => !pod.ready),
  },
  requires: { 'the image has the version that the template names': imageFits },
  effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
});

export const restartBroken = rule<Pod>({
  name: 'RestartBroken',
  does: 'DeletePod',
  from: 'running',
  to: 'running',
  each: podsOf,
  when: {
    'not as the template and the record have it': outdated,
    'quorum is lost': (v) => isSeeded(v) && quorumLostLong(v),
  },
  requires: {
    'volumes persist': (v) => !v.spec.ephemeral,
    'the template may run': templateMayRun,
    'its agent reports that etcd is down': (v, pod) =>
      agentAt(v, pod.ordinal) !== undefined && agentAt(v, pod.ordinal)?.etcd?.up !== true,
    'it is not ready': implied('no pod is ready without a quorum; a second check, by kubelet', (_, pod) => !pod.ready),
  },
  effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
});
