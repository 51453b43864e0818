/** API paths within one namespace. */
export class Paths {
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = encodeURIComponent(namespace);
  }

  get namespace(): string {
    return `/api/v1/namespaces/${this.#namespace}`;
  }

  /** Path of all objects of a resource, or of the named object. */
  of(resource: keyof typeof apis, ...name: string[]): string {
    return [`${rootOf(resource)}/namespaces/${this.#namespace}/${resource}`, ...name.map(encodeURIComponent)].join('/');
  }
}

/** Path of all objects of a resource in all namespaces. */
export const everywhere = (resource: keyof typeof apis): string => `${rootOf(resource)}/${resource}`;

function rootOf(resource: keyof typeof apis): string {
  const api = apis[resource];
  return api === 'v1' ? '/api/v1' : `/apis/${api}`;
}

export const group = 'cdk8s-etcd.dev';
export const groupVersion = `${group}/v1alpha1`;

const apis = {
  configmaps: 'v1',
  events: 'v1',
  persistentvolumeclaims: 'v1',
  pods: 'v1',
  secrets: 'v1',
  deployments: 'apps/v1',
  statefulsets: 'apps/v1',
  jobs: 'batch/v1',
  cronjobs: 'batch/v1',
  leases: 'coordination.k8s.io/v1',
  etcdclusters: groupVersion,
  etcdbackups: groupVersion,
  etcdrestores: groupVersion,
  etcdusers: groupVersion,
} as const;
