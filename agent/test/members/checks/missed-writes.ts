import type { CpuPressure } from '../support/cpu-pressure.ts';
import type { History, Write } from './history.ts';

/** Duration of an attempt of the writers and the pause after it, in ms, with some tolerance. */
const attempt = 450;
/** Share of the time that processes spend waiting for a CPU. Above it, the machine makes etcd slow. */
const overloaded = 0.8;

export interface MissedWrites {
  /** Not acknowledged within their second, by the clock of the logs. */
  readonly failed: readonly string[];
  /** Writes that do not count: not etcd but the machine stalled, so no writer had its full second. */
  readonly starved: number;
}

/** Counts only writes that began after this time. */
export function missedWrites(
  { writes }: Pick<History, 'writes'>,
  since: number,
  pressure?: Pick<CpuPressure, 'share'>,
): MissedWrites {
  const stoodStill = ({ start, end, attempts }: Write): boolean =>
    end - start > attempts * attempt || (pressure?.share(start, end) ?? 0) > overloaded;
  const missed = writes.filter(({ start, outcome }) => start >= since && outcome !== 'ok');
  const failed = missed
    .filter((write) => !stoodStill(write))
    .map(({ start, end, attempts, error }) => {
      const [from, to] = [start, end].map((at) => new Date(performance.timeOrigin + at).toISOString().slice(11));
      return `${from} to ${to}, ${attempts} attempts: ${error}`;
    });
  return { failed, starved: missed.length - failed.length };
}
