import { changeTemplate, resize, setVersion } from '../events.ts';
import { after, edited, forgetful, of, type Plot } from './plot.ts';

export const restarts: readonly Plot[] = [
  {
    name: 'roll of 3',
    from: of({ size: 3 }),
    budget: { edits: 1, faults: 1, writes: 1, late: 1 },
    edits: [changeTemplate],
    faults: ['podLost', 'volumeLost', 'etcdCrash'],
  },
  {
    name: 'roll of 1',
    from: of({ size: 1 }),
    budget: { edits: 1, faults: 1, writes: 1, late: 1 },
    edits: [changeTemplate],
    faults: ['podLost', 'volumeLost', 'etcdCrash'],
  },
  {
    name: 'roll and shrink',
    from: of({ size: 3 }),
    budget: { edits: 2, faults: 1 },
    edits: [changeTemplate, resize(1)],
    faults: ['volumeLost'],
  },
  {
    name: 'ephemeral 3',
    from: of({ size: 3, spec: { ephemeral: true } }),
    budget: { edits: 1, faults: 1, writes: 1 },
    edits: [changeTemplate, setVersion('3.6.16')],
    faults: ['podLost', 'etcdCrash', 'nodeOff'],
  },
  {
    name: 'ephemeral 1',
    from: of({ size: 1, spec: { ephemeral: true } }),
    budget: { edits: 2, faults: 1, late: 1, writes: 1 },
    edits: [changeTemplate, setVersion('3.6.16')],
    faults: ['jobFails', 'resultLost', 'jobStuck', 'podLost'],
  },
  {
    name: 'ephemeral 1 without a schedule',
    from: of({ size: 1, spec: { ephemeral: true, schedule: false } }),
    budget: { edits: 1, faults: 1, writes: 1 },
    edits: [changeTemplate],
    faults: ['podLost'],
  },
  {
    name: 'ephemeral 3, replaced and rolled',
    from: of({ size: 3, spec: { ephemeral: true } }),
    budget: { edits: 2, faults: 2 },
    edits: [changeTemplate, resize(1)],
    faults: ['podLost', 'nodeOff'],
  },
  {
    name: 'ephemeral 3, grown and rolled',
    from: of({ size: 3, room: 4, spec: { ephemeral: true } }),
    budget: { edits: 2, faults: 1 },
    edits: [resize(4), changeTemplate],
    faults: ['podLost'],
  },
  {
    name: 'grown to 5 and rolled, an etcd killed',
    from: after(of({ size: 4, room: 5 }), edited(resize(5)), ({ clusters: [c] }) => c!.members.length === 5),
    budget: { edits: 1, faults: 2 },
    edits: [changeTemplate],
    faults: ['etcdCrash', 'podLost'],
  },
  {
    name: 'roll of a member that the record does not know',
    from: forgetful(of({ size: 3 }), 1),
    budget: { edits: 1, faults: 1 },
    edits: [changeTemplate],
    faults: ['podLost'],
  },
];
