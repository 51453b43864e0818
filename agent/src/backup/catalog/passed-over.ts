import type { StoredObject } from '../../store/store.ts';
import { candidatesOf, toCandidate } from './candidate.ts';
import { type Entry, isUnread, isVerified } from './catalog.ts';
import { isOf, linesAsked, type WantedSnapshots } from './identity/identity.ts';
import { higherBefore } from './revision-fall.ts';
import { byTimeOf, isSnapshotId } from './snapshot-id.ts';

/** How many snapshots are listed one by one. */
const LISTED = 5;

export interface PassedOver {
  readonly id: string;
  /** Why it cannot be used. */
  readonly why: string;
  /**
   * Milliseconds by which it is newer than the snapshot that is used instead. Negative if it is older and has a higher revision of
   * the same etcd. Undefined if it only may be newer.
   */
  readonly newerBy?: number;
}

/**
 * Returns when a snapshot was taken, in milliseconds. Without a readable manifest, this is the end of the second in its name,
 * otherwise the time at which it was stored.
 */
export function timeOf(entry: Pick<Entry, 'id' | 'manifest' | 'objects'>): number {
  const { manifest, objects } = entry;
  if (manifest) return Date.parse(manifest.createdAt);
  const second = secondOf(entry);
  return second === undefined ? Math.max(0, ...objects.map(({ modified }) => modified.getTime())) : second + 999;
}

/** Sorts from the newest to the oldest, as far as that is known without a manifest. */
export const byTime = byTimeOf<Pick<Entry, 'id' | 'manifest' | 'objects'>>(timeOf);

/** Returns the earliest time at which a snapshot may have been taken, in milliseconds. A name without a date says nothing. */
export const earliestOf = (entry: Pick<Entry, 'id' | 'manifest'>): number =>
  entry.manifest ? Date.parse(entry.manifest.createdAt) : (secondOf(entry) ?? Number.NEGATIVE_INFINITY);

/**
 * Whether nothing shows when a snapshot was taken: its manifest cannot be read, and its name is the user's own. The time at
 * which it was stored shows nothing: the store's clock may be behind, and a copy may have another time.
 */
export const isUndated = (entry: Pick<Entry, 'id' | 'manifest' | 'state'>): boolean =>
  isUnread(entry) && !entry.manifest && secondOf(entry) === undefined;

/** Whether a snapshot was taken at this time or later, or may have been. */
export const mayBeFrom = (entry: Pick<Entry, 'id' | 'manifest' | 'objects' | 'state'>, time: number): boolean =>
  isUndated(entry) || timeOf(entry) >= time;

/** Returns the second in a name of ours, in milliseconds. Other names may be of any time zone. */
function secondOf({ id }: Pick<Entry, 'id'>): number | undefined {
  if (!isSnapshotId(id)) return undefined;
  const [, year, month, day, hour, minute, second] = /-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-/.exec(id) ?? [];
  const time = year ? Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Returns the snapshots that are newer than the newest verified one, newest first; with `before`, only those that were
 * taken before that time. Snapshots without a readable manifest are included, because their cluster is not known; so is
 * one of which it is not known when it was taken. The first is an older one with a higher revision of the same etcd, if there is
 * one.
 */
export function passedOver(
  entries: readonly Entry[],
  taken: Pick<Entry, 'id' | 'manifest' | 'objects'>,
  wanted: WantedSnapshots,
  before?: Date,
): PassedOver[] {
  const from = timeOf(taken);
  const end = before?.getTime() ?? Number.POSITIVE_INFINITY;
  const lines = linesAsked(
    entries.filter((entry) => isOf(wanted, entry)),
    wanted,
  );
  const own = new Set(
    lines.filter((line) => line.entries.some(({ id }) => id === taken.id)).flatMap((line) => line.entries),
  );
  const newer = entries
    .filter((entry) => entry.id !== taken.id && !isVerified(entry) && (!entry.manifest || own.has(entry)))
    .map((entry) => ({ entry, time: timeOf(entry) }))
    .filter(({ entry, time }) => isUndated(entry) || (time >= from && time < end))
    .sort((a, b) => b.time - a.time)
    .map(({ entry, time }) => ({
      id: entry.id,
      why: whyNot(entry),
      newerBy: isUndated(entry) ? undefined : time - from,
    }));
  return [...higherThan(taken, own), ...newer];
}

/** Returns the older verified snapshot, if there is one, that has a higher revision of the same etcd. */
function higherThan(taken: Pick<Entry, 'id' | 'manifest' | 'objects'>, own: ReadonlySet<Entry>): PassedOver[] {
  const one = [...own].find(({ id }) => id === taken.id);
  const now = one && toCandidate(one);
  const higher = now && higherBefore(candidatesOf([...own].filter(isVerified)), now);
  if (!higher) return [];
  const why = `it has revision ${higher.revision} of the same etcd (cluster id ${now.clusterId}), and ${taken.id} only ${now.revision}, so etcd was emptied or set back in between`;
  return [{ id: higher.id, why, newerBy: higher.createdAt.getTime() - timeOf(taken) }];
}

/** Why a snapshot does not count as verified. */
export function whyNot({ problem, manifest, verification }: Entry): string {
  const suspect = manifest?.source.suspect?.join(', ');
  if (problem) return problem;
  if (suspect) return `its source is suspect (${suspect})`;
  if (verification?.outcome === 'failed')
    return `its verification failed (${verification.detail ?? `at level ${verification.level}`})`;
  return 'it was never verified';
}

/** Returns one sentence for each snapshot that is passed over, with its id if it names only one. */
export const passedOverTexts = (passed: readonly PassedOver[], taken: string): { text: string; id?: string }[] => [
  ...passed
    .slice(0, LISTED)
    .map(({ id, why, newerBy }) => ({ id, text: `${id} is passed over: ${why}; ${lossText(newerBy, taken)}` })),
  ...(passed.length > LISTED
    ? [
        {
          text: `${passed.length - LISTED} more that ${passed.every(({ newerBy }) => newerBy !== undefined) ? 'are' : 'may be'} newer than ${taken} are passed over`,
        },
      ]
    : []),
];

function lossText(newerBy: number | undefined, taken: string): string {
  if (newerBy === undefined) return `it may be newer than ${taken}, and then writes are lost`;
  const apart = `it is ${ageText(newerBy)} than ${taken}`;
  return newerBy < 0 ? `${apart}; name it to restore it` : `${apart}, and writes from that time are lost`;
}

const ageText = (newerBy: number): string =>
  newerBy < 0 ? `${spanText(-newerBy)} older` : `${spanText(newerBy)} newer`;

/** As part of a result. Empty if there is none. */
export const passedOverData = (passed: readonly PassedOver[]) =>
  passed.length === 0 ? {} : { passedOver: passed.map(({ id, why }) => ({ id, why })) };

/** Describes the newest of them in one line, and an older one with a higher revision. Empty if there is none. */
export function passedOverNote(passed: readonly PassedOver[]): string {
  const [newest, ...more] = passed.filter((each) => !isOlder(each));
  const rest = more.length > 0 ? ` (and ${more.length} more)` : '';
  const notes = [...passed.filter(isOlder).map(noteOf), ...(newest ? [`${noteOf(newest)}${rest}`] : [])];
  return notes.length > 0 ? `passed over: ${notes.join('; ')}` : '';
}

/** It has a higher revision of the same etcd. */
export const isOlder = ({ newerBy = 0 }: PassedOver): boolean => newerBy < 0;

const noteOf = ({ id, why, newerBy }: PassedOver): string =>
  `${id}, ${newerBy === undefined ? 'which may be newer' : ageText(newerBy)}: ${why}`;

/** The same as a line below a result. */
export const passedOverLines = (passed: readonly PassedOver[]): string[] =>
  passed.length === 0 ? [] : [`  ${passedOverNote(passed)}`];

/** Returns the files that were stored after a snapshot was taken; with `before`, only those that were stored before that time. */
export function newerFiles(
  files: readonly StoredObject[],
  taken: Pick<Entry, 'id' | 'manifest' | 'objects'>,
  before?: Date,
): StoredObject[] {
  const [from, end] = [timeOf(taken), before?.getTime() ?? Number.POSITIVE_INFINITY];
  return files.filter(({ modified }) => modified.getTime() > from && modified.getTime() < end);
}

/** Says of files without a manifest, newest first, that they may be snapshots. Undefined if there is none. */
export function unclaimedText(
  [newest, ...more]: readonly StoredObject[],
  taken: string | undefined,
): string | undefined {
  if (!newest) return undefined;
  const newer = (verb: string) => (taken === undefined ? '' : ` and ${verb} newer than ${taken}`);
  return more.length === 0
    ? `${newest.key} has no manifest${newer('is')}`
    : `${more.length + 1} files have no manifest${newer('are')}, the newest is ${newest.key}`;
}

export function spanText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  const parts = [
    days && `${days}d`,
    hours && `${hours}h`,
    minutes && `${minutes}m`,
    seconds % 60 && `${seconds % 60}s`,
  ];
  return parts.filter(Boolean).slice(0, 2).join(' ') || '0s';
}
