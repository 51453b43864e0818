import type { DeleteOp, RestoreOp } from '../../../protocol/record.ts';
import { isOrigin } from '../../../protocol/restore-id.ts';
import type { Claim } from '../../port/observed.ts';
import { rule, steps } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { isSeeded, pastFence, restoreOp } from '../facts/facts.ts';
import { claimsOf, podsOf, statefulSet } from '../facts/observations.ts';
import { ownJob } from './jobs.ts';
import { opBase, write } from './record/write.ts';
import { slotFree, suspended } from './restore/operation.ts';

// The finalizer is set only while a deletion would have work to do: a final backup, or claims to delete.

const wantsFinalizer = (v: View): boolean => v.spec.onDelete === 'Delete' || v.spec.finalBackupRequired;

const at = (v: View, step: DeleteOp['step']): DeleteOp | undefined => {
  const op = v.op('Delete');
  return op?.step === step ? op : undefined;
};

const step = (v: View, next: DeleteOp['step']) => write(v, { op: { ...v.op('Delete')!, step: next } });

const release = (v: View) => ({ kind: 'ReleaseFinalizer' as const, basedOn: v.cluster.rv });

/** The restore in flight, or the one that this deletion suspended. */
const restoreBehind = (v: View): RestoreOp | undefined => {
  const before = v.op('Delete')?.suspended;
  return restoreOp(v) ?? (before?.kind === 'Restore' || before?.kind === 'Recover' ? before : undefined);
};

/** No seed of this cluster was ever seen to serve, so there is nothing to back up. */
const neverServed = (v: View): boolean => {
  const { phase, restores, lastRestoreId } = v.record;
  if (isSeeded(v)) return false;
  if (phase !== 'Restoring') return phase === 'Seeding';
  // Other restores may have taken the place of the origin's before anything served: MarkSeeded names the one that did. A record
  // that was rebuilt does not know the uid of its origin, and may not name it either, but its cluster has served.
  const [first = { id: restoreBehind(v)?.args.id ?? '', uid: v.cluster.uid }] = restores;
  return lastRestoreId === undefined && isOrigin(first.id) && first.uid !== '';
};

const needsFinalBackup = (v: View): boolean =>
  v.spec.finalBackupRequired && !v.cluster.skipFinalBackup && !neverServed(v);

const backedUp = (v: View): boolean => !needsFinalBackup(v) || ownJob(v, 'final')?.backup !== undefined;

/** Only a cluster that serves can be backed up, so the restore continues and the deletion follows it. */
export const waitsForRestore = (v: View): boolean =>
  v.cluster.deleting && v.cluster.finalizer && pastFence(v) !== undefined && needsFinalBackup(v);

const deletes = (v: View): boolean => v.spec.onDelete === 'Delete';

/** The members go, and no final backup needs them any more. */
export const isGoing = (v: View): boolean =>
  v.cluster.deleting && (!v.cluster.finalizer || (v.op('Delete') !== undefined && at(v, 'backup') === undefined));

export const releaseFinalizer = rule({
  name: 'Finalizer.release',
  does: 'ReleaseFinalizer',
  from: 'running',
  to: 'running',
  when: {
    'it has our finalizer': (v) => v.cluster.finalizer,
    'its deletion has no work, or it and the reconciler are being deleted': (v) =>
      v.cluster.reconcilerGoing ? v.cluster.deleting : !wantsFinalizer(v),
  },
  effect: release,
});

export const setFinalizer = rule({
  name: 'Finalizer.set',
  does: 'SetFinalizer',
  from: 'running',
  to: 'running',
  when: {
    'its deletion has work, a final backup or claims to delete': wantsFinalizer,
    'no finalizer yet': (v) => !v.cluster.finalizer,
    'the reconciler is not being deleted': (v) => !v.cluster.reconcilerGoing,
  },
  effect: (v) => ({ kind: 'SetFinalizer', basedOn: v.cluster.rv }),
});

export const deleteCluster = rule({
  name: 'Delete',
  does: 'WriteRecord',
  from: 'running',
  to: 'deleting',
  when: {
    'the cluster is being deleted': (v) => v.cluster.deleting,
    'it has our finalizer': (v) => v.cluster.finalizer,
  },
  // A restore before its fence is withdrawn first.
  requires: {
    'the slot is free, or held by a restore past its fence that no final backup needs': (v) =>
      slotFree(v) || (pastFence(v) !== undefined && !needsFinalBackup(v)),
  },
  effect: (v) => {
    // Past the fence no member serves, so there is nothing to back up.
    const first = pastFence(v) ? 'scale' : 'backup';
    return write(v, { op: { ...opBase(v), kind: 'Delete', step: first, ...suspended(v) } });
  },
});

export const deleteSteps = [
  rule({
    name: 'Delete.drop',
    does: 'WriteRecord',
    from: 'deleting',
    to: 'running',
    when: {
      'op Delete': (v) => v.op('Delete') !== undefined,
      'the cluster was recreated': (v) => !v.cluster.deleting,
    },
    effect: (v) => write(v, { op: v.op('Delete')!.suspended }),
  }),
  ...steps({ when: { 'step backup': (v) => at(v, 'backup') !== undefined }, from: 'deleting', to: 'deleting' }, [
    rule({
      name: 'Delete.backedUp',
      does: 'WriteRecord',
      requires: { 'final backup verified, not required, or skipped': backedUp },
      effect: (v) => step(v, 'scale'),
    }),
  ]),
  ...steps({ when: { 'step scale': (v) => at(v, 'scale') !== undefined }, from: 'deleting', to: 'deleting' }, [
    rule({
      name: 'Delete.scale',
      does: 'ScaleTo',
      requires: { 'it has replicas': (v) => (statefulSet(v)?.replicas ?? 0) > 0 },
      effect: (v) => ({ kind: 'ScaleTo', replicas: 0, basedOn: statefulSet(v)!.rv }),
    }),
    rule({
      name: 'Delete.scaled',
      does: 'WriteRecord',
      requires: {
        'StatefulSet is known': (v) => v.o.statefulSet.known,
      },
      effect: (v) => step(v, 'claims'),
    }),
  ]),
  ...steps({ when: { 'step claims': (v) => at(v, 'claims') !== undefined }, from: 'deleting' }, [
    rule<Claim>({
      name: 'Delete.claim',
      does: 'DeleteClaim',
      to: 'deleting',
      each: claimsOf,
      when: { 'claims go too': deletes },
      requires: { 'it is not being deleted': (_, claim) => !claim.deleting },
      effect: (_, { ordinal, uid }) => ({ kind: 'DeleteClaim', ordinal, uid }),
    }),
    rule({
      name: 'Delete.record',
      does: 'DeleteRecord',
      to: 'deleting',
      when: { 'claims go too': deletes },
      requires: { 'no claim is left': (v) => v.o.claims.known && claimsOf(v).length === 0 },
      effect: (v) => ({ kind: 'DeleteRecord', basedOn: v.o.record.known ? v.o.record.v!.rv : '' }),
    }),
    rule({
      name: 'Delete.release',
      does: 'ReleaseFinalizer',
      to: 'gone',
      when: {
        'claims stay': (v) => !deletes(v),
        'it has our finalizer': (v) => v.cluster.finalizer,
      },
      effect: release,
    }),
  ]),
];

export const holdDeleting = rule({
  name: 'HoldDeleting',
  requires: { 'the cluster is being deleted': (v) => v.cluster.deleting },
  hold: 'Deleting',
});

/** The rest of a deletion after it has deleted the record. */
export const deletionWithoutRecord = [
  rule({
    name: 'Delete.releaseWithoutRecord',
    does: 'ReleaseFinalizer',
    from: 'deleting',
    to: 'gone',
    when: {
      'the cluster is being deleted': (v) => v.cluster.deleting,
      'it has our finalizer': (v) => v.cluster.finalizer,
    },
    requires: {
      'no claim is left': (v) => v.o.claims.known && claimsOf(v).length === 0,
      'no pod is left': (v) => v.o.pods.known && podsOf(v).length === 0,
    },
    effect: release,
  }),
  rule({
    name: 'HoldDeletingWithoutRecord',
    requires: {
      'the cluster is being deleted': (v) => v.cluster.deleting,
      'it has no finalizer of ours': (v) => !v.cluster.finalizer,
    },
    hold: 'Deleting',
  }),
];
