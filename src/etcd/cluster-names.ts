import { clientServiceName } from './client-service-name';
import { ordinals } from './ordinals';

/** Names of one cluster's objects. What a member's ordinal is part of is listed for every ordinal that there can be. */
export interface ClusterNames {
  readonly cluster: string;
  readonly peerService: string;
  /** Of the members, for clients. */
  readonly clientServices: readonly string[];
  readonly settings: string;
  /** Made at run time, by the reconciler. */
  readonly record: string;
  readonly reconcilerRole: string;
  readonly jobPolicy: string;
  readonly pods: readonly string[];
  readonly claims: readonly string[];
  /** The Jobs of operations, made by the reconciler. */
  readonly jobs: readonly string[];
}

export function clusterNames(cluster: string): ClusterNames {
  const pods = ordinals.map((ordinal) => `${cluster}-${ordinal}`);
  const jobs = ['pre-upgrade', 'final', 'safety', 'recovery', 'restore', 'salvage'];
  return {
    cluster,
    peerService: `${cluster}-peers`,
    clientServices: pods.map(clientServiceName),
    settings: `${cluster}-settings`,
    record: `${cluster}-record`,
    // Not `${cluster}-reconciler`: for a cluster called `etcd` that is the reconciler's own.
    reconcilerRole: `${cluster}-etcd-reconciler`,
    jobPolicy: `${cluster}-jobs`,
    pods,
    claims: pods.map((pod) => `${dataVolume}-${pod}`),
    jobs: jobs.map((job) => `${cluster}-${job}`),
  };
}

export const dataVolume = 'data';

/**
 * How objects of a cluster end that are of the same kinds as those with just its name. Another cluster that is called so
 * would have an object of the same name, and each app that applies one would turn it to its own cluster.
 */
export const objectSuffix = /-(peers|jobs|etcd-reconciler|[0-9]+-client)$/;
