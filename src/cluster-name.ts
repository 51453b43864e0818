/** What is wrong with the name under which a cluster's backups are stored; undefined when nothing is. */
export function clusterNameProblem(what: string, cluster: string): string | undefined {
  // A label's value, a directory and a part of an object's key at once.
  if (typeof cluster === 'string' && /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(cluster)) return undefined;
  return `${what}: '${cluster}' is no cluster name; use up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit`;
}
