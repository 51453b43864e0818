import { usageError } from '../../lib/errors.ts';

interface NamedOptions {
  /** The snapshot of a restore that is under way. */
  readonly begunWith?: string | undefined;
  /** The data directory whose present data make the token of `command` a new one. */
  readonly holding?: string | undefined;
}

/**
 * Throws if several members are to be restored without naming the snapshot: if a backup completes between two restores, the
 * members would have different data under one cluster id. `command` is the one that names the snapshot;
 * undefined if this one does.
 */
export function requireNamedSnapshot(
  members: number,
  command: string | undefined,
  { begunWith, holding }: NamedOptions = {},
): void {
  if (members <= 1 || command === undefined) return;
  const begun = begunWith === undefined ? '' : `, and this restore began with ${begunWith}`;
  const renewed =
    holding === undefined
      ? ''
      : `; its token is new, the same for all members, because ${holding} already holds the cluster of the given one`;
  throw usageError(
    `all ${members} members must be restored from one snapshot${begun}: name it, such as \`${command}\`${renewed}`,
  );
}
