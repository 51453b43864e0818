import { changeTemplate, recover, remove, resize, restore, setVersion } from '../world/events.ts';
import { fresh, of, type Plot } from './plot.ts';

/** What a pass sees is of two instants, and two old reconcilers wake late. */
const torn = { torn: 1 };

export const tornReads: readonly Plot[] = [
  {
    name: 'torn reads, bootstrap of 2',
    from: fresh({ size: 2 }),
    budget: { ...torn, faults: 1 },
    faults: ['podLost', 'volumeLost'],
  },
  {
    name: 'torn reads, roll of 3',
    from: of({ size: 3 }),
    budget: { ...torn, edits: 1, faults: 1 },
    edits: [changeTemplate],
    faults: ['podLost', 'volumeLost', 'nodeOff'],
  },
  {
    name: 'torn reads, replace in 3',
    from: of({ size: 3 }),
    budget: { ...torn, faults: 2 },
    faults: ['volumeLost', 'oldVolume', 'emptied', 'etcdCrash'],
  },
  {
    name: 'torn reads, resize',
    from: of({ size: 2, room: 3, spec: { onShrink: 'Delete' } }),
    budget: { ...torn, edits: 2, faults: 1 },
    edits: [resize(1), resize(3)],
    faults: ['volumeLost', 'podLost'],
  },
  {
    name: 'torn reads, upgrade',
    from: of({ size: 2 }),
    budget: { ...torn, edits: 2, faults: 1 },
    edits: [setVersion('3.6.16'), setVersion('3.5.35')],
    faults: ['podLost', 'volumeLost', 'jobFails'],
  },
  {
    name: 'torn reads, restore',
    from: of({ size: 1 }),
    budget: { ...torn, edits: 2, faults: 1 },
    edits: [restore('r', 2, { safetyBackup: true }), restore('r2', 1)],
    faults: ['jobFails', 'jobStuck', 'resultLost', 'volumeLost', 'snapshotReplaced'],
  },
  {
    name: 'torn reads, recovery',
    from: of({ size: 2 }),
    budget: { ...torn, edits: 1, faults: 2 },
    edits: [recover('x', true)],
    faults: ['volumeLost', 'etcdCrash', 'jobFails'],
  },
  {
    name: 'torn reads, ephemeral',
    from: of({ size: 3, spec: { ephemeral: true } }),
    budget: { ...torn, edits: 1, faults: 1 },
    edits: [changeTemplate],
    faults: ['podLost', 'etcdCrash'],
  },
  {
    name: 'torn reads, deletion',
    from: of({ size: 1, spec: { onDelete: 'Delete', finalBackup: true } }),
    budget: { ...torn, edits: 1, faults: 1 },
    edits: [remove],
    faults: ['podLost', 'jobFails', 'resultLost'],
  },
  {
    name: 'torn reads, the record lost',
    from: of({ size: 2 }),
    budget: { ...torn, faults: 2 },
    faults: ['recordLost', 'podLost', 'volumeLost'],
  },
  {
    name: 'two late calls, roll and shrink',
    from: of({ size: 2 }),
    budget: { late: 2, edits: 2, writes: 1 },
    edits: [changeTemplate, resize(1)],
  },
  {
    name: 'two late calls, a volume lost',
    from: of({ size: 3 }),
    budget: { late: 2, faults: 2 },
    faults: ['volumeLost', 'oldVolume'],
  },
  {
    name: 'two late calls, restore',
    from: of({ size: 1 }),
    budget: { late: 2, edits: 1, writes: 1 },
    edits: [restore('r', 2)],
  },
  {
    name: 'two late calls, bootstrap',
    from: fresh({ size: 1 }),
    budget: { late: 2, faults: 1 },
    faults: ['volumeLost', 'podLost'],
  },
];
