import { restore, unrestore } from '../events.ts';
import { after, edited, fresh, of, type Plot, tight } from './plot.ts';

export const restores: readonly Plot[] = [
  {
    name: 'restore of 1',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 1, writes: 1, late: 1 },
    edits: [restore('r', 2), restore('r2', 1, { bad: true }), unrestore('r')],
    faults: ['jobFails', 'podLost', 'volumeLost', 'oldVolume'],
  },
  {
    name: 'restore of 3',
    from: of({ size: 3 }),
    budget: { edits: 1, faults: 1 },
    edits: [restore('r', 2, { safetyBackup: true })],
    faults: ['jobFails', 'volumeLost', 'nodeOff'],
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
    faults: ['jobFails', 'podLost', 'volumeLost'],
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
    faults: ['snapshotReplaced', 'jobFails', 'jobGone'],
  },
  {
    name: 'restore, another in its place',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 2 },
    edits: [restore('r', 2), restore('r2', 1)],
    faults: ['snapshotReplaced', 'jobFails'],
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
    faults: ['volumeLost', 'jobFails', 'jobGone'],
  },
];
