import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import type { RecordStore } from '../../src/controllers/port/port.ts';
import type { RecordDoc } from '../../src/protocol/record.ts';
import { Conflict, type FileStore, readIfThere, writeWhole } from './store.ts';

type Read = { doc: RecordDoc; rv: string } | undefined;

/** The record in a separate file, as agents read it. */
export class RecordFile implements RecordStore {
  readonly #store: FileStore;

  constructor(store: FileStore) {
    this.#store = store;
  }

  async read(): Promise<Read> {
    return this.now();
  }

  async write(doc: RecordDoc, basedOn?: string): Promise<void> {
    this.#store.locked(() => {
      if (this.now()?.rv !== basedOn) throw new Conflict('the record was changed');
      // Write the log first: a kill between the two must not lose a version in the log.
      this.#log({ doc });
      writeWhole(this.#file, JSON.stringify(doc, null, 1));
    });
  }

  async remove(basedOn?: string): Promise<void> {
    this.#store.locked(() => {
      if (basedOn !== undefined && this.now()?.rv !== basedOn) throw new Conflict('the record was changed');
      rmSync(this.#file, { force: true });
      this.#log({ removed: true });
    });
  }

  now(): Read {
    const text = readIfThere(this.#file);
    if (text === undefined) return undefined;
    return { doc: JSON.parse(text), rv: createHash('sha256').update(text).digest('hex') };
  }

  /** Puts a directory, which cannot be read, in its place; one of the two exists at every moment. */
  block(): void {
    const { published, kept } = this.#paths;
    const directory = this.#store.file('no-record');
    mkdirSync(directory, { recursive: true });
    if (existsSync(published)) linkSync(published, kept);
    symlinkSync(directory, `${published}.link`);
    renameSync(`${published}.link`, published);
  }

  unblock(): void {
    const { published, kept } = this.#paths;
    if (existsSync(kept)) renameSync(kept, published);
    else rmSync(published);
  }

  get #file(): string {
    const { published, kept } = this.#paths;
    return this.#store.unreachable ? kept : published;
  }

  get #paths(): { published: string; kept: string } {
    return { published: this.#store.file('record.json'), kept: this.#store.file('record.kept') };
  }

  /** Every version that ever existed, one per line. */
  #log(entry: { doc: RecordDoc } | { removed: true }): void {
    appendFileSync(this.#store.file('record.log'), `${JSON.stringify({ at: Date.now(), ...entry })}\n`);
  }
}
