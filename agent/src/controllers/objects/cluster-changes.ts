import type { KubeObject } from '../../kube/objects.ts';
import type { Paths } from '../../kube/paths.ts';

/** A kind of objects that belong to clusters. */
export interface FollowedKind {
  readonly resource: Parameters<Paths['of']>[0];
  readonly labelSelector?: string;
  /** Reduces the metadata to keep. If set, only metadata are requested. */
  readonly keep?: Keep;
  /** Returns the name of the EtcdCluster. */
  readonly clusterOf: (object: KubeObject) => string | undefined;
}

const instance = ({ metadata }: KubeObject) => metadata.labels?.['app.kubernetes.io/instance'];
export const partOf = ({ metadata }: KubeObject) => metadata.labels?.['app.kubernetes.io/part-of'];

type Keep = (object: KubeObject) => KubeObject;

function labelsOf({ labels }: KubeObject['metadata']): Record<string, string> {
  const keys = ['instance', 'part-of'].map((label) => `app.kubernetes.io/${label}`);
  return Object.fromEntries(keys.flatMap((key) => (labels?.[key] === undefined ? [] : [[key, labels[key]]])));
}

/** Keeps only the owner and the version: enough to notice a change. */
export const belonging: Keep = ({ metadata }) => {
  const { name, resourceVersion } = metadata;
  return { metadata: { name, resourceVersion, labels: labelsOf(metadata) } } as unknown as KubeObject;
};

const ownership: Keep = ({ metadata }) => {
  const { annotations: _, labels: __, ...rest } = metadata;
  return { metadata: { ...rest, labels: labelsOf(metadata) } };
};

/** Changes of these kinds trigger an observation of their cluster at once. */
export const followedKinds: readonly FollowedKind[] = [
  {
    resource: 'statefulsets',
    labelSelector: 'app.kubernetes.io/name=etcd',
    keep: belonging,
    clusterOf: ({ metadata }) => metadata.name,
  },
  {
    resource: 'pods',
    labelSelector: 'app.kubernetes.io/component=member',
    keep: belonging,
    clusterOf: instance,
  },
  {
    resource: 'persistentvolumeclaims',
    labelSelector: 'app.kubernetes.io/name=etcd',
    keep: belonging,
    clusterOf: instance,
  },
  { resource: 'jobs', labelSelector: 'app.kubernetes.io/name=etcd-backup', keep: ownership, clusterOf: partOf },
  {
    resource: 'etcdrestores',
    clusterOf: (object) => (object as KubeObject & { spec?: { clusterName?: string } }).spec?.clusterName,
  },
];
