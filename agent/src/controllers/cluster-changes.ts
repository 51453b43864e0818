import type { KubeObject } from '../kube/objects.ts';
import type { Paths } from '../kube/paths.ts';

/** A kind of object that belongs to clusters. */
export interface FollowedKind {
  readonly resource: Parameters<Paths['of']>[0];
  readonly labelSelector?: string;
  /** Of its metadata, of which nothing else is asked for. */
  readonly keep?: Keep;
  /** Name of the EtcdCluster. */
  readonly clusterOf: (object: KubeObject) => string | undefined;
}

const instance = ({ metadata }: KubeObject) => metadata.labels?.['app.kubernetes.io/instance'];
export const partOf = ({ metadata }: KubeObject) => metadata.labels?.['app.kubernetes.io/part-of'];

type Keep = (object: KubeObject) => KubeObject;

function labelsOf({ labels }: KubeObject['metadata']): Record<string, string> {
  const keys = ['instance', 'part-of'].map((label) => `app.kubernetes.io/${label}`);
  return Object.fromEntries(keys.flatMap((key) => (labels?.[key] === undefined ? [] : [[key, labels[key]]])));
}

/** Of most objects it is enough to know whose they are, and that they are not the same any more. */
export const belonging: Keep = ({ metadata }) => {
  const { name, resourceVersion } = metadata;
  return { metadata: { name, resourceVersion, labels: labelsOf(metadata) } } as unknown as KubeObject;
};

const ownership: Keep = ({ metadata }) => {
  const { annotations: _, labels: __, ...rest } = metadata;
  return { metadata: { ...rest, labels: labelsOf(metadata) } };
};

/** Whatever changes here is looked at at once. */
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
