/** What is wrong with the name under which a cluster's backups are stored; undefined when nothing is. */
export function clusterNameProblem(what: string, cluster: string): string | undefined {
  // A label's value, a directory and a part of an object's key at once.
  if (typeof cluster === 'string' && /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(cluster)) return undefined;
  return `${what}: '${cluster}' is no cluster name; use up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit`;
}

/** What is wrong with the namespace that a cluster's backups were taken in; undefined when nothing is. */
export function namespaceProblem(what: string, namespace: string): string | undefined {
  if (typeof namespace === 'string' && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace)) return undefined;
  return `${what}: '${namespace}' is not a namespace; use up to 63 lower-case letters, digits and '-', beginning and ending with a letter or digit`;
}
