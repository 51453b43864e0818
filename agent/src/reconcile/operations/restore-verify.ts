import { agentOf, quorumLostLong, quorumServes } from '../facts.ts';
import { row } from '../row.ts';
import type { View } from '../view.ts';
import { write } from '../write.ts';
import { givesUp, ownJob, restoreOp } from './jobs.ts';
import { args, at, beforeFence, changed, fails, serving, step } from './restore-op.ts';

// R1 and R2: nothing of the cluster is touched.

const restoreSpace = 256 * 1024 * 1024;

const noSpaceAtSeed = (v: View): boolean => {
  const agent = agentOf(v, 0);
  const size = serving(v)?.sizeBytes;
  return agent !== undefined && size !== undefined && agent.volume.freeBytes < 2 * size + restoreSpace;
};

export const restoreVerify = [
  row({
    name: 'Restore.noSpace',
    does: 'WriteRecord',
    priority: 2,
    from: 'verifying',
    to: 'failed',
    when: {
      'step verify, before the fence': (v) => at(v, 'verify') !== undefined && beforeFence(v) !== undefined,
      'no room for two databases at the seed': noSpaceAtSeed,
      'an EtcdRestore may fail': (v) => givesUp(restoreOp(v)!),
    },
    requires: {},
    effect: (v) => fails(v, 'NoSpace', 'the volume of ordinal 0 has no room for two copies of the snapshot'),
  }),
  row({
    name: 'Restore.verified',
    does: 'WriteRecord',
    priority: 2.1,
    from: 'verifying',
    to: ['backing up', 'fencing'],
    when: { 'step verify': (v) => at(v, 'verify') !== undefined },
    requires: { 'the Job serves what it verified': (v) => serving(v) !== undefined },
    effect: (v) => {
      const { sha256, sizeBytes, revision } = serving(v)!;
      const next = args(v).safetyBackup ? 'safety' : 'fence';
      return write(v, step(v, next, { verified: { sha256, sizeBytes, revision } }));
    },
  }),
  row({
    name: 'Restore.refused',
    does: 'WriteRecord',
    priority: 2.1,
    from: ['verifying', 'backing up', 'fencing'],
    to: 'failed',
    when: {
      'op before the fence': (v) => beforeFence(v) !== undefined,
      'not failed': (v) => !at(v, 'report'),
      'its snapshot does not verify': (v) => ownJob(v, 'restore')?.state === 'Failed',
      'nobody waits for it to be mended': (v) => !args(v).id.startsWith('origin:'),
    },
    requires: {},
    effect: (v) => fails(v, 'SnapshotRefused', ownJob(v, 'restore')?.message ?? 'the snapshot could not be verified'),
  }),
  row({
    name: 'Restore.changed',
    does: 'WriteRecord',
    priority: 2.1,
    from: ['backing up', 'fencing'],
    to: 'failed',
    when: {
      'op before the fence': (v) => beforeFence(v) !== undefined,
      'not failed': (v) => !at(v, 'report'),
      'the Job serves another snapshot': changed,
    },
    requires: {},
    effect: (v) => fails(v, 'SnapshotRefused', 'the snapshot changed after it was verified'),
  }),
  row({
    name: 'Safety.done',
    does: 'WriteRecord',
    priority: 2.1,
    from: 'backing up',
    to: 'fencing',
    when: { 'step safety': (v) => at(v, 'safety') !== undefined },
    requires: {
      'backed up, or no quorum to back up': (v) => ownJob(v, 'safety')?.backup !== undefined || quorumLostLong(v),
    },
    effect: (v) => write(v, step(v, 'fence')),
  }),
  row({
    name: 'Safety.failed',
    does: 'WriteRecord',
    priority: 2.1,
    from: 'backing up',
    to: 'failed',
    when: {
      'step safety': (v) => at(v, 'safety') !== undefined,
      'no schedule, or its Job failed': (v) =>
        quorumServes(v) && (v.spec.schedule === undefined || ownJob(v, 'safety')?.state === 'Failed'),
    },
    requires: {},
    effect: (v) =>
      v.spec.schedule === undefined
        ? fails(v, 'NoSchedule', 'no backup schedule for the safety backup: add one or say safetyBackup: false')
        : fails(v, 'BackupFailed', ownJob(v, 'safety')?.message ?? 'the safety backup failed'),
  }),
];
