import type { Log } from '../log.ts';
import { cut, fitting, widthOf } from './width.ts';

const LINE_EVERY = 10_000;
const DRAW_EVERY = 100;
const BAR = 24;
const SHORT_BAR = 8;
/** Number of characters of the text that are enough to recognize the phase. */
const TEXT = 16;

/** Shows what a command is doing: a bar on a terminal, elsewhere JSON lines in the log. */
export interface Progress {
  /** The phase that has begun last, in words. */
  readonly step?: string | undefined;
  phase(name: string, detail?: string): void;
  /** Bytes done so far in this phase. */
  bytes(done: number, total?: number): void;
  end(): void;
}

/** A phase in words. */
export const stepOf = (name: string, detail: string | undefined): string =>
  detail === undefined ? name : `${name}: ${detail}`;

/** Starts a phase with its first bytes, so that a transfer that is refused before shows no phase. */
export function phaseOfBytes(progress: Progress, name: string, detail: string, total?: number): (done: number) => void {
  let begun = false;
  return (done) => {
    if (!begun) progress.phase(name, detail);
    begun = true;
    progress.bytes(done, total);
  };
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
    this.#keepOnScreen();
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
    if (!total) this.#draw(`${this.#text} ${speed}`);
    else this.#draw(fitted(this.#text, done / total, ` ${speed}`, left(done, total, rate), this.#width));
  }

  end(): void {
    this.#draw('');
  }

  /** Leaves a finished phase with bytes on the screen. */
  #keepOnScreen(): void {
    if (this.#done === 0 || (this.#total && this.#done < this.#total)) return;
    const seconds = this.#seconds();
    const speed = `${formatBytes(this.#done)} in ${formatSeconds(seconds)}, ${formatBytes(this.#done / seconds)}/s`;
    this.#draw(`${this.#text}: ${speed}`);
    this.#out.write('\n');
  }

  #seconds(): number {
    return Math.max(0.1, (Date.now() - this.#since) / 1000);
  }

  /** Draws over the current line. Cuts the new line to the width, because a wrapped line cannot be overwritten. */
  #draw(line: string): void {
    this.#out.write(`\r\x1b[K${fitting(line, this.#width)}`);
  }

  get #width(): number {
    return Math.max(20, (this.#out.columns || 80) - 1);
  }
}

/**
 * Fits a line into the width: first the bar gets shorter, then the text, then the speed is dropped. Percentage and
 * time stay.
 */
function fitted(text: string, share: number, speed: string, time: string, width: number): string {
  const percent = `${Math.floor(Math.min(1, share) * 100)}%`;
  const all = `${percent}${speed}${time}`;
  const room = Math.min(BAR, width - widthOf(text) - all.length - 2);
  if (room >= SHORT_BAR) return `${text} ${bar(share, room)} ${all}`;
  const numbers = width - all.length > TEXT ? all : `${percent}${time}`;
  return `${cut(text, width - numbers.length - 1)} ${numbers}`;
}

export const bar = (share: number, length: number): string =>
  '█'.repeat(Math.round(Math.min(1, share) * length)).padEnd(length, '░');

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
