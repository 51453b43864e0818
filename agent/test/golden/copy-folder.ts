import { lstat, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { NamedCluster } from '../../src/backup/catalog/identity/folder.ts';

export const folders = join(import.meta.dirname, 'folders');

export interface Golden {
  /** When the folder is read. */
  readonly now: string;
  /** The folder that it lies over. */
  readonly over?: string;
  /** Clusters that no list of the store has. */
  readonly clusters?: readonly NamedCluster[];
  /** Exact keys in it. */
  readonly objectKeys?: readonly string[];
}

export const readGolden = async (name: string): Promise<Golden> =>
  JSON.parse(await readFile(join(folders, name, 'folder.json'), 'utf8'));

/** Copies a golden folder, with the times that git does not keep. */
export async function copyFolder(name: string, to: string): Promise<void> {
  const { over } = await readGolden(name);
  if (over !== undefined) await copyFolder(over, to);
  const lines = (await readFile(join(folders, name, 'times.txt'), 'utf8')).split('\n').filter(Boolean);
  for (const line of lines) {
    const [key, target] = line.split(' -> ');
    const [path, at] = target === undefined ? line.split(/ (?=\S+$)/) : [key, undefined];
    const file = join(to, path!);
    await mkdir(dirname(file), { recursive: true });
    if (target !== undefined) {
      await symlink(target, file);
      continue;
    }
    await writeFile(file, await readFile(join(folders, name, 'store', path!)));
    await utimes(file, new Date(at!), new Date(at!));
  }
}

/** The objects of a store, each with its size and time. */
export async function objectsIn(store: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const key of (await readdir(store, { recursive: true })).sort()) {
    const entry = await lstat(join(store, key));
    if (!entry.isDirectory()) found.set(key, `${entry.size} ${entry.mtime.toISOString()}`);
  }
  return found;
}
