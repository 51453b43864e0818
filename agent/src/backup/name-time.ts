const DATE = String.raw`(?<year>20\d\d)(?<dash>[-_.]?)(?<month>\d\d)\k<dash>(?<day>\d\d)`;
const TIME = String.raw`(?<hour>\d\d)(?<colon>[-_:.h]?)(?<minute>\d\d)(?:\k<colon>(?<second>\d\d))?`;
/** A date, something between, a time of day: `2026-11-21T02:38:07Z`, `20261121-023807`, `2026_11_21_0238`. */
const CALENDAR = new RegExp(String.raw`(?<!\d)${DATE}[-_T.+ ]?${TIME}(?!\d)`);
/** Seconds, or milliseconds, since 1970, of this century's first half. */
const UNIX = /(?<!\d)(1\d{9})(\d{3})?(?!\d)/;

/** The time that a file's name holds, taken as UTC; a date alone is none. */
export function timeInName(name: string): Date | undefined {
  const parts = CALENDAR.exec(name)?.groups;
  if (parts) {
    const { year, month, day, hour, minute, second = '00' } = parts;
    const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    // February 30th becomes March 2nd otherwise.
    if (!Number.isNaN(time.getTime()) && time.getUTCDate() === Number(day)) return time;
  }
  const [, seconds] = UNIX.exec(name) ?? [];
  return seconds ? new Date(Number(seconds) * 1000) : undefined;
}
