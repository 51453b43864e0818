import { ordinals } from './ordinals';

/** Names of one cluster's objects. What a member's ordinal is part of is listed for every ordinal that there can be. */
export interface ClusterNames {
  readonly cluster: string;
  readonly peerService: string;
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
