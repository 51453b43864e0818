import {
  madeAgain,
  policyRetain,
  reconcilerGoes,
  recover,
  remove,
  removeInForeground,
  resize,
  restore,
  volumeLost,
} from '../events.ts';
import { after, edited, fresh, of, type Plot } from './plot.ts';

export const deletions: readonly Plot[] = [
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
    faults: ['jobFails', 'resultLost', 'jobStuck', 'podLost', 'volumeLost'],
  },
  {
    name: 'deletion while the seed starts',
    from: after(
      fresh({ size: 1, spec: { finalBackup: true } }),
      (world) => world,
      ({ record }) => record?.doc.permits[0]?.mode === 'new',
    ),
    budget: { edits: 1, writes: 1 },
    edits: [remove],
  },
  {
    name: 'deletion in a restore',
    from: of({ size: 1, spec: { onDelete: 'Delete', finalBackup: true } }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [remove, restore('r', 1)],
    faults: ['jobFails', 'podLost'],
  },
  {
    name: 'deletion in a restore past its fence, made again',
    from: after(
      of({ size: 1, spec: { onDelete: 'Delete' } }),
      edited(restore('r', 1)),
      ({ record }) => record?.doc.phase === 'Restoring',
    ),
    budget: { edits: 2, faults: 2 },
    edits: [remove, madeAgain],
    faults: ['jobFails', 'podLost'],
  },
  {
    name: 'deletion, made again',
    from: of({ size: 1, spec: { onDelete: 'Delete' } }),
    budget: { edits: 2, faults: 1, late: 1 },
    edits: [remove, madeAgain],
    faults: ['podLost'],
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
    name: 'deletion in the foreground',
    from: of({ size: 2 }),
    budget: { edits: 2, faults: 1 },
    edits: [removeInForeground, restore('r', 1), recover('x', true)],
    faults: ['volumeLost'],
  },
  {
    name: 'deletion in the foreground before it has begun',
    from: fresh({ size: 1, spec: { onDelete: 'Delete' } }),
    budget: { edits: 2, faults: 1 },
    edits: [removeInForeground, policyRetain, reconcilerGoes],
    faults: ['recordLost'],
  },
  {
    name: 'deletion of an ephemeral cluster, record lost',
    from: of({ size: 1, spec: { ephemeral: true, finalBackup: true } }),
    budget: { edits: 2, faults: 2 },
    edits: [remove, removeInForeground, policyRetain],
    faults: ['recordLost', 'podLost'],
  },
  {
    name: 'deletion of an ephemeral cluster, record and pod lost',
    from: after(of({ size: 1, spec: { ephemeral: true, finalBackup: true } }), (world) => ({
      ...volumeLost(world, 0),
      record: undefined,
    })),
    budget: { edits: 2 },
    edits: [remove, removeInForeground, policyRetain],
  },
  {
    name: 'deletion of an ephemeral cluster begun, record lost',
    from: after(of({ size: 1, spec: { ephemeral: true, finalBackup: true } }), (world) => ({
      ...edited(remove)(world),
      record: undefined,
    })),
    budget: { edits: 1, faults: 1 },
    edits: [policyRetain],
    faults: ['podLost'],
  },
];
