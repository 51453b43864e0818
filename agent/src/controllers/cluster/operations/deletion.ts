import type { DeleteOp, RestoreOp } from '../../../protocol/record.ts';
import type { Claim } from '../observed.ts';
import { claimsOf, isSeeded, podsOf, statefulSet } from '../plan/facts.ts';
import { row } from '../plan/row.ts';
import type { View } from '../plan/view.ts';
import { opBase, write } from '../plan/write.ts';
import { ownJob, restoreOp } from './jobs.ts';
import { pastFence, slotFree, suspended } from './restore-op.ts';

// A finalizer is only there while a deletion has work to do: a final backup, or claims to delete.

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
  const { phase } = v.record;
  const isOrigin = restoreBehind(v)?.args.id.startsWith('origin:') === true;
  return !isSeeded(v) && (phase === 'Seeding' || (phase === 'Restoring' && isOrigin));
};

const needsFinalBackup = (v: View): boolean =>
  v.spec.finalBackupRequired && !v.cluster.skipFinalBackup && !neverServed(v);

const backedUp = (v: View): boolean => !needsFinalBackup(v) || ownJob(v, 'final')?.backup !== undefined;

/** The final backup can be taken only of what serves: the restore goes on, and the deletion comes after it. */
export const waitsForRestore = (v: View): boolean =>
  v.cluster.deleting && v.cluster.finalizer && pastFence(v) !== undefined && needsFinalBackup(v);

const deletes = (v: View): boolean => v.spec.onDelete === 'Delete';

export const finalizer = [
  row({
    name: 'Finalizer.release',
    does: 'ReleaseFinalizer',
    priority: 0,
    from: 'running',
    to: 'running',
    when: {
      'it has our finalizer': (v) => v.cluster.finalizer,
      'it has no work, or nobody to do it': (v) =>
        v.cluster.reconcilerGoing ? v.cluster.deleting : !wantsFinalizer(v),
    },
    requires: {},
    effect: release,
  }),
];

export const deletion = [
  row({
    name: 'Finalizer.set',
    does: 'SetFinalizer',
    priority: 4,
    from: 'running',
    to: 'running',
    when: {
      'it has work at deletion': wantsFinalizer,
      'no finalizer yet': (v) => !v.cluster.finalizer,
      'the reconciler stays': (v) => !v.cluster.reconcilerGoing,
    },
    requires: {},
    effect: (v) => ({ kind: 'SetFinalizer', basedOn: v.cluster.rv }),
  }),
  row({
    name: 'Delete',
    does: 'WriteRecord',
    priority: 3,
    from: 'running',
    to: 'deleting',
    when: {
      'the cluster is being deleted': (v) => v.cluster.deleting,
      'it has our finalizer': (v) => v.cluster.finalizer,
    },
    // Before its fence a restore is withdrawn.
    requires: {
      'the slot is free, or held by a restore past its fence that no final backup needs': (v) =>
        slotFree(v) || (pastFence(v) !== undefined && !needsFinalBackup(v)),
    },
    effect: (v) => {
      // Past the fence nothing serves that could be backed up.
      const first = pastFence(v) ? 'scale' : 'backup';
      return write(v, { op: { ...opBase(v), kind: 'Delete', step: first, ...suspended(v) } });
    },
  }),
  row({
    name: 'Delete.drop',
    does: 'WriteRecord',
    priority: 2.05,
    from: 'deleting',
    to: 'running',
    when: {
      'op Delete': (v) => v.op('Delete') !== undefined,
      'the cluster was made again': (v) => !v.cluster.deleting,
    },
    requires: {},
    effect: (v) => write(v, { op: v.op('Delete')!.suspended }),
  }),
  row({
    name: 'Delete.backedUp',
    does: 'WriteRecord',
    priority: 2.1,
    from: 'deleting',
    to: 'deleting',
    when: { 'step backup': (v) => at(v, 'backup') !== undefined },
    requires: { 'final backup verified, not required, or skipped': backedUp },
    effect: (v) => step(v, 'scale'),
  }),
  row({
    name: 'Delete.scale',
    does: 'ScaleTo',
    priority: 2.1,
    from: 'deleting',
    to: 'deleting',
    when: { 'step scale': (v) => at(v, 'scale') !== undefined },
    requires: { 'it has replicas': (v) => (statefulSet(v)?.replicas ?? 0) > 0 },
    effect: (v) => ({ kind: 'ScaleTo', replicas: 0, basedOn: statefulSet(v)!.rv }),
  }),
  row({
    name: 'Delete.scaled',
    does: 'WriteRecord',
    priority: 2.2,
    from: 'deleting',
    to: 'deleting',
    when: { 'step scale': (v) => at(v, 'scale') !== undefined },
    requires: {
      'StatefulSet is known': (v) => v.o.statefulSet.known,
    },
    effect: (v) => step(v, 'claims'),
  }),
  row({
    name: 'Delete.release',
    does: 'ReleaseFinalizer',
    priority: 2.2,
    from: 'deleting',
    to: 'gone',
    when: {
      'step claims': (v) => at(v, 'claims') !== undefined,
      'claims stay': (v) => !deletes(v),
      'it has our finalizer': (v) => v.cluster.finalizer,
    },
    requires: {},
    effect: release,
  }),
  row<Claim>({
    name: 'Delete.claim',
    does: 'DeletePvc',
    priority: 2.1,
    from: 'deleting',
    to: 'deleting',
    of: claimsOf,
    when: { 'step claims': (v) => at(v, 'claims') !== undefined, 'claims go too': deletes },
    requires: { 'it is not being deleted': (_, claim) => !claim.deleting },
    effect: (_, { ordinal, uid }) => ({ kind: 'DeletePvc', ordinal, uid }),
  }),
  row({
    name: 'Delete.record',
    does: 'DeleteRecord',
    priority: 2.2,
    from: 'deleting',
    to: 'deleting',
    when: { 'step claims': (v) => at(v, 'claims') !== undefined, 'claims go too': deletes },
    requires: { 'no claim is left': (v) => v.o.claims.known && claimsOf(v).length === 0 },
    effect: (v) => ({ kind: 'DeleteRecord', basedOn: v.o.record.known ? v.o.record.v!.rv : '' }),
  }),
  row({
    name: 'HoldDeleting',
    priority: 3.8,
    when: {},
    requires: { 'the cluster is being deleted': (v) => v.cluster.deleting },
    hold: 'Deleting',
  }),
];

/** The record went last: what is left to do without it. */
export const deletionWithoutRecord = [
  row({
    name: 'Delete.releaseWithoutRecord',
    does: 'ReleaseFinalizer',
    priority: 0.5,
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
  row({
    name: 'HoldDeletingWithoutRecord',
    priority: 0.6,
    when: {},
    requires: {
      'the cluster is being deleted': (v) => v.cluster.deleting,
      'it does not wait for us': (v) => !v.cluster.finalizer,
    },
    hold: 'Deleting',
  }),
];
