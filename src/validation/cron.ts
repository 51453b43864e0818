/** Problem that Kubernetes' own parser would report for a CronJob's schedule, or undefined. */
export function cronProblem(schedule: string): string | undefined {
  // Kubernetes refuses it anywhere in the schedule.
  if (schedule.includes('TZ')) return `'${schedule}' contains a time zone; use timeZone instead`;
  if (schedule.startsWith('@')) return descriptorProblem(schedule);
  const words = schedule.split(/\s+/).filter(Boolean);
  if (words.length !== fields.length) {
    return `'${schedule}' has ${words.length} fields; give 5: minute, hour, day of month, month, day of week`;
  }
  try {
    const [minute, hour, day, month, weekDay] = fields.map((field, index) => parseField(words[index]!, field));
    if (fires(minute!, hour!, day!, month!, weekDay!)) return undefined;
    return `'${schedule}' never fires; choose a minute, hour and day that exist together`;
  } catch (error) {
    return `'${schedule}': ${(error as Error).message}`;
  }
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekDays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const fields: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: months },
  { name: 'day of week', min: 0, max: 6, names: weekDays },
];

interface Times {
  readonly values: ReadonlySet<number>;
  /** `*` or `?` without a step: of day of month and day of week, the other field alone selects the day. */
  readonly star: boolean;
}

function parseField(text: string, field: Field): Times {
  const ranges = text
    .split(',')
    .filter(Boolean)
    .map((range) => parseRange(range, field));
  return { values: new Set(ranges.flatMap(valuesOf)), star: ranges.some(({ star }) => star) };
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly star: boolean;
}

/** `N`, `N-M`, `*` or `?`, each with an optional `/step`. `N/step` runs to the field's end. */
function parseRange(text: string, field: Field): Range {
  const wrong = (why: string) => new Error(`${field.name} '${text}' ${why}`);
  const [bounds, stepText, ...moreSteps] = text.split('/');
  const [low, high, ...moreBounds] = bounds!.split('-');
  const star = low === '*' || low === '?';
  if (moreSteps.length > 0 || (!star && moreBounds.length > 0)) throw wrong('is not valid');

  const number = (word: string) => {
    const value = numberOf(word, field);
    if (value === undefined) throw new Error(`'${word}' is not a valid ${field.name}`);
    return value;
  };
  const start = star ? field.min : number(low!);
  const endWithoutHigh = star || stepText !== undefined ? field.max : start;
  const end = star || high === undefined ? endWithoutHigh : number(high);
  const step = stepText === undefined ? 1 : wholeNumber(stepText);
  if (start < field.min || start > field.max || end > field.max) {
    throw wrong(`is not within ${field.min} to ${field.max}${field.max === 6 ? '; Sunday is 0' : ''}`);
  }
  if (start > end) throw wrong('ends before it begins');
  if (!step) throw wrong('needs a step above zero');
  return { start, end, step, star: star && step === 1 };
}

function numberOf(word: string, { names = [], min }: Field): number | undefined {
  const index = names.indexOf(word.toLowerCase());
  return index < 0 ? wholeNumber(word) : index + min;
}

function wholeNumber(word: string): number | undefined {
  return /^\+?\d{1,15}$/.test(word) ? Number(word) : undefined;
}

function valuesOf({ start, end, step }: Range): number[] {
  return Array.from({ length: Math.floor((end - start) / step) + 1 }, (_, index) => start + index * step);
}

function fires(minute: Times, hour: Times, day: Times, month: Times, weekDay: Times): boolean {
  if (minute.values.size === 0 || hour.values.size === 0) return false;
  const monthHasDay = [...month.values].some((m) => [...day.values].some((d) => d <= longestMonth(m)));
  // If both kinds of day are restricted, either one is enough. Every month has every day of the week.
  if (!day.star && !weekDay.star) return month.values.size > 0 && (monthHasDay || weekDay.values.size > 0);
  return monthHasDay && weekDay.values.size > 0;
}

function longestMonth(month: number): number {
  // Day 0 of the next month; 2024 is a leap year.
  return new Date(Date.UTC(2024, month, 0)).getUTCDate();
}

const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

function descriptorProblem(schedule: string): string | undefined {
  if (descriptors.includes(schedule)) return undefined;
  // The format of Go's time.ParseDuration.
  if (/^@every [+-]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/.test(schedule)) return undefined;
  return `'${schedule}' is not a valid schedule; use 5 fields, ${descriptors.join(', ')} or '@every 1h30m'`;
}

const minutesOfDay = 24 * 60;
/** Days to examine: more than the 8 years between two 29 Februaries around 2100, which is not a leap year. */
const horizon = 366 * 9;

/** Returns the longest time between two runs in minutes, or undefined if Kubernetes would refuse the schedule. */
export function longestGap(schedule: string): number | undefined {
  if (cronProblem(schedule) !== undefined) return undefined;
  const [, every] = /^@every \+?(.*)$/.exec(schedule) ?? [];
  if (every !== undefined) return goMinutes(every);
  const text = expanded[schedule] ?? schedule;
  const words = text.split(/\s+/).filter(Boolean);
  const [minute, hour, ...days] = fields.map((field, index) => parseField(words[index]!, field));
  const times = [...hour!.values].flatMap((h) => [...minute!.values].map((m) => h * 60 + m)).sort((a, b) => a - b);
  const within = Math.max(0, ...times.slice(1).map((time, index) => time - times[index]!));
  const between = longestPause(days as [Times, Times, Times]) * minutesOfDay - times.at(-1)! + times[0]!;
  return Math.max(within, between);
}

const expanded: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Returns the largest number of days from one day with runs to the next. */
function longestPause([day, month, weekDay]: [Times, Times, Times]): number {
  let [last, longest]: [number | undefined, number] = [undefined, 1];
  for (let at = 0; at < horizon; at++) {
    const date = new Date(Date.UTC(2096, 0, 1 + at));
    const onDay = day.values.has(date.getUTCDate());
    const onWeekDay = weekDay.values.has(date.getUTCDay());
    const runs = day.star || weekDay.star ? onDay && onWeekDay : onDay || onWeekDay;
    if (!runs || !month.values.has(date.getUTCMonth() + 1)) continue;
    longest = Math.max(longest, last === undefined ? 1 : at - last);
    last = at;
  }
  return longest;
}

const units: Readonly<Record<string, number>> = { h: 60, m: 1, s: 1 / 60 };

function goMinutes(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)([a-zµμ]+)/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit!] ?? 0), 0);
}
