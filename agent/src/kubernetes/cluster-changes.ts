import type { KubeObject } from './objects.ts';
import type { Paths } from './paths.ts';

/** A kind of object that belongs to clusters. */
export interface FollowedKind {
  readonly resource: Parameters<Paths['of']>[0];
  readonly labelSelector?: string;
  /** Name of the EtcdCluster. */
  readonly clusterOf: (object: KubeObject) => string | undefined;
}

const instance = ({ metadata }: KubeObject) => metadata.labels?.['app.kubernetes.io/instance'];
const partOf = ({ metadata }: KubeObject) => metadata.labels?.['app.kubernetes.io/part-of'];

/** Whatever changes here is looked at at once. */
export const followedKinds: readonly FollowedKind[] = [
  {
    resource: 'statefulsets',
    labelSelector: 'app.kubernetes.io/name=etcd',
    clusterOf: ({ metadata }) => metadata.name,
  },
  { resource: 'pods', labelSelector: 'app.kubernetes.io/component=member', clusterOf: instance },
  { resource: 'persistentvolumeclaims', labelSelector: 'app.kubernetes.io/name=etcd', clusterOf: instance },
  { resource: 'jobs', labelSelector: 'app.kubernetes.io/name=etcd-backup', clusterOf: partOf },
  {
    resource: 'etcdrestores',
    clusterOf: (object) => (object as KubeObject & { spec?: { clusterName?: string } }).spec?.clusterName,
  },
];
