import { fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { History, RegisterOperation, Term, Write } from './history.ts';

/** One line. Of an operation there is one before it is sent, of unknown outcome, and one with its outcome. */
interface Entry {
  /** When the first process began: all times count from there. */
  readonly origin?: number;
  readonly write?: Write;
  readonly register?: RegisterOperation;
  readonly term?: Term;
}

/** The history of a writer on a disk, for the next process to go on with when this one is killed. */
export class Journal {
  /** What former processes wrote. */
  readonly past: History;
  readonly #file: number;
  readonly #origin: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a+', 0o600);
    const entries = readFileSync(path, 'utf8').split('\n').flatMap(parsed);
    this.past = historyOf(entries);
    this.#origin = entries.find(({ origin }) => origin !== undefined)?.origin ?? performance.timeOrigin;
    // The line before it may be cut off.
    this.#append({ origin: this.#origin }, '\n');
  }

  get now(): number {
    return performance.timeOrigin - this.#origin + performance.now();
  }

  /** It is on the disk before it is sent: no key is there that nobody knows of. */
  begins(entry: Entry): void {
    this.#append(entry);
    fdatasyncSync(this.#file);
  }

  ends(entry: Entry): void {
    this.#append(entry);
  }

  #append(entry: Entry, before = ''): void {
    writeSync(this.#file, `${before}${JSON.stringify(entry)}\n`);
  }
}

function parsed(line: string): Entry[] {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}

function historyOf(entries: readonly Entry[]): History {
  const terms = entries.flatMap(({ term }) => term ?? []);
  return {
    writes: newest(entries.flatMap(({ write }) => write ?? [])),
    registers: newest(entries.flatMap(({ register }) => register ?? [])),
    terms,
    clusterIds: [...new Set(terms.map(({ clusterId }) => clusterId))],
  };
}

/** A client does one thing at a time. */
const newest = <T extends Write | RegisterOperation>(operations: readonly T[]): T[] => [
  ...new Map(operations.map((operation) => [`${operation.client} ${operation.start}`, operation])).values(),
];
