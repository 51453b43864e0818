import { Cron } from 'cdk8s';

export interface CronInterval {
  readonly cron: Cron;
  readonly text: string;
  /** Whether it is the interval that was asked for. */
  readonly exact: boolean;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** A cron schedule repeats evenly only when its step divides the hour, the day or the week. */
const steps = [
  ...[1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30].map((n) => step(n * minute, `${n} min`, { minute: every(n) })),
  ...[1, 2, 3, 4, 6, 8, 12].map((n) => step(n * hour, `${n} h`, { minute: '0', hour: every(n) })),
  step(day, '1 day', { minute: '0', hour: '0' }),
  step(7 * day, '7 days', { minute: '0', hour: '0', weekDay: '0' }),
];

/** The longest interval that cron can express and that is no longer than asked for; a minute is the shortest. */
export function cronInterval(seconds: number): CronInterval {
  const found = steps.filter((candidate) => candidate.seconds <= seconds).at(-1) ?? steps[0]!;
  return { cron: found.cron, text: found.text, exact: found.seconds === seconds };
}

function step(seconds: number, text: string, options: object) {
  return { seconds, text, cron: Cron.schedule(options) };
}

function every(n: number): string {
  return n === 1 ? '*' : `*/${n}`;
}
