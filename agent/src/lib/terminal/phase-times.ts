import { type Progress, stepOf } from './progress.ts';

/** Passes progress on and sums up the seconds of each phase. */
export class PhaseTimes implements Progress {
  readonly #progress: Progress;
  readonly #seconds = new Map<string, number>();
  #phase: string | undefined;
  #detail: string | undefined;
  #since = 0;

  constructor(progress: Progress) {
    this.#progress = progress;
  }

  phase(name: string, detail?: string): void {
    this.#close();
    this.#phase = name;
    this.#detail = detail;
    this.#progress.phase(name, detail);
  }

  get step(): string | undefined {
    return this.#phase === undefined ? undefined : stepOf(this.#phase, this.#detail);
  }

  bytes(done: number, total?: number): void {
    this.#progress.bytes(done, total);
  }

  end(): void {
    this.#close();
    this.#phase = undefined;
    this.#progress.end();
  }

  /** Seconds of the phases that have ended, in the order of their first start. */
  get seconds(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#seconds].map(([name, sum]) => [name, Math.round(sum * 1000) / 1000]));
  }

  #close(): void {
    const now = performance.now();
    if (this.#phase !== undefined) {
      this.#seconds.set(this.#phase, (this.#seconds.get(this.#phase) ?? 0) + (now - this.#since) / 1000);
    }
    this.#since = now;
  }
}
