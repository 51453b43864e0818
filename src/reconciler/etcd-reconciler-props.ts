import type { ImagePullPolicy } from '../lib/image-pull-policy';
import type { NetworkAccess } from '../lib/network-access';
import type { Toleration } from '../lib/toleration';
import type { ReconcilerResources } from './reconciler-resources';

/** Properties of `EtcdReconciler`. */
export interface EtcdReconcilerProps {
  /**
   * The name of the Deployment and of all that belongs to it: at most 50 lower-case letters, digits and `-`.
   * @default etcd-reconciler
   */
  readonly name?: string;
  /**
   * The agent's image, or one that has Node and agent at the same paths.
   * @default - the one of this release
   */
  readonly image?: string;
  /**
   * A registry that mirrors the default image, such as `registry.example.com/mirror`.
   * @default - none
   */
  readonly registry?: string;
  /**
   * When the node pulls the image.
   * @default - Kubernetes': IfNotPresent, or Always for the tag `latest`
   */
  readonly imagePullPolicy?: ImagePullPolicy;
  /**
   * Names of Secrets with registry credentials.
   * @default - none
   */
  readonly imagePullSecrets?: string[];
  /**
   * 1, or 2: the second one takes over half a minute after the first was lost. Clusters serve without any.
   * @default 1
   */
  readonly replicas?: number;
  /**
   * CPU and memory.
   * @default - 50m CPU and 128Mi memory as request, 256Mi memory as limit
   */
  readonly resources?: ReconcilerResources;
  /**
   * Only look after the EtcdClusters with these labels. For several reconcilers in one namespace; each cluster then names
   * its own.
   * @default - all of the namespace
   */
  readonly selector?: { readonly [name: string]: string };
  /**
   * Who may scrape its metrics, port 8080.
   * @default NetworkAccess.nobody()
   */
  readonly metricsAccess?: NetworkAccess;
  /**
   * Labels of the nodes where the pod may run.
   * @default - any node
   */
  readonly nodeSelector?: { readonly [name: string]: string };
  /**
   * Taints of the nodes where the pod may run.
   * @default - none
   */
  readonly tolerations?: Toleration[];
  /**
   * The pod's PriorityClass.
   * @default - the cluster's default
   */
  readonly priorityClassName?: string;
  /**
   * Labels of every object and of the pod, beside the standard ones.
   * @default - `app.kubernetes.io/…` alone
   */
  readonly labels?: { readonly [name: string]: string };
}

/** A reconciler that another app owns. */
export interface ExternalReconcilerOptions {
  /**
   * The name of its Deployment.
   * @default etcd-reconciler
   */
  readonly name?: string;
  /**
   * The name of its ServiceAccount.
   * @default - `name`
   */
  readonly serviceAccountName?: string;
}

export const defaultReconcilerName = 'etcd-reconciler';
