import { known } from '../../../../protocol/known.ts';
import type { Op, RestoreArgs } from '../../../../protocol/record.ts';
import { longAgo, World } from '../../../port/observed.fixture.ts';
import type { JobKind } from '../../../port/observed.ts';

// A Job that succeeded and whose pod is gone, with a drain or its node: what it stored is not known.

const id = { id: 'o1', holder: 'h', startedAt: '' };
const verified = { sha256: 's', sizeBytes: 1, revision: 1 };
const survivor = { ordinal: 0, memberId: 'id-0', podUid: 'pod-0', volumeId: 'volumeId-0' };
const args = (change: Partial<RestoreArgs> = {}): RestoreArgs => ({
  ...{
    id: 'r',
    uid: 'u',
    specHash: '',
    source: {},
    safetyBackup: true,
    ignoreUnreachablePods: false,
    sourceToken: 't',
  },
  ...change,
});
const request = {
  ...{ name: 'r', uid: 'u', createdAt: 0, specHash: '', source: {} },
  ...{ safetyBackup: true, ignoreUnreachablePods: false },
};
const recovery = { id: 'x', acceptDataLoss: true };

const cases: [string, JobKind, Op, (world: World) => void][] = [
  [
    'Upgrade',
    'pre-upgrade',
    { ...id, kind: 'Upgrade', to: '3.7' },
    (w) => w.spec({ version: '3.7.3' }).sts({ version: '3.7.3' }),
  ],
  [
    'Delete',
    'final',
    { ...id, kind: 'Delete', step: 'backup' },
    (w) => w.spec({ finalBackupRequired: true }).resource({ deleting: true, finalizer: true, spec: w.cluster.spec }),
  ],
  [
    'the safety backup of Restore',
    'safety',
    { ...id, kind: 'Restore', step: 'safety', args: args({ verified }) },
    () => {},
  ],
  ['the snapshot of Restore', 'restore', { ...id, kind: 'Restore', step: 'verify', args: args() }, () => {}],
  [
    'Recover',
    'recovery',
    { ...id, kind: 'Recover', step: 'backup', args: args({ id: 'recovery:x', uid: 'x', survivor }) },
    (w) => w.noQuorum().spec({ recovery }),
  ],
  [
    'Salvage',
    'salvage',
    {
      ...id,
      kind: 'Recover',
      step: 'salvage',
      args: args({ id: 'recovery:x', uid: 'x', survivor, salvageToken: 't' }),
    },
    (w) => {
      w.noQuorum().spec({ recovery });
      const { 0: first } = w.o.agents;
      const { etcd: _, ...gate } = first!.known ? first!.v : ({} as never);
      w.agent(0, {
        ...gate,
        gate: true,
        state: 'Stalled',
        salvage: { permitId: 'p', sha256: 's', sizeBytes: 1, revision: 1, lastIndex: 1, commit: 1, url: 'x' },
      });
      w.doc({
        permits: {
          0: {
            id: 'p',
            ordinal: 0,
            volumeId: 'volumeId-0',
            epoch: 1,
            mode: 'salvage',
            token: '',
            initialCluster: '',
            salvage: { token: 't' },
            issuedAt: '',
          },
        },
      });
    },
  ],
  [
    'RollSingle',
    'pre-upgrade',
    { ...id, kind: 'Restore', step: 'backup', args: args({ id: 'roll:o1', uid: 'o1', safetyBackup: false }) },
    (w) => w.spec({ ephemeral: true }),
  ],
];

test.each(cases)('%s takes it again', (_, kind, op, prepare) => {
  const world = new World(op.kind === 'Restore' && op.step === 'backup' ? 1 : 3).op(op);
  prepare(world);
  const serving = { url: 'x', ...verified };
  const restore = { kind: 'restore', uid: 'k', op: 'o1', state: 'Running', deleting: false, serving } as const;
  const lost = { kind, uid: 'j', op: 'o1', state: 'Succeeded', deleting: false } as const;
  world.set({ restores: known([request]), jobs: known(kind === 'safety' ? [restore, lost] : [lost]) });
  world.o.since.jobFailed = { j: longAgo };
  expect(world.plan()).toMatchObject({ rule: 'Job.replace', effect: { kind: 'DeleteJob', job: kind, uid: 'j' } });
});
