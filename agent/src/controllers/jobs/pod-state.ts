import { mainContainer } from '../../kube/containers.ts';
import type { EventObject, JobObject, KubeObject, PodObject } from '../../kube/objects.ts';
import { creationProblem, inWords, isImageProblem, isSilent, podProblem } from '../../kube/pod-problem.ts';
import type { EtcdBackupObject } from '../objects/backup-object.ts';
import { jobResult } from './job-result.ts';

const reasons = ['Starting', 'Running', 'Retrying', 'ImageNotPulled', 'PodWaits'] as const;

/** State of the pod of a running Job, as reason and message. */
export interface PodState {
  readonly reason: (typeof reasons)[number];
  readonly message: string;
}

/** Returns true if this reason was set while a Job existed. */
export const isPodState = (reason: string | undefined): boolean => reasons.some((each) => each === reason);

/** Returns true if a Job of it existed when its status was written, or a pod of a Job that vanished may still run. */
export const mayRun = ({ status }: EtcdBackupObject): boolean =>
  isPodState(status?.reason) || status?.reason === 'JobVanished';

/** Returns true if a Job of it exists and may read from etcd. */
export const isUnderWay = (reason: string | undefined): boolean => isPodState(reason) && !isStuck(reason);

/** Returns true for a state that does not end by itself. */
export const isStuck = (reason: string | undefined): boolean => reason === 'ImageNotPulled' || reason === 'PodWaits';

/**
 * Returns true if a new state must not replace the last reported one, `before`. Kubernetes alternates between the reason why
 * an image cannot be pulled and "back-off", which says less. At the time-out it deletes the pod before the Job has failed.
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

/** Returns the pod or Job that has not started and whose status does not say why. Its Events do. */
export function silentPart(job: JobObject, pods: readonly PodObject[]): KubeObject | undefined {
  const live = pods.find((pod) => !hasEnded(pod));
  if (live) return isSilent(live) ? live : undefined;
  return pods.length === 0 ? job : undefined;
}

/** Determines the state of a Job's pod. `events` are the Events of `silentPart`. */
export function podState(job: JobObject, pods: readonly PodObject[], events?: readonly EventObject[]): PodState {
  const live = pods.find((pod) => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined);
  const stuck = live && waiting(live, events);
  if (stuck) return stuck;
  const { name } = job.metadata;
  const refused = pods.length === 0 ? creationProblem(events) : undefined;
  if (refused) return { reason: 'PodWaits', message: `Job ${name}: no pod can be created: ${inWords(refused)}` };
  const tried = pods.filter(hasEnded);
  const error = jobResult(tried)?.error;
  if (error !== undefined)
    return { reason: 'Retrying', message: `Job ${name}: attempt ${tried.length} failed: ${error}` };
  const running = mainContainer(live?.status?.containerStatuses)?.state?.running;
  if (live && running) return { reason: 'Running', message: `Job ${name}: pod ${live.metadata.name} is running` };
  const done = pods.find((pod) => pod.status?.phase === 'Succeeded' || isTerminated(pod));
  if (done) return { reason: 'Running', message: `Job ${name}: pod ${done.metadata.name} has ended; the Job not yet` };
  return { reason: 'Starting', message: `Job ${name}: the pod has not started` };
}

const isTerminated = ({ status }: PodObject): boolean =>
  mainContainer(status?.containerStatuses)?.state?.terminated !== undefined && status?.phase === 'Running';

function waiting(pod: PodObject, events: readonly EventObject[] | undefined): PodState | undefined {
  const found = podProblem(pod, events);
  if (!found) return undefined;
  const reason = isImageProblem(found) ? 'ImageNotPulled' : 'PodWaits';
  return { reason, message: `pod ${pod.metadata.name}: ${inWords(found)}` };
}
