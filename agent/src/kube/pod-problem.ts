import { oneLine } from '../lib/errors.ts';
import type { EventObject, ObjectCondition, PodObject } from './objects.ts';

/** Why something does not run, as Kubernetes reports it. */
export interface PodProblem {
  /** One word, such as ImagePullBackOff. */
  readonly reason: string;
  /** One line. */
  readonly message: string;
}

/** Reasons of a waiting container that are no problem. */
const usual = ['ContainerCreating', 'PodInitializing'];
const imageReasons = /^(ErrImage|ImagePull|InvalidImageName|RegistryUnavailable|ImageInspectError)/;

export const isImageProblem = ({ reason }: PodProblem): boolean => imageReasons.test(reason);

/**
 * Returns what keeps a pod from running, or undefined if it runs or is starting normally. Only Events report a failed mount or
 * sandbox: see Troubles. `events` undefined: not known.
 */
export function podProblem(pod: PodObject, events?: readonly EventObject[]): PodProblem | undefined {
  const { status } = pod;
  if (status?.phase === 'Failed' && status.reason) return problem(status.reason, status.message);
  const told = hasStarted(pod) ? nodeProblem(pod, events) : eventProblem(pod, events);
  return containerProblem(pod) ?? schedulingProblem(pod) ?? told;
}

/** Returns true if it does not run, or no longer, and only Events can say why. */
export const isSilent = (pod: PodObject): boolean =>
  (!hasStarted(pod) || readinessLost(pod) !== undefined) && podProblem(pod) === undefined;

/** Returns why a controller could not create a pod, for example because of a quota or an admission webhook. `name`: the pod, if known. */
export function creationProblem(events: readonly EventObject[] = [], name = ''): PodProblem | undefined {
  const about = events.filter(({ reason, message = '' }) => isCreation(reason) && message.includes(name));
  const last = newest(about);
  return last?.reason === 'FailedCreate' ? problem(last.reason, last.message) : undefined;
}

/** Formats a problem, such as `ImagePullBackOff: Back-off pulling image …`. */
export const inWords = ({ reason, message }: PodProblem): string => [reason, message].filter(Boolean).join(': ');

const isCreation = (reason: string | undefined): boolean => reason === 'FailedCreate' || reason === 'SuccessfulCreate';

function containerProblem({ status }: PodObject): PodProblem | undefined {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const { state } of all) {
    const { reason, message } = state?.waiting ?? {};
    if (reason && !usual.includes(reason)) return problem(reason, message);
  }
  return undefined;
}

function schedulingProblem({ status }: PodObject): PodProblem | undefined {
  const isRefused = ({ type, status }: ObjectCondition) => type === 'PodScheduled' && status === 'False';
  const found = status?.conditions?.find(isRefused);
  return found && problem(found.reason ?? 'Unschedulable', found.message);
}

const hasStarted = ({ status }: PodObject): boolean =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].some(
    ({ state }) => state?.running ?? state?.terminated,
  );

/** Problem of a pod that has not started, from the Events of the kubelet and of volumes. */
function eventProblem(pod: PodObject, events: readonly EventObject[] | undefined): PodProblem | undefined {
  if (!events) return undefined;
  if (events.length === 0 && isLeftAlone(pod))
    return problem('NotScheduled', 'it is not assigned to a node, and no event says why; check kube-scheduler');
  const last = newest(events.filter(({ type, reason }) => type === 'Warning' && reason?.startsWith('Failed')));
  return last && problem(last.reason ?? '', last.message);
}

/** When the pod was found not ready, ms. Undefined: it is ready. */
function readinessLost({ status }: PodObject): number | undefined {
  const found = status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False');
  return found && Date.parse(found.lastTransitionTime ?? '');
}

/** Kubernetes writes both within this time, in ms. */
const together = 10_000;

/** The node of a pod that ran reports no longer. What it last said of the pod stays in the status. */
function nodeProblem(pod: PodObject, events: readonly EventObject[] = []): PodProblem | undefined {
  const since = readinessLost(pod);
  const last = newest(events.filter(({ reason }) => reason === 'NodeNotReady'));
  if (!last || since === undefined || Math.abs(timeOf(last) - since) > together) return undefined;
  return problem('NodeNotReady', last.message);
}

/** Milliseconds in which a scheduler has placed a pod, or said why not. */
const schedulingTime = 60_000;

/** A pod on a node has statuses of its containers. */
const isLeftAlone = ({ metadata, spec, status }: PodObject): boolean =>
  spec?.nodeName === undefined &&
  !status?.containerStatuses &&
  !status?.initContainerStatuses &&
  Date.now() - Date.parse(metadata.creationTimestamp) > schedulingTime;

const newest = (events: readonly EventObject[]): EventObject | undefined =>
  [...events].sort((a, b) => timeOf(a) - timeOf(b)).at(-1);

const timeOf = ({ series, lastTimestamp, eventTime, metadata }: EventObject): number =>
  Date.parse(series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp);

const problem = (reason: string, message = ''): PodProblem => ({
  reason,
  message: oneLine(message.replaceAll(/\s+/g, ' ')),
});
