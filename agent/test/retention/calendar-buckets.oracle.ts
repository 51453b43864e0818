/**
 * A second implementation of the calendar: it reads the wall clock field by field and counts weeks by their Mondays.
 */
export interface Periods {
  readonly hourly: string;
  readonly daily: string;
  readonly weekly: string;
  readonly monthly: string;
  readonly yearly: string;
}

const day = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();
const known = new Map<string, Periods>();

export function periodsOf(time: Date, timeZone = 'UTC'): Periods {
  const key = `${time.getTime()} ${timeZone}`;
  const before = known.get(key);
  if (before) return before;
  if (known.size > 20_000) known.clear();
  const periods = readClock(time, timeZone);
  known.set(key, periods);
  return periods;
}

function readClock(time: Date, timeZone: string): Periods {
  const parts = formatOf(timeZone).formatToParts(time);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((found) => found.type === type)?.value ?? '';
  const [year, month, date] = [part('year'), part('month'), part('day')];
  const offset = part('timeZoneName') === 'GMT' ? '+00:00' : part('timeZoneName').slice(3);
  return {
    hourly: `${year}-${month}-${date}T${part('hour')}${offset}`,
    daily: `${year}-${month}-${date}`,
    weekly: isoWeek(Number(year), Number(month), Number(date)),
    monthly: `${year}-${month}`,
    yearly: year,
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const made = formats.get(timeZone);
  if (made) return made;
  const two = '2-digit';
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, hourCycle: 'h23', timeZoneName: 'longOffset' },
    ...{ year: 'numeric', month: two, day: two, hour: two },
  });
  formats.set(timeZone, format);
  return format;
}

/** Week 1 is the week that contains January 4th. */
function isoWeek(year: number, month: number, date: number): string {
  const mine = monday(Date.UTC(year, month - 1, date));
  const of = [year + 1, year, year - 1].find((candidate) => monday(Date.UTC(candidate, 0, 4)) <= mine)!;
  const week = (mine - monday(Date.UTC(of, 0, 4))) / (7 * day) + 1;
  return `${of}-W${week < 10 ? '0' : ''}${week}`;
}

function monday(date: number): number {
  let at = date;
  while (new Date(at).getUTCDay() !== 1) at -= day;
  return at;
}
