import { force, setVersion } from '../world/events.ts';
import { after, corruptAndForced, of, type Plot, tight } from './plot.ts';

export const alarms: readonly Plot[] = [
  {
    name: 'NOSPACE',
    from: of({ size: 2 }),
    budget: { faults: 2, late: 1, writes: 1 },
    faults: ['noSpace', 'podLost', 'volumeLost'],
  },
  {
    name: 'NOSPACE without room',
    from: tight(of({ size: 1 })),
    budget: { faults: 2, late: 1 },
    faults: ['noSpace', 'podLost'],
  },
  {
    name: 'NOSPACE of 1',
    from: of({ size: 1, version: '3.6.16' }),
    budget: { faults: 2, late: 1 },
    faults: ['noSpace', 'fullAgain', 'podLost'],
  },
  {
    name: 'NOSPACE of 1, and nothing else',
    from: of({ size: 1, version: '3.6.16' }),
    budget: { faults: 2 },
    faults: ['noSpace', 'fullAgain'],
  },
  {
    name: 'CORRUPT',
    from: of({ size: 3 }),
    budget: { faults: 2, edits: 1 },
    faults: ['corrupt', 'differs', 'podLost', 'etcdCrash'],
    edits: [force(1, false), force(0, false)],
  },
  { name: 'NOSPACE of 3', from: of({ size: 3 }), budget: { faults: 2 }, faults: ['noSpace', 'etcdCrash', 'podLost'] },
  {
    name: 'NOSPACE, reported only',
    from: of({ size: 1, spec: { report: true } }),
    budget: { edits: 1, faults: 2 },
    edits: [setVersion('3.6.16')],
    faults: ['noSpace', 'podLost'],
  },
  {
    name: 'CORRUPT, its member replaced',
    from: after(
      of({ size: 3 }),
      (world) => corruptAndForced(world, 1),
      ({ clusters: [c] }) => c!.members.length === 3 && c!.members.every((m) => m.id !== c!.corrupt && !m.learner),
    ),
    budget: { faults: 1 },
    faults: ['differs', 'etcdCrash'],
  },
];
