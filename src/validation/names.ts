const dnsSubdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** What is wrong with the name of a Kubernetes object (DNS-1123 subdomain); undefined when nothing is. */
export function nameProblem(what: string, name: string, maxLength = 253): string | undefined {
  if (typeof name !== 'string' || !dnsSubdomain.test(name)) {
    return `${what}: '${name}' is no Kubernetes name; use lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit`;
  }
  if (name.length > maxLength) return `${what}: '${name}' has ${name.length} characters; use at most ${maxLength}`;
  return undefined;
}

/** What is wrong with a key of a Secret or ConfigMap; undefined when nothing is. */
export function keyProblem(what: string, key: string): string | undefined {
  if (typeof key === 'string' && /^[-._a-zA-Z0-9]{1,253}$/.test(key) && key !== '.' && !key.startsWith('..'))
    return undefined;
  return `${what}: '${key}' is no key of a Secret or ConfigMap; use letters, digits, '-', '_' and '.'`;
}

/** The problems among possible ones. */
export function problemsOf(...found: readonly (string | undefined)[]): string[] {
  return found.filter((problem) => problem !== undefined);
}

/** What is wrong with a folder within a store; undefined when nothing is. */
export function pathProblem(what: string, path: string): string | undefined {
  if (isPath(path)) return undefined;
  return `${what}: '${path}' is no folder within the store; write it like etcd/eu, without '/' at the ends, '.' or '..'`;
}

/** Whether it is a path within a store that every kind of store can have. */
export function isPath(path: unknown): boolean {
  if (typeof path !== 'string' || /\p{Cc}/u.test(path)) return false;
  return path.split('/').every((segment) => !['', '.', '..'].includes(segment));
}
