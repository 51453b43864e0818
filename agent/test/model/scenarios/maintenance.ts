import { askDefragment, askLeader, resize, setVersion } from '../world/events.ts';
import { after, edited, of, type Plot, tight } from './plot.ts';

/** One second and two hours before now. */
const [now, late] = [1_000, 7_200_000] as const;

export const maintenance: readonly Plot[] = [
  {
    name: 'defragmentation',
    from: of({ size: 3 }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [askDefragment(2 * now), askDefragment(now)],
    faults: ['podLost', 'volumeLost', 'etcdCrash'],
  },
  {
    name: 'defragmentation of one, and of none',
    from: of({ size: 2 }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [askDefragment(2 * now, 0), askDefragment(now, 6)],
    faults: ['podLost', 'etcdCrash', 'nodeOff', 'backupBegins'],
  },
  {
    name: 'defragmentation under way',
    from: after(
      of({ size: 3 }),
      edited(askDefragment(2 * now)),
      ({ record }) => record?.doc.op?.kind === 'Defragment' && record.doc.op.done.length === 1,
    ),
    budget: { faults: 1, late: 1 },
    faults: ['podLost', 'etcdCrash', 'backupBegins'],
  },
  {
    name: 'defragmentation, its leader moved',
    from: after(
      of({ size: 3 }),
      edited(askDefragment(2 * now)),
      ({ record }) => record?.doc.op?.kind === 'Defragment' && record.doc.op.done.length === 2,
    ),
    budget: { faults: 2, late: 1 },
    faults: ['etcdCrash', 'podLost'],
  },
  {
    name: 'defragmentation without room, too late, or too early',
    from: tight(of({ size: 1 })),
    budget: { edits: 2, faults: 1 },
    edits: [askDefragment(now), askDefragment(late), askDefragment(-now)],
    faults: ['podLost'],
  },
  {
    name: 'leader moved',
    from: of({ size: 3 }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [askLeader(2 * now, 1), askLeader(now, 2)],
    faults: ['podLost', 'etcdCrash', 'nodeOff'],
  },
  {
    name: 'leader moved to nobody, or too late',
    from: of({ size: 2 }),
    budget: { edits: 2, faults: 1 },
    edits: [askLeader(now, 6), askLeader(late, 1)],
    faults: ['etcdCrash'],
  },
  {
    name: 'maintenance beside an upgrade, NOSPACE and a new size',
    from: of({ size: 1, room: 2 }),
    budget: { edits: 3, faults: 1 },
    edits: [askDefragment(now), askLeader(now, 0), setVersion('3.6.16'), resize(2)],
    faults: ['noSpace', 'podLost'],
  },
];
