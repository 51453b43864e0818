import { agent, idOf, longAgo, seeded, unborn, World } from '../../src/controllers/port/observed.fixture.ts';
import { known, unknown } from '../../src/protocol/known.ts';

export type Kstatus = 'Current' | 'InProgress' | 'Failed';
export type Health = 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended';

/** What happens to a cluster, and what kstatus and Argo CD are to make of its status then. */
export type ClusterMoment = readonly [what: string, world: () => World, kstatus: Kstatus, health: Health];

const op = { id: 'o', holder: 'h', startedAt: '2026-01-01T00:00:00Z' };
const restoreArgs = { id: 'monday', uid: 'r', specHash: 'h', safetyBackup: true, ignoreUnreachablePods: false };
const restore = (step: string) =>
  ({ ...op, kind: 'Restore', step, args: { ...restoreArgs, sourceToken: 't' } }) as never;

const down = (world: World, ...ordinals: number[]): World => {
  for (const ordinal of ordinals) world.down(ordinal).agent(ordinal, undefined).o.since.down[idOf(ordinal)] = longAgo;
  return world;
};
const noSpace = (world: World): World => world.set({ alarms: known([{ memberId: idOf(1), type: 'NoSpace' }]) });
const image = 'ImagePullBackOff: Back-off pulling image "etcd:9"';

export const clusterMoments: readonly ClusterMoment[] = [
  ['as asked for', () => new World(), 'Current', 'Healthy'],
  ['forms: nothing runs yet', unborn, 'InProgress', 'Progressing'],
  ['forms: an image cannot be pulled', () => unborn().pod(1, { problem: image }), 'InProgress', 'Progressing'],
  ['forms: the first member serves', seeded, 'InProgress', 'Progressing'],
  ['grows: a new pod is awaited', () => new World(3, { size: 5 }), 'InProgress', 'Progressing'],
  ['grows: a member joins', () => new World(3).removed(2).learner(2), 'InProgress', 'Progressing'],
  ['shrinks', () => new World(5, { size: 3 }), 'InProgress', 'Progressing'],
  [
    'rolls: a pod has the old template',
    () => new World().sts({ updateRevision: 'r2' }).pod(2, { revision: 'r2' }),
    'InProgress',
    'Progressing',
  ],
  [
    'rolls: a member restarts',
    () => new World().down(1).agent(1, undefined).pod(1, { ready: false, running: false }),
    'InProgress',
    'Progressing',
  ],
  [
    'is upgraded',
    () =>
      new World(3, { version: '3.7.3' })
        .sts({ version: '3.7.3', updateRevision: 'r2' })
        .op({ ...op, kind: 'Upgrade', to: '3.7', step: 'backup' } as never),
    'InProgress',
    'Progressing',
  ],
  ['a volume is lost', () => new World().volumeLost(1), 'InProgress', 'Degraded'],
  [
    'a lost volume is replaced',
    () =>
      new World()
        .volumeLost(1)
        .op({ ...op, kind: 'Remove', why: 'Dead', ordinal: 1, memberId: idOf(1), step: 'remove' } as never),
    'InProgress',
    'Progressing',
  ],
  ['a member is down', () => down(new World(), 1), 'InProgress', 'Degraded'],
  ['quorum is lost, and may come back', () => down(new World().noQuorum(), 1, 2), 'InProgress', 'Degraded'],
  ['quorum is lost for good', () => new World().volumeLost(1).volumeLost(2).noQuorum(), 'Failed', 'Degraded'],
  ['a restore prepares', () => new World().op(restore('verify')), 'Current', 'Progressing'],
  [
    'a restore is past its fence',
    () =>
      new World()
        .op(restore('drain'))
        .doc({ phase: 'Restoring', seeded: false, restores: [{ id: 'monday', uid: 'u', specHash: '', at: '' }] }),
    'InProgress',
    'Progressing',
  ],
  ['a size is refused', () => new World(3, { size: 4 }), 'InProgress', 'Degraded'],
  [
    'the version is lowered',
    () => new World(3, { version: '3.5.30' }).sts({ version: '3.5.30' }),
    'Failed',
    'Degraded',
  ],
  [
    'the StatefulSet is applied, the EtcdCluster not yet',
    () => new World().sts({ version: '3.6.17', updateRevision: 'r2' }),
    'InProgress',
    'Progressing',
  ],
  [
    'an alarm is raised',
    () => new World().set({ alarms: { known: true, v: [{ memberId: idOf(1), type: 'Corrupt' }] } } as never),
    'Failed',
    'Degraded',
  ],
  [
    'the quota is reached, and space is being freed',
    () => noSpace(new World()).op({ ...op, kind: 'ClearNoSpace', step: 'compact', revision: 1, done: [] }),
    'InProgress',
    'Progressing',
  ],
  [
    'the quota is reached, which is only reported',
    () => noSpace(new World(3, { onNoSpace: 'Report' })),
    'Failed',
    'Degraded',
  ],
  [
    'a disk is nearly full',
    () => new World().agent(1, agent(1, { volume: { ...agent(1).volume, freeBytes: 2 ** 28 } })),
    'Current',
    'Degraded',
  ],
  ['paused', () => new World(3, { paused: true }), 'Current', 'Suspended'],
  ['paused before it grows', () => new World(3, { size: 5, paused: true }), 'InProgress', 'Suspended'],
  [
    'a backup failed',
    () => new World().resource({ backups: { failed: { schedule: 'nightly', message: 'access denied' } } } as never),
    'Current',
    'Healthy',
  ],
  ['the record cannot be read', () => new World().set({ record: unknown('forbidden') }), 'InProgress', 'Progressing'],
];
