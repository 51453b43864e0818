import { changeTemplate, resize, setSpecVersion, setTemplateVersion, setVersion, volumeLost } from '../world/events.ts';
import type { Volume } from '../world/world.ts';
import { after, alarmed, allOn36, edited, JOBS, of, type Plot, tight, unsettled, withLearner } from './plot.ts';

export const upgrades: readonly Plot[] = [
  {
    name: 'upgrade 3.5 to 3.6',
    from: of({ size: 3 }),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.6.16')],
    faults: JOBS,
  },
  {
    name: 'upgrade 3.5 to 3.6, turned back',
    from: of({ size: 3 }),
    budget: { edits: 2 },
    edits: [setVersion('3.6.16'), setVersion('3.5.35')],
  },
  {
    name: 'upgrade 3.5 to 3.6 to 3.7 of 1',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [setVersion('3.6.16'), setVersion('3.7.3')],
    faults: JOBS,
  },
  {
    name: 'upgrade 3.5 to 3.6 to 3.7',
    from: of({ size: 3 }),
    budget: { edits: 2 },
    edits: [setVersion('3.6.16'), setVersion('3.7.3')],
  },
  {
    name: 'upgrade 3.6 to 3.7 and grow',
    from: of({ size: 1, room: 3, version: '3.6.16' }),
    budget: { edits: 2, faults: 1 },
    edits: [setVersion('3.7.3'), resize(3)],
    faults: ['volumeLost', 'podLost'],
  },
  {
    name: 'upgrade without a schedule',
    from: of({ size: 1, spec: { schedule: false } }),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.6.16'), setSpecVersion('3.6.16')],
    faults: ['podLost'],
  },
  {
    name: 'upgrade that requires a backup',
    from: of({ size: 3, spec: { requiredForUpgrade: true } }),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.6.16')],
    faults: JOBS,
  },
  {
    name: 'patch upgrade',
    from: of({ size: 3 }),
    budget: { edits: 2 },
    edits: [setVersion('3.5.30'), setVersion('3.5.35')],
  },
  {
    name: 'settle of 1',
    from: unsettled(1),
    budget: { edits: 1, faults: 1, late: 1 },
    edits: [setVersion('3.7.3')],
    faults: ['podLost', 'volumeLost', 'jobFails'],
  },
  {
    name: 'settle of 3',
    from: unsettled(3),
    budget: { edits: 1, faults: 1, writes: 1 },
    edits: [setVersion('3.7.3')],
    faults: ['podLost', 'volumeLost', 'noSpace', 'etcdCrash'],
  },
  {
    name: 'settle of 3, one behind',
    from: (planner) => {
      const world = unsettled(3)(planner);
      const behind = (v: Volume | null, i: number) =>
        i === 2 && v?.wal ? { ...v, wal: { ...v.wal, at: v.wal.at - 1 } } : v;
      return { ...world, volumes: world.volumes.map(behind) };
    },
    budget: {},
  },
  {
    name: 'template and spec differ',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 1 },
    edits: [setTemplateVersion('3.6.16'), setSpecVersion('3.6.16'), setVersion('3.6.16'), changeTemplate],
    faults: ['podLost'],
  },
  {
    name: 'upgrade and resize',
    from: of({ size: 3, room: 5 }),
    budget: { edits: 3 },
    edits: [setVersion('3.6.16'), resize(1), resize(5)],
  },
  {
    name: 'upgrade under NOSPACE',
    from: tight(of({ size: 1 })),
    budget: { edits: 1, faults: 2 },
    edits: [setVersion('3.6.16')],
    faults: ['noSpace', 'podLost'],
  },
  {
    name: 'upgrade of 3 without a schedule',
    from: of({ size: 3, room: 4, spec: { schedule: false } }),
    budget: { edits: 2, faults: 2 },
    edits: [setVersion('3.6.16'), setVersion('3.7.3'), setTemplateVersion('3.6.16'), resize(4)],
    faults: ['podLost', 'volumeLost', 'noSpace'],
  },
  {
    name: 'upgrade refused, and grow',
    from: of({ size: 1, room: 3, spec: { schedule: false, requiredForUpgrade: true } }),
    budget: { edits: 2, faults: 1 },
    edits: [setVersion('3.6.16'), resize(3)],
    faults: ['podLost', 'volumeLost'],
  },
  {
    name: 'upgrade turned back, a volume lost',
    from: of({ size: 3 }),
    budget: { edits: 2, faults: 1 },
    edits: [setVersion('3.6.16'), setVersion('3.5.35'), setSpecVersion('3.5.35')],
    faults: ['volumeLost'],
  },
  {
    name: 'upgrade turned back too late',
    from: allOn36({ size: 3 }),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.5.35')],
    faults: ['etcdCrash'],
  },
  {
    name: 'upgrade turned back too late, ephemeral',
    from: allOn36({ size: 4, spec: { ephemeral: true } }),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.5.35')],
    faults: ['etcdCrash'],
  },
  {
    name: 'upgrade turned back too late, a volume lost while its learner is added',
    from: after(
      allOn36({ size: 3 }),
      (world) => volumeLost(world, 2),
      ({ clusters }) => clusters.at(-1)!.members.some((member) => member.learner && !member.started),
    ),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.5.35')],
    faults: ['podLost'],
  },
  {
    name: 'upgrade turned back too late, a learner’s pod made again before its permit',
    from: after(
      after(
        allOn36({ size: 3, spec: { ephemeral: true } }),
        (world) => world,
        ({ pods, record }) => pods[0]?.version === '3.6.16' && record!.doc.op === undefined,
      ),
      (world) => volumeLost(withLearner(edited(setVersion('3.5.35'))(world), 0), 0),
    ),
    budget: {},
  },
  {
    name: 'upgrade and grow',
    from: of({ size: 1, room: 3 }),
    budget: { edits: 2, faults: 1 },
    edits: [setVersion('3.6.16'), resize(3)],
    faults: ['podLost'],
  },
  {
    name: 'upgrade and grow without a schedule',
    from: of({ size: 1, room: 3, spec: { schedule: false } }),
    budget: { edits: 2, faults: 1 },
    edits: [setVersion('3.6.16'), resize(3)],
    faults: ['podLost'],
  },
  {
    name: 'upgrade turned back beside a learner',
    from: after(
      after(
        of({ size: 3 }),
        edited(setVersion('3.6.16')),
        ({ record }) => record!.doc.versions.allowedMinors.length > 1,
      ),
      (world) => volumeLost(world, 2),
      ({ clusters }) => clusters.at(-1)!.members.some((m) => m.learner && m.started),
    ),
    budget: { edits: 1 },
    edits: [setVersion('3.5.35')],
  },
  {
    name: 'upgrade, its backup begun',
    from: after(of({ size: 1 }), edited(setVersion('3.6.16')), ({ jobs }) => jobs.length > 0),
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.5.35')],
    faults: ['jobFails', 'jobStuck'],
  },
  {
    name: 'upgrade under NOSPACE, reported only',
    from: after(of({ size: 1, spec: { report: true } }), alarmed),
    budget: { edits: 1 },
    edits: [setVersion('3.6.16')],
  },
  {
    name: 'upgrade under NOSPACE, reported only, without a schedule',
    from: after(of({ size: 1, spec: { report: true, schedule: false } }), alarmed),
    budget: { edits: 1 },
    edits: [setVersion('3.6.16')],
  },
  {
    name: 'settle under NOSPACE, reported only',
    from: after(unsettled(1, { report: true }), alarmed),
    budget: { faults: 1 },
    faults: ['podLost'],
  },
  {
    name: 'upgrade begun, and shrunk',
    from: after(
      of({ size: 3 }),
      edited(setVersion('3.6.16')),
      ({ record }) => record!.doc.versions.allowedMinors.length > 1,
    ),
    budget: { edits: 1 },
    edits: [resize(1)],
  },
];
