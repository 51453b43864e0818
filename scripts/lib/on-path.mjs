import { readdir, realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cacheDirectory } from './cache.mjs';

/** The real paths of everything on the PATH whose name matches, in the PATH's order; our own cache does not count. */
export async function onPath(pattern) {
  const directories = [...new Set((process.env.PATH ?? '').split(delimiter).filter(Boolean))];
  const found = [];
  for (const directory of directories) {
    const names = await readdir(directory).catch(() => []);
    for (const name of names.filter((name) => pattern.test(name))) {
      found.push(await realpath(join(directory, name)).catch(() => undefined));
    }
  }
  return [...new Set(found)].filter((path) => path && !path.startsWith(`${cacheDirectory}/`));
}
