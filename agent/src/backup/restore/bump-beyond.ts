/** More than a Kubernetes writes between two backups, twice over. */
export const BUMP_STEP = 1_000_000_000;

/**
 * How far a restore moves the revisions of a snapshot with this `revision`: in full steps beyond the `highest` revision that
 * is known to have been served, with half a step for what was served after that.
 */
export const bumpBeyond = (highest: number, revision: number): number =>
  Math.max(1, Math.ceil((highest + BUMP_STEP / 2 - revision) / BUMP_STEP)) * BUMP_STEP;
