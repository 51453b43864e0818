import { usageError } from '../../lib/errors.ts';

interface NamedOptions {
  /** The snapshot of a restore that is under way. */
  readonly begunWith?: string | undefined;
  /** What to know of `command`. Follows it. */
  readonly remark?: string;
}

/**
 * Throws if several members are to be restored without naming the snapshot: if a backup completes between two restores, the
 * members would have different data under one cluster id. `command` is the one that names the snapshot;
 * undefined if this one does.
 */
export function requireNamedSnapshot(
  members: number,
  command: string | undefined,
  { begunWith, remark = '' }: NamedOptions = {},
): void {
  if (members <= 1 || command === undefined) return;
  const begun = begunWith === undefined ? '' : `, and this restore began with ${begunWith}`;
  throw usageError(
    `all ${members} members must be restored from one snapshot${begun}: name it, such as \`${command}\`${remark}`,
  );
}
