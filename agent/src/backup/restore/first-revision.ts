/** More than a Kubernetes writes between two backups, twice over. */
export const BUMP_STEP = 1_000_000_000;

/**
 * First revision of a restored cluster. Nobody writes a million times a second, so the time in microseconds exceeds everything
 * that was served before, known or not, and two restores at different times never collide. Revisions that are known count too:
 * a clock may be behind.
 */
export const firstRevision = (highest: number, now: number): number =>
  Math.max(highest + BUMP_STEP, Math.round(now) * 1000);
