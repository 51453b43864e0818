import type { CpuPressure } from '../support/cpu-pressure.ts';
import type { History, Write } from './history.ts';

/** An attempt of the writers and the pause behind it, in ms, with some delay. */
const attempt = 450;
/** Of the time in which somebody waited for a CPU: a machine on which etcd is slow by itself. */
const overloaded = 0.8;

export interface MissedWrites {
  /** Not acknowledged within their second, by the clock of the logs. */
  readonly failed: readonly string[];
  /** Writes that do not count: the machine stood still, not etcd, and nobody got a second. */
  readonly starved: number;
}

/** Of the writes that began after this moment. */
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
