export const calendarRules = ['hourly', 'daily', 'weekly', 'monthly', 'yearly'] as const;
export type CalendarRule = (typeof calendarRules)[number];

const day = 86_400_000;

/** The calendar periods that a time lies in, by the wall clock of a time zone. */
export type Buckets = Readonly<Record<CalendarRule, string>>;

export function bucketsOf(time: Date, timeZone: string): Buckets {
  const offset = utcOffset(time, timeZone);
  const local = new Date(time.getTime() + milliseconds(offset));
  const iso = local.toISOString();
  return {
    // The offset separates the two hours with the same name when clocks go back.
    hourly: iso.slice(0, 13) + offset,
    daily: iso.slice(0, 10),
    weekly: isoWeek(local),
    monthly: iso.slice(0, 7),
    yearly: iso.slice(0, 4),
  };
}

/** ISO 8601: a week begins on Monday and belongs to the year of its Thursday. */
function isoWeek(local: Date): string {
  const daysSinceMonday = (local.getUTCDay() + 6) % 7;
  const thursday = new Date(local.getTime() + (3 - daysSinceMonday) * day);
  const year = thursday.getUTCFullYear();
  const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * day));
  return `${year}-W${String(week).padStart(2, '0')}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns an offset such as `+01:00`. */
function utcOffset(time: Date, timeZone: string): string {
  // Creating a format is a thousand times slower than using one.
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    formats.set(timeZone, format);
  }
  return /[+-]\d\d:\d\d$/.exec(format.format(time))?.[0] ?? '+00:00';
}

function milliseconds(offset: string): number {
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4));
  return (offset.startsWith('-') ? -minutes : minutes) * 60_000;
}
