import { fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { History, RegisterOperation, Term, Write } from './history.ts';

/** One line. Each operation has a line before it is sent, with unknown outcome, and one with its outcome. */
interface Entry {
  /** Start of the first process. All times count from then. */
  readonly origin?: number;
  readonly write?: Write;
  readonly register?: RegisterOperation;
  readonly term?: Term;
}

/** The history of a writer on disk, so that the next process can continue it if this one is killed. */
export class Journal {
  /** Entries of earlier processes. */
  readonly past: History;
  readonly #file: number;
  readonly #origin: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a+', 0o600);
    const entries = readFileSync(path, 'utf8').split('\n').flatMap(parsed);
    this.past = historyOf(entries);
    this.#origin = entries.find(({ origin }) => origin !== undefined)?.origin ?? performance.timeOrigin;
    // The previous line may be incomplete.
    this.#append({ origin: this.#origin }, '\n');
  }

  get now(): number {
    return performance.timeOrigin - this.#origin + performance.now();
  }

  /** Store it before it is sent: no key may exist that the journal does not know. */
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
