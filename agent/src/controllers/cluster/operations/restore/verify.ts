import { reasons } from '../../../../protocol/reasons.ts';
import { isOrigin, isRoll } from '../../../../protocol/restore-id.ts';
import type { Job } from '../../../port/observed.ts';
import { implied, rule, steps } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import {
  beforeFence,
  isForced,
  placed,
  quorumLostLong,
  quorumServes,
  removalDue,
  restoreOp,
  safeRemove,
  voters,
} from '../../facts/facts.ts';
import type { PlacedMember } from '../../facts/member-view.ts';
import { templateDiffers } from '../../facts/upgrade-path.ts';
import { givesUp, ownJob, stuckJob } from '../jobs.ts';
import { takenBackup, write } from '../record/write.ts';
import { intendRemoval } from '../remove.ts';
import {
  args,
  at,
  changed,
  ended,
  fails,
  isOther,
  isUnsaved,
  noRoom,
  refusal,
  requests,
  seedIsSilent,
  serving,
  step,
} from './operation.ts';

// Verify and safety backup: the cluster itself is not touched.

const unfenced = {
  'op before the fence, not failed': (v: View) => beforeFence(v) !== undefined && !at(v, 'report'),
};

const isAtFence = (v: View): boolean => at(v, 'fence') !== undefined;

/** A Job that is being deleted does not count: the next one may succeed. */
const failedSafety = (v: View): Job | undefined => {
  const job = ownJob(v, 'safety');
  return job?.state === 'Failed' && !job.deleting ? job : undefined;
};

export const failWithoutRoom = rule({
  name: 'Restore.noSpace',
  does: 'WriteRecord',
  from: ['verifying', 'backing up', 'fencing'],
  to: 'failed',
  when: {
    ...unfenced,
    'no room for two databases at the seed': (v) => noRoom(v) !== undefined,
    'an EtcdRestore may fail': (v) => givesUp(restoreOp(v)!),
  },
  effect: (v) => fails(v, 'NoSpace', noRoom(v)!),
});

export const verifySteps = [
  rule({
    name: 'Restore.verified',
    does: 'WriteRecord',
    from: 'verifying',
    to: ['backing up', 'fencing'],
    when: { 'step verify': (v) => at(v, 'verify') !== undefined },
    requires: { 'the Job serves what it verified': (v) => serving(v) !== undefined },
    effect: (v) => {
      const { id, sha256, sizeBytes, revision, backup } = serving(v)!;
      const { safetyBackup, source } = args(v);
      const next = safetyBackup ? 'safety' : 'fence';
      const jobUid = ownJob(v, 'restore')!.uid;
      const verified = { id, sha256, sizeBytes, revision, jobUid };
      // Its EtcdBackup may be deleted before the restore is over.
      return write(v, step(v, next, { verified, source: backup ? { ...source, backup } : source }));
    },
  }),
  ...steps({ when: { ...unfenced }, to: 'failed' }, [
    rule({
      name: 'Restore.refused',
      does: 'WriteRecord',
      from: ['verifying', 'backing up', 'fencing'],
      when: {
        'its snapshot does not verify, or no revision is left beyond what was served': (v) => refusal(v) !== undefined,
        'it is not an origin, which waits for its snapshot': (v) => !isOrigin(args(v).id),
      },
      effect: (v) => fails(v, refusal(v)!.reason, refusal(v)!.message),
    }),
    rule({
      name: 'Restore.notStarted',
      does: 'WriteRecord',
      from: ['verifying', 'backing up', 'fencing'],
      when: {
        'the pod of its Job does not start': (v) => stuckJob(v) !== undefined,
        'an EtcdRestore may fail, and a roll': (v) => givesUp(restoreOp(v)!) || isRoll(args(v).id),
        // Without a quorum no other operation could use the slot, so the restore waits until the pod starts.
        'quorum serves, or another EtcdRestore waits': (v) =>
          quorumServes(v) || requests(v).some((request) => isOther(v, request)),
      },
      effect: (v) => fails(v, 'RestoreBlocked', stuckJob(v)!.waits!),
    }),
    rule({
      name: 'Restore.changed',
      does: 'WriteRecord',
      from: ['backing up', 'fencing'],
      when: {
        'the Job serves another snapshot': changed,
      },
      effect: (v) => fails(v, 'SnapshotRefused', 'the snapshot changed after it was verified'),
    }),
  ]),
];

export const safetySteps = [
  rule({
    name: 'Safety.done',
    does: 'WriteRecord',
    from: ['backing up', 'fencing'],
    to: 'fencing',
    when: {
      // The Job may still succeed after the backup was left out.
      'step safety, or step fence without one': (v) => at(v, 'safety') !== undefined || (isAtFence(v) && isUnsaved(v)),
    },
    requires: {
      'backed up, or no quorum to back up': (v) =>
        ownJob(v, 'safety')?.backup !== undefined || (at(v, 'safety') !== undefined && quorumLostLong(v)),
    },
    effect: (v) => {
      const backup = ownJob(v, 'safety')?.backup;
      if (!backup) return write(v, step(v, 'fence'));
      return write(v, {
        ...step(v, 'fence', { safetyBackupId: backup.id }),
        lastBackup: takenBackup(v, backup),
      });
    },
  }),
  ...steps({ when: { 'step fence': isAtFence }, from: 'fencing' }, [
    rule({
      // The Job failed because there was no quorum; the next one may succeed.
      name: 'Safety.replace',
      does: 'DeleteJob',
      to: 'fencing',
      when: { 'its Job failed': (v) => failedSafety(v) !== undefined },
      effect: (v) => ({ kind: 'DeleteJob', job: 'safety', uid: failedSafety(v)!.uid }),
    }),
    rule({
      // The backup was left out because there was no quorum. Quorum is back.
      name: 'Safety.again',
      does: 'WriteRecord',
      to: 'backing up',
      when: { 'its safety backup is not taken': isUnsaved, 'quorum serves': quorumServes },
      // Safety.replace, above, deletes a Job that failed.
      requires: { 'Jobs are known': (v) => v.o.jobs.known },
      effect: (v) => write(v, step(v, 'safety')),
    }),
  ]),
  rule({
    name: 'Safety.failed',
    does: 'WriteRecord',
    from: 'backing up',
    to: 'failed',
    when: {
      'step safety': (v) => at(v, 'safety') !== undefined,
      'there is no schedule, or its Job failed': (v) =>
        quorumServes(v) && (v.spec.schedule === undefined || failedSafety(v) !== undefined),
    },
    effect: (v) =>
      v.spec.schedule === undefined
        ? fails(v, 'NoSchedule', 'the safety backup has no backup schedule; add one or set safetyBackup: false')
        : fails(v, 'BackupFailed', failedSafety(v)?.message ?? 'the safety backup failed'),
  }),
];

export const yieldToRemoval = rule<PlacedMember>({
  name: 'Restore.yield',
  does: 'WriteRecord',
  from: ['verifying', 'backing up'],
  to: 'removing',
  each: placed(voters),
  when: {
    'step verify or safety, before the fence': (v) =>
      beforeFence(v) !== undefined && (at(v, 'verify') ?? at(v, 'safety')) !== undefined,
    'it has suspended no other operation': (v) => restoreOp(v)!.suspended === undefined,
    'a voter has certainly lost its volume, with policy OnVolumeLoss': (v, m) => removalDue(v, m) && !isForced(v, m),
  },
  requires: {
    'the voters that stay are healthy and a quorum': implied<PlacedMember>(
      'Remove.call, of the operation that begins here, asks again; here so that the slot is not given up to wait',
      (v, m) => safeRemove(v, m.id),
    ),
  },
  // The EtcdRestore is not final, so a later operation takes it up again.
  effect: (v, m) => intendRemoval(v, m, 'Dead'),
});

export const giveWay = rule({
  // A later operation takes up an EtcdRestore that is not final; a roll is retried.
  name: 'Restore.giveWay',
  does: 'WriteRecord',
  from: 'fencing',
  to: 'running',
  when: {
    'step fence, before the fence': (v) => at(v, 'fence') !== undefined && beforeFence(v) !== undefined,
    'something else could be done': (v) => v.op('Restore') !== undefined && !isOrigin(args(v).id),
    'the template does not fit the spec, or the seed’s agent is silent': (v) => templateDiffers(v) || seedIsSilent(v),
  },
  effect: (v) =>
    givesUp(restoreOp(v)!)
      ? write(v, ended(v))
      : fails(v, 'RestoreBlocked', templateDiffers(v) ? reasons.TemplateMismatch : reasons.AgentUnreachable),
});
