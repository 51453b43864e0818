import { type ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { ownNameProblem } from '../etcd/cluster-names';
import type { EtcdAuth } from '../etcd/etcd-auth';
import { defaults } from '../resource/defaults';
import type { EtcdClusterSpec } from '../resource/types';
import type { IEtcdCluster } from './i-etcd-cluster';

/** An existing etcd cluster, which is not an EtcdCluster and is known only by its endpoints. */
export interface ExistingEtcd extends IEtcdCluster {
  /** @internal */
  _existing(): { readonly auth?: EtcdAuth };
}

/** Does not check the class: another copy of this library may have created the construct. */
export function isExistingEtcd(cluster: IEtcdCluster): cluster is ExistingEtcd {
  return '_existing' in cluster;
}

/** Problem with a resource whose cluster is in another namespace, or undefined. */
export function otherNamespaceProblem(construct: Construct, cluster: IEtcdCluster): string | undefined {
  const { namespace } = Chart.of(construct);
  const theirs = Chart.of(cluster).namespace;
  if (namespace === theirs) return undefined;
  const place = theirs === undefined ? 'a chart without a namespace' : `namespace '${theirs}'`;
  return `cluster: '${cluster.clusterName}' is in ${place}, and a resource can only refer to a cluster of its own namespace; move this resource there`;
}

/** Returns true for an EtcdCluster of this app. Does not check the class either. */
export function isEtcdCluster(
  construct: unknown,
): construct is IEtcdCluster & { readonly customResource: ApiObject; readonly statefulSet: ApiObject } {
  return Construct.isConstruct(construct) && 'clusterName' in construct && 'customResource' in construct;
}

/** Returns true for an EtcdCluster of this app that reports its name as wrong. What is derived from the name is wrong too. */
export function isMisnamed(construct: unknown): boolean {
  return isEtcdCluster(construct) && ownNameProblem(construct.clusterName) !== undefined;
}

/** Returns the names of a cluster's backup schedules, or undefined if the cluster belongs to another app. */
export function scheduleIds(cluster: IEtcdCluster): string[] | undefined {
  if (!isEtcdCluster(cluster)) return undefined;
  return cluster.node.children.flatMap((child) =>
    '_name' in child && 'cronJobName' in child ? [String(child._name)] : [],
  );
}

/** Undefined if the cluster belongs to another app. */
export const clusterSpecOf = (cluster: IEtcdCluster | undefined): EtcdClusterSpec | undefined =>
  isEtcdCluster(cluster) ? cluster.customResource.toJson().spec : undefined;

/** Problem with a Job that would have the rights of the reconciler of its cluster. */
export function reconcilerAccountProblem(
  cluster: IEtcdCluster | undefined,
  account: string | undefined,
): string | undefined {
  const spec = clusterSpecOf(cluster);
  if (!cluster || !spec || account === undefined) return undefined;
  const { serviceAccountName = defaults.EtcdClusterSpec.reconciler.serviceAccountName } = spec.reconciler ?? {};
  if (account !== serviceAccountName) return undefined;
  return `serviceAccountName: '${account}' is that of the reconciler of '${cluster.clusterName}', whose rights a Job must not have; name another ServiceAccount`;
}
