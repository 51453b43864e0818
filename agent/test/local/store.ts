import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

interface Metadata {
  readonly uid: string;
  /** Changes with each write. */
  readonly rv: string;
}

export type Stored<T> = T & Metadata;

export class Conflict extends Error {}

/** Objects in files. Several processes write them by compare-and-swap, and each may be killed at any time. */
export class FileStore {
  readonly dir: string;
  readonly #lock: DatabaseSync;

  constructor(dir: string) {
    this.dir = dir;
    mkdirSync(dir, { recursive: true });
    this.#lock = new DatabaseSync(join(dir, 'lock'), { timeout: 10_000 });
  }

  /** The API server does not answer its clients. */
  get unreachable(): boolean {
    return existsSync(this.file('unreachable'));
  }

  /** SQLite uses a lock of the kernel: it ends with the process that holds it. */
  locked<T>(work: () => T): T {
    this.#lock.exec('BEGIN EXCLUSIVE');
    try {
      return work();
    } finally {
      this.#lock.exec('COMMIT');
    }
  }

  read<T>(name: string): Stored<T> | undefined {
    const text = readIfThere(this.file(`${name}.json`));
    return text === undefined ? undefined : JSON.parse(text);
  }

  list<T>(folder: string): Stored<T>[] {
    const directory = this.file(folder);
    if (!existsSync(directory)) return [];
    const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
    return names.sort().flatMap((name) => this.read<T>(`${folder}/${name.slice(0, -'.json'.length)}`) ?? []);
  }

  create<T extends object>(name: string, value: T): Stored<T> {
    return this.locked(() => {
      if (this.read(name)) throw new Conflict(`${name} exists already`);
      return this.#write(name, { ...value, uid: randomUUID(), rv: randomUUID() });
    });
  }

  /** Fails if the object is missing, or has another version than the one that the caller read. */
  update<T extends object>(name: string, basedOn: string | undefined, change: (old: Stored<T>) => T): Stored<T> {
    return this.locked(() => {
      const old = this.read<T>(name);
      if (!old) throw new Conflict(`${name} is not there`);
      if (basedOn !== undefined && old.rv !== basedOn) throw new Conflict(`${name} was changed`);
      return this.#write(name, { ...change(old), uid: old.uid, rv: randomUUID() });
    });
  }

  /** Fails if it is another object than the caller expects. */
  remove(name: string, uid?: string): void {
    this.locked(() => {
      const old = this.read(name);
      if (uid !== undefined && old?.uid !== uid) throw new Conflict(`${name} is another one`);
      rmSync(this.file(`${name}.json`), { force: true });
    });
  }

  file(path: string): string {
    return join(this.dir, path);
  }

  #write<T>(name: string, value: Stored<T>): Stored<T> {
    writeWhole(this.file(`${name}.json`), JSON.stringify(value, null, 1));
    return value;
  }
}

export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A reader sees either the old file or the new one. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
}
