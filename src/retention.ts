import type { Duration } from 'cdk8s';
import { durationText, milliseconds } from './duration';
import { timeZoneProblem } from './time-zone';

/** Which backups to keep. One that any rule keeps is kept. */
export interface RetentionTiers {
  /**
   * The newest so many.
   * @default - none by this rule
   */
  readonly last?: number;
  /**
   * All that were taken within this time before the newest one.
   * @default - none by this rule
   */
  readonly within?: Duration;
  /**
   * The newest one of each of so many hours.
   * @default - none by this rule
   */
  readonly hourly?: number;
  /**
   * The newest one of each of so many days.
   * @default - none by this rule
   */
  readonly daily?: number;
  /**
   * The newest one of each of so many weeks.
   * @default - none by this rule
   */
  readonly weekly?: number;
  /**
   * The newest one of each of so many months.
   * @default - none by this rule
   */
  readonly monthly?: number;
  /**
   * The newest one of each of so many years.
   * @default - none by this rule
   */
  readonly yearly?: number;
  /**
   * Never leave fewer than so many.
   * @default - 3, or `last` alone when that is fewer
   */
  readonly minKeep?: number;
  /**
   * Where hours, days, weeks, months and years begin: an IANA time zone.
   * @default UTC
   */
  readonly timeZone?: string;
}

/**
 * Which backups of a store to keep; the others are deleted after a backup that was verified. The newest verified backup
 * is never deleted, whatever the policy says.
 */
export class Retention {
  /** The newest `count`. */
  static last(count: number): Retention {
    return new Retention('Retention.last', { last: count });
  }

  /** Fewer the older they are, such as `{ hourly: 24, daily: 7, weekly: 4 }`. */
  static tiers(tiers: RetentionTiers): Retention {
    return new Retention('Retention.tiers', tiers);
  }

  private readonly policy: Readonly<Record<string, number | string>>;

  private constructor(factory: string, tiers: RetentionTiers) {
    const { last, within, hourly, daily, weekly, monthly, yearly, minKeep, timeZone } = tiers;
    const keeps = { last, hourly, daily, weekly, monthly, yearly };
    for (const [rule, count] of Object.entries({ ...keeps, minKeep })) checkCount(`${factory}: ${rule}`, count);
    if (within && milliseconds(within) <= 0) {
      throw new Error(`${factory}: within is zero; give more, or leave it out to keep none by this rule`);
    }
    if (!within && Object.values(keeps).every((count) => count === undefined)) {
      throw new Error(
        `${factory}: keeps nothing; give last, within, hourly, daily, weekly, monthly or yearly, or no retention to keep everything`,
      );
    }
    const problem = timeZone === undefined ? undefined : timeZoneProblem('timeZone', timeZone);
    if (problem) throw new Error(`${factory}: ${problem}`);
    this.policy = given({
      last,
      within: within && durationText(within),
      hourly,
      daily,
      weekly,
      monthly,
      yearly,
      minKeep,
      timeZone,
    });
  }

  /** @internal */
  _policy(): Readonly<Record<string, number | string>> {
    return this.policy;
  }
}

function checkCount(rule: string, count: number | undefined): void {
  if (count === undefined || (Number.isSafeInteger(count) && count >= 1)) return;
  throw new Error(`${rule} is ${count}; give a whole number of at least 1, or leave it out to keep none by this rule`);
}

function given(fields: Record<string, number | string | undefined>): Record<string, number | string> {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, number | string] => field[1] !== undefined),
  );
}
