import { ExitCode } from '../errors.ts';
import type { BackupStatus } from './backup-object.ts';
import { isStuck } from './backup-pod-state.ts';
import type { Why } from './backup-status.ts';
import type { JobResult } from './job-result.ts';
import type { ObjectCondition } from './objects.ts';

/** Of a Job, and of what asked for it. */
export interface End extends Why {
  /** RFC 3339. */
  readonly at?: string | undefined;
  readonly result?: JobResult | undefined;
}

export function failureOf(
  before: Partial<BackupStatus> | undefined,
  { reason, message, lastTransitionTime: at }: ObjectCondition,
  result: JobResult | undefined,
): End {
  const said = result && lineOf(result);
  if (reason === 'DeadlineExceeded') {
    // Its pods are gone: what held them up is only told in the status.
    const stuck = isStuck(before?.reason);
    const last = stuck ? before?.message : (said ?? 'its pod said nothing: kubectl get events may tell why');
    return { reason: (stuck && before?.reason) || 'TimedOut', message: `stopped at its time-out: ${last}`, at, result };
  }
  const word = result && (result.suspect ? 'SourceSuspect' : words[result.exitCode ?? 1]);
  return { reason: word || 'JobFailed', message: said ?? message ?? reason ?? 'it failed', at, result };
}

/** By exit code, as docs/exit-codes.md has them. */
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
  const bad = stores.filter((each) => each.error ?? each.retentionError);
  if (bad.length === 0) return undefined;
  const lines = bad.map((each) => `${each.store}: ${each.error ?? `retention: ${each.retentionError}`}`);
  return `stored, but ${lines.join('; ')}`;
}

export const verifiedOf = ({ stores }: JobResult): string | undefined =>
  stores?.find(({ verified }) => verified)?.verified;
