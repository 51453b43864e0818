import { podName } from '../../port/names.ts';
import type { View } from '../engine/view.ts';
import { agentOf, lasts, podAt, podsOf, statefulSet } from './observations.ts';

// Why no member runs at an ordinal, as Kubernetes and the agent report it.

/** Why the member at this ordinal is down; undefined: no reason was observed. */
export function whyDown(v: View, ordinal: number): string | undefined {
  if (!v.o.pods.known) return undefined;
  const pod = podAt(v, ordinal);
  const name = `pod ${podName(v.cluster, ordinal)}`;
  if (!pod) return join(`${name} does not exist`, statefulSet(v)?.lacks?.why);
  const at = pod.node === undefined ? name : `${name} on ${pod.node}`;
  const agent = agentOf(v, ordinal);
  const isSaid = agent?.reason === 'EtcdDown' && isNeverStarted(pod.problem);
  const reported = agent?.reason && !isSaid ? join(agent.reason, agent.message) : undefined;
  const said = [pod.problem, reported].filter(Boolean).join('; ');
  if (said) return join(at, said);
  // Kubernetes deletes a pod whose node is off.
  if (pod.deleting)
    return isSilentLong(v, ordinal)
      ? `${at} is being deleted and does not answer; check its node`
      : `${at} is being deleted`;
  if (!pod.running) return `${at} has not started`;
  return agent ? undefined : `${at}: its agent does not answer`;
}

/** The container has never run, so the agent cannot know more. A container that crashes has a log. */
const isNeverStarted = (problem: string | undefined): boolean =>
  problem !== undefined && !problem.startsWith('CrashLoopBackOff');

const join = (what: string, why: string | undefined): string => (why ? `${what}: ${why}` : what);

/**
 * Kubernetes reports what keeps a pod that should run. In the first seconds the report may pass, for example while a volume
 * is bound. Once a container has begun it counts at once, also when the agent is silent for a while.
 */
const isKept = (v: View, ordinal: number): boolean => {
  const pod = podAt(v, ordinal);
  const why = pod ? pod.problem : statefulSet(v)?.lacks?.why;
  const isNew = !pod?.began && agentOf(v, ordinal) === undefined && !lasts(v, v.o.since.silent?.[ordinal], v.s.stable);
  return why !== undefined && !isNew;
};

/** No agent has answered there for longer than a start takes. */
export const isSilentLong = (v: View, ordinal: number): boolean =>
  lasts(v, v.o.since.silent?.[ordinal], v.s.unreachable);

/** A pod should run there by now, and does not. */
export const doesNotRun = (v: View, ordinal: number): boolean =>
  v.o.pods.known &&
  ordinal < (statefulSet(v)?.replicas ?? 0) &&
  (isKept(v, ordinal) || (agentOf(v, ordinal) === undefined && isSilentLong(v, ordinal)));

/**
 * The pod is on its way, as far as is known: being recreated, or not at etcd yet. One that `wasStarting` a moment ago still is
 * until it is ready: its agent may reach etcd before this process does.
 */
export function isStarting(v: View, ordinal: number, downSince: number | undefined, wasStarting: boolean): boolean {
  if (!v.o.pods.known || isKept(v, ordinal) || lasts(v, downSince, v.s.unreachable)) return false;
  const pod = podAt(v, ordinal);
  if (!pod || pod.deleting || !pod.running) return true;
  const agent = agentOf(v, ordinal);
  return agent && !(wasStarting && !pod.ready) ? beforeEtcd.includes(agent.state) : !pod.ready;
}

const beforeEtcd: readonly string[] = ['Init', 'WaitPermit', 'Preparing', 'Restoring', 'Starting'];

/** Why the pods of these ordinals are down. */
export function whyPodsAreDown(v: View, ordinals: readonly number[]): string {
  return ordinals.flatMap((ordinal) => whyDown(v, ordinal) ?? []).join('; ');
}

/** Every ordinal that has a pod or should have one. */
export const dueOrdinals = (v: View): number[] => {
  const replicas = statefulSet(v)?.replicas ?? 0;
  const there = podsOf(v).map(({ ordinal }) => ordinal);
  return [...new Set([...Array(replicas).keys(), ...there])].sort((a, b) => a - b);
};
