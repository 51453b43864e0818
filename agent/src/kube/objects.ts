// The fields of Kubernetes objects that the reconciler reads.

export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: readonly OwnerReference[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
}

export interface KubeList<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  /** Null if there are none and only metadata was requested. */
  readonly items: T[] | null;
}

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface Secret extends KubeObject {
  readonly type?: string;
  /** Values in base64. */
  readonly data?: Readonly<Record<string, string>>;
}

export interface StatefulSetObject extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly template: PodTemplate };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly updateRevision?: string;
    /** Number of existing pods. */
    readonly replicas?: number;
  };
}

export interface PodTemplate {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly priorityClassName?: string;
  readonly affinity?: { readonly nodeAffinity?: object };
  readonly schedulerName?: string;
  readonly runtimeClassName?: string;
  readonly hostAliases?: readonly Fields[];
  readonly dnsPolicy?: 'ClusterFirst' | 'ClusterFirstWithHostNet' | 'Default' | 'None';
  readonly dnsConfig?: Fields;
  readonly securityContext?: Fields;
}

type Fields = Readonly<Record<string, unknown>>;

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
}

export interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string };
  readonly projected?: { readonly sources: readonly VolumeSource[] };
}

export interface VolumeSource {
  readonly secret?: { readonly name: string; readonly items?: readonly { readonly path: string }[] };
}

export interface PodObject extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly initContainers?: readonly Container[];
    readonly containers?: readonly Container[];
    readonly volumes?: readonly Volume[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip: string }[];
    readonly conditions?: readonly ObjectCondition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string };
    readonly running?: object;
    readonly terminated?: { readonly exitCode: number; readonly message?: string; readonly finishedAt?: string };
  };
  readonly lastState?: { readonly terminated?: object };
  readonly restartCount?: number;
}

export interface ObjectCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

export interface EventObject extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string;
  readonly eventTime?: string;
  readonly series?: { readonly lastObservedTime?: string };
}

export interface JobObject extends KubeObject {
  readonly spec?: { readonly activeDeadlineSeconds?: number; readonly template?: PodTemplate };
  readonly status?: {
    readonly startTime?: string;
    readonly active?: number;
    readonly conditions?: readonly ObjectCondition[];
  };
}

export interface DeploymentObject extends KubeObject {
  readonly spec: { readonly template: PodTemplate };
}

export interface LeaseObject extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}
