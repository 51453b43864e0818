import type { RecordDoc } from '../../../../protocol/record.ts';
import { isOrigin } from '../../../../protocol/restore-id.ts';
import { isOpOf } from '../../../../protocol/restore-refusal.ts';
import type { Effect } from '../../../port/effect.ts';
import type { Pod } from '../../../port/observed.ts';
import { rule, steps } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import { beforeFence, quorumLostLong, restoreOp } from '../../facts/facts.ts';
import { statefulSet } from '../../facts/observations.ts';
import { imageFits } from '../../facts/upgrade-path.ts';
import { givesUp } from '../jobs.ts';
import { restored, write } from '../record/write.ts';
import {
  allRequests,
  args,
  at,
  isAbandoned,
  isUnreachable,
  isUnsaved,
  lastRevision,
  noRoom,
  requests,
  roomAtSeed,
  sameSnapshot,
  step,
} from './operation.ts';

// Fence and drain: end the old epoch.

/**
 * A cluster that is created again from a backup has a new record, which does not know the EtcdRestores of the former one. Those
 * that are still in Git would discard what it was born from, also when they are deleted and created again.
 */
const olderThan = (v: View): RecordDoc['olderRestores'] => {
  const found = allRequests(v).map(({ name, specHash }) => ({ id: name, specHash }));
  return [...(v.record.olderRestores ?? []).filter(({ id }) => !found.some((other) => other.id === id)), ...found];
};

/** New epoch, new token, higher minEpoch. From here on no older data serve, and this id is never restored again. */
function fence(v: View): Effect {
  const op = restoreOp(v)!;
  const { suspended: _, ...own } = op;
  const { id } = op.args;
  // It may have been created again since, with the same spec.
  const { uid } = requests(v).find((request) => isOpOf(op, request)) ?? op.args;
  const epoch = v.record.epoch + 1;
  // A cluster that is born from a backup has no older data to keep out, and its pods wait already.
  const born = isOrigin(id);
  return write(v, {
    epoch,
    minEpoch: born ? v.record.minEpoch : epoch,
    token: v.o.fresh.token,
    phase: 'Restoring',
    seeded: false,
    clusterId: undefined,
    permits: {},
    members: {},
    tombstones: [],
    restores: restored(v, { ...op.args, uid }),
    olderRestores: born ? olderThan(v) : v.record.olderRestores,
    op: { ...own, step: born ? 'seed' : 'drain', args: { ...own.args, lastRevision: lastRevision(v) } },
  });
}

const gone = (v: View, pod: Pod): boolean =>
  args(v).ignoreUnreachablePods && pod.ordinal !== 0 && isUnreachable(v, pod);

const drained = (v: View): boolean =>
  v.o.pods.known && statefulSet(v)?.observed === true && v.o.pods.v.every((pod) => gone(v, pod));

export const fenceOff = rule({
  name: 'Fence',
  does: 'WriteRecord',
  from: 'fencing',
  to: ['draining', 'seeding'],
  when: { 'step fence': (v) => at(v, 'fence') !== undefined },
  requires: {
    'the image has the version that the template names': imageFits,
    'the verified snapshot is being served': sameSnapshot,
    'the seed has room for it, or the cluster is down already': (v) =>
      beforeFence(v) === undefined || (roomAtSeed(v) !== undefined && noRoom(v) === undefined),
    'its safety backup is taken, or there is no quorum to back up': (v) => !isUnsaved(v) || quorumLostLong(v),
    'a recovery still lacks quorum': (v) => v.op('Recover') === undefined || quorumLostLong(v),
    'the EtcdRestores are known: those before a cluster that is born, and that its own was not deleted': (v) =>
      v.o.restores.known || !(isOrigin(args(v).id) || givesUp(restoreOp(v)!)),
    'its EtcdRestore is still there': (v) => !isAbandoned(v),
  },
  effect: fence,
});

export const drainSteps = [
  ...steps({ when: { 'step drain': (v) => at(v, 'drain') !== undefined }, from: 'draining' }, [
    rule({
      name: 'Drain',
      does: 'ScaleTo',
      to: 'draining',
      requires: {
        'the template holds the minEpoch': (v) => statefulSet(v)?.minEpoch === v.record.minEpoch,
        'it has replicas': (v) => statefulSet(v)!.replicas > 0,
      },
      effect: (v) => ({ kind: 'ScaleTo', replicas: 0, basedOn: statefulSet(v)!.rv }),
    }),
    rule({
      name: 'Drained',
      does: 'WriteRecord',
      to: 'seeding',
      // It is scaled to 0 by now: otherwise AnnotateEpoch or Drain, above, comes first.
      requires: { 'no pod is left': drained },
      effect: (v) => write(v, step(v, 'seed')),
    }),
  ]),
];
