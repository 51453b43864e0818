import { readFileSync } from 'node:fs';

interface Sample {
  /** ms, of the clock of the history. */
  readonly at: number;
  /** ms in all for which somebody on this machine waited for a CPU. */
  readonly waited: number;
}

/** How much of the time somebody waited for a CPU of this machine, as Linux counts it. */
export class CpuPressure {
  readonly #samples: Sample[] = [];
  readonly #read: () => string;

  /** Unreadable where the kernel does not count it: then nobody ever waits. */
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

  /** Between 0 and 1, over the samples around this time. */
  share(from: number, to: number): number {
    const first = this.#samples.findLast(({ at }) => at <= from);
    const last = this.#samples.find(({ at }) => at >= to);
    return first && last && last.at > first.at ? (last.waited - first.waited) / (last.at - first.at) : 0;
  }
}
