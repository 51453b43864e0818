import type { JobObject, ObjectCondition, PodObject } from '../../../kube/objects.ts';

/** What the agent said at its end: the result of its command, or the end of its log. */
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
  /** Seconds by phase, the last one at the end. */
  readonly phases?: Readonly<Record<string, number>>;
}

/** Of the pod that ended last; undefined when none said anything. */
export function jobResult(pods: readonly PodObject[]): JobResult | undefined {
  const [last] = pods
    .flatMap(({ status }) => status?.containerStatuses?.[0]?.state?.terminated ?? [])
    .sort((a, b) => ((a.finishedAt ?? '') < (b.finishedAt ?? '') ? 1 : -1));
  if (!last) return undefined;
  const { exitCode, message = '' } = last;
  // One that was killed left the end of its log.
  const line = message.trimEnd().split('\n').at(-1) ?? '';
  try {
    const found: unknown = JSON.parse(line);
    if (found !== null && typeof found === 'object') return { exitCode, ...found };
  } catch {
    // No JSON: the line itself is all there is.
  }
  return line ? { exitCode, error: line } : undefined;
}

/** Why a Job failed, in one line. */
export function jobFailure(job: JobObject, result: JobResult | undefined): string | undefined {
  const failed = jobCondition(job, 'Failed');
  if (failed?.reason !== 'DeadlineExceeded') return result?.error ?? failed?.message ?? failed?.reason;
  return `${timedOut(job, failed)}; ${result?.error ?? 'its pod said nothing'}`;
}

/** How long it was given, or how long it took. */
export function timedOut({ spec, metadata, status }: JobObject, failed: ObjectCondition): string {
  const took =
    Date.parse(failed.lastTransitionTime ?? '') - Date.parse(status?.startTime ?? metadata.creationTimestamp);
  const seconds = spec?.activeDeadlineSeconds ?? Math.round(took / 1000);
  return Number.isFinite(seconds) ? `stopped at its time-out, after ${seconds} s` : 'stopped at its time-out';
}

/** The one that the agent was in at its end. */
export const lastPhase = ({ phases }: JobResult): string | undefined => Object.keys(phases ?? {}).at(-1);

/** When it holds. */
export const jobCondition = ({ status }: JobObject, type: 'Failed' | 'Complete'): ObjectCondition | undefined =>
  status?.conditions?.find((each) => each.type === type && each.status === 'True');
