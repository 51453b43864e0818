import { withPod } from '../world/change.ts';
import { recover, restore, volumeLost } from '../world/events.ts';
import { settled } from '../world/processes.ts';
import { after, behind, edited, of, type Plot } from './plot.ts';

export const recoveries: readonly Plot[] = [
  {
    name: 'recovery of 3',
    from: of({ size: 3 }),
    budget: { faults: 2, edits: 1, writes: 1 },
    faults: ['volumeLost', 'nodeOff'],
    edits: [recover('x', true), recover('y', false)],
  },
  {
    name: 'recovery of 2',
    from: of({ size: 2 }),
    budget: { faults: 2, edits: 2, late: 1 },
    faults: ['volumeLost', 'jobFails', 'resultLost', 'etcdCrash'],
    edits: [recover('x', true), restore('r', 1)],
  },
  {
    name: 'restores without a quorum',
    from: of({ size: 2 }),
    budget: { faults: 2, edits: 2 },
    faults: ['volumeLost', 'jobStuck'],
    edits: [restore('r', 1), restore('r2', 1)],
  },
  {
    name: 'recovery without a schedule',
    from: of({ size: 2, spec: { schedule: false } }),
    budget: { faults: 1, edits: 1 },
    faults: ['volumeLost'],
    edits: [recover('x', true)],
  },
  {
    name: 'recovery of an ephemeral cluster',
    from: of({ size: 2, spec: { ephemeral: true } }),
    budget: { faults: 2, edits: 1 },
    faults: ['podLost', 'etcdCrash'],
    edits: [recover('x', true)],
  },
  {
    name: 'recovery from a named survivor',
    from: of({ size: 2 }),
    budget: { faults: 2, edits: 1 },
    faults: ['nodeOff', 'etcdCrash', 'jobFails'],
    edits: [recover('x', true, 0)],
  },
  {
    name: 'recovery whose survivor is lost, too',
    from: of({ size: 2 }),
    budget: { faults: 2, edits: 1 },
    faults: ['volumeLost', 'jobFails', 'podLost'],
    edits: [recover('x', true, 0), recover('x', true, 1)],
  },
  {
    name: 'recovery, its backup begun',
    from: after(
      of({ size: 2 }),
      (world) => edited(recover('x', true))(volumeLost(world, 1)),
      ({ jobs }) => jobs.some((job) => job.kind === 'recovery'),
    ),
    budget: { faults: 2 },
    faults: ['jobFails', 'jobRefused', 'etcdCrash', 'jobGone'],
  },
  {
    name: 'recovery by salvage',
    from: (planner) => {
      const world = volumeLost(of({ size: 2 })(planner), 1);
      const asked = edited(recover('x', true))(world);
      return settled(withPod(asked, 0, { ...asked.pods[0]!, state: 'stopped' }));
    },
    budget: { faults: 2 },
    faults: ['noApi', 'jobFails', 'resultLost', 'jobStuck'],
  },
  {
    name: 'recovery, the survivors differ',
    from: (planner) => {
      const world = behind(of({ size: 4 })(planner), 0);
      return edited(recover('x', true))(volumeLost(volumeLost(world, 2), 3));
    },
    budget: { faults: 1 },
    faults: ['etcdCrash', 'resultLost', 'jobStuck'],
  },
  {
    name: 'recovery, its restore begun',
    from: after(
      of({ size: 2 }),
      (world) => edited(recover('x', true))(volumeLost(world, 1)),
      ({ jobs }) => jobs.some((job) => job.kind === 'restore'),
    ),
    budget: { faults: 2 },
    faults: ['jobFails', 'resultLost', 'jobStuck'],
  },
];
