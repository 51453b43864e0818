const numbers = (version: string): number[] => version.split('.').map(Number);

/** Returns the minor version: `3.6` for `3.6.16`. */
export const minorOf = (version: string): string => version.split('.').slice(0, 2).join('.');

/** Compares two versions. Returns a negative number, 0 or a positive number, as sort() expects. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference) return difference;
  }
  return 0;
}

export const atLeast = (version: string, minimum: string): boolean => compareVersions(version, minimum) >= 0;

/** Number of minor versions from `from` up to `to`; negative for a downgrade. */
export const minorsUp = (from: string, to: string): number => (numbers(to)[1] ?? 0) - (numbers(from)[1] ?? 0);

/**
 * Returns true if etcd of this version accepts a new member while a voter is down. Since 3.5.30, 3.6.11 and 3.7 etcd only
 * requires that a quorum of the larger cluster is connected. Older versions require that every voter is connected.
 */
export function addsWithDeadVoter(version: string): boolean {
  const since: Record<string, string> = { '3.4': '3.5.0', '3.5': '3.5.30', '3.6': '3.6.11' };
  return atLeast(version, since[minorOf(version)] ?? '3.7.0');
}
