import { running } from '../world/begin.ts';
import { resize, restore, volumeLost } from '../world/events.ts';
import { after, edited, fresh, intruded, of, type Plot, restoredBefore, unlearned } from './plot.ts';

export const lostRecords: readonly Plot[] = [
  {
    name: 'record lost, 1',
    from: fresh({ size: 1 }),
    budget: { faults: 2, late: 1, writes: 1 },
    faults: ['recordLost', 'podLost', 'volumeLost'],
  },
  {
    name: 'record lost, 3',
    from: of({ size: 3 }),
    budget: { faults: 2, writes: 1 },
    faults: ['recordLost', 'podLost', 'nodeOff', 'scaledByHand', 'templateUndone'],
  },
  {
    name: 'record lost in a restore',
    from: of({ size: 1 }),
    budget: { edits: 1, faults: 1 },
    edits: [restore('r', 1)],
    faults: ['recordLost'],
  },
  {
    name: 'record lost, the status knows',
    from: (planner) => ({ ...running({ size: 1 }, planner), statusEpoch: 1 }),
    budget: { faults: 2, late: 1 },
    faults: ['recordLost', 'volumeLost', 'podLost'],
  },
  {
    name: 'ephemeral, record lost',
    from: of({ size: 3, spec: { ephemeral: true } }),
    budget: { faults: 2 },
    faults: ['recordLost', 'podLost'],
  },
  {
    name: 'record lost, another cluster’s volume',
    from: intruded(of({ size: 3 })),
    budget: { faults: 1 },
    faults: ['recordLost'],
  },
  {
    name: 'record lost, all made again, nothing running',
    from: (planner) => {
      const world = running({ size: 1 }, planner);
      const sts = { ...world.sts!, replicas: 0 };
      return { ...world, record: undefined, statusEpoch: undefined, pods: world.pods.map(() => null), sts };
    },
    budget: { faults: 1 },
    faults: ['podLost'],
  },
  {
    name: 'template undone, long after a restore',
    from: (planner) => {
      const world = of({ size: 3 })(planner);
      const { doc, rv } = world.record!;
      const pods = world.pods.map((pod, i) => ({ ...pod!, minEpoch: i === 0 ? 0 : 1 }));
      return { ...world, record: { doc: { ...doc, minEpoch: 1 }, rv }, sts: { ...world.sts!, minEpoch: 1 }, pods };
    },
    budget: { faults: 1 },
    faults: ['etcdCrash'],
  },
  {
    name: 'record lost after a shrink',
    from: of({ size: 2 }),
    budget: { edits: 1, faults: 1 },
    edits: [resize(1)],
    faults: ['recordLost'],
  },
  {
    name: 'record lost, long after a restore',
    from: restoredBefore(of({ size: 1 })),
    budget: { faults: 1 },
    faults: ['recordLost'],
  },
  {
    name: 'record lost, long after two restores, and their statuses too',
    from: after(restoredBefore(of({ size: 1 })), edited(restore('s', 1)), ({ restores }) =>
      restores.every(({ phase }) => phase === 'Completed'),
    ),
    budget: { faults: 3 },
    faults: ['recordLost', 'statusLost', 'volumeLost'],
  },
  {
    name: 'record lost, a removed member’s pod still there',
    from: after(of({ size: 2 }), edited(resize(1)), ({ clusters }) => clusters.at(-1)!.members.length === 1),
    budget: { faults: 1 },
    faults: ['recordLost'],
  },
  {
    name: 'record lost, and a removed member’s volume comes back',
    from: after(
      of({ size: 3 }),
      (world) => volumeLost(world, 2),
      ({ clusters, record }) => clusters.at(-1)!.members.every((m) => !m.learner) && record!.doc.tombstones.length > 0,
    ),
    budget: { faults: 2 },
    faults: ['recordLost', 'oldVolume'],
  },
  {
    name: 'no StatefulSet yet',
    from: () => ({ ...fresh({ size: 1 })(), sts: undefined }),
    budget: { edits: 1 },
    edits: [resize(3)],
  },
  {
    name: 'a member on another volume than the record says',
    from: (planner) => {
      const world = of({ size: 3 })(planner);
      const { doc, rv } = world.record!;
      const members = { ...doc.members, 1: { ...doc.members[1]!, volumeId: 'n#905' } };
      return { ...world, record: { doc: { ...doc, members }, rv } };
    },
    budget: { faults: 1 },
    faults: ['podLost', 'volumeLost'],
  },
  {
    name: 'an old record is put back',
    from: (planner) => ({ ...of({ size: 3 })(planner), putBack: true }),
    budget: { faults: 2 },
    faults: ['recordLost', 'podLost', 'volumeLost'],
  },
  {
    name: 'an old record is put back, from before a learner that has started and lost its volume',
    from: (planner) => {
      const started = after(
        of({ size: 3 }),
        (world) => volumeLost(world, 2),
        ({ clusters }) => clusters.at(-1)!.members.some((m) => m.learner && m.started),
      );
      return volumeLost(unlearned(started(planner), 2), 2);
    },
    budget: { faults: 1 },
    faults: ['podLost'],
  },
];
