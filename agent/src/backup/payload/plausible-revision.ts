import { AgentError, ExitCode } from '../../lib/errors.ts';
import { type Brief, revisionOf } from '../catalog/manifest.ts';
import { BUMP_STEP } from '../restore/first-revision.ts';

/**
 * Highest revision that is believed of a store. No etcd gets there by its writes, so a higher one is damaged or a lie. It is
 * far below `LAST_REVISION`: what goes beyond a lie up to here can be restored millions of times more.
 */
export const HIGHEST_REVISION = 2 ** 52;

/** Highest revision that a restore can go beyond: where it begins must be a number that the record can hold. */
const LAST_REVISION = Number.MAX_SAFE_INTEGER - 2 * BUMP_STEP;

const isUpTo = (limit: number, revision: number | undefined): revision is number =>
  Number.isSafeInteger(revision) && revision! >= 0 && revision! <= limit;

/** Whether a revision can be believed of a store. */
export const isPlausible = (revision: number | undefined): revision is number => isUpTo(HIGHEST_REVISION, revision);

/** Whether a restore can go beyond a revision that etcd itself or the record names. */
export const hasBeyond = (revision: number | undefined): revision is number => isUpTo(LAST_REVISION, revision);

/** A revision that the snapshot holds by its manifest. Undefined if the manifest names none, or none that can be true. */
export function knownRevisionOf(manifest: Pick<Brief, 'content'> | undefined): number | undefined {
  const revision = manifest && revisionOf(manifest);
  return isPlausible(revision) ? revision : undefined;
}

/** Why a restore of, or over, something at this revision cannot begin. */
export const noneBeyond = (what: string, revision: number): string =>
  `${what} at revision ${revision}, and a restore would have to begin beyond it, but above ${LAST_REVISION} no revision is left`;

/** Throws `refused` if a restore would begin where its backups and notes are not believed any more. */
export function refuseBeyondLast(id: string, revision: number, bump: number): void {
  if (isPlausible(revision + bump + BUMP_STEP)) return;
  throw new AgentError(
    ExitCode.refused,
    `${id}: its revision ${revision} cannot be raised by ${bump}, because no revision above ${HIGHEST_REVISION} is believed of a store`,
    { finding: { kind: 'highestRevision' } },
  );
}
