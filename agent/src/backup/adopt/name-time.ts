const DATE = String.raw`(?<year>20\d\d)(?<dash>[-_.]?)(?<month>\d\d)\k<dash>(?<day>\d\d)`;
const TIME = String.raw`(?<hour>\d\d)(?<colon>[-_:.h]?)(?<minute>\d\d)(?:\k<colon>(?<second>\d\d))?`;
/** A date, something between, a time of day: `2026-11-21T02:38:07Z`, `20261121-023807`, `2026_11_21_0238`. */
const CALENDAR = new RegExp(String.raw`(?<!\d)${DATE}[-_T.+ ]?${TIME}(?!\d)(?<utc>Z)?`);
/** A date alone: `2026-11-21`, `20261121`. */
const DAY_ONLY = new RegExp(String.raw`(?<!\d)${DATE}(?!\d)`);
/** Seconds, or milliseconds, since 1970, of this century's first half. */
const UNIX = /(?<!\d)(1\d{9})(\d{3})?(?!\d)/;

const MINUTE = 60_000;
const QUARTER = 15 * MINUTE;
const DAY = 24 * 60 * MINUTE;
/** Zones lie between these, and are ahead of UTC by a multiple of a quarter of an hour. */
const ZONES = { min: -12 * 60 * MINUTE, max: 14 * 60 * MINUTE };
const DAYLIGHT_SAVING = 60 * MINUTE;
/** From the moment in the name until the file was written, and by how much two clocks differ. */
const SAME_TIME = 5 * MINUTE;

export interface DatedFile {
  readonly name: string;
  /** When the store got it. */
  readonly modified: Date;
}

/** The time that a file's name holds, read as UTC; a date alone is no time. `isUtc`: it cannot be meant otherwise. */
export function timeInName(name: string): { readonly time: Date; readonly isUtc: boolean } | undefined {
  const parts = CALENDAR.exec(name)?.groups;
  if (parts) {
    const { year, month, day, hour, minute, second = '00', utc } = parts;
    const time = timeOf(`${year}-${month}-${day}`, `${hour}:${minute}:${second}`);
    if (time) return { time, isUtc: utc !== undefined };
  }
  const [, seconds] = UNIX.exec(name) ?? [];
  return seconds ? { time: new Date(Number(seconds) * 1000), isUtc: true } : undefined;
}

/** In UTC; undefined for a day or a time that there is not. */
function timeOf(date: string, clock = '00:00:00'): Date | undefined {
  const time = new Date(`${date}T${clock}Z`);
  // February 30th becomes March 2nd otherwise.
  return !Number.isNaN(time.getTime()) && time.getUTCDate() === Number(date.slice(-2)) ? time : undefined;
}

/**
 * When the snapshot in a file was taken. A copy has a new time of modification and keeps its name, so the name counts,
 * unless `namesAreLocal` says of its folder that such names are in local time, or it is in the future.
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
    warning: `its name says ${text(time)}, the store ${text(modified)}: the ${byStore ? "store's" : "name's"} time is taken`,
  };
}

/** The store's time when it lies in the day that the name says, wherever on earth; else, of a copy, the day's beginning. */
function dayOf(name: string, modified: Date, now: number): { createdAt: Date; warning: string } {
  const { year, month, day } = DAY_ONLY.exec(name)?.groups ?? {};
  const date = `${year}-${month}-${day}`;
  const start = timeOf(date)?.getTime();
  if (start === undefined || start > now + ZONES.max)
    return { createdAt: modified, warning: `its name says no time: the store's, ${text(modified)}, is taken` };
  const isThatDay = modified.getTime() >= start - ZONES.max && modified.getTime() <= start + DAY - ZONES.min;
  return {
    createdAt: isThatDay ? modified : new Date(Math.min(start, now)),
    warning: `its name says the day ${date} and no time: the ${isThatDay ? `store's, ${text(modified)},` : "day's first moment"} is taken`,
  };
}

const text = (date: Date) => date.toISOString().replace(/\.\d+Z$/, 'Z');

/**
 * Whether the names of a folder's files are in local time: each is as far from when it was written as one zone is from
 * UTC, in summer perhaps by an hour more. Copies are not: they were written at once, or ever further from their names.
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
