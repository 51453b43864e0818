import type { StoreDefinition } from './store-definition';

/** Problem with a path on a node, or undefined. */
export function hostPathProblem(what: string, path: unknown): string | undefined {
  if (typeof path === 'string' && /^(\/(?!\.{1,2}(\/|$))[\w.+@-]+)+$/.test(path)) return undefined;
  return `${what}: '${path}' is not an absolute path on a node; write it like /var/lib/etcd, without '.', '..' or a slash at the end`;
}

/** Problem with a `hostPath` store of a pod that may run on any node, or undefined: each node has other files there. */
export function offHostProblem({ pod }: StoreDefinition): string | undefined {
  if (pod.filesystem?.hostPath === undefined) return undefined;
  return 'hostPath: is only for a ControlPlaneEtcdBackup, because other pods run on any node; give claimName or nfs';
}
