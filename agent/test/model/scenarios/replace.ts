import { changeTemplate, force, nodeTaken, recover, remove, resize, restore, volumeLost } from '../world/events.ts';
import { podGone } from '../world/steps.ts';
import type { World } from '../world/world.ts';
import { adding, after, edited, marked, NODES, of, old, type Plot, removing, VOLUMES } from './plot.ts';

/** Its volume is lost, and the pod with the new one waits for a permit. */
const emptyAt = (from: Plot['from'], i: number): Plot['from'] =>
  after(
    from,
    (world) => volumeLost(world, i),
    ({ pods }) => pods[i]?.state === 'wait',
  );

/** The new volume's learner is added. */
const unpermitted = after(
  emptyAt(of({ size: 5 }), 4),
  (world) => world,
  ({ clusters }) => clusters.at(-1)!.members.some(({ learner }) => learner),
);

/** The removal of a member is recorded that was asked for. */
const forced = after(of({ size: 3 }), edited(force(1, false)), ({ record }) => record?.doc.op?.kind === 'Remove');

export const replacements: readonly Plot[] = [
  { name: 'replace in 3', from: of({ size: 3 }), budget: { faults: 2, writes: 2 }, faults: VOLUMES },
  {
    name: 'replace in 3, a late call',
    from: of({ size: 3 }),
    budget: { faults: 2, late: 1 },
    faults: ['volumeLost', 'oldVolume', 'podLost'],
  },
  {
    name: 'replace in 3, two late calls',
    from: emptyAt(of({ size: 3 }), 2),
    budget: { late: 2, faults: 1 },
    faults: ['podLost'],
  },
  {
    name: 'a member is removed before a learner uses its permit',
    from: (planner) => {
      const isPermitted = ({ record }: World): boolean => record?.doc.permits[3]?.mode === 'existing';
      return removing(after(emptyAt(of({ size: 4 }), 3), (world) => world, isPermitted)(planner), 2);
    },
    budget: { faults: 1 },
    faults: ['podLost'],
  },
  {
    name: 'a learner added by hand',
    from: of({ size: 3 }),
    budget: { faults: 2, edits: 1 },
    faults: ['addedByHand', 'volumeLost'],
    edits: [resize(1)],
  },
  {
    name: 'a voter added by hand at the address of a pod',
    from: of({ size: 3 }),
    budget: { faults: 2, edits: 1 },
    faults: ['addedAtAPod', 'podLost'],
    edits: [changeTemplate],
  },
  {
    name: 'the domain of its pods was changed',
    from: (planner) => ({ ...of({ size: 3 })(planner), renamed: true }),
    budget: { faults: 2, edits: 1, late: 1 },
    faults: ['podLost', 'volumeLost'],
    edits: [resize(1)],
  },
  {
    name: 'the domain was changed while a member is added',
    from: (planner) => ({ ...unpermitted(planner), renamed: true }),
    budget: { faults: 1 },
    faults: ['podLost'],
  },
  {
    name: 'a member is to be added where one is',
    from: (planner) => adding(emptyAt(of({ size: 5 }), 4)(planner), 4),
    budget: { faults: 1 },
    faults: ['podLost'],
  },
  {
    name: 'replace in 3, before 3.5.30',
    from: of({ size: 3, version: '3.5.16', rule: old }),
    budget: { faults: 2, writes: 1 },
    faults: VOLUMES,
  },
  {
    name: 'a new volume on the node of another',
    from: emptyAt(of({ size: 3 }), 1),
    budget: { faults: 2, writes: 1, late: 1 },
    faults: ['nodeTaken', 'podLost', 'volumeLost'],
  },
  {
    name: 'a new volume on the node of another, of 5',
    from: emptyAt(of({ size: 5 }), 4),
    budget: { faults: 1, late: 1 },
    faults: ['nodeTaken'],
  },
  {
    name: 'a learner without a permit on the node of another',
    from: (planner) => nodeTaken(unpermitted(planner), 4, 2)!,
    budget: {},
  },
  {
    name: 'a new volume on the node of another, while all is deleted',
    from: emptyAt(of({ size: 3, spec: { finalBackup: true, finalizer: true } }), 1),
    budget: { faults: 1, edits: 1 },
    faults: ['nodeTaken'],
    edits: [remove],
  },
  {
    name: 'a claim is deleted under its pod',
    from: emptyAt(of({ size: 3 }), 2),
    budget: { faults: 2, edits: 1 },
    faults: ['claimDeleted', 'podLost'],
    edits: [resize(1)],
  },
  { name: 'replace in 5', from: of({ size: 5 }), budget: { faults: 2 }, faults: ['volumeLost', 'oldVolume'] },
  { name: 'replace in 1', from: of({ size: 1 }), budget: { faults: 2, writes: 1, late: 1 }, faults: VOLUMES },
  {
    name: 'a volume is set back',
    from: marked(of({ size: 3 })),
    budget: { faults: 2, writes: 1 },
    faults: ['setBack', 'podLost', 'volumeLost'],
  },
  {
    name: 'a volume is set back, replaced by hand only',
    from: marked(of({ size: 3, spec: { manual: true } })),
    budget: { faults: 2, edits: 1 },
    faults: ['setBack'],
    edits: [force(1, false)],
  },
  {
    name: 'a volume is set back, before a restore',
    from: marked(of({ size: 3 })),
    budget: { faults: 2, edits: 2 },
    faults: ['setBack'],
    edits: [recover('x', true, 0), restore('r', 1)],
  },
  {
    name: 'replace by hand only',
    from: of({ size: 3, spec: { manual: true } }),
    budget: { faults: 1, edits: 1 },
    faults: VOLUMES,
    edits: [force(1, false), force(0, true)],
  },
  {
    name: 'forced replacement',
    from: of({ size: 3 }),
    budget: { faults: 1, edits: 1, late: 1, writes: 1 },
    faults: ['podLost', 'volumeLost'],
    edits: [force(1, false), force(0, true)],
  },
  {
    name: 'a forced replacement that is not safe any more gives way to another',
    from: forced,
    budget: { faults: 1, edits: 1 },
    faults: ['podLost', 'volumeLost'],
    edits: [force(0, true)],
  },
  {
    name: 'a forced replacement gives way to another that discards a volume',
    from: (planner) => podGone(edited(force(0, true))(forced(planner)), 0)!,
    budget: { faults: 1 },
    faults: ['podLost'],
  },
  {
    name: 'a node burns down',
    from: of({ size: 3 }),
    budget: { faults: 1, edits: 1, writes: 1, late: 1 },
    faults: NODES,
    edits: [force(1, true), force(0, true), force(0, false)],
  },
  {
    name: 'everything crashes',
    from: of({ size: 3 }),
    budget: { faults: 3, writes: 1 },
    faults: ['etcdCrash', 'nodeOff', 'podLost'],
  },
  {
    name: 'scaled by hand',
    from: of({ size: 3 }),
    budget: { faults: 2, late: 1 },
    faults: ['scaledByHand', 'templateUndone', 'podLost'],
  },
  {
    name: 'nobody reads the record',
    from: of({ size: 3 }),
    budget: { faults: 2, writes: 1, edits: 1 },
    faults: ['noApi', 'podLost', 'volumeLost'],
    edits: [force(1, false)],
  },
];
