import type { Size } from 'cdk8s';
import type { ImagePullPolicy } from '../lib/image-pull-policy';
import type { NetworkAccess } from '../lib/network-access';
import type { NetworkEgress } from '../lib/network-egress';
import type { Toleration } from '../lib/toleration';

/** Properties of `EtcdReconciler`. */
export interface EtcdReconcilerProps {
  /**
   * Name of the Deployment and of all its other objects: at most 50 lower-case letters, digits and `-`.
   * @default etcd-reconciler
   */
  readonly name?: string;
  /**
   * Image of the agent, or an image with Node.js and the agent at the same paths.
   * @default - the image of this release
   */
  readonly image?: string;
  /**
   * Registry that mirrors the default image, such as `registry.example.com/mirror`.
   * @default - no mirror
   */
  readonly registry?: string;
  /**
   * When the node pulls the image.
   * @default - Kubernetes' default: IfNotPresent, or Always for the tag `latest`
   */
  readonly imagePullPolicy?: ImagePullPolicy;
  /**
   * Names of Secrets with registry credentials.
   * @default - none
   */
  readonly imagePullSecrets?: string[];
  /**
   * Number of pods, 1 or 2. With 2, the second pod takes over half a minute after the first is lost. Clusters serve
   * clients without any reconciler.
   * @default 1
   */
  readonly replicas?: number;
  /**
   * CPU and memory of the pod.
   * @default - 50m CPU and 128Mi memory as request, 256Mi memory as limit
   */
  readonly resources?: ReconcilerResources;
  /**
   * Labels of the EtcdClusters that this reconciler manages. Use it for several reconcilers in one namespace; each
   * cluster must then name its reconciler.
   * @default - all EtcdClusters of the namespace
   */
  readonly selector?: { readonly [name: string]: string };
  /**
   * Which clients may read its metrics (port 8080).
   * @default NetworkAccess.nobody()
   */
  readonly metricsAccess?: NetworkAccess;
  /**
   * Which connections the pod may open. It may always reach the members and Jobs of its namespace. `stores` has no
   * effect here.
   * @default - all connections
   */
  readonly egress?: NetworkEgress;
  /**
   * Labels that a node must have to run the pod.
   * @default - any node
   */
  readonly nodeSelector?: { readonly [name: string]: string };
  /**
   * Taints that the pod tolerates.
   * @default - none
   */
  readonly tolerations?: Toleration[];
  /**
   * Name of the pod's PriorityClass.
   * @default - the default of the Kubernetes cluster
   */
  readonly priorityClassName?: string;
  /**
   * Additional labels of every object and of the pod.
   * @default - only the standard labels, `app.kubernetes.io/…`
   */
  readonly labels?: { readonly [name: string]: string };
}

/** Options of `EtcdReconciler.external`. */
export interface ExternalReconcilerOptions {
  /**
   * Name of its Deployment.
   * @default etcd-reconciler
   */
  readonly name?: string;
  /**
   * Name of its ServiceAccount.
   * @default - `name`
   */
  readonly serviceAccountName?: string;
}

export const defaultReconcilerName = 'etcd-reconciler';

/** CPU and memory of the reconciler. */
export interface ReconcilerResources {
  /**
   * CPU request in cores, such as `0.5`, or in thousandths of a core, such as `50m`.
   * @default - `cpuLimit`, else 50m
   */
  readonly cpuRequest?: string;
  /**
   * CPU limit in cores, such as `0.5`. Prefer no limit: a reconciler that is throttled loses its Lease.
   * @default - no limit
   */
  readonly cpuLimit?: string;
  /**
   * Memory request: the amount that the node reserves for the pod.
   * @default - `memoryLimit`, else 128Mi
   */
  readonly memoryRequest?: Size;
  /**
   * Memory limit: the pod is killed if it uses more.
   * @default - `memoryRequest`, else 256Mi
   */
  readonly memoryLimit?: Size;
}

export function reconcilerRequirements({
  cpuRequest,
  cpuLimit,
  memoryRequest,
  memoryLimit,
}: ReconcilerResources): object {
  return {
    requests: {
      cpu: cpuRequest ?? cpuLimit ?? '50m',
      memory: (memoryRequest ?? memoryLimit)?.asString() ?? '128Mi',
    },
    limits: { cpu: cpuLimit, memory: (memoryLimit ?? memoryRequest)?.asString() ?? '256Mi' },
  };
}
