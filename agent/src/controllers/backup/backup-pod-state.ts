import type { EventObject, JobObject, KubeObject, PodObject } from '../../kube/objects.ts';
import { jobResult } from '../cluster/jobs/job-result.ts';
import { creationProblem, inWords, isOfImage, isSilent, podProblem } from '../cluster/kubernetes/pod-problem.ts';

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

/**
 * Kubernetes says in turn why an image is not pulled, and that it waits before it tries again; at the time-out it deletes
 * the pod before the Job has failed. What else it says is news. `before`: what was reported last.
 */
export function isHidden(
  before: { readonly reason?: string; readonly message?: string } | undefined,
  { reason, message }: Pick<PodState, 'message'> & { reason: string },
): boolean {
  if (!isStuck(before?.reason)) return false;
  if (reason === 'Starting') return true;
  const [pod] = message.split(': ImagePullBackOff');
  return (
    reason === 'ImageNotPulled' &&
    before?.reason === reason &&
    pod !== message &&
    before.message!.startsWith(`${pod}: `)
  );
}

export const podsOf = (job: JobObject, pods: readonly PodObject[]): PodObject[] =>
  pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === job.metadata.uid));

export const hasEnded = ({ status }: PodObject): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** What has not started, and says itself nothing of why: the events of it do. */
export function silentPart(job: JobObject, pods: readonly PodObject[]): KubeObject | undefined {
  const live = pods.find((pod) => !hasEnded(pod));
  if (live) return isSilent(live) ? live : undefined;
  return pods.length === 0 ? job : undefined;
}

/** `events`: of the silent part. */
export function podState(job: JobObject, pods: readonly PodObject[], events: readonly EventObject[] = []): PodState {
  const live = pods.find((pod) => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined);
  const stuck = live && waiting(live, events);
  if (stuck) return stuck;
  const { name } = job.metadata;
  const refused = pods.length === 0 ? creationProblem(events) : undefined;
  if (refused) return { reason: 'PodWaits', message: `Job ${name}: it is given no pod: ${inWords(refused)}` };
  const tried = pods.filter(hasEnded);
  const error = jobResult(tried)?.error;
  if (error !== undefined) return { reason: 'Retrying', message: `Job ${name}: try ${tried.length} failed: ${error}` };
  const running = live?.status?.containerStatuses?.[0]?.state?.running;
  if (live && running) return { reason: 'Running', message: `Job ${name}: pod ${live.metadata.name} runs` };
  return { reason: 'Starting', message: `Job ${name}: its pod has not started` };
}

function waiting(pod: PodObject, events: readonly EventObject[]): PodState | undefined {
  const found = podProblem(pod, events);
  if (!found) return undefined;
  const reason = isOfImage(found) ? 'ImageNotPulled' : 'PodWaits';
  return { reason, message: `pod ${pod.metadata.name}: ${inWords(found)}` };
}
