import { join } from 'node:path';
import { fieldsOf, integer } from '../protobuf.ts';
import { isTorn } from './torn-record.ts';
import { framesOf, readAt, walDirectory, walFiles } from './wal.ts';

const CHUNK = 1024 * 1024;
/** Bytes. etcd does not accept records of more than 10 MiB, so a longer one is damage. */
const LONGEST = 16 * CHUNK;
const ENTRY = 2n;
const STATE = 3n;
const SNAPSHOT = 5n;

/** Raft state in a member's write-ahead log. It can be read while etcd is down. */
export interface WalState {
  readonly term: number;
  /** Index of the last entry that the member knows to be committed. */
  readonly commit: number;
  /** Index of the newest entry, committed or not. */
  readonly lastIndex: number;
}

/** Returns undefined if there is no log. Throws a RangeError if it is damaged. */
export const walState = (dataDir: string, directory?: string): Promise<WalState | undefined> =>
  new WalTail(dataDir, directory).state();

/** Follows a growing log: each read covers only the records that were added. */
export class WalTail {
  readonly #directory: string;
  #file = '';
  #at = 0;
  #term = 0;
  #commit = 0;
  #lastIndex = 0;
  #crc = 0;
  #reading: Promise<WalState | undefined> | undefined;

  constructor(dataDir: string, directory = walDirectory(dataDir)) {
    this.#directory = directory;
  }

  /** Reads the records that were added since the last call. Concurrent calls share one read. */
  state(): Promise<WalState | undefined> {
    this.#reading ??= this.#read()
      .catch((error) => {
        // After any error, for example a record that is not complete yet, begin at the start of the file next time.
        this.#file = '';
        throw error;
      })
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #read(): Promise<WalState | undefined> {
    const newest = (await walFiles(this.#directory)).at(-1);
    if (newest === undefined) return undefined;
    if (newest !== this.#file) this.#begin(newest);
    await this.#follow(join(this.#directory, newest));
    return { term: this.#term, commit: this.#commit, lastIndex: this.#lastIndex };
  }

  /** A file is named <number>-<index of its first entry>, in hex, and begins with the state of the previous file. */
  #begin(file: string): void {
    this.#file = file;
    this.#at = 0;
    this.#crc = 0;
    const first = Number.parseInt(file.slice(17, 33), 16);
    this.#lastIndex = Math.max(0, first - 1) || 0;
  }

  async #follow(path: string): Promise<void> {
    for (let size = CHUNK; ; ) {
      const chunk = await readAt(path, this.#at, size);
      const { end, torn } = this.#take(chunk);
      this.#at += end;
      if (torn || chunk.length < size || isUnwritten(chunk, end)) return;
      // If no record was complete, the next one is longer than the chunk.
      size = end === 0 ? size * 2 : CHUNK;
      if (size > LONGEST) throw new RangeError(`${path}: no valid record at byte ${this.#at}`);
    }
  }

  #take(chunk: Buffer): { readonly end: number; readonly torn: boolean } {
    let end = 0;
    for (const { record, end: next } of framesOf(chunk)) {
      // etcd cuts such a record off when it starts, and goes on.
      if (isTorn(record, this.#at + record.byteOffset - chunk.byteOffset, this.#crc)) return { end, torn: true };
      this.#note(record);
      end = next;
    }
    return { end, torn: false };
  }

  #note(record: Buffer): void {
    const { 1: type, 2: crc, 3: data } = Object.fromEntries(fieldsOf(record));
    this.#crc = integer(crc ?? 0n);
    if (!(data instanceof Uint8Array)) return;
    if (type === STATE) {
      const { 1: term = 0n, 3: commit = 0n } = Object.fromEntries(fieldsOf(data));
      [this.#term, this.#commit] = [integer(term), integer(commit)];
    }
    if (type === ENTRY) this.#lastIndex = fieldOf(data, 3) ?? this.#lastIndex;
    if (type === SNAPSHOT) this.#lastIndex = Math.max(this.#lastIndex, fieldOf(data, 1) ?? 0);
  }
}

function fieldOf(message: Uint8Array, wanted: number): number | undefined {
  for (const [field, value] of fieldsOf(message)) if (field === wanted) return integer(value);
  return undefined;
}

const isUnwritten = (chunk: Buffer, at: number): boolean => at + 8 <= chunk.length && chunk.readUIntLE(at, 6) === 0;
