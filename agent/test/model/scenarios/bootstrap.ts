import { pause, resize, setVersion } from '../world/events.ts';
import { after, fresh, NODES, old, type Plot, VOLUMES } from './plot.ts';

export const bootstraps: readonly Plot[] = [
  {
    name: 'bootstrap 1',
    from: fresh({ size: 1 }),
    budget: { faults: 2, late: 1, writes: 2 },
    faults: [...VOLUMES, 'etcdCrash', 'nodeOff'],
  },
  { name: 'bootstrap 2', from: fresh({ size: 2 }), budget: { faults: 1, late: 1, writes: 1 }, faults: VOLUMES },
  { name: 'bootstrap 3', from: fresh({ size: 3 }), budget: { faults: 1, late: 1, writes: 1 }, faults: VOLUMES },
  {
    name: 'bootstrap 3, nodes',
    from: fresh({ size: 3 }),
    budget: { faults: 1, writes: 1 },
    faults: [...NODES, 'scaledByHand'],
  },
  {
    name: 'bootstrap 3, before 3.5.30',
    from: fresh({ size: 3, version: '3.5.16', rule: old }),
    budget: { faults: 1 },
    faults: VOLUMES,
  },
  { name: 'bootstrap 5', from: fresh({ size: 5 }), budget: { faults: 1 }, faults: ['volumeLost'] },
  { name: 'bootstrap 4', from: fresh({ size: 4 }), budget: { late: 1 } },
  {
    name: 'size edited while it boots',
    from: fresh({ size: 3, room: 5 }),
    budget: { edits: 2 },
    edits: [resize(1), resize(5), resize(3), pause],
  },
  {
    name: 'ephemeral bootstrap',
    from: fresh({ size: 3, spec: { ephemeral: true } }),
    budget: { faults: 1, late: 1 },
    faults: ['podLost', 'recordLost'],
  },
  {
    name: 'version edited while it boots',
    from: fresh({ size: 1 }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [setVersion('3.6.16'), setVersion('3.5.35')],
    faults: ['podLost', 'volumeLost'],
  },
  {
    name: 'version lowered while it boots',
    from: fresh({ size: 1, version: '3.6.16' }),
    budget: { edits: 2, faults: 1, late: 1, writes: 1 },
    edits: [setVersion('3.5.35'), setVersion('3.6.16')],
    faults: ['podLost', 'volumeLost', 'etcdCrash'],
  },
  {
    name: 'version lowered before the others joined',
    from: after(
      fresh({ size: 2, version: '3.6.16' }),
      (world) => world,
      ({ record }) => record?.doc.seeded === true,
    ),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.5.35')],
    faults: ['podLost'],
  },
  {
    name: 'version lowered while it is born from a backup',
    from: fresh({ size: 1, version: '3.6.16', spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } }),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.5.35')],
    faults: ['podLost'],
  },
  {
    name: 'a size that is refused',
    from: fresh({ size: 0, room: 1 }),
    budget: { edits: 1, faults: 1 },
    edits: [resize(1)],
    faults: ['podLost'],
  },
  {
    name: 'minor skipped while it boots',
    from: fresh({ size: 1 }),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.7.3')],
    faults: ['podLost'],
  },
];
