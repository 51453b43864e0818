import type { Duration } from 'cdk8s';
import { durationText, milliseconds } from '../lib/duration';
import { built } from '../validation/kinds';
import { problemsOf } from '../validation/names';
import { retentionKinds } from '../validation/property-kinds';
import { timeZoneProblem } from '../validation/time-zone';

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
    return Retention.tiers({ last: count });
  }

  /** Fewer the older they are, such as `{ hourly: 24, daily: 7, weekly: 4 }`. */
  static tiers(tiers: RetentionTiers): Retention {
    return built(Retention.prototype, tiers, retentionKinds, () => new Retention(tiers));
  }

  private constructor(private readonly tiers: RetentionTiers) {}

  /** @internal */
  _policy(): Readonly<Record<string, number | string>> {
    const { within, minKeep, timeZone } = this.tiers;
    const { last, ...buckets } = counts(this.tiers);
    return given({ last, within: within && durationText(within), ...buckets, minKeep, timeZone });
  }

  /** @internal */
  _problems(): string[] {
    const { within, minKeep, timeZone } = this.tiers;
    const keeps = counts(this.tiers);
    return problemsOf(
      ...Object.entries({ ...keeps, minKeep }).map(([rule, count]) => countProblem(rule, count)),
      within && milliseconds(within) <= 0
        ? 'within is zero; give more, or leave it out to keep none by this rule'
        : undefined,
      !within && Object.values(keeps).every((count) => count === undefined)
        ? 'keeps nothing; give last, within, hourly, daily, weekly, monthly or yearly, or no retention to keep everything'
        : undefined,
      timeZone === undefined ? undefined : timeZoneProblem('timeZone', timeZone),
    );
  }
}

function counts({ last, hourly, daily, weekly, monthly, yearly }: RetentionTiers) {
  return { last, hourly, daily, weekly, monthly, yearly };
}

function countProblem(rule: string, count: number | undefined): string | undefined {
  if (count === undefined || (Number.isSafeInteger(count) && count >= 1)) return undefined;
  return `${rule} is ${count}; give a whole number of at least 1, or leave it out to keep none by this rule`;
}

function given(fields: Record<string, number | string | undefined>): Record<string, number | string> {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, number | string] => field[1] !== undefined),
  );
}
