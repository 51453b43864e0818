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

/**
 * Sorts from the newest to the oldest. At the same time the ids decide, by their code units, so that all commands and
 * retention mean the same one by the newest.
 */
export const byTimeOf =
  <T extends { readonly id: string }>(timeOf: (one: T) => number) =>
  (a: T, b: T): number =>
    timeOf(b) - timeOf(a) || Number(a.id < b.id) - Number(a.id > b.id);

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

/** Endings of files that look like snapshots, whoever saved them. */
export const SNAPSHOT_NAME = /\.(db|snap|snapshot)(\.gz|\.zst)?(\.age)?$/;

/** Names without such an ending: those of k3s and RKE2, also on a node with a domain, of Gardener, and of scripts. */
const WITHOUT_ENDING = [
  /^(etcd-snapshot|on-demand)-.+-1\d{9}$/,
  /^Full-\d+-\d+-1\d{9}(\.gz|\.zst)?$/,
  /^(?=.*(etcd|snap|backup))[^.]*(20\d{6}|20\d\d[-_]\d\d[-_]\d\d|1\d{9})[^.]*$/i,
  /^etcd\.backup(\.gz|\.zst)?(\.age)?$/,
];

/** Whether a file may be a snapshot by its name alone, although only its content shows that. */
export const hasNoEnding = (name: string): boolean =>
  !SNAPSHOT_NAME.test(name) && WITHOUT_ENDING.some((pattern) => pattern.test(name));

/** Endings of what other tools pack a snapshot into. */
const PACKED = /\.(zip|xz|bz2|lz4|lzo|lzma|7z|Z|tar|tgz|gpg|pgp|asc|enc|gz|zst)$/;

/** Whether a snapshot may be packed in a file, in a way that is not read here. */
export const isPackedName = (name: string): boolean => PACKED.test(name) && !isSnapshotName(name);

/** Whether a file may be a snapshot by its name. */
export const isSnapshotName = (name: string): boolean => SNAPSHOT_NAME.test(name) || hasNoEnding(name);
