import { ExitCode } from '../../lib/errors.ts';
import { type Entry, manifestKey } from '../catalog/catalog.ts';
import { findName, type Names } from '../catalog/names.ts';
import type { CopyOutcome } from './copy.ts';

/**
 * Returns the outcome of a snapshot, which fails if the target does not list it any more: a run deletes or changes what was
 * there when the copy began, or what it has put.
 */
export function ifStillThere(
  outcome: CopyOutcome,
  { manifest }: Pick<Entry, 'manifest'>,
  folder: string,
  names: Names,
): CopyOutcome {
  const { id } = outcome;
  if (outcome.outcome !== 'copied' && outcome.outcome !== 'there') return outcome;
  const payload = manifest && findName(folder, names, manifest.object.key);
  const isGone = !findName(folder, names, manifestKey(folder, id)) || (manifest && !payload);
  if (!isGone && payload?.size === manifest?.object.sizeBytes) return outcome;
  const detail = `${id}: was ${isGone ? 'deleted' : 'changed'} at the target meanwhile; run \`copy\` again`;
  return { ...outcome, outcome: 'failed', detail, exitCode: ExitCode.storeUnreachable };
}
