import type { JobObject, ObjectCondition, PodObject } from '../../../kube/objects.ts';

/** Termination message of the agent: the result of its command, or the end of its log. */
export interface JobResult {
  readonly exitCode?: number;
  readonly error?: string;
  readonly snapshot?: {
    readonly id: string;
    readonly revision: number;
    readonly sha256: string;
    readonly sizeBytes: number;
  };
  readonly stores?: readonly {
    readonly store: string;
    readonly key?: string;
    readonly verified?: string;
    readonly error?: string;
    readonly keyError?: string;
    readonly retentionError?: string;
  }[];
  readonly suspect?: readonly string[];
  /** Duration of each phase in seconds. The last phase comes last. */
  readonly phases?: Readonly<Record<string, number>>;
}

/** Returns the result of the pod that ended last, or undefined if it left no message. */
export function jobResult(pods: readonly PodObject[]): JobResult | undefined {
  const [last] = pods
    .flatMap(({ status }) => status?.containerStatuses?.[0]?.state?.terminated ?? [])
    .sort((a, b) => ((a.finishedAt ?? '') < (b.finishedAt ?? '') ? 1 : -1));
  if (!last) return undefined;
  const { exitCode, message = '' } = last;
  // After a kill the message is the end of the log.
  const line = message.trimEnd().split('\n').at(-1) ?? '';
  try {
    const found: unknown = JSON.parse(line);
    if (found !== null && typeof found === 'object') return { exitCode, ...found };
  } catch {
    // Not JSON: use the line itself as the error.
  }
  return line ? { exitCode, error: line } : undefined;
}

/** Explains in one line why a Job failed. */
export function jobFailure(job: JobObject, result: JobResult | undefined): string | undefined {
  const failed = jobCondition(job, 'Failed');
  if (failed?.reason !== 'DeadlineExceeded') return result?.error ?? failed?.message ?? failed?.reason;
  return `${timedOut(job, failed)}; ${result?.error ?? 'the pod left no message'}`;
}

/** Describes the time-out of a Job: its deadline, or else how long it ran. */
export function timedOut({ spec, metadata, status }: JobObject, failed: ObjectCondition): string {
  const took =
    Date.parse(failed.lastTransitionTime ?? '') - Date.parse(status?.startTime ?? metadata.creationTimestamp);
  const seconds = spec?.activeDeadlineSeconds ?? Math.round(took / 1000);
  return Number.isFinite(seconds) ? `timed out after ${seconds} s` : 'timed out';
}

/** The phase in which the agent ended. */
export const lastPhase = ({ phases }: JobResult): string | undefined => Object.keys(phases ?? {}).at(-1);

/** Returns the condition if its status is True. */
export const jobCondition = ({ status }: JobObject, type: 'Failed' | 'Complete'): ObjectCondition | undefined =>
  status?.conditions?.find((each) => each.type === type && each.status === 'True');
