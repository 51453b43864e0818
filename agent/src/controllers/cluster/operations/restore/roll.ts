import { rollId } from '../../../../protocol/restore-id.ts';
import type { Pod } from '../../../port/observed.ts';
import { rule, steps } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import { allVotersHealthy, jobOf, voters } from '../../facts/facts.ts';
import { lasts, podsOf } from '../../facts/observations.ts';
import { templateMayRun } from '../../facts/upgrade-path.ts';
import { awaitsCorrection, ownJob, reasonToGiveUp } from '../jobs.ts';
import { oneTimeToken, opBase, takenBackup, write } from '../record/write.ts';
import { outdated } from '../restart.ts';
import { fails, step } from './operation.ts';

// The only member, on a volume that goes with its pod: back it up, and restore the backup into the next pod.

const rolls = (v: View): boolean => v.op('Restore')?.step === 'backup';

const failure = (v: View): string | undefined => reasonToGiveUp(v, ownJob(v, 'pre-upgrade'));

const failedJustNow = (v: View): boolean =>
  v.record.failure?.of.startsWith('Restore roll:') === true && !lasts(v, v.o.since.failure, v.s.retryFailed);

export const rollSingle = rule<Pod>({
  name: 'RollSingle',
  does: 'WriteRecord',
  from: 'running',
  to: 'backing up',
  each: podsOf,
  when: {
    'not as the template and the record have it': outdated,
    'volumes do not persist': (v) => v.spec.ephemeral,
    'it is the only voter': (v) => voters(v).length === 1,
    'it did not fail just now': (v) => !failedJustNow(v),
    'nor for what nobody has corrected': (v) => v.o.jobs.known && !awaitsCorrection(v, jobOf(v, 'pre-upgrade')),
  },
  requires: {
    'the template may run': templateMayRun,
    'it is healthy': allVotersHealthy,
    'there is a backup schedule': (v) => v.spec.schedule !== undefined,
  },
  effect: (v) => {
    const base = opBase(v);
    return write(v, {
      op: {
        ...base,
        kind: 'Restore',
        step: 'backup',
        args: {
          id: rollId(base.id),
          uid: base.id,
          specHash: '',
          safetyBackup: false,
          ignoreUnreachablePods: false,
          sourceToken: oneTimeToken(v),
        },
      },
    });
  },
});

export const rollSteps = [
  ...steps({ from: 'backing up' }, [
    rule({
      name: 'RollSingle.stored',
      does: 'WriteRecord',
      to: 'verifying',
      when: { 'step backup': rolls },
      requires: { 'its backup is verified': (v) => ownJob(v, 'pre-upgrade')?.backup !== undefined },
      effect: (v) => {
        const backup = ownJob(v, 'pre-upgrade')!.backup!;
        const source = { schedule: v.spec.schedule, snapshotId: backup.id };
        return write(v, {
          ...step(v, 'verify', { source, sha256: backup.sha256 }),
          lastBackup: takenBackup(v, backup),
        });
      },
    }),
    rule({
      name: 'RollSingle.failed',
      does: 'WriteRecord',
      to: 'running',
      when: { 'step backup, and its Job failed, or does not start': (v) => rolls(v) && failure(v) !== undefined },
      effect: (v) => fails(v, 'BackupFailed', failure(v)!),
    }),
  ]),
];
