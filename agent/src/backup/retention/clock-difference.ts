import { formatAge } from '../../lib/terminal/format-age.ts';
import { MAX_CLOCK_DIFFERENCE } from './retention.ts';

/** Says how far the store's clock is from ours. Undefined if both agree. */
export function clockDifference(theirs: Date, ours: Date): string | undefined {
  const difference = theirs.getTime() - ours.getTime();
  if (Math.abs(difference) <= MAX_CLOCK_DIFFERENCE) return undefined;
  return `the store's clock is ${formatAge(Math.abs(difference))} ${difference > 0 ? 'ahead of' : 'behind'} ours`;
}
