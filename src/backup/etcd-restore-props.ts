import type { ClusterOrigin } from './cluster-origin';
import type { IEtcdCluster } from './i-etcd-cluster';

/** Properties of `EtcdRestore`. */
export interface EtcdRestoreProps extends ClusterOrigin {
  /** The cluster whose data is replaced: one of the same namespace. */
  readonly cluster: IEtcdCluster;
  /**
   * The name of the resource: a Kubernetes name of at most 63 characters. It is also what makes the restore happen once:
   * applied again under the same name it does nothing, so for another restore take another name.
   * @default - `<cluster>-<id>`
   */
  readonly name?: string;
  /**
   * Takes a backup of what is there first, as the cluster's backup schedule says. Without a quorum there is none to take.
   * @default true
   */
  readonly safetyBackup?: boolean;
  /**
   * Goes on although a pod on a node that does not answer cannot be seen to have stopped. Should that node live, clients
   * that reach only its pod still write into the old data, and those writes are lost.
   * @default false
   */
  readonly ignoreUnreachablePods?: boolean;
  /**
   * Labels of the resource, beside the standard ones.
   * @default - `app.kubernetes.io/…` alone
   */
  readonly labels?: { readonly [name: string]: string };
}
