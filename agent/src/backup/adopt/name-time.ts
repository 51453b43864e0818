import { isSnapshotId, splitName } from '../catalog/snapshot-id.ts';

const DATE = String.raw`(?<year>20\d\d)(?<dash>[-_.]?)(?<month>\d\d)\k<dash>(?<day>\d\d)`;
const TIME = String.raw`(?<hour>\d\d)(?<colon>[-_:.h]?|%3[Aa])(?<minute>\d\d)(?:\k<colon>(?<second>\d\d))?(?:\.\d{3,9})?`;
/** `Z`, `UTC`, `+08:00`, `+0800`, `+08`, `-0500`. A number after a hyphen only counts if it is the offset of a time zone, and the form is that of ISO 8601. */
const ZONE = String.raw`(?<utc>Z|[-_ ]?(?:UTC|GMT)(?![A-Za-z0-9+-]))|[-_ ]?(?<sign>[+-])(?<zoneHour>0\d|1[0-4])(?:(?<zoneColon>:?)(?<zoneMinute>00|15|30|45)|(?<=\+\d\d))(?![0-9A-Za-z])`;
/** A date, a separator and a time of day: `2026-11-21T02:38:07Z`, `20261121-023807`, `2026_11_21_0238`. */
const CALENDAR = new RegExp(String.raw`(?<!\d)${DATE}(?<between>[-_T.+ ]?)${TIME}(?!\d)(?:${ZONE})?`);
/** A date alone: `2026-11-21`, `20261121`. */
const DAY_ONLY = new RegExp(String.raw`(?<!\d)${DATE}(?!\d)`);
/** Seconds or milliseconds since 1970, from 2001 to 2033. */
const UNIX = /(?<!\d)(1\d{9})(\d{3})?(?!\d)/;

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
const DAY = 24 * 60 * MINUTE;
/** Limits of the offsets of time zones, which are multiples of a quarter of an hour. */
const ZONES = { min: -12 * 60 * MINUTE, max: 14 * 60 * MINUTE };
const DAYLIGHT_SAVING = 60 * MINUTE;
/**
 * Allowance for the time between the moment in the name and the writing of the file, and for the difference of two
 * clocks.
 */
const SAME_TIME = 5 * MINUTE;

export interface DatedFile {
  readonly name: string;
  /** When the file was written to the store. */
  readonly modified: Date;
}

/**
 * Returns the time in a file's name, read as UTC. A date alone does not count. `isUtc` says that the time can only be
 * UTC.
 */
export function timeInName(name: string): { readonly time: Date; readonly isUtc: boolean } | undefined {
  const parts = CALENDAR.exec(name)?.groups;
  if (parts) {
    const { year, month, day, between, hour, minute, second = '00', utc, sign } = parts;
    const { zoneHour, zoneColon, zoneMinute = '00' } = parts;
    const time = timeOf(`${year}-${month}-${day}`, `${hour}:${minute}:${second}`);
    const isOurs = isSnapshotId(splitName(`${name}.`)?.id ?? '');
    const isZone = sign === '+' || (sign === '-' && (between === 'T' || zoneColon === ':'));
    const ahead = isZone && !isOurs ? Number(`${sign}1`) * (Number(zoneHour) * 60 + Number(zoneMinute)) * MINUTE : 0;
    if (time) return { time: new Date(time.getTime() - ahead), isUtc: utc !== undefined || isZone || isOurs };
  }
  const [, seconds] = UNIX.exec(name) ?? [];
  return seconds ? { time: new Date(Number(seconds) * 1000), isUtc: true } : undefined;
}

/** Whether a name has a date. */
export const hasDay = (name: string): boolean => DAY_ONLY.test(name);

/** Parses a UTC time. Returns undefined for a day or a time that does not exist. */
function timeOf(date: string, clock = '00:00:00'): Date | undefined {
  const time = new Date(`${date}T${clock}Z`);
  // Otherwise February 30th would become March 2nd.
  return !Number.isNaN(time.getTime()) && time.getUTCDate() === Number(date.slice(-2)) ? time : undefined;
}

/**
 * Returns when the snapshot in a file was taken. A copied file has a new modification time but keeps its name, so the time in
 * the name counts, unless it is in the future, or `namesAreLocal` says that the names of the folder are in local time.
 */
export function dateOf(
  { name, modified }: DatedFile,
  namesAreLocal: boolean,
  now = Date.now(),
): { createdAt: Date; warning?: string } {
  const named = timeInName(name);
  if (!named) return dayOf(name, modified, now);
  const { time, isUtc } = named;
  if (Math.abs(time.getTime() - modified.getTime()) <= SAME_TIME) return { createdAt: time };
  const byStore = time.getTime() > now + SAME_TIME || (namesAreLocal && !isUtc);
  return {
    createdAt: byStore ? modified : time,
    warning: `its name says ${text(time)}, the store says ${text(modified)}; using the time of the ${byStore ? 'store' : 'name'}`,
  };
}

/**
 * Uses the store's time if it lies within the day in the name, in any time zone. Otherwise the file is a copy, and the
 * beginning of the day is used.
 */
function dayOf(name: string, modified: Date, now: number): { createdAt: Date; warning: string } {
  const { year, month, day } = DAY_ONLY.exec(name)?.groups ?? {};
  const date = `${year}-${month}-${day}`;
  const start = timeOf(date)?.getTime();
  if (start === undefined || start > now + ZONES.max)
    return {
      createdAt: modified,
      warning: `its name does not contain a time; using the store's time ${text(modified)}`,
    };
  const isThatDay = modified.getTime() >= start - ZONES.max && modified.getTime() <= start + DAY - ZONES.min;
  return {
    createdAt: isThatDay ? modified : new Date(Math.min(start, now)),
    warning: `its name contains the day ${date} but no time; using ${isThatDay ? `the store's time ${text(modified)}` : 'the beginning of that day'}`,
  };
}

const text = (date: Date) => date.toISOString().replace(/\.\d+Z$/, 'Z');

/**
 * Whether the names of a folder's files are in local time. Then each name differs from the file's modification time by the
 * offset of one time zone, or in summer by one hour more. This is not assumed for copied files: several are written within
 * minutes, while the times in their names differ.
 */
export function namesAreLocal(files: readonly DatedFile[]): boolean {
  const dated = files
    .flatMap(({ name, modified }) => {
      const named = timeInName(name);
      return named && !named.isUtc ? [{ named: named.time.getTime(), modified: modified.getTime() }] : [];
    })
    .sort((a, b) => a.modified - b.modified || a.named - b.named);
  if (dated.length === 0) return false;
  const ahead = dated.map(({ named, modified }) => named - modified);
  const zones = ahead.map((difference) => Math.round(difference / QUARTER) * QUARTER);
  const [west, east] = [Math.min(...zones), Math.max(...zones)];
  const oneZone = west >= ZONES.min && east <= ZONES.max && east - west <= DAYLIGHT_SAVING;
  const exactly = ahead.every((difference, index) => Math.abs(difference - zones[index]!) <= SAME_TIME);
  const copied = dated.some(({ named, modified }, index) => {
    const before = dated[index - 1];
    return before && modified - before.modified <= SAME_TIME && Math.abs(named - before.named) > SAME_TIME;
  });
  return oneZone && exactly && !copied;
}
