import { Chart } from 'cdk8s';
import { Construct, type IConstruct } from 'constructs';
import type { EtcdAuth } from '../etcd/etcd-auth';
import type { IEtcdCluster } from './i-etcd-cluster';

/** What an etcd has that is no EtcdCluster: it is reached by its endpoints alone. */
export interface ForeignEtcd extends IEtcdCluster {
  /** @internal */
  _foreign(): { readonly auth?: EtcdAuth };
}

/** Not by class, as another copy of this library may have made it. */
export function isForeign(cluster: IEtcdCluster): cluster is ForeignEtcd {
  return '_foreign' in cluster;
}

/** Says so when a resource names a cluster of another namespace, which it cannot reach. */
export function otherNamespaceProblem(construct: Construct, cluster: IEtcdCluster): string | undefined {
  if (!Construct.isConstruct(cluster)) return undefined;
  const { namespace } = Chart.of(construct);
  const theirs = Chart.of(cluster).namespace;
  if (namespace === theirs) return undefined;
  const place = theirs === undefined ? 'a chart without a namespace' : `namespace '${theirs}'`;
  return `cluster: '${cluster.clusterName}' is in ${place}, and only a resource of the same namespace can name it; put this one there`;
}

/** An EtcdCluster of this app, not by class either. */
export function isEtcdCluster(construct: unknown): construct is IEtcdCluster & IConstruct {
  return Construct.isConstruct(construct) && 'clusterName' in construct && 'customResource' in construct;
}

/** The ids of a cluster's backup schedules; undefined when another app knows them. */
export function scheduleIds(cluster: IEtcdCluster): string[] | undefined {
  if (!isEtcdCluster(cluster)) return undefined;
  return cluster.node.children.filter((child) => 'cronJobName' in child).map(({ node }) => node.id);
}
