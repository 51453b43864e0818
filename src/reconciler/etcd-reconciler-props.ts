import type { Size } from 'cdk8s';
import { givenResources } from '../backup/backup-resources';
import type { ImagePullPolicy } from '../lib/image-pull-policy';
import type { NetworkAccess } from '../lib/network-access';
import { egressSpec, type NetworkEgress } from '../lib/network-egress';
import { type PodOptions, podFieldsOf, type ReconcilerContainerOptions } from '../lib/pods/pod-options';
import { type ObjectOverride, overrideSpecs } from '../overrides/overrides';
import { defaults } from '../resource/defaults';
import { enumText } from '../resource/enum-text';
import type { EtcdReconcilerSpec } from '../resource/types';
import { type INamed, nameOf } from '../validation/named';

/** Configures an `EtcdReconciler`. */
export interface EtcdReconcilerProps extends PodOptions {
  /**
   * Names the Deployment and all its other objects: at most 50 lower-case letters, digits and `-`.
   * @default etcd-reconciler
   */
  readonly name?: string;
  /**
   * Sets the image of the agent, or an image with Node.js and the agent at the same paths.
   * @default - the image of this release
   */
  readonly image?: string;
  /**
   * Names a registry that mirrors the default image, such as `registry.example.com/mirror`.
   * @default - no mirror
   */
  readonly registry?: string;
  /**
   * Sets when the node pulls the image.
   * @default - Kubernetes' default: IfNotPresent, or Always for the tag `latest`
   */
  readonly imagePullPolicy?: ImagePullPolicy;
  /**
   * Names the Secrets with registry credentials.
   * @default - none
   */
  readonly imagePullSecrets?: (string | INamed)[];
  /**
   * Sets the number of pods, 1 or 2. With 2, the second pod takes over half a minute after the first is lost. Clusters
   * serve clients without any reconciler.
   * @default 1
   */
  readonly replicas?: number;
  /**
   * Sets the CPU and memory of the pod.
   * @default - 50m CPU and 128Mi memory as request, 256Mi memory as limit
   */
  readonly resources?: ReconcilerResources;
  /**
   * Selects the EtcdClusters that this reconciler manages, by their labels. Use it for several reconcilers in one
   * namespace; each cluster must then name its reconciler. Another selector has another Lease: after a change, the new pod
   * leaves each cluster alone until the old one has ended.
   * @default - all EtcdClusters of the namespace
   */
  readonly selector?: { readonly [name: string]: string };
  /**
   * Selects the clients that may read its metrics (port 8080).
   * @default NetworkAccess.nobody()
   */
  readonly metricsAccess?: NetworkAccess;
  /**
   * Limits the connections that the pod may open. It may always reach the members and Jobs of its namespace. `stores`
   * has no effect here.
   * @default - all connections
   */
  readonly egress?: NetworkEgress;
  /**
   * Sets what the container has, such as the environment variables of a proxy, which its Jobs get too.
   * @default - only the library's own
   */
  readonly container?: ReconcilerContainerOptions;
  /**
   * Adds containers to the pod: Kubernetes' `Container`.
   * @default - none
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly sidecars?: { readonly [key: string]: any }[];
  /**
   * Names an existing ServiceAccount. It gets the rights that the reconciler needs.
   * @default - one is created, with the name of the reconciler
   */
  readonly serviceAccountName?: string | INamed;
  /**
   * Adds annotations to the ServiceAccount that is created.
   * @default - none
   */
  readonly serviceAccountAnnotations?: { readonly [name: string]: string };
  /**
   * Limits how many former revisions of the Deployment are kept.
   * @default 10
   */
  readonly revisionHistoryLimit?: number;
  /**
   * Lists changes of objects and pods that no other property makes. They are made one after the other. Fields without which
   * the reconciler would not work are refused.
   * @default - none
   */
  readonly overrides?: ObjectOverride[];
  /**
   * The reconciler as a resource has it, in the place of the other properties except for its name.
   * @internal
   */
  readonly _written?: EtcdReconcilerSpec;
}

/** Configures `EtcdReconciler.external`. */
export interface ExternalReconcilerOptions {
  /**
   * Names its Deployment.
   * @default etcd-reconciler
   */
  readonly name?: string;
  /**
   * Names its ServiceAccount.
   * @default - `name`
   */
  readonly serviceAccountName?: string | INamed;
}

export const defaultReconcilerName = defaults.EtcdClusterSpec.reconciler.serviceAccountName;

/** Sets the CPU and memory of the reconciler. */
export interface ReconcilerResources {
  /**
   * Reserves CPU for the pod, in cores, such as `0.5`, or in thousandths of a core, such as `50m`.
   * @default - `cpuLimit`, else 50m
   */
  readonly cpuRequest?: string;
  /**
   * Limits the CPU, in cores, such as `0.5`. Prefer no limit: a reconciler that is throttled loses its Lease.
   * @default - no limit
   */
  readonly cpuLimit?: string;
  /**
   * Sets the amount of memory that the node reserves for the pod.
   * @default - `memoryLimit`, else 128Mi
   */
  readonly memoryRequest?: Size;
  /**
   * Limits the memory: the pod is killed if it uses more.
   * @default - `memoryRequest`, else 256Mi
   */
  readonly memoryLimit?: Size;
}

/** The properties as a resource has them. */
export function reconcilerSpec(props: EtcdReconcilerProps): EtcdReconcilerSpec {
  const { image, registry, replicas, selector, serviceAccountAnnotations, revisionHistoryLimit } = props;
  return {
    ...{ image, registry },
    imagePullPolicy: enumText(props.imagePullPolicy),
    imagePullSecrets: props.imagePullSecrets?.map((secret) => ({ name: nameOf(secret) })),
    ...{ replicas, selector },
    resources: givenResources(props.resources),
    metricsAccess: props.metricsAccess?._spec(),
    egress: props.egress && egressSpec(props.egress),
    ...podFieldsOf(props),
    ...{ container: props.container, sidecars: props.sidecars },
    serviceAccountName: nameOf(props.serviceAccountName),
    ...{ serviceAccountAnnotations, revisionHistoryLimit },
    overrides: overrideSpecs(props.overrides),
  };
}
