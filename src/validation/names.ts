import { isToken } from './tokens';

const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Problem with the name of a Kubernetes object (a DNS-1123 subdomain), or undefined. */
export function nameProblem(what: string, name: string, maxLength = 253): string | undefined {
  if (typeof name !== 'string' || !dnsSubdomain.test(name)) {
    return `${what}: '${name}' is not a valid Kubernetes name; use lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit`;
  }
  if (name.length > maxLength) return `${what}: '${name}' has ${name.length} characters; use at most ${maxLength}`;
  return undefined;
}

/** The same for a name that only stands in a manifest, where cdk8s may resolve it. */
export const manifestNameProblem = (...[what, name, maxLength]: Parameters<typeof nameProblem>): string | undefined =>
  isToken(name) ? undefined : nameProblem(what, name, maxLength);

/** Problem with a key of a Secret or ConfigMap, or undefined. */
export function keyProblem(what: string, key: string): string | undefined {
  if (typeof key === 'string' && /^[-._a-zA-Z0-9]{1,253}$/.test(key) && key !== '.' && !key.startsWith('..'))
    return undefined;
  return `${what}: '${key}' is not a valid key of a Secret or ConfigMap; use letters, digits, '-', '_' and '.'`;
}

/** Problem with the name under which a cluster's backups are stored, or undefined. */
export function clusterNameProblem(what: string, cluster: string): string | undefined {
  // The name is used as the value of a label, as a directory and as a part of an object's key.
  if (typeof cluster === 'string' && /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(cluster)) return undefined;
  return `${what}: '${cluster}' is not a valid cluster name; use up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit`;
}

/** Problem with the name of a namespace (a DNS-1123 label), or undefined. */
export function namespaceProblem(what: string, namespace: string): string | undefined {
  if (typeof namespace === 'string' && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace)) return undefined;
  return `${what}: '${namespace}' is not a valid namespace; use up to 63 lower-case letters, digits and '-', beginning and ending with a letter or digit`;
}
