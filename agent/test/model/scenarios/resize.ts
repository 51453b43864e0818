import { changeTemplate, resize, volumeLost } from '../world/events.ts';
import { addedAgain, after, edited, of, type Plot, removing, VOLUMES } from './plot.ts';

export const resizes: readonly Plot[] = [
  {
    name: 'grow 1 to 3',
    from: of({ size: 1, room: 3 }),
    budget: { edits: 1, faults: 1, writes: 1, late: 1 },
    edits: [resize(3)],
    faults: VOLUMES,
  },
  {
    name: 'grow 2 to 3',
    from: of({ size: 2, room: 3 }),
    budget: { edits: 1, faults: 2, writes: 1 },
    edits: [resize(3)],
    faults: VOLUMES,
  },
  {
    name: 'grow 3 to 5',
    from: of({ size: 3, room: 5 }),
    budget: { edits: 1, faults: 1 },
    edits: [resize(5)],
    faults: ['volumeLost', 'podLost'],
  },
  {
    name: 'shrink 3 to 1',
    from: of({ size: 3 }),
    budget: { edits: 1, faults: 1, writes: 1, late: 1 },
    edits: [resize(1)],
    faults: VOLUMES,
  },
  {
    name: 'shrink 3 to 2, claims deleted',
    from: of({ size: 3, spec: { onShrink: 'Delete' } }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [resize(2), resize(3)],
    faults: ['podLost', 'volumeLost'],
  },
  {
    name: 'shrink 5 to 3 and back',
    from: of({ size: 5 }),
    budget: { edits: 2, faults: 1 },
    edits: [resize(3), resize(5)],
    faults: ['volumeLost', 'etcdCrash'],
  },
  {
    name: 'shrink 4 to 3',
    from: of({ size: 4 }),
    budget: { edits: 1, faults: 1, late: 1 },
    edits: [resize(3)],
    faults: ['volumeLost'],
  },
  {
    name: 'shrink 4 to 3, its learner added by a late call',
    from: after(
      after(
        of({ size: 4 }),
        (world) => volumeLost(world, 3),
        ({ record }) => record!.doc.permits[3]?.mode === 'existing',
      ),
      (world) => removing(addedAgain(edited(resize(3))(world), 3), 3),
    ),
    budget: {},
  },
  {
    name: 'shrink, claims deleted, and grow',
    from: of({ size: 3, spec: { onShrink: 'Delete' } }),
    budget: { edits: 3, faults: 1 },
    edits: [resize(1), resize(3), changeTemplate],
    faults: ['podLost'],
  },
  {
    name: 'shrunk, claims not yet deleted, and grown',
    from: after(of({ size: 3, spec: { onShrink: 'Delete' } }), edited(resize(1)), ({ sts }) => sts!.replicas === 1),
    budget: { edits: 1 },
    edits: [resize(3)],
  },
];
