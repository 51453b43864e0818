import type { Duration } from 'cdk8s';
import { durationText, milliseconds } from '../lib/duration';
import { problemsOf } from '../validation/problems';
import { retentionTypes } from '../validation/property-types';
import { timeZoneProblem } from '../validation/times';
import { buildIfValid } from '../validation/type-checks';

/** Defines rules that select the backups to keep. A backup is kept if at least one rule selects it. */
export interface RetentionTiers {
  /**
   * Keeps this number of newest backups.
   * @default - this rule keeps nothing
   */
  readonly last?: number;
  /**
   * Keeps all backups that were taken within this time before the newest one.
   * @default - this rule keeps nothing
   */
  readonly within?: Duration;
  /**
   * Keeps the newest backup of each hour, for this number of hours that have backups.
   * @default - this rule keeps nothing
   */
  readonly hourly?: number;
  /**
   * Keeps the newest backup of each day, for this number of days that have backups.
   * @default - this rule keeps nothing
   */
  readonly daily?: number;
  /**
   * Keeps the newest backup of each week, for this number of weeks that have backups.
   * @default - this rule keeps nothing
   */
  readonly weekly?: number;
  /**
   * Keeps the newest backup of each month, for this number of months that have backups.
   * @default - this rule keeps nothing
   */
  readonly monthly?: number;
  /**
   * Keeps the newest backup of each year, for this number of years that have backups.
   * @default - this rule keeps nothing
   */
  readonly yearly?: number;
  /**
   * Sets the smallest number of backups to keep, whatever the rules select.
   * @default - 3, or `last` if it is the only rule and smaller than 3
   */
  readonly minKeep?: number;
  /**
   * Sets the IANA time zone in which hours, days, weeks, months and years begin.
   * @default UTC
   */
  readonly timeZone?: string;
}

/**
 * Selects the backups in a store that are kept. The others are deleted after the next verified backup. The newest
 * verified backup is never deleted, whatever the rules select.
 */
export class Retention {
  /**
   * Keeps the newest `count` backups.
   *
   * @param count How many backups are kept, 1 or more.
   */
  static last(count: number): Retention {
    return Retention.tiers({ last: count });
  }

  /** Thins out backups as they age, for example `{ hourly: 24, daily: 7, weekly: 4 }`. */
  static tiers(tiers: RetentionTiers): Retention {
    return buildIfValid(Retention.prototype, tiers, retentionTypes, () => new Retention(tiers));
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
        ? 'within is zero; give more, or leave it out to keep nothing by this rule'
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
  return `${rule} is ${count}; give a whole number of at least 1, or leave it out to keep nothing by this rule`;
}

function given(fields: Record<string, number | string | undefined>): Record<string, number | string> {
  return Object.fromEntries(
    Object.entries(fields).filter((field): field is [string, number | string] => field[1] !== undefined),
  );
}
