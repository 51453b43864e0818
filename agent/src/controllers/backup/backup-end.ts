import type { JobObject, ObjectCondition } from '../../kube/objects.ts';
import { ExitCode } from '../../lib/errors.ts';
import { type JobResult, lastPhase, timedOut } from '../cluster/jobs/job-result.ts';
import type { BackupStatus } from './backup-object.ts';
import { isStuck } from './backup-pod-state.ts';
import type { Why } from './backup-status.ts';

/** Of a Job, and of what asked for it. */
export interface End extends Why {
  /** RFC 3339. */
  readonly at?: string | undefined;
  readonly result?: JobResult | undefined;
}

export function failureOf(
  job: JobObject,
  before: Partial<BackupStatus> | undefined,
  failed: ObjectCondition,
  result: JobResult | undefined,
): End {
  const { reason, message, lastTransitionTime: at } = failed;
  const line = result && lineOf(result);
  const phase = result?.exitCode === ExitCode.timedOut ? lastPhase(result) : undefined;
  const said = phase === undefined ? line : `${line} (phase ${phase})`;
  if (reason === 'DeadlineExceeded') {
    // Its pods are gone: what held them up is only told in the status.
    const stuck = isStuck(before?.reason);
    const last = stuck ? before?.message : (said ?? lastSeen(before));
    const why = `${timedOut(job, failed)}: ${last}`;
    return { reason: (stuck && before?.reason) || 'TimedOut', message: why, at, result };
  }
  const word = result && (result.suspect ? 'SourceSuspect' : words[result.exitCode ?? 1]);
  return { reason: word || 'JobFailed', message: said ?? message ?? reason ?? 'it failed', at, result };
}

const lastSeen = (before: Partial<BackupStatus> | undefined): string =>
  before?.reason === 'Running'
    ? 'its pod ran until then, and said nothing at its end; give it more time with timeouts.total'
    : 'its pod said nothing: kubectl get events may tell why';

/** By exit code, as docs/reference/exit-codes.md has them. */
const words: Readonly<Record<number, string>> = {
  [ExitCode.usage]: 'BadConfiguration',
  [ExitCode.partial]: 'PartlyStored',
  [ExitCode.etcdUnavailable]: 'EtcdUnavailable',
  [ExitCode.sourceSuspect]: 'SourceSuspect',
  [ExitCode.storeUnreachable]: 'StoreUnreachable',
  [ExitCode.storeRefused]: 'StoreRefused',
  [ExitCode.verificationFailed]: 'VerificationFailed',
  [ExitCode.refused]: 'Refused',
  [ExitCode.timedOut]: 'TimedOut',
};

/** The agent's one line. */
function lineOf({ error, stores = [], suspect }: JobResult): string | undefined {
  if (error !== undefined) return error;
  if (suspect) return `stored, but it does not count as verified: ${suspect.join(', ')}`;
  const lines = stores.flatMap(({ store, error, keyError, retentionError }) => {
    const why = error ?? keyError ?? (retentionError && `retention: ${retentionError}`);
    return why ? [`${store}: ${why}`] : [];
  });
  if (lines.length === 0) return undefined;
  return `stored, but ${lines.join('; ')}`;
}

export const verifiedOf = ({ stores }: JobResult): string | undefined =>
  stores?.find(({ verified }) => verified)?.verified;
