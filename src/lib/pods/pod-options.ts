import type { EtcdClusterSpec } from '../../resource/types';
import type { Toleration } from '../toleration';

/**
 * Sets what Kubernetes lets a pod have. Each property has the name, the fields and the types that it has in Kubernetes,
 * and is checked like these.
 */
export interface PodOptions {
  /**
   * Lists the labels that a node must have to run the pods.
   * @default - any node
   */
  readonly nodeSelector?: { readonly [name: string]: string };
  /**
   * Lists the taints that the pods tolerate.
   * @default - none
   */
  readonly tolerations?: Toleration[];
  /**
   * Names the pods' PriorityClass.
   * @default - the default of the Kubernetes cluster
   */
  readonly priorityClassName?: string;
  /**
   * Sets the pods' affinity: Kubernetes' `Affinity`.
   * @default - none
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly affinity?: { readonly [key: string]: any };
  /**
   * Adds constraints for spreading the pods: Kubernetes' `TopologySpreadConstraint`.
   * @default - none besides the library's own
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly topologySpreadConstraints?: { readonly [key: string]: any }[];
  /**
   * Names the scheduler of the pods.
   * @default - that of Kubernetes
   */
  readonly schedulerName?: string;
  /**
   * Names the pods' RuntimeClass.
   * @default - the runtime of the node
   */
  readonly runtimeClassName?: string;
  /**
   * Adds lines to `/etc/hosts`: Kubernetes' `HostAlias`.
   * @default - none
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly hostAliases?: { readonly [key: string]: any }[];
  /**
   * Sets how the pods resolve names: `ClusterFirst`, `ClusterFirstWithHostNet`, `Default` or `None`.
   * @default - that of Kubernetes
   */
  readonly dnsPolicy?: string;
  /**
   * Sets DNS servers, domains and options: Kubernetes' `PodDNSConfig`.
   * @default - those of `dnsPolicy`
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly dnsConfig?: { readonly [key: string]: any };
  /**
   * Replaces the security context of the pods: Kubernetes' `PodSecurityContext`. OpenShift chooses users and groups
   * itself: give `{ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }`.
   * @default - that of the restricted Pod Security Standard, with the user, group and fsGroup 65532
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly securityContext?: { readonly [key: string]: any };
  /**
   * Sets how many seconds a pod has to end: at least 30.
   * @default - 60, or 30 for a reconciler
   */
  readonly terminationGracePeriodSeconds?: number;
  /**
   * Adds volumes: Kubernetes' `Volume`.
   * @default - only the library's own
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly volumes?: { readonly [key: string]: any }[];
  /**
   * Adds init containers, which run before all others: Kubernetes' `Container`. One with `restartPolicy: 'Always'` runs
   * beside them.
   * @default - only the library's own
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly initContainers?: { readonly [key: string]: any }[];
  /**
   * Adds labels to every object and to the pods, except those by which pods are selected: `app.kubernetes.io/name`,
   * `instance`, `component` and `part-of`.
   * @default - only the standard labels, `app.kubernetes.io/…`
   */
  readonly labels?: { readonly [name: string]: string };
  /**
   * Adds annotations to every object, but not to pods.
   * @default - only the library's own annotations
   */
  readonly annotations?: { readonly [name: string]: string };
  /**
   * Adds labels to the pods, which count more than `labels`.
   * @default - `labels`
   */
  readonly podLabels?: { readonly [name: string]: string };
  /**
   * Adds annotations to the pods.
   * @default - only the library's own annotations
   */
  readonly podAnnotations?: { readonly [name: string]: string };
}

/** Sets what Kubernetes lets a container have. */
export interface ContainerOptions {
  /**
   * Adds environment variables: Kubernetes' `EnvVar`.
   * @default - only the library's own
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly env?: { readonly [key: string]: any }[];
  /**
   * Adds the keys of ConfigMaps and Secrets as environment variables: Kubernetes' `EnvFromSource`.
   * @default - none
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly envFrom?: { readonly [key: string]: any }[];
  /**
   * Replaces the security context of the container: Kubernetes' `SecurityContext`.
   * @default - a read-only root file system, and no capabilities
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly securityContext?: { readonly [key: string]: any };
  /**
   * Adds mounts of volumes: Kubernetes' `VolumeMount`.
   * @default - only the library's own
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly volumeMounts?: { readonly [key: string]: any }[];
}

/** Sets the times of a probe. */
export interface ProbeTimes {
  /**
   * Sets how many seconds the first probe waits.
   * @default - the library's own
   */
  readonly initialDelaySeconds?: number;
  /**
   * Sets the number of seconds between two probes.
   * @default - the library's own
   */
  readonly periodSeconds?: number;
  /**
   * Sets how many seconds a probe may take.
   * @default - the library's own
   */
  readonly timeoutSeconds?: number;
  /**
   * Sets after how many failures in a row it counts.
   * @default - the library's own
   */
  readonly failureThreshold?: number;
}

/** Sets what the container of a reconciler has. */
export interface ReconcilerContainerOptions extends ContainerOptions {
  /**
   * Sets the times of the startup probe.
   * @default - the library's own
   */
  readonly startupProbe?: ProbeTimes;
  /**
   * Sets the times of the liveness probe.
   * @default - the library's own
   */
  readonly livenessProbe?: ProbeTimes;
  /**
   * Sets the times of the readiness probe.
   * @default - the library's own
   */
  readonly readinessProbe?: ProbeTimes;
}

/** Sets what the container of etcd has. */
export interface EtcdContainerOptions extends ContainerOptions {
  /**
   * Sets the times of the startup probe. A large log takes etcd up to half an hour to read.
   * @default - every 2 seconds, 900 failures
   */
  readonly startupProbe?: ProbeTimes;
  /**
   * Sets the times of the liveness probe. A defragmentation blocks it for up to half a minute per GiB.
   * @default - every 10 seconds; the number of failures follows from the quota
   */
  readonly livenessProbe?: ProbeTimes;
}

/** Sets what the container of the agent of a member has. */
export interface AgentContainerOptions extends ContainerOptions {
  /**
   * Sets the times of the liveness probe.
   * @default - every 10 seconds, 6 failures
   */
  readonly livenessProbe?: ProbeTimes;
  /**
   * Sets the times of the readiness probe.
   * @default - every 3 seconds, 2 failures
   */
  readonly readinessProbe?: ProbeTimes;
  /**
   * Sets the CPU and memory: Kubernetes' `ResourceRequirements`, without claims.
   * @default - requests of 10m and 32Mi, and a limit of 128Mi
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly resources?: { readonly [key: string]: any };
}

/** Sets what the container of the gate of a member has. */
export interface GateContainerOptions extends ContainerOptions {
  /**
   * Sets the CPU and memory: Kubernetes' `ResourceRequirements`, without claims. The gate also restores, which needs as
   * much memory as etcd.
   * @default - the requests of the agent, and the limit of memory of etcd
   */
  // biome-ignore lint/suspicious/noExplicitAny: jsii has no `unknown`
  readonly resources?: { readonly [key: string]: any };
}

/** Sets what the containers of members have. */
export interface MemberContainers {
  /**
   * Sets what the container of etcd has.
   * @default - only the library's own
   */
  readonly etcd?: EtcdContainerOptions;
  /**
   * Sets what the container of the agent has.
   * @default - only the library's own
   */
  readonly agent?: AgentContainerOptions;
  /**
   * Sets what the container of the gate has, which prepares the volume before etcd starts.
   * @default - only the library's own
   */
  readonly gate?: GateContainerOptions;
}

/** The properties that are fields of a resource as they are. */
export const podFieldsOf = (props: PodOptions) => ({
  nodeSelector: props.nodeSelector,
  // cdk8s writes no object of a class.
  tolerations: props.tolerations?.map((each) => ({ ...each })) as EtcdClusterSpec['tolerations'],
  priorityClassName: props.priorityClassName,
  affinity: props.affinity,
  topologySpreadConstraints: props.topologySpreadConstraints,
  schedulerName: props.schedulerName,
  runtimeClassName: props.runtimeClassName,
  hostAliases: props.hostAliases,
  dnsPolicy: props.dnsPolicy as EtcdClusterSpec['dnsPolicy'],
  dnsConfig: props.dnsConfig,
  securityContext: props.securityContext,
  terminationGracePeriodSeconds: props.terminationGracePeriodSeconds,
  volumes: props.volumes,
  initContainers: props.initContainers,
  labels: props.labels,
  annotations: props.annotations,
  podLabels: props.podLabels,
  podAnnotations: props.podAnnotations,
});
