import { nothingYet, running, type Start, withBudget } from './begin.ts';
import {
  changeTemplate,
  type Edit,
  type FaultKind,
  force,
  pause,
  policyRetain,
  recover,
  remove,
  resize,
  restore,
  setTemplateVersion,
  setVersion,
  unrestore,
} from './events.ts';
import type { Planner } from './passes.ts';
import type { Scenario } from './scenario.ts';
import type { Budget, World } from './world.ts';

interface Plot {
  readonly name: string;
  readonly from: (planner: Planner) => World;
  readonly budget: Partial<Budget>;
  readonly faults?: readonly FaultKind[];
  readonly edits?: readonly Edit[];
}

/** A cluster on 3.6 that came from 3.5: nobody knows which of its entries are of 3.5. */
const unsettled =
  (size: number) =>
  (planner: Planner): World => {
    const world = running({ size, version: '3.6.16' }, planner);
    const { doc, rv } = world.record!;
    const { current, allowedMinors } = doc.versions;
    const clusters = world.clusters.map((c) => ({ ...c, lastV2: c.index }));
    return { ...world, clusters, record: { doc: { ...doc, versions: { current, allowedMinors } }, rv } };
  };

const tight =
  (from: Plot['from']) =>
  (planner: Planner): World => ({ ...from(planner), tight: true });

const fresh = (start: Start) => (): World => nothingYet(start);
const of =
  (start: Start) =>
  (planner: Planner): World =>
    running(start, planner);
const old = 'allConnected' as const;

const VOLUMES: readonly FaultKind[] = ['podLost', 'volumeLost', 'oldVolume', 'emptied'];
const NODES: readonly FaultKind[] = ['nodeOff', 'nodeLost', 'etcdCrash'];
const JOBS: readonly FaultKind[] = ['jobFails', 'podLost', 'volumeLost'];

const plots: readonly Plot[] = [
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
  { name: 'replace in 3', from: of({ size: 3 }), budget: { faults: 2, writes: 2 }, faults: VOLUMES },
  {
    name: 'replace in 3, a late call',
    from: of({ size: 3 }),
    budget: { faults: 2, late: 1 },
    faults: ['volumeLost', 'oldVolume', 'podLost'],
  },
  {
    name: 'replace in 3, before 3.5.30',
    from: of({ size: 3, version: '3.5.16', rule: old }),
    budget: { faults: 2, writes: 1 },
    faults: VOLUMES,
  },
  { name: 'replace in 5', from: of({ size: 5 }), budget: { faults: 2 }, faults: ['volumeLost', 'oldVolume'] },
  { name: 'replace in 1', from: of({ size: 1 }), budget: { faults: 2, writes: 1, late: 1 }, faults: VOLUMES },
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
    edits: [setVersion('3.6.16')],
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
    name: 'restore of 1',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 1, writes: 1, late: 1 },
    edits: [restore('r', 2), restore('r2', 1, { bad: true }), unrestore('r')],
    faults: ['jobFails', 'podLost', 'volumeLost', 'oldVolume'],
  },
  {
    name: 'restore of 3',
    from: of({ size: 3 }),
    budget: { edits: 1, faults: 1 },
    edits: [restore('r', 2, { safetyBackup: true })],
    faults: ['jobFails', 'volumeLost', 'nodeOff'],
  },
  {
    name: 'restore of 2, late call',
    from: of({ size: 2 }),
    budget: { edits: 1, late: 1, writes: 1 },
    edits: [restore('r', 2)],
  },
  {
    name: 'restore while old pods cannot be reached',
    from: of({ size: 2 }),
    budget: { edits: 1, faults: 2 },
    edits: [restore('r', 2), restore('r2', 2, { ignore: true })],
    faults: ['nodeOff', 'noApi'],
  },
  {
    name: 'origin',
    from: fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } }),
    budget: { faults: 2, late: 1, writes: 1 },
    faults: ['jobFails', 'podLost', 'volumeLost'],
  },
  {
    name: 'origin of a bad snapshot',
    from: fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2, bad: true } } }),
    budget: { faults: 1 },
    faults: ['podLost'],
  },
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
    faults: ['volumeLost', 'jobFails', 'etcdCrash'],
    edits: [recover('x', true), restore('r', 1)],
  },
  {
    name: 'recovery without a schedule',
    from: of({ size: 2, spec: { schedule: false } }),
    budget: { faults: 1, edits: 1 },
    faults: ['volumeLost'],
    edits: [recover('x', true)],
  },
  {
    name: 'deletion, retained',
    from: of({ size: 2 }),
    budget: { edits: 2, faults: 1 },
    edits: [remove, resize(1)],
    faults: ['podLost'],
  },
  {
    name: 'deletion, final backup, claims deleted',
    from: of({ size: 2, spec: { onDelete: 'Delete', finalBackup: true } }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [remove, resize(1)],
    faults: ['jobFails', 'podLost', 'volumeLost'],
  },
  {
    name: 'deletion in a restore',
    from: of({ size: 1, spec: { onDelete: 'Delete', finalBackup: true } }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [remove, restore('r', 1)],
    faults: ['jobFails', 'podLost'],
  },
  {
    name: 'NOSPACE',
    from: of({ size: 2 }),
    budget: { faults: 2, late: 1, writes: 1 },
    faults: ['noSpace', 'podLost', 'volumeLost'],
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
    faults: ['jobFails', 'podLost'],
  },
  {
    name: 'ephemeral bootstrap',
    from: fresh({ size: 3, spec: { ephemeral: true } }),
    budget: { faults: 1, late: 1 },
    faults: ['podLost', 'recordLost'],
  },
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
    name: 'nobody reads the record',
    from: of({ size: 3 }),
    budget: { faults: 2, writes: 1, edits: 1 },
    faults: ['noApi', 'podLost', 'volumeLost'],
    edits: [force(1, false)],
  },
  {
    name: 'version edited while it boots',
    from: fresh({ size: 1 }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [setVersion('3.6.16'), setVersion('3.5.35')],
    faults: ['podLost', 'volumeLost'],
  },
  {
    name: 'finalizer',
    from: fresh({ size: 1, spec: { onDelete: 'Delete' } }),
    budget: { edits: 2, late: 1 },
    edits: [policyRetain, remove],
  },
  {
    name: 'deletion, final backup, claims retained',
    from: of({ size: 1, spec: { finalBackup: true } }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [remove, policyRetain],
    faults: ['jobFails', 'podLost', 'recordLost'],
  },
  {
    name: 'deletion of 1, claims deleted',
    from: of({ size: 1, spec: { onDelete: 'Delete' } }),
    budget: { edits: 1, faults: 1, late: 1 },
    edits: [remove],
    faults: ['podLost', 'recordLost'],
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
    budget: { edits: 1, faults: 1 },
    edits: [setVersion('3.7.3')],
    faults: ['podLost', 'volumeLost', 'noSpace'],
  },
  {
    name: 'restore without room',
    from: tight(of({ size: 1 })),
    budget: { edits: 1, faults: 1, late: 1 },
    edits: [restore('r', 2)],
    faults: ['podLost'],
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
    name: 'CORRUPT',
    from: of({ size: 3 }),
    budget: { faults: 2, edits: 1 },
    faults: ['corrupt', 'podLost'],
    edits: [force(1, false), force(0, false)],
  },
  {
    name: 'restore of what changes',
    from: of({ size: 1 }),
    budget: { edits: 1, faults: 2 },
    edits: [restore('r', 2, { safetyBackup: true })],
    faults: ['snapshotReplaced', 'jobFails', 'jobGone'],
  },
  { name: 'NOSPACE of 3', from: of({ size: 3 }), budget: { faults: 2 }, faults: ['noSpace', 'etcdCrash', 'podLost'] },
  {
    name: 'template and spec differ',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 1 },
    edits: [setTemplateVersion('3.6.16'), setVersion('3.6.16'), changeTemplate],
    faults: ['podLost'],
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
    name: 'shrink, claims deleted, and grow',
    from: of({ size: 3, spec: { onShrink: 'Delete' } }),
    budget: { edits: 3, faults: 1 },
    edits: [resize(1), resize(3), changeTemplate],
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
    name: 'NOSPACE, reported only',
    from: of({ size: 1, spec: { report: true } }),
    budget: { edits: 1, faults: 2 },
    edits: [setVersion('3.6.16')],
    faults: ['noSpace', 'podLost'],
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
    name: 'a size that is refused',
    from: fresh({ size: 0, room: 1 }),
    budget: { edits: 1, faults: 1 },
    edits: [resize(1)],
    faults: ['podLost'],
  },
  {
    name: 'recovery of an ephemeral cluster',
    from: of({ size: 2, spec: { ephemeral: true } }),
    budget: { faults: 2, edits: 1 },
    faults: ['podLost', 'etcdCrash'],
    edits: [recover('x', true)],
  },
  {
    name: 'restore, another in its place',
    from: of({ size: 1 }),
    budget: { edits: 2, faults: 2 },
    edits: [restore('r', 2), restore('r2', 1)],
    faults: ['snapshotReplaced', 'jobFails'],
  },
  {
    name: 'restore, template undone',
    from: of({ size: 1 }),
    budget: { edits: 1, faults: 2 },
    edits: [restore('r', 2)],
    faults: ['templateUndone', 'scaledByHand', 'podLost'],
  },
];

export const scenarioNames: readonly string[] = plots.map((plot) => plot.name);

export function scenarioOf(name: string, planner: Planner): Scenario {
  const plot = plots.find((p) => p.name === name)!;
  const { faults = [], edits = [] } = plot;
  return { name, start: withBudget(plot.from(planner), plot.budget), faults, edits };
}
