import { type Entry, isVerified } from './catalog.ts';
import { isOf, linesAsked, type Wanted } from './identity.ts';

/** So many are told one by one. */
const TOLD = 5;

export interface PassedOver {
  readonly id: string;
  /** Why it cannot be taken. */
  readonly why: string;
  /** Milliseconds that it is newer than what is taken instead. */
  readonly newerBy: number;
}

/** When a snapshot was taken; of one without a readable manifest, the end of the second in its name, else when it was stored. */
export function timeOf({ id, manifest, objects }: Pick<Entry, 'id' | 'manifest' | 'objects'>): number {
  if (manifest) return Date.parse(manifest.createdAt);
  const [, year, month, day, hour, minute, second] = /-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-/.exec(id) ?? [];
  if (year) return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.999Z`);
  return Math.max(0, ...objects.map(({ modified }) => modified.getTime()));
}

/**
 * The snapshots that are newer than the newest verified one, the newest first; with `before`, of those that were taken
 * before. Whose those without a readable manifest are, nobody knows.
 */
export function passedOver(
  entries: readonly Entry[],
  taken: Pick<Entry, 'id' | 'manifest' | 'objects'>,
  wanted: Wanted,
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
  return entries
    .filter((entry) => entry.id !== taken.id && !isVerified(entry) && (!entry.manifest || own.has(entry)))
    .map((entry) => ({ entry, time: timeOf(entry) }))
    .filter(({ time }) => time >= from && time < end)
    .sort((a, b) => b.time - a.time)
    .map(({ entry, time }) => ({ id: entry.id, why: whyNot(entry), newerBy: time - from }));
}

function whyNot({ problem, manifest, verification }: Entry): string {
  const suspect = manifest?.source.suspect?.join(', ');
  if (problem) return problem;
  if (suspect) return `its source was suspect (${suspect})`;
  if (verification?.outcome === 'failed')
    return `its verification failed (${verification.detail ?? `at level ${verification.level}`})`;
  return 'it was never verified';
}

/** What is lost by each, a sentence each. */
export const passedOverText = (passed: readonly PassedOver[], taken: string): string[] => [
  ...passed
    .slice(0, TOLD)
    .map(
      ({ id, why, newerBy }) =>
        `${id} is passed over: ${why}; it is ${spanText(newerBy)} newer than ${taken}, and what was written in that time is lost`,
    ),
  ...(passed.length > TOLD
    ? [`${passed.length - TOLD} more that are newer than ${taken} are passed over; see \`etcd-agent list\``]
    : []),
];

/** The newest of them in one line; empty when there is none. */
export function passedOverNote([newest, ...more]: readonly PassedOver[]): string {
  if (!newest) return '';
  const rest = more.length > 0 ? ` (and ${more.length} more)` : '';
  return `passed over: ${newest.id}, ${spanText(newest.newerBy)} newer: ${newest.why}${rest}`;
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
