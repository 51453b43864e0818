import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { fitting } from '../lib/terminal/width.ts';
import { usage } from './exit.ts';
import { plain, printable } from './text.ts';

/** Standard streams, environment and Ctrl-C of one run. */
export interface Streams {
  readonly stdout: Out;
  readonly stderr: Out;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export type Out = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

type Color = 'red' | 'green' | 'yellow' | 'bold' | 'dim';

const codes: Readonly<Record<Color, number>> = { red: 31, green: 32, yellow: 33, bold: 1, dim: 2 };

const eraseLine = '\r\x1b[K';
const clearScreen = '\x1b[H\x1b[2J\x1b[3J';

/** Writes for people. Colors and moving lines are only for terminals. */
export class Terminal {
  readonly streams: Streams;
  #isDrawn = false;
  /** Stands around the code of a color until the text is printed. Nobody else can write it. */
  readonly #mark = randomUUID();

  constructor(streams: Streams) {
    this.streams = streams;
  }

  get signal(): AbortSignal {
    return this.streams.signal;
  }

  get width(): number {
    const { isTTY, columns } = this.streams.stdout;
    return isTTY ? Math.max(40, columns || 80) : 80;
  }

  /** A result, for standard output. */
  print(text: string): void {
    this.#erase();
    const parts = text.split(this.#mark);
    const shown = parts.map((part, index) => (index % 2 ? `\x1b[${part}m` : printable(part)));
    this.streams.stdout.write(`${shown.join('')}\n`);
  }

  /** A remark, for standard error. */
  note(text: string): void {
    this.#erase();
    this.streams.stderr.write(`${printable(text)}\n`);
  }

  /** Draws over the last such line. Does nothing if standard error is not a terminal. */
  draw(line: string): void {
    if (!this.#moves(this.streams.stderr)) return;
    const columns = this.streams.stderr.columns || 80;
    this.streams.stderr.write(`${eraseLine}${fitting(plain(line), columns - 1)}`);
    this.#isDrawn = true;
  }

  /** Begins a new picture on a terminal. */
  clear(): void {
    if (this.#moves(this.streams.stdout)) this.streams.stdout.write(clearScreen);
  }

  color(text: string, color: Color | undefined): string {
    const isPlain = color === undefined || this.streams.env.NO_COLOR || !this.#moves(this.streams.stdout);
    return isPlain ? text : `${this.#mark}${codes[color]}${this.#mark}${text}${this.#mark}0${this.#mark}`;
  }

  /** Asks, unless the user has agreed with `--yes`. */
  async ask(question: string): Promise<string> {
    const { stdin, stderr, signal } = this.streams;
    if (!stdin.isTTY) throw usage(`this needs an answer, and standard input is not a terminal; pass --yes to agree`);
    this.#erase();
    const lines = createInterface({ input: stdin, output: stderr });
    try {
      return (await lines.question(printable(question), { signal })).trim();
    } finally {
      lines.close();
    }
  }

  #erase(): void {
    if (this.#isDrawn) this.streams.stderr.write(eraseLine);
    this.#isDrawn = false;
  }

  #moves(out: Out): boolean {
    return out.isTTY === true && this.streams.env.TERM !== 'dumb';
  }
}
