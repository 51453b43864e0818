import type { Log } from './log.ts';

const LINE_EVERY = 10_000;
const DRAW_EVERY = 100;
const BAR = 24;

/** How a command tells what it is doing: a bar on a terminal, JSON lines in the log elsewhere. */
export interface Progress {
  phase(name: string, detail?: string): void;
  /** Bytes done so far in this phase. */
  bytes(done: number, total?: number): void;
  end(): void;
}

export function createProgress(log: Log, stderr: NodeJS.WriteStream): Progress {
  return stderr.isTTY && process.env.TERM !== 'dumb' ? new Bar(stderr) : new Lines(log);
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
  #done = 0;
  #total: number | undefined;
  #since = 0;
  #next = 0;

  constructor(out: NodeJS.WriteStream) {
    this.#out = out;
  }

  phase(name: string, detail?: string): void {
    this.#keep();
    this.#text = detail ?? name;
    this.#done = 0;
    this.#since = Date.now();
    this.#next = 0;
    this.#draw(this.#text);
  }

  bytes(done: number, total?: number): void {
    this.#done = done;
    this.#total = total;
    if (Date.now() < this.#next && done !== total) return;
    this.#next = Date.now() + DRAW_EVERY;
    const rate = done / this.#seconds();
    const speed = `${formatBytes(done)}, ${formatBytes(rate)}/s`;
    if (total) this.#draw(`${this.#text} ${bar(done, total)} ${speed}${left(done, total, rate)}`);
    else this.#draw(`${this.#text} ${speed}`);
  }

  end(): void {
    this.#draw('');
  }

  /** A phase that moved bytes to its end stays on the screen. */
  #keep(): void {
    if (this.#done === 0 || (this.#total && this.#done < this.#total)) return;
    const seconds = this.#seconds();
    const speed = `${formatBytes(this.#done)} in ${formatSeconds(seconds)}, ${formatBytes(this.#done / seconds)}/s`;
    this.#draw(`${this.#text}: ${speed}`);
    this.#out.write('\n');
  }

  #seconds(): number {
    return Math.max(0.1, (Date.now() - this.#since) / 1000);
  }

  /** A line that wraps could not be drawn over. */
  #draw(line: string): void {
    this.#out.write(`\r\x1b[K${line.slice(0, Math.max(20, (this.#out.columns || 80) - 1))}`);
  }
}

function bar(done: number, total: number): string {
  const share = Math.min(1, done / total);
  return `${'█'.repeat(Math.round(share * BAR)).padEnd(BAR, '░')} ${Math.floor(share * 100)}%`;
}

function left(done: number, total: number, rate: number): string {
  return done < total ? `, ${formatSeconds((total - done) / rate)} left` : '';
}

/** `4 s`, `2 min 5 s`. */
function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
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
