import { randomBytes } from 'node:crypto';

const ID = /^etcd-snapshot-\d{8}-\d{6}-[0-9a-f]{6}$/;

/**
 * Returns an id such as `etcd-snapshot-20261121-023807-3f9c2a`: the time in UTC, so that names sort by time, and six
 * random hex digits, so that two runs do not collide.
 */
export function newSnapshotId(now: Date): string {
  const [day, time] = now.toISOString().replaceAll(/[-:]/g, '').split(/[T.]/);
  return `etcd-snapshot-${day}-${time}-${randomBytes(3).toString('hex')}`;
}

export const isSnapshotId = (text: string): boolean => ID.test(text);

/**
 * Splits an object's name into the snapshot's id, which the user may have chosen, and the suffix: `.db.zst`, `.json`,
 * `.verify.json`, `.pin`.
 */
export function splitName(name: string): { id: string; suffix: string } | undefined {
  const dot = name.indexOf('.');
  if (dot < 0) return undefined;
  const id = name.slice(0, dot);
  return /^[A-Za-z0-9][A-Za-z0-9_+-]*$/.test(id) && !name.includes('/') ? { id, suffix: name.slice(dot) } : undefined;
}

/** Whether this may be the id of a snapshot, also one that the user has chosen. */
export const isId = (text: string): boolean => splitName(`${text}.`)?.id === text;

/** Names of files that look like snapshots, whoever saved them. */
export const SNAPSHOT_NAME = /\.(db|snap|snapshot)(\.gz|\.zst)?(\.age)?$/;
