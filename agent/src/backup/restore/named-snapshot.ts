import { usageError } from '../../lib/errors.ts';

/**
 * Throws if several members are to be restored without naming the snapshot: if a backup completes between two restores, the
 * members would have different data under one cluster id. `missing` is the argument that the command lacks to name the
 * snapshot; undefined if it names one.
 */
export function requireNamedSnapshot(command: string, members: number, missing: string | undefined): void {
  if (members <= 1 || missing === undefined) return;
  throw usageError(
    `all ${members} members must be restored from one snapshot: name it, such as \`${command} ${missing}\``,
  );
}
