import { clientServiceName } from './client-service-name';
import { recordName } from './record-name';

/** Largest number of members that a cluster can have. */
const maxSize = 7;

/**
 * Every ordinal that a member can ever have. Objects are created for all of them, so they do not depend on the size.
 */
const ordinals: readonly number[] = Array.from({ length: maxSize }, (_, ordinal) => ordinal);

/** Names of a cluster's objects. Names that contain an ordinal are listed for every possible ordinal. */
export interface ClusterNames {
  readonly cluster: string;
  readonly peerService: string;
  /** Services through which clients reach single members. */
  readonly clientServices: readonly string[];
  /** Services for clients outside of Kubernetes. */
  readonly externalServices: readonly string[];
  readonly settings: string;
  /** ConfigMap that the reconciler creates at run time. */
  readonly record: string;
  readonly reconcilerRole: string;
  readonly jobPolicy: string;
  readonly pods: readonly string[];
  readonly claims: readonly string[];
  /** Jobs that the reconciler creates for its operations. */
  readonly jobs: readonly string[];
}

export function clusterNames(cluster: string): ClusterNames {
  const pods = ordinals.map((ordinal) => `${cluster}-${ordinal}`);
  const jobs = ['pre-upgrade', 'final', 'safety', 'recovery', 'restore', 'salvage'];
  return {
    cluster,
    peerService: `${cluster}-peers`,
    clientServices: pods.map(clientServiceName),
    externalServices: pods.map((pod) => `${pod}-external`),
    settings: `${cluster}-settings`,
    record: recordName(cluster),
    // Not `${cluster}-reconciler`: for a cluster called `etcd` that is the name of the reconciler's own Role.
    reconcilerRole: `${cluster}-etcd-reconciler`,
    jobPolicy: `${cluster}-jobs`,
    pods,
    claims: pods.map((pod) => `${dataVolume}-${pod}`),
    jobs: jobs.map((job) => `${cluster}-${job}`),
  };
}

export const dataVolume = 'data';

/**
 * Suffixes of objects whose kind also has an object with just the cluster's name. If a second cluster had such a name,
 * both clusters would have an object of the same name, and each apply would take it over from the other cluster.
 */
export const objectSuffix = /-(peers|jobs|etcd-reconciler|[0-9]+-(client|external))$/;

/** Problem with the name of an EtcdCluster, or undefined. */
export function ownNameProblem(name: string): string | undefined {
  if (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) {
    return `name: '${name}' is not a valid Service name; use lower-case letters, digits and '-', beginning with a letter`;
  }
  const [suffix] = objectSuffix.exec(name) ?? [];
  if (suffix !== undefined) {
    return `name: '${name}' is the name of an object of cluster '${name.slice(0, -suffix.length)}'; use a name that does not end in '${suffix}'`;
  }
  if (name.length <= 50) return undefined;
  return `name: '${name}' has ${name.length} characters; use at most 50, because the names of its objects are longer`;
}
