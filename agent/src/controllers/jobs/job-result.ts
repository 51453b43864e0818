import * as z from 'zod/mini';
import { mainContainer } from '../../kube/containers.ts';
import type { JobObject, ObjectCondition, PodObject } from '../../kube/objects.ts';

/** Termination message of the agent: the result of its command, or the end of its log. */
export interface JobResult {
  readonly exitCode?: number;
  readonly error?: string;
  readonly snapshot?: {
    readonly id: string;
    /** RFC 3339, by the clock of the pod's node. Unset by an older release. */
    readonly createdAt?: string;
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
    /** Ids of the snapshots that its retention deleted, not more than fit. */
    readonly deleted?: readonly string[];
    /** How many they were, if not all of them fit. */
    readonly deletedCount?: number;
  }[];
  readonly suspect?: readonly string[];
  /** Duration of each phase in seconds. The last phase comes last. */
  readonly phases?: Readonly<Record<string, number>>;
}

const optional = <T extends z.ZodMiniType>(type: T) => z.catch(z.optional(type), undefined as never);
const { text, number, list } = {
  text: optional(z.string()),
  number: optional(z.int()),
  list: optional(z.array(z.string())),
};

/** The image of a Job is the user's choice. A field of another type counts as missing. */
const resultSchema = z.object({
  exitCode: number,
  error: text,
  snapshot: optional(
    z.object({ id: z.string(), createdAt: text, revision: z.int(), sha256: z.string(), sizeBytes: z.int() }),
  ),
  stores: optional(
    z.array(
      z.object({
        ...{ store: z.string(), key: text, verified: text, error: text, keyError: text, retentionError: text },
        ...{ deleted: list, deletedCount: number },
      }),
    ),
  ),
  suspect: list,
  phases: optional(z.record(z.string(), z.number())),
});

/** Returns the result of the pod that ended last, or undefined if it left no message. */
export function jobResult(pods: readonly PodObject[]): JobResult | undefined {
  const [last] = pods
    .flatMap(({ status }) => mainContainer(status?.containerStatuses)?.state?.terminated ?? [])
    .sort((a, b) => ((a.finishedAt ?? '') < (b.finishedAt ?? '') ? 1 : -1));
  if (!last) return undefined;
  const { exitCode, message = '' } = last;
  // After a kill the message is the end of the log.
  const line = message.trimEnd().split('\n').at(-1) ?? '';
  try {
    const found: unknown = JSON.parse(line);
    if (found !== null && typeof found === 'object') {
      const result = resultSchema.parse(found);
      return { ...result, exitCode: result.exitCode ?? exitCode };
    }
  } catch {
    // Not JSON: use the line itself as the error.
  }
  return line ? { exitCode, error: line } : undefined;
}

/** Summarizes in one line what is wrong with the agent's result. */
export function lineOf({ error, stores = [], suspect }: JobResult): string | undefined {
  if (error !== undefined) return error;
  if (suspect) return `stored, but not counted as verified: ${suspect.join(', ')}`;
  const lines = stores.flatMap(({ store, error, keyError, retentionError }) => {
    const why = error ?? keyError ?? (retentionError && `retention: ${retentionError}`);
    return why ? [`${store}: ${why}`] : [];
  });
  if (lines.length === 0) return undefined;
  return `stored, but ${lines.join('; ')}`;
}

/** Explains in one line why a Job failed. */
export function jobFailure(job: JobObject, result: JobResult | undefined): string | undefined {
  const failed = jobCondition(job, 'Failed');
  const line = result && lineOf(result);
  if (failed?.reason !== 'DeadlineExceeded') return line ?? failed?.message ?? failed?.reason;
  return `${timedOut(job, failed)}; ${line ?? 'the pod left no message'}`;
}

/** Describes the time-out of a Job: its deadline, otherwise how long it ran. */
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
