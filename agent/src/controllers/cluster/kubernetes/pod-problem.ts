import type { EventObject, ObjectCondition, PodObject } from '../../../kube/objects.ts';
import { oneLine } from '../../../lib/errors.ts';

/** Why something does not run, in Kubernetes' own words. */
export interface Problem {
  /** One word, such as ImagePullBackOff. */
  readonly reason: string;
  /** One line. */
  readonly message: string;
}

/** What a container waits for while everything goes its way. */
const usual = ['ContainerCreating', 'PodInitializing'];
const imageReasons = /^(ErrImage|ImagePull|InvalidImageName|RegistryUnavailable|ImageInspectError)/;

export const isOfImage = ({ reason }: Problem): boolean => imageReasons.test(reason);

/**
 * What keeps a pod from running; undefined for one that runs, and while nothing speaks against its start. A mount or a
 * sandbox that fails is told by its events alone: see Troubles.
 */
export function podProblem(pod: PodObject, events: readonly EventObject[] = []): Problem | undefined {
  const { status } = pod;
  if (status?.phase === 'Failed' && status.reason) return problem(status.reason, status.message);
  return ofContainers(pod) ?? ofScheduling(pod) ?? (hasStarted(pod) ? undefined : ofEvents(events));
}

/** No container of it has begun, and none is kept from it by anything that its status tells. */
export const isSilent = (pod: PodObject): boolean => !hasStarted(pod) && podProblem(pod) === undefined;

/** What a controller was told when it made a pod: a quota, an admission webhook. `name`: of the pod, where it is known. */
export function creationProblem(events: readonly EventObject[], name = ''): Problem | undefined {
  const about = events.filter(({ reason, message = '' }) => isOfCreation(reason) && message.includes(name));
  const last = newest(about);
  return last?.reason === 'FailedCreate' ? problem(last.reason, last.message) : undefined;
}

/** `ImagePullBackOff: Back-off pulling image …`. */
export const inWords = ({ reason, message }: Problem): string => [reason, message].filter(Boolean).join(': ');

const isOfCreation = (reason: string | undefined): boolean =>
  reason === 'FailedCreate' || reason === 'SuccessfulCreate';

function ofContainers({ status }: PodObject): Problem | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { state } of all) {
    const { reason, message } = state?.waiting ?? {};
    if (reason && !usual.includes(reason)) return problem(reason, message);
  }
  return undefined;
}

function ofScheduling({ status }: PodObject): Problem | undefined {
  const isRefused = ({ type, status }: ObjectCondition) => type === 'PodScheduled' && status === 'False';
  const found = status?.conditions?.find(isRefused);
  return found && problem(found.reason ?? 'Unschedulable', found.message);
}

const hasStarted = ({ status }: PodObject): boolean =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].some(
    ({ state }) => state?.running ?? state?.terminated,
  );

/** Of one that has not started: the kubelet's, and those of volumes. */
function ofEvents(events: readonly EventObject[]): Problem | undefined {
  const last = newest(events.filter(({ type, reason }) => type === 'Warning' && reason?.startsWith('Failed')));
  return last && problem(last.reason ?? '', last.message);
}

const newest = (events: readonly EventObject[]): EventObject | undefined =>
  [...events].sort((a, b) => timeOf(a) - timeOf(b)).at(-1);

const timeOf = ({ series, lastTimestamp, eventTime, metadata }: EventObject): number =>
  Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp);

const problem = (reason: string, message = ''): Problem => ({
  reason,
  message: oneLine(message.replaceAll(/\s+/g, ' ')),
});
