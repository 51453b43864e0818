import { agentAt, isSeeded, podsOf, quorumLostLong, recorded } from '../facts.ts';
import type { Pod } from '../observed.ts';
import { implied, row } from '../row.ts';
import { templateMayRun } from '../upgrade-path.ts';
import { outdated } from './restart.ts';

// Pods that follow the template at once, as nothing is lost by it.

export const restartBroken = [
  row<Pod>({
    name: 'RestartUnborn',
    does: 'DeletePod',
    priority: 4.5,
    from: 'running',
    to: 'running',
    of: podsOf,
    when: {
      'not on the template': outdated,
      'it never voted': (v, pod) => recorded(v, pod.ordinal)?.everVoter !== true,
      'it is not ready': (_, pod) => !pod.ready,
    },
    requires: {},
    effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
  }),
  row<Pod>({
    name: 'RestartBroken',
    does: 'DeletePod',
    priority: 3.7,
    from: 'running',
    to: 'running',
    of: podsOf,
    when: { 'not on the template': outdated, 'quorum is lost': (v) => isSeeded(v) && quorumLostLong(v) },
    requires: {
      'volumes persist': (v) => !v.spec.ephemeral,
      'its version is allowed': templateMayRun,
      'its etcd is down, says its agent': (v, pod) =>
        agentAt(v, pod.ordinal) !== undefined && agentAt(v, pod.ordinal)?.etcd?.up !== true,
      'it is not ready': implied(
        'no pod is ready without a quorum; kubelet’s sight beside ours',
        (_, pod) => !pod.ready,
      ),
    },
    effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
  }),
];
