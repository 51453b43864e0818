const numbers = (version: string): number[] => version.split('.').map(Number);

/** `3.6` of `3.6.16`. */
export const minorOf = (version: string): string => version.split('.').slice(0, 2).join('.');

/** Negative, 0 or positive, as for sort(). */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference) return difference;
  }
  return 0;
}

export const atLeast = (version: string, floor: string): boolean => compareVersions(version, floor) >= 0;

/** How many minors `to` is above `from`. */
export const minorsUp = (from: string, to: string): number => (numbers(to)[1] ?? 0) - (numbers(from)[1] ?? 0);

/**
 * Since 3.5.30, 3.6.11 and 3.7 etcd accepts a new member while a voter is down, if a quorum of the larger cluster is connected;
 * before, every voter must be connected.
 */
export function addsWithDeadVoter(version: string): boolean {
  const floors: Record<string, string> = { '3.4': '3.5.0', '3.5': '3.5.30', '3.6': '3.6.11' };
  return atLeast(version, floors[minorOf(version)] ?? '3.7.0');
}
