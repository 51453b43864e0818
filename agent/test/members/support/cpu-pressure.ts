import { readFileSync } from 'node:fs';

interface Sample {
  /** Time in ms, on the clock of the history. */
  readonly at: number;
  /** Total ms in which a process on this machine waited for a CPU. */
  readonly waited: number;
}

/** Share of the time in which a process waited for a CPU of this machine, as counted by Linux. */
export class CpuPressure {
  readonly #samples: Sample[] = [];
  readonly #read: () => string;

  /** Unreadable if the kernel does not count it: then the share is always 0. */
  constructor(read = () => readFileSync('/proc/pressure/cpu', 'utf8')) {
    this.#read = read;
  }

  sample(at = performance.now()): void {
    try {
      const [, total] = this.#read().match(/^some .*total=(\d+)/m) ?? [];
      if (total) this.#samples.push({ at, waited: Number(total) / 1_000 });
    } catch {
      // Not counted here.
    }
  }

  /** Returns a share between 0 and 1, from the samples around this time. */
  share(from: number, to: number): number {
    const first = this.#samples.findLast(({ at }) => at <= from);
    const last = this.#samples.find(({ at }) => at >= to);
    return first && last && last.at > first.at ? (last.waited - first.waited) / (last.at - first.at) : 0;
  }
}
