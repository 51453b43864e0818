import { Duration } from 'cdk8s';
import { durationProblem, durationText, goDuration, milliseconds } from '../../lib/duration';
import { problemsOf } from '../../validation/problems';
import { periodicTypes, tuningTypes } from '../../validation/property-types';
import { buildIfValid } from '../../validation/type-checks';

/**
 * Sets how much history etcd keeps. etcd keeps every revision of every key until it is compacted, so without compaction
 * the database grows until it reaches its quota. Compaction never removes the current value of a key.
 */
export class AutoCompaction {
  /**
   * Compacts the history that is older than this. A watch that was disconnected for longer must list again.
   *
   * @param retention How long history is kept.
   */
  static periodic(retention: Duration): AutoCompaction {
    return buildIfValid(
      AutoCompaction.prototype,
      { retention },
      periodicTypes,
      () => new AutoCompaction('periodic', goDuration(retention), durationProblem('autoCompaction', retention)),
    );
  }

  /**
   * Keeps the last `count` revisions, whatever their age.
   *
   * @param count How many revisions are kept, 1 or more.
   */
  static revisions(count: number): AutoCompaction {
    const valid = Number.isSafeInteger(count) && count > 0;
    return new AutoCompaction(
      'revision',
      String(count),
      valid
        ? undefined
        : `autoCompaction: ${count} is not a valid number of revisions; give a whole number of at least 1`,
    );
  }

  /** Keeps every revision. Use it only if your application compacts by itself. */
  static disabled(): AutoCompaction {
    return new AutoCompaction('periodic', '0');
  }

  private constructor(
    private readonly mode: string,
    private readonly retention: string,
    private readonly problem?: string,
  ) {}

  /** @internal */
  _settings(): { [key: string]: string } {
    return { 'auto-compaction-mode': this.mode, 'auto-compaction-retention': this.retention };
  }

  /** @internal */
  _problems(): string[] {
    return this.problem === undefined ? [] : [this.problem];
  }
}

/** Sets the timeouts, snapshots and compaction of etcd, for `EtcdTuning.of`. */
export interface EtcdTuningProps {
  /**
   * Sets the interval between the leader's heartbeats. Set it to about the round-trip time between the members.
   * @default Duration.millis(100)
   */
  readonly heartbeatInterval?: Duration;
  /**
   * Sets the time without heartbeats after which the members elect another leader. Set it to about ten times the
   * round-trip time: at least five heartbeats, and at most 50 seconds.
   * @default Duration.millis(1000)
   */
  readonly electionTimeout?: Duration;
  /**
   * Sets the number of writes after which a member takes a snapshot of its log. A smaller number needs less memory and
   * more disk writes.
   * @default 10000
   */
  readonly snapshotCount?: number;
  /**
   * Sets how much history etcd keeps.
   * @default - AutoCompaction.periodic(Duration.hours(1))
   */
  readonly autoCompaction?: AutoCompaction;
}

/**
 * Tunes etcd, in the same way for all members. The presets follow etcd's tuning guide
 * (https://etcd.io/docs/v3.6/tuning/): a heartbeat of about the round-trip time between the members, and an election
 * timeout of ten heartbeats.
 *
 * By default etcd compacts history that is older than one hour (`AutoCompaction`).
 */
export class EtcdTuning {
  /** Suits members within one region. These are etcd's own defaults: heartbeat 100 ms, election timeout 1 s. */
  static readonly LAN = new EtcdTuning({});
  /**
   * Suits members up to half a second apart, for example on different continents: heartbeat 500 ms, election timeout 5
   * s.
   */
  static readonly WAN = new EtcdTuning({
    heartbeatInterval: Duration.millis(500),
    electionTimeout: Duration.millis(5_000),
  });

  /** Sets other values. Properties that are left out keep the values of `LAN`. */
  static of(props: EtcdTuningProps): EtcdTuning {
    return buildIfValid(EtcdTuning.prototype, props, tuningTypes, () => new EtcdTuning(props));
  }

  private readonly heartbeat: Duration;
  private readonly election: Duration;
  private readonly snapshotCount: number;
  private readonly autoCompaction: AutoCompaction;

  private constructor(props: EtcdTuningProps) {
    this.heartbeat = props.heartbeatInterval ?? Duration.millis(100);
    this.election = props.electionTimeout ?? Duration.millis(1_000);
    this.snapshotCount = props.snapshotCount ?? 10_000;
    this.autoCompaction = props.autoCompaction ?? AutoCompaction.periodic(Duration.hours(1));
  }

  /** @internal */
  _settings(): { [key: string]: number | string } {
    return {
      'heartbeat-interval': milliseconds(this.heartbeat),
      'election-timeout': milliseconds(this.election),
      'snapshot-count': this.snapshotCount,
      ...this.autoCompaction._settings(),
    };
  }

  /** @internal */
  _problems(): string[] {
    const { heartbeat, election, snapshotCount } = this;
    const found = [
      ...problemsOf(
        wholeMilliseconds('heartbeatInterval', heartbeat),
        wholeMilliseconds('electionTimeout', election),
        snapshotCount >= 1 && Number.isSafeInteger(snapshotCount)
          ? undefined
          : `snapshotCount: ${snapshotCount} is not a valid count; give a whole number of at least 1, such as 10000`,
      ),
      ...this.autoCompaction._problems(),
    ];
    if (found.length === 0) found.push(...problemsOf(electionProblem(heartbeat, election)));
    return found.map((problem) => `tuning: ${problem}`);
  }
}

function wholeMilliseconds(what: string, duration: Duration): string | undefined {
  const amount = milliseconds(duration);
  if (Number.isSafeInteger(amount) && amount >= 1) return undefined;
  return `${what}: ${amount}ms is not a whole number of milliseconds above zero; give one, such as Duration.millis(100)`;
}

function electionProblem(heartbeat: Duration, election: Duration): string | undefined {
  if (milliseconds(election) < 5 * milliseconds(heartbeat)) {
    return `electionTimeout: ${durationText(election)} is less than five heartbeats of ${durationText(heartbeat)}, which etcd refuses; use ten heartbeats, Duration.millis(${10 * milliseconds(heartbeat)})`;
  }
  if (milliseconds(election) <= 50_000) return undefined;
  return `electionTimeout: ${durationText(election)} is more than the 50s that etcd allows; lower it`;
}
