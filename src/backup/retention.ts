import type { Duration } from 'cdk8s';
import { durationText } from '../lib/duration';
import { propProblems, withFound } from '../resource/prop-problems';
import { fieldProblems } from '../resource/resource-problems';
import type { BackupRetentionSpec } from '../resource/types';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
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
    return buildIfValid(Retention.prototype, tiers, types.RetentionTiers, () => new Retention(tiers));
  }

  private constructor(private readonly tiers: RetentionTiers) {}

  /** @internal */
  _policy(): BackupRetentionSpec {
    const { last, within, hourly, daily, weekly, monthly, yearly, minKeep, timeZone } = this.tiers;
    const ages = { within: within && durationText(within), hourly, daily, weekly, monthly, yearly };
    return { last, ...ages, minKeep, timeZone };
  }

  /** @internal */
  _problems(): string[] {
    const { timeZone } = this.tiers;
    const ofZone = timeZone === undefined ? undefined : timeZoneProblem('timeZone', timeZone);
    return withFound(problemsOf(ofZone), propProblems(fieldProblems('EtcdCluster', field, this._policy())));
  }
}

const field = 'spec.backup.schedules.stores.retention';
