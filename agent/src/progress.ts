import type { Log } from './log.ts';

const LINE_EVERY = 10_000;
const DRAW_EVERY = 100;

/** How a command tells what it is doing: a bar on a terminal, JSON lines in the log elsewhere. */
export interface Progress {
  phase(name: string, detail?: string): void;
  /** Bytes done so far in this phase. */
  bytes(done: number, total?: number): void;
  end(): void;
}

export function createProgress(log: Log, stderr: NodeJS.WriteStream): Progress {
  return stderr.isTTY ? new Bar(stderr) : new Lines(log);
}

class Lines implements Progress {
  readonly #log: Log;
  #phase = '';
  #next = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  phase(name: string, detail?: string): void {
    this.#phase = name;
    this.#next = Date.now() + LINE_EVERY;
    this.#log.info({ phase: name }, detail ?? name);
  }

  bytes(done: number, total?: number): void {
    if (Date.now() < this.#next) return;
    this.#next = Date.now() + LINE_EVERY;
    this.#log.info({ phase: this.#phase, bytes: done, totalBytes: total }, 'progress');
  }

  end(): void {}
}

class Bar implements Progress {
  readonly #out: NodeJS.WriteStream;
  #text = '';
  #next = 0;
  #since = 0;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  phase(name: string, detail?: string): void {
    this.#text = detail ?? name;
    this.#since = Date.now();
    this.#draw('');
  }

  bytes(done: number, total?: number): void {
    if (Date.now() < this.#next && done !== total) return;
    this.#next = Date.now() + DRAW_EVERY;
    const seconds = Math.max(0.1, (Date.now() - this.#since) / 1000);
    const share = total ? Math.min(1, done / total) : undefined;
    const bar =
      share === undefined ? '' : ` ${'█'.repeat(Math.round(share * 24)).padEnd(24, '░')} ${Math.round(share * 100)}%`;
    this.#draw(`${bar} ${formatBytes(done)}, ${formatBytes(done / seconds)}/s`);
  }

  end(): void {
    this.#out.write('\r\x1b[K');
  }

  #draw(tail: string): void {
    this.#out.write(`\r\x1b[K${this.#text}${tail}`);
  }
}

/** Binary units, as etcdctl prints sizes: `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
