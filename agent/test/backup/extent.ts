import { availableMinors, type Minor, missingMinors } from '../harness/etcd-binaries.ts';

const smoke = process.env.SMOKE === '1';

/** Returns every available etcd. Of a slow store, and in a smoke run, only one, and another for each store. */
export function minorsFor(turn: number, isSlow = false): readonly Minor[] {
  const minors = availableMinors();
  for (const minor of missingMinors()) console.warn(`etcd ${minor} is not at hand: untested`);
  return smoke || isSlow ? [minors[turn % minors.length]!] : minors;
}

/** Returns all items; in a smoke run every sixth, and a different sixth for each turn. */
export const sample = <T>(items: readonly T[], turn = 0): readonly T[] =>
  smoke ? items.filter((_, index) => index % 6 === turn % 6) : items;
