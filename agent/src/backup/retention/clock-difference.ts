import { formatAge } from '../../lib/terminal/format-age.ts';
import { clockOf } from '../../store/clock.ts';
import type { Folder } from '../catalog/folder.ts';

/** Milliseconds that the store's clock may differ from this machine's clock. */
export const MAX_CLOCK_DIFFERENCE = 5 * 60_000;

export const NOT_VALID = 'the time of the store or of this machine is not valid';

/** Says how far the store's clock is from ours. Undefined if both agree. */
export function clockDifference(theirs: Date, ours: Date): string | undefined {
  const difference = theirs.getTime() - ours.getTime();
  if (Math.abs(difference) <= MAX_CLOCK_DIFFERENCE) return undefined;
  if (Number.isNaN(difference)) return NOT_VALID;
  return `the store's clock is ${formatAge(Math.abs(difference))} ${difference > 0 ? 'ahead of' : 'behind'} ours`;
}

/**
 * Reads the store's clock for a sweep. Undefined if it cannot be read, or differs from ours: by a wrong one, what a run is just
 * writing would look like the leftover of a dead one.
 */
export async function clockForSweep({ store, signal }: Pick<Folder, 'store' | 'signal'>): Promise<Date | undefined> {
  const now = await clockOf(store, { signal });
  return now && clockDifference(now, new Date()) === undefined ? now : undefined;
}
