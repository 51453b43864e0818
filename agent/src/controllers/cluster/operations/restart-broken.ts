import type { Pod } from '../observed.ts';
import { isSeeded, memberAt, quorumLostLong } from '../plan/facts.ts';
import { agentAt, lasts, podsOf, recorded } from '../plan/observations.ts';
import { implied, rule } from '../plan/rule.ts';
import { imageFits, templateMayRun } from '../plan/upgrade-path.ts';
import type { View } from '../plan/view.ts';
import { outdated } from './restart.ts';

// Pods that follow the template at once, as nothing is lost by it.

/** The record may be one that was rebuilt without it. */
const neverVoted = (v: View, { ordinal }: Pod): boolean => {
  if (recorded(v, ordinal)?.everVoter) return false;
  if (v.o.members.known) return memberAt(v, ordinal)?.isLearner !== false;
  return !isSeeded(v) || agentAt(v, ordinal)?.volume.walPresent === false;
};

export const restartUnstarted = rule<Pod>({
  // Nothing of it runs, so that whatever else is under way goes on: no operation waits for a pod that cannot start.
  name: 'RestartUnstarted',
  does: 'DeletePod',
  from: 'running',
  to: 'running',
  each: podsOf,
  when: {
    'not on the template': outdated,
    'it does not start': (v, { began, ordinal }) => !began && lasts(v, v.o.since.silent?.[ordinal], v.s.stable),
  },
  requires: { 'the image is of the version that the template says': imageFits },
  effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
});

export const restartUnborn = rule<Pod>({
  name: 'RestartUnborn',
  does: 'DeletePod',
  from: 'running',
  to: 'running',
  each: podsOf,
  when: {
    'not on the template': outdated,
    'it never voted': neverVoted,
    'it is not ready': implied('no pod is ready but a voter’s; kubelet’s sight beside ours', (_, pod) => !pod.ready),
  },
  requires: { 'the image is of the version that the template says': imageFits },
  effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
});

export const restartBroken = rule<Pod>({
  name: 'RestartBroken',
  does: 'DeletePod',
  from: 'running',
  to: 'running',
  each: podsOf,
  when: { 'not on the template': outdated, 'quorum is lost': (v) => isSeeded(v) && quorumLostLong(v) },
  requires: {
    'volumes persist': (v) => !v.spec.ephemeral,
    'its version is allowed': templateMayRun,
    'its etcd is down, says its agent': (v, pod) =>
      agentAt(v, pod.ordinal) !== undefined && agentAt(v, pod.ordinal)?.etcd?.up !== true,
    'it is not ready': implied('no pod is ready without a quorum; kubelet’s sight beside ours', (_, pod) => !pod.ready),
  },
  effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
});
