import { restore, unrestore } from '../world/events.ts';
import { after, edited, fresh, of, type Plot, suspending, tight } from './plot.ts';

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
    name: 'restore past its fence, another in its place',
    from: after(of({ size: 1 }), edited(restore('r', 2)), ({ record }) => record?.doc.phase === 'Restoring'),
    budget: { edits: 1, faults: 1 },
    edits: [restore('r2', 1)],
    faults: ['jobFails', 'jobStuck'],
  },
  {
    name: 'restore, template undone',
    from: of({ size: 1 }),
    budget: { edits: 1, faults: 2 },
    edits: [restore('r', 2)],
    faults: ['templateUndone', 'scaledByHand', 'podLost'],
  },
  {
    name: 'origin without room',
    from: tight(fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } })),
    budget: { faults: 1 },
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
