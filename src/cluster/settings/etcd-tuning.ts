import { Duration } from 'cdk8s';
import { durationProblem, durationText, goDuration, milliseconds, parseDuration } from '../../lib/duration';
import { defaults } from '../../resource/defaults';
import type { EtcdClusterSpec } from '../../resource/types';
import { Duration as durationType } from '../../validation/class-types';
import { problemsOf } from '../../validation/problems';
import * as types from '../../validation/property-types';
import { buildIfValid, required } from '../../validation/type-checks';

type TuningSpec = NonNullable<EtcdClusterSpec['tuning']>;
type Compaction = NonNullable<TuningSpec['autoCompaction']>;

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
      { retention: required(durationType) },
      () => new AutoCompaction('periodic', goDuration(retention)),
    );
  }

  /**
   * Keeps the last `count` revisions, whatever their age.
   *
   * @param count How many revisions are kept, 1 or more.
   */
  static revisions(count: number): AutoCompaction {
    return new AutoCompaction('revision', String(count));
  }

  /** Keeps every revision. Use it only if your application compacts by itself. */
  static disabled(): AutoCompaction {
    return new AutoCompaction('periodic', '0');
  }

  private constructor(
    private readonly mode: Compaction['mode'],
    private readonly retention: string,
  ) {}

  /** @internal */
  _spec(): Compaction {
    return { mode: this.mode, retention: this.retention };
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
    return buildIfValid(EtcdTuning.prototype, props, types.EtcdTuningProps, () => new EtcdTuning(props));
  }

  private constructor(private readonly props: EtcdTuningProps) {}

  /** @internal */
  _spec(): TuningSpec {
    const { heartbeatInterval, electionTimeout, snapshotCount, autoCompaction } = this.props;
    return {
      heartbeatInterval: heartbeatInterval && durationText(heartbeatInterval),
      electionTimeout: electionTimeout && durationText(electionTimeout),
      snapshotCount,
      autoCompaction: autoCompaction?._spec(),
    };
  }
}

/** Returns the settings of etcd, with the defaults. */
export function tuningSettings(tuning: TuningSpec = {}): { [key: string]: number | string } {
  const { heartbeat, election, snapshotCount, autoCompaction } = withDefaults(tuning);
  return {
    'heartbeat-interval': heartbeat,
    'election-timeout': election,
    'snapshot-count': snapshotCount,
    'auto-compaction-mode': autoCompaction.mode,
    'auto-compaction-retention': autoCompaction.retention,
  };
}

/** Problems with the tuning, each with its remedy. */
export function tuningProblems(tuning: TuningSpec = {}): string[] {
  const { heartbeat, election, autoCompaction } = withDefaults(tuning);
  return problemsOf(
    wholeMilliseconds('heartbeatInterval', heartbeat),
    wholeMilliseconds('electionTimeout', election),
    compactionProblem(autoCompaction),
  ).map((problem) => `tuning: ${problem}`);
}

/** Times are in milliseconds. */
function withDefaults(tuning: TuningSpec) {
  const usual = defaults.EtcdClusterSpec.tuning;
  const { heartbeatInterval = usual.heartbeatInterval, electionTimeout = usual.electionTimeout } = tuning;
  const { snapshotCount = usual.snapshotCount, autoCompaction = usual.autoCompaction } = tuning;
  const of = (text: string) => milliseconds(parseDuration(text) ?? Duration.millis(0));
  return { heartbeat: of(heartbeatInterval), election: of(electionTimeout), snapshotCount, autoCompaction };
}

function compactionProblem({ mode, retention }: Compaction): string | undefined {
  if (retention === '0' && mode === 'periodic') return undefined;
  if (mode === 'periodic') return durationProblem('autoCompaction', parseDuration(retention) ?? Duration.millis(0));
  return /^[1-9]\d*$/.test(retention) && Number.isSafeInteger(Number(retention))
    ? undefined
    : `autoCompaction: ${retention} is not a valid number of revisions; give a whole number of at least 1`;
}

function wholeMilliseconds(what: string, amount: number): string | undefined {
  if (Number.isSafeInteger(amount) && amount >= 1) return undefined;
  return `${what}: ${amount}ms is not a whole number of milliseconds above zero; give one, such as 100ms`;
}
