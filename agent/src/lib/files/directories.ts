import { constants, mkdir, open, readdir, realpath, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../errors.ts';

/** Makes the content of a file durable. For a directory: the files that were renamed into it or removed from it. */
export async function sync(path: string): Promise<void> {
  // A named pipe in a tree would hold up an open that waits.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a directory and everything in it durable. */
export async function syncTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await syncTree(path);
    else await sync(path);
  }
  await sync(directory);
}

/**
 * Creates a directory and its missing parents durably. Only owner and group have access, because snapshots contain
 * secrets.
 */
export async function makeDirectory(directory: string): Promise<void> {
  if (await isDirectory(directory)) return;
  try {
    // Do not create recursively: Node would report a read-only file system as ENOENT.
    await mkdir(directory, 0o750);
  } catch (error) {
    if (await isDirectory(directory)) return;
    if (codeOf(error) !== 'ENOENT' || (await isDirectory(dirname(directory)))) throw error;
    await makeDirectory(dirname(directory));
    return makeDirectory(directory);
  }
  await sync(dirname(directory));
}

const isDirectory = async (path: string) => (await unlessGone(stat(path)))?.isDirectory() ?? false;

/** Removes a directory and its parents as long as they are empty, up to `root`, which stays. */
export async function removeEmptyDirectories(directory: string, root: string): Promise<void> {
  for (let at = directory; at.startsWith(`${root}/`); at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      return;
    }
  }
}

export interface FoundFile {
  /** Path relative to the root. */
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
  /** The entry is a symbolic link to the file. */
  readonly isLink: boolean;
}

/** Entries that the file system itself creates in a volume's root. Often only root may read them. */
export const SYSTEM_ENTRIES = new Set(['lost+found', '.snapshot']);

const MISSING = new Set(['ENOENT']);
const GONE = new Set([...MISSING, 'ENOTDIR']);
const NOWHERE = new Set([...GONE, 'ELOOP']);

/** Resolves to undefined instead of rejecting if the path does not exist. */
export const unlessGone = <T>(call: Promise<T>): Promise<T | undefined> => unless(GONE, call);

/** The same for what may be a symbolic link: one that leads back to itself leads to nothing, as a dangling one. */
export const unlessNowhere = <T>(call: Promise<T>): Promise<T | undefined> => unless(NOWHERE, call);

/** The same where a file in the place of a directory is a fault: something is there, and not what is expected. */
export const unlessMissing = <T>(call: Promise<T>): Promise<T | undefined> => unless(MISSING, call);

async function unless<T>(codes: ReadonlySet<string>, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (codes.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/**
 * Yields every file below `directory`, which is relative to `root` (empty for the root itself). A missing directory
 * yields none. A symbolic link to a directory elsewhere is followed once: what lies within the root has a name of its own.
 */
export async function* walk(root: string, directory: string, seen?: Seen): AsyncGenerator<FoundFile> {
  const entries = await unlessGone(readdir(join(root, directory), { withFileTypes: true }));
  if (!entries) return;
  const known = seen ?? new Seen(await Promise.all([root, join(root, directory)].map((at) => realpath(at))));
  for (const entry of entries) {
    const name = directory === '' ? entry.name : `${directory}/${entry.name}`;
    if (SYSTEM_ENTRIES.has(name)) continue;
    if (entry.isDirectory()) {
      yield* walk(root, name, known);
      continue;
    }
    const path = join(root, name);
    const found = await unlessNowhere(stat(path));
    if (found?.isFile()) yield { name, size: found.size, modified: found.mtime, isLink: entry.isSymbolicLink() };
    if (found?.isDirectory() && known.isNew(await unlessNowhere(realpath(path)))) yield* walk(root, name, known);
  }
}

/** The directories that a walk has been to, by their real paths. */
export class Seen {
  readonly #places: string[];

  constructor(begun: readonly string[]) {
    this.#places = [...begun];
  }

  /** False for what lies within a directory of before, or around one: a link to it could lead in a circle. */
  isNew(place: string | undefined): boolean {
    if (place === undefined || this.#places.some((each) => isWithin(place, each) || isWithin(each, place)))
      return false;
    this.#places.push(place);
    return true;
  }
}

const isWithin = (path: string, directory: string) => `${path}/`.startsWith(directory === '/' ? '/' : `${directory}/`);
