import type { StoreDefinition } from './store-definition';

/** What is wrong with a path of a node; undefined when nothing is. */
export function hostPathProblem(what: string, path: unknown): string | undefined {
  if (typeof path === 'string' && /^(\/(?!\.{1,2}(\/|$))[\w.+@-]+)+$/.test(path)) return undefined;
  return `${what}: '${path}' is no absolute path of a node; write it like /var/lib/etcd, without '.', '..' or a slash at its end`;
}

/** For pods that run on any node: what they would find there depends on which one it is. */
export function offHostProblem({ pod }: StoreDefinition): string | undefined {
  if (pod.filesystem?.hostPath === undefined) return undefined;
  return 'hostPath: only a ControlPlaneEtcdBackup runs on a node of its own; give claimName or nfs';
}
