import { correctRestore, type Edit, madeAgainFrom, renameRestore, restore, unrestore } from '../world/events.ts';
import type { World } from '../world/world.ts';
import { after, edited, fresh, of, type Plot, restoredFormerly, suspending, tight } from './plot.ts';

/** If its status is gone before the first record, nothing tells any more that it was carried out. */
const recorded = (edit: Edit): Edit => ({
  ...edit,
  apply: (spec, world) => (world.record ? edit.apply(spec, world) : undefined),
});

const isPastFence = ({ record }: World): boolean => record?.doc.phase === 'Restoring';

export const restores: readonly Plot[] = [
  {
    name: 'restore of 1',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 1, writes: 1, late: 1 },
    edits: [restore('r', 2), restore('r2', 1, { bad: true }), unrestore('r')],
    faults: ['jobFails', 'resultLost', 'podLost', 'volumeLost', 'oldVolume'],
  },
  {
    name: 'restore of 3',
    from: of({ size: 3 }),
    budget: { edits: 1, faults: 1 },
    edits: [restore('r', 2, { safetyBackup: true })],
    faults: ['jobFails', 'volumeLost', 'nodeOff', 'jobStuck'],
  },
  {
    name: 'restore whose Job does not start, and a lost volume',
    from: after(of({ size: 3 }), edited(restore('r', 2, { safetyBackup: true })), ({ jobs }) => jobs.length > 0),
    budget: { faults: 3 },
    faults: ['jobStuck', 'volumeLost', 'nodeOff'],
  },
  {
    name: 'restore whose safety backup fails while the pod is away',
    from: after(of({ size: 1 }), edited(restore('r', 2, { safetyBackup: true })), ({ jobs }) =>
      jobs.some(({ kind }) => kind === 'safety'),
    ),
    budget: { faults: 3 },
    faults: ['podLost', 'jobFails'],
  },
  {
    name: 'restore whose safety backup the store refuses',
    from: after(of({ size: 1 }), edited(restore('r', 2, { safetyBackup: true })), ({ jobs }) => jobs.length > 0),
    budget: { faults: 2 },
    faults: ['storeRefuses', 'podLost'],
  },
  {
    name: 'restore that keeps a removal waiting, and a lost volume',
    from: after(
      of({ size: 3 }),
      (world) => suspending(edited(restore('r', 2))(world), 2),
      ({ jobs }) => jobs.length > 0,
    ),
    budget: { faults: 1 },
    faults: ['volumeLost'],
  },
  {
    name: 'restore of 2, late call',
    from: of({ size: 2 }),
    budget: { edits: 1, late: 1, writes: 1 },
    edits: [restore('r', 2)],
  },
  {
    name: 'restore while old pods cannot be reached',
    from: of({ size: 2 }),
    budget: { edits: 1, faults: 2 },
    edits: [restore('r', 2), restore('r2', 2, { ignore: true })],
    faults: ['nodeOff', 'noApi'],
  },
  {
    name: 'origin',
    from: fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } }),
    budget: { faults: 2, late: 1, writes: 1 },
    faults: ['jobFails', 'jobStuck', 'resultLost', 'podLost', 'volumeLost'],
  },
  {
    name: 'origin of a bad snapshot',
    from: fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2, bad: true } } }),
    budget: { faults: 1 },
    faults: ['podLost'],
  },
  {
    name: 'origin of a bad snapshot, corrected',
    from: fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2, bad: true } } }),
    budget: { faults: 1, edits: 1 },
    faults: ['podLost', 'jobStuck'],
    edits: [madeAgainFrom(1)],
  },
  {
    name: 'restore without room',
    from: tight(of({ size: 1 })),
    budget: { edits: 1, faults: 1, late: 1 },
    edits: [restore('r', 2)],
    faults: ['podLost'],
  },
  {
    name: 'restore of what changes',
    from: of({ size: 1 }),
    budget: { edits: 1, faults: 2 },
    edits: [restore('r', 2, { safetyBackup: true })],
    faults: ['snapshotReplaced', 'jobFails', 'jobGone', 'resultLost'],
  },
  {
    name: 'restore, another in its place',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 2 },
    edits: [restore('r', 2), restore('r2', 1)],
    faults: ['snapshotReplaced', 'jobFails', 'jobStuck'],
  },
  {
    name: 'restore that gets another name',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 1, writes: 1 },
    edits: [restore('r', 2), renameRestore('r', 'r2')],
    faults: ['snapshotReplaced', 'jobFails', 'podLost'],
  },
  {
    name: 'restore past its fence, another in its place',
    from: after(of({ size: 1 }), edited(restore('r', 2)), isPastFence),
    budget: { edits: 1, faults: 1 },
    edits: [restore('r2', 1)],
    faults: ['jobFails', 'jobStuck'],
  },
  {
    name: 'restore past its fence, made again with another spec',
    from: after(of({ size: 1 }), edited(restore('r', 2)), isPastFence),
    budget: { edits: 2, faults: 2 },
    edits: [correctRestore('r', 1), restore('r2', 1)],
    faults: ['jobFails', 'snapshotReplaced'],
  },
  {
    name: 'restore in the place of one past its fence, deleted or made again with another spec',
    from: after(
      after(of({ size: 1 }), edited(restore('r', 2)), isPastFence),
      (world) => edited(restore('r2', 1))({ ...world, jobs: world.jobs.map((job) => ({ ...job, state: 'Failed' })) }),
      ({ record }) => record?.doc.op?.kind === 'Restore' && record.doc.op.args.id === 'r2',
    ),
    budget: { edits: 2, faults: 1 },
    edits: [correctRestore('r2', 1), unrestore('r2'), restore('r3', 1)],
    faults: ['jobFails', 'jobStuck'],
  },
  {
    name: 'restore that fails, then deleted and made again',
    from: of({ size: 1 }),
    budget: { edits: 3, faults: 1 },
    edits: [restore('r', 1, { bad: true }), correctRestore('r', 2), unrestore('r')],
    faults: ['podLost', 'recordLost'],
  },
  {
    name: 'restore, template undone',
    from: of({ size: 1 }),
    budget: { edits: 1, faults: 2 },
    edits: [restore('r', 2)],
    faults: ['templateUndone', 'scaledByHand', 'podLost'],
  },
  {
    name: 'origin, with an EtcdRestore of before or after it',
    from: fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } }),
    budget: { edits: 1, faults: 1, writes: 1 },
    edits: [restore('r', 1)],
    faults: ['podLost'],
  },
  {
    name: 'origin, with an EtcdRestore that is deleted, made again or renamed',
    from: after(
      fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } }),
      edited(restore('r', 1)),
      ({ restores: [r] }) => r?.phase === 'Failed',
    ),
    budget: { edits: 3, faults: 1, writes: 1 },
    edits: [unrestore('r'), restore('r', 1), renameRestore('r', 'r2')],
    faults: ['recordLost'],
  },
  {
    name: 'origin past its fence, an EtcdRestore of before beside it',
    from: after(
      fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } }),
      edited(restore('r', 1)),
      ({ record }) => record?.doc.phase === 'Restoring',
    ),
    budget: { edits: 1, faults: 1 },
    edits: [restore('r2', 1)],
    faults: ['jobFails', 'jobStuck'],
  },
  {
    name: 'origin without room',
    from: tight(fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } })),
    budget: { faults: 1 },
    faults: ['podLost'],
  },
  {
    name: 'origin that does not start, beside an EtcdRestore',
    from: fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } }),
    budget: { edits: 1, faults: 1 },
    edits: [restore('r', 1)],
    faults: ['jobStuck'],
  },
  {
    name: 'bootstrap, with an EtcdRestore that restored a former cluster',
    from: restoredFormerly(fresh({ size: 1 })),
    budget: { edits: 2, faults: 1 },
    edits: [recorded(unrestore('r')), recorded(restore('r', 1))],
    faults: ['podLost'],
  },
  {
    name: 'restore while it boots',
    from: fresh({ size: 1 }),
    budget: { edits: 1, faults: 1 },
    edits: [restore('r', 1)],
    faults: ['podLost'],
  },
  {
    name: 'restore, its permit issued',
    from: after(of({ size: 1 }), edited(restore('r', 2)), ({ record }) => record?.doc.permits[0]?.mode === 'restore'),
    budget: { faults: 2 },
    faults: ['volumeLost', 'jobFails', 'jobGone', 'jobStuck'],
  },
];
