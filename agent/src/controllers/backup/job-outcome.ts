import type { JobObject, ObjectCondition } from '../../kube/objects.ts';
import { ExitCode } from '../../lib/errors.ts';
import { exitReasons } from '../../protocol/exit-reasons.ts';
import { type JobResult, lastPhase, lineOf, timedOut } from '../jobs/job-result.ts';
import { isStuck } from '../jobs/pod-state.ts';
import type { BackupStatus, Why } from '../objects/backup-object.ts';

/** How a Job ended, and with it the request for the Job. */
export interface Outcome extends Why {
  /** RFC 3339. */
  readonly at?: string | undefined;
  readonly result?: JobResult | undefined;
}

export function failureOf(
  job: JobObject,
  before: Partial<BackupStatus> | undefined,
  failed: ObjectCondition,
  result: JobResult | undefined,
): Outcome {
  const { reason, message, lastTransitionTime: at } = failed;
  const line = result && lineOf(result);
  const phase = result?.exitCode === ExitCode.timedOut ? lastPhase(result) : undefined;
  const reported = phase === undefined ? line : `${line} (phase ${phase})`;
  if (reason === 'DeadlineExceeded') {
    // Kubernetes has deleted the pods: only the last status still says what held them up.
    const stuck = isStuck(before?.reason);
    const last = stuck ? before?.message : (reported ?? lastSeen(before));
    const why = `${timedOut(job, failed)}: ${last}`;
    return { reason: (stuck && before?.reason) || 'TimedOut', message: why, at, result };
  }
  const known = result && (result.suspect ? 'SourceSuspect' : exitReasons[result.exitCode ?? 1]);
  return { reason: known || 'JobFailed', message: reported ?? message ?? reason ?? 'the Job failed', at, result };
}

const lastSeen = (before: Partial<BackupStatus> | undefined): string =>
  before?.reason === 'Running'
    ? 'the pod was still running and left no message; allow more time with timeouts.total'
    : 'the pod left no message; check kubectl get events';

/** A snapshot is restored from the first store. */
export const deletedBy = ({ stores }: JobResult): readonly string[] => stores?.[0]?.deleted ?? [];

export const deletedCount = ({ stores }: JobResult): number =>
  stores?.[0]?.deletedCount ?? stores?.[0]?.deleted?.length ?? 0;

export const verifiedOf = ({ stores }: JobResult): string | undefined =>
  stores?.find(({ verified }) => verified)?.verified;
