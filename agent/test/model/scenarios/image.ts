import { withPod } from '../world/change.ts';
import {
  changeTemplate,
  recover,
  resize,
  restore,
  setTemplateVersion,
  setVersion,
  volumeLost,
} from '../world/events.ts';
import { settled } from '../world/processes.ts';
import type { World } from '../world/world.ts';
import { after, edited, fresh, of, type Plot, tight } from './plot.ts';

/** The fifth member is a learner. */
const joining = after(
  of({ size: 4, room: 5 }),
  edited(resize(5)),
  ({ clusters: [c] }) => c!.members[4]?.started === true,
);

const broken: Pick<Plot, 'budget' | 'faults'> = { budget: { faults: 2 }, faults: ['brokenTemplate', 'podLost'] };

/** Pods of the template do not start until another is applied. */
const brokenTemplates: readonly Plot[] = [
  { ...broken, name: 'broken template, bootstrap', from: fresh({ size: 1 }) },
  { ...broken, name: 'broken template, bootstrap of 3', from: fresh({ size: 3 }) },
  { ...broken, name: 'broken template of 1', from: of({ size: 1 }) },
  { ...broken, name: 'broken template of 2', from: of({ size: 2 }), budget: { faults: 3 } },
  { ...broken, name: 'broken template of 3', from: of({ size: 3 }), budget: { faults: 3 } },
  { ...broken, name: 'broken template while a learner joins', from: joining },
  {
    ...broken,
    name: 'broken template, shrunk',
    from: of({ size: 3 }),
    budget: { faults: 2, edits: 1 },
    edits: [resize(1)],
  },
  {
    name: 'broken template, then a wrong image',
    from: of({ size: 1 }),
    budget: { faults: 3 },
    faults: ['brokenTemplate', 'podLost', 'wrongImage'],
  },
  {
    ...broken,
    name: 'broken template, ephemeral 3',
    from: of({ size: 3, spec: { ephemeral: true } }),
  },
  {
    ...broken,
    name: 'broken template, ephemeral 1',
    from: of({ size: 1, spec: { ephemeral: true } }),
  },
  {
    ...broken,
    name: 'broken template, restore',
    from: after(of({ size: 1 }), edited(restore('r', 2)), ({ record }) => record?.doc.phase === 'Restoring'),
  },
  {
    ...broken,
    name: 'broken template, upgrade',
    from: after(of({ size: 3 }), edited(setVersion('3.6.16')), ({ record }) => record!.doc.op?.kind === 'Upgrade'),
  },
  {
    ...broken,
    name: 'broken template, a volume lost',
    from: of({ size: 3 }),
    faults: ['brokenTemplate', 'volumeLost'],
  },
  {
    ...broken,
    name: 'broken template, salvage',
    from: after(of({ size: 2 }), (w) => edited(recover('x', true))(volumeLost(w, 1))),
    faults: ['brokenTemplate', 'podLost'],
  },
];

/** The template's image is of another version than it says; evictions are refused; the seed has no room. */
export const images: readonly Plot[] = [
  {
    name: 'wrong image, bootstrap',
    from: fresh({ size: 1 }),
    budget: { faults: 2, edits: 1 },
    faults: ['wrongImage', 'podLost', 'volumeLost'],
    edits: [changeTemplate],
  },
  {
    name: 'wrong image, the template changed while the seed starts on it',
    from: (planner) => {
      const isPermitted = ({ record }: World): boolean => record?.doc.permits[0] !== undefined;
      const world = after(fresh({ size: 1 }), (w) => w, isPermitted)(planner);
      const image = '3.5.99';
      return withPod({ ...world, sts: { ...world.sts!, image } }, 0, { ...world.pods[0]!, image });
    },
    budget: { edits: 1 },
    edits: [changeTemplate],
  },
  {
    name: 'wrong image, roll of 2',
    from: of({ size: 2 }),
    budget: { faults: 2, edits: 1 },
    faults: ['wrongImage', 'podLost', 'volumeLost', 'scaledByHand'],
    edits: [changeTemplate],
  },
  ...brokenTemplates,
  {
    name: 'the template’s version set and set back while a learner joins',
    from: joining,
    budget: { faults: 1, edits: 2 },
    edits: [setTemplateVersion('3.7.3'), setTemplateVersion('3.5.35')],
    faults: ['podLost'],
  },
  {
    name: 'wrong image, a voter’s pod of it while a learner joins',
    from: after(joining, (world) => withPod(world, 1, { ...world.pods[1]!, image: '3.5.99' })),
    budget: { faults: 1 },
    faults: ['podLost', 'etcdCrash'],
  },
  {
    name: 'wrong image, shrunk to 1',
    from: of({ size: 3, spec: { onShrink: 'Delete' } }),
    budget: { faults: 2, edits: 1 },
    faults: ['wrongImage', 'scaledByHand'],
    edits: [resize(1)],
  },
  {
    name: 'wrong image, restore',
    from: of({ size: 1 }),
    budget: { faults: 2, edits: 1 },
    faults: ['wrongImage', 'volumeLost'],
    edits: [restore('r', 2)],
  },
  {
    name: 'wrong image, restore, template undone',
    from: after(of({ size: 1 }), edited(restore('r', 2)), ({ record }) => record?.doc.phase === 'Restoring'),
    budget: { faults: 2 },
    faults: ['wrongImage', 'templateUndone'],
  },
  {
    name: 'wrong image, restore, the seed lost',
    from: after(of({ size: 1 }), edited(restore('r', 2)), ({ record }) => record?.doc.permits[0]?.mode === 'restore'),
    budget: { faults: 2 },
    faults: ['wrongImage', 'volumeLost'],
  },
  {
    name: 'wrong image, a new volume on the node of another',
    from: after(
      of({ size: 3 }),
      (world) => volumeLost(world, 2),
      ({ pods }) => pods[2] !== null,
    ),
    budget: { faults: 2 },
    faults: ['nodeTaken', 'wrongImage'],
  },
  {
    name: 'wrong image, origin',
    from: fresh({ size: 1, spec: { origin: { id: 'snapshot-of-origin', writes: 2 } } }),
    budget: { faults: 2 },
    faults: ['wrongImage', 'podLost'],
  },
  {
    name: 'wrong image, salvage',
    from: (planner) => {
      const world = edited(recover('x', true))(volumeLost(of({ size: 2 })(planner), 1));
      return settled(withPod(world, 0, { ...world.pods[0]!, state: 'stopped' }));
    },
    budget: { faults: 2 },
    faults: ['wrongImage', 'jobFails'],
  },
  {
    name: 'wrong image, an ephemeral member rolled',
    from: of({ size: 1, spec: { ephemeral: true } }),
    budget: { faults: 1, edits: 1 },
    faults: ['wrongImage', 'jobRefused'],
    edits: [changeTemplate],
  },
  {
    name: 'restore while the seed’s node is off',
    from: of({ size: 3 }),
    budget: { faults: 1, edits: 1 },
    faults: ['nodeOff'],
    edits: [restore('r', 2)],
  },
  {
    name: 'recovery without room',
    from: (planner) => edited(recover('x', true))(volumeLost(tight(of({ size: 2 }))(planner), 1)),
    budget: { faults: 1 },
    faults: ['jobFails'],
  },
  {
    name: 'evictions refused, roll of 3',
    from: of({ size: 3 }),
    budget: { faults: 2, edits: 1 },
    faults: ['noEviction', 'podLost', 'volumeLost'],
    edits: [changeTemplate],
  },
  {
    name: 'evictions refused, roll and shrink',
    from: of({ size: 2 }),
    budget: { faults: 1, edits: 2 },
    faults: ['noEviction'],
    edits: [changeTemplate, resize(1)],
  },
];
