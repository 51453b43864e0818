import { apiTokenVolume } from '../../lib/api-token';
import { restrictedPod } from '../../lib/restricted';
import {
  agentContainer,
  type ContainersSpec,
  epochAnnotation,
  etcdContainer,
  gateContainer,
  volumes,
} from './cluster-containers';

export interface ClusterPodSpec extends Omit<ContainersSpec, 'tls'> {
  readonly tls?: { readonly peerSecret: string; readonly serverSecret: string };
  /** The size of an emptyDir for the data; none means that there is a claim. */
  readonly ephemeralSize?: string;
  readonly serviceAccountName: string;
  readonly settingsHash: string;
  readonly topologySpreadConstraints: readonly object[];
  readonly imagePullSecrets?: readonly string[];
  readonly priorityClassName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The PodTemplateSpec of a member. It holds to the restricted Pod Security Standard. */
export function clusterPod(spec: ClusterPodSpec): object {
  const containers = { ...spec, tls: spec.tls !== undefined };
  return {
    metadata: { labels: spec.labels, annotations: annotations(spec) },
    spec: {
      serviceAccountName: spec.serviceAccountName,
      // The containers that need a token mount one; etcd does not.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 60,
      imagePullSecrets: spec.imagePullSecrets?.map((name) => ({ name })),
      priorityClassName: spec.priorityClassName,
      nodeSelector: spec.nodeSelector,
      tolerations: spec.tolerations,
      topologySpreadConstraints: spec.topologySpreadConstraints.length > 0 ? spec.topologySpreadConstraints : undefined,
      securityContext: {
        ...restrictedPod,
        // Always would open the private keys on the volume to the group, at each mount.
        fsGroupChangePolicy: 'OnRootMismatch',
      },
      initContainers: [gateContainer(containers), agentContainer(containers)],
      containers: [etcdContainer(containers)],
      volumes: podVolumes(spec),
    },
  };
}

function annotations({ annotations, settingsHash }: ClusterPodSpec): object {
  const { [epochAnnotation]: _, ...others } = annotations ?? {};
  return {
    'kubectl.kubernetes.io/default-container': 'etcd',
    ...others,
    'cdk8s-etcd.dev/settings-hash': settingsHash,
  };
}

function podVolumes({ names, tls, ephemeralSize }: ClusterPodSpec): object[] {
  return [
    ...(ephemeralSize === undefined ? [] : [{ name: volumes.data, emptyDir: { sizeLimit: ephemeralSize } }]),
    { name: volumes.scratch, emptyDir: {} },
    { name: volumes.settings, configMap: { name: names.settings } },
    apiTokenVolume(volumes.apiToken),
    ...(tls ? [secretVolume(volumes.peerTls, tls.peerSecret), secretVolume(volumes.serverTls, tls.serverSecret)] : []),
  ];
}

function secretVolume(name: string, secretName: string): object {
  // 0440: the files belong to root and the pod's fsGroup.
  return { name, secret: { secretName, defaultMode: 0o440 } };
}
