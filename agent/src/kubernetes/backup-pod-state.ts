import { jobResult } from './job-result.ts';
import type { JobObject, PodObject } from './objects.ts';

const reasons = ['Starting', 'Running', 'Retrying', 'ImageNotPulled', 'PodWaits'] as const;

/** How far the pod of a running Job is, in one word and one line. */
export interface PodState {
  readonly reason: (typeof reasons)[number];
  readonly message: string;
}

/** There was a Job when this was said. */
export const isPodState = (reason: string | undefined): boolean => reasons.some((each) => each === reason);

/** What does not end by itself. */
export const isStuck = (reason: string | undefined): boolean => reason === 'ImageNotPulled' || reason === 'PodWaits';

export const podsOf = (job: JobObject, pods: readonly PodObject[]): PodObject[] =>
  pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid));

export const hasEnded = ({ status }: PodObject): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

export function podState(job: JobObject, pods: readonly PodObject[]): PodState {
  const live = pods.find((pod) => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined);
  const stuck = live && waiting(live);
  if (stuck) return stuck;
  const { name } = job.metadata;
  const tried = pods.filter(hasEnded);
  const error = jobResult(tried)?.error;
  if (error !== undefined) return { reason: 'Retrying', message: `Job ${name}: try ${tried.length} failed: ${error}` };
  const running = live?.status?.containerStatuses?.[0]?.state?.running;
  if (live && running) return { reason: 'Running', message: `Job ${name}: pod ${live.metadata.name} runs` };
  return { reason: 'Starting', message: `Job ${name}: its pod has not started` };
}

const imageReasons = /^(ErrImage|ImagePull|InvalidImageName|RegistryUnavailable|ImageInspectError)/;
const usual = ['ContainerCreating', 'PodInitializing'];

function waiting({ metadata, status }: PodObject): PodState | undefined {
  const { reason, message } = status?.containerStatuses?.[0]?.state?.waiting ?? {};
  const line = (why: string, more = '') => `pod ${metadata.name}: ${[why, oneLine(more)].filter(Boolean).join(': ')}`;
  if (reason && imageReasons.test(reason)) return { reason: 'ImageNotPulled', message: line(reason, message) };
  if (reason && !usual.includes(reason)) return { reason: 'PodWaits', message: line(reason, message) };
  const unscheduled = status?.conditions?.find((each) => each.type === 'PodScheduled' && each.status === 'False');
  return (
    unscheduled && { reason: 'PodWaits', message: line(unscheduled.reason ?? 'Unschedulable', unscheduled.message) }
  );
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
