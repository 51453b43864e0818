import { Duration } from 'cdk8s';
import { durationText, milliseconds } from '../../lib/duration';
import { built } from '../../validation/kinds';
import { problemsOf } from '../../validation/names';
import { tuningKinds } from '../../validation/property-kinds';
import { AutoCompaction } from './auto-compaction';

/** Time-outs, snapshots and compaction of one's own choice. */
export interface EtcdTuningProps {
  /**
   * How often the leader tells the others that it is there: about the round-trip time between the members.
   * @default Duration.millis(100)
   */
  readonly heartbeatInterval?: Duration;
  /**
   * How long the others wait for the leader before they elect another: ten times the round-trip time, at least five
   * heartbeats, at most 50 seconds.
   * @default Duration.millis(1000)
   */
  readonly electionTimeout?: Duration;
  /**
   * After how many writes a member takes a snapshot of its log. Fewer need less memory and more disk.
   * @default 10000
   */
  readonly snapshotCount?: number;
  /**
   * What etcd forgets by itself.
   * @default - AutoCompaction.periodic(Duration.hours(1))
   */
  readonly autoCompaction?: AutoCompaction;
}

/**
 * How etcd is tuned, all members alike. The presets follow etcd's tuning guide (https://etcd.io/docs/v3.6/tuning/): a
 * heartbeat of about the round-trip time between the members, and an election time-out of ten heartbeats.
 *
 * Unless said otherwise, history older than an hour is forgotten (`AutoCompaction`).
 */
export class EtcdTuning {
  /** Members within one region, etcd's own defaults: heartbeat 100 ms, election time-out 1 s. */
  static readonly LAN = new EtcdTuning({});
  /** Members up to half a second apart, such as on different continents: heartbeat 500 ms, election time-out 5 s. */
  static readonly WAN = new EtcdTuning({
    heartbeatInterval: Duration.millis(500),
    electionTimeout: Duration.millis(5_000),
  });

  /** Other values. What is left out is as in `LAN`. */
  static of(props: EtcdTuningProps): EtcdTuning {
    return built(EtcdTuning.prototype, props, tuningKinds, () => new EtcdTuning(props));
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
          : `snapshotCount: ${snapshotCount} is no count; give a whole number of at least 1, such as 10000`,
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
  return `${what}: ${amount}ms is no whole number of milliseconds above zero; give one, such as Duration.millis(100)`;
}

function electionProblem(heartbeat: Duration, election: Duration): string | undefined {
  if (milliseconds(election) < 5 * milliseconds(heartbeat)) {
    return `electionTimeout: ${durationText(election)} is less than five heartbeats of ${durationText(heartbeat)}, which etcd refuses; use ten, Duration.millis(${10 * milliseconds(heartbeat)})`;
  }
  if (milliseconds(election) <= 50_000) return undefined;
  return `electionTimeout: ${durationText(election)} is more than the 50s that etcd allows; lower it`;
}
