import { readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Puts a directory in the place of another. Where it holds the same nothing changes: what runs from there goes on to load
 * its files. Of several at once the last one counts.
 */
export async function replaceDirectory(fresh: string, target: string): Promise<void> {
  if (await holdSame(fresh, target)) return rm(fresh, { recursive: true });
  const old = `${fresh}.old`;
  for (let done = false; !done; ) {
    await rename(target, old).catch(unless('ENOENT'));
    done = (await rename(fresh, target).then(() => true, unless('ENOTEMPTY', 'EEXIST'))) ?? false;
    await rm(old, { recursive: true, force: true });
  }
}

async function holdSame(...directories: [string, string]): Promise<boolean> {
  const [files, others] = await Promise.all(directories.map(filesIn));
  if (!files || !others || files.join('\n') !== others.join('\n')) return false;
  for (const file of files) {
    const [content, other] = await Promise.all(
      directories.map((each) => readFile(join(each, file)).catch(unless('ENOENT'))),
    );
    if (!content || !other || !content.equals(other)) return false;
    const stats = await Promise.all(directories.map((each) => stat(join(each, file)).catch(unless('ENOENT'))));
    if (stats[0]?.mode !== stats[1]?.mode) return false;
  }
  return true;
}

async function filesIn(directory: string): Promise<string[] | undefined> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(unless('ENOENT'));
  return entries
    ?.filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length))
    .sort();
}

/** Gives undefined for errors of these codes. */
const unless =
  (...codes: string[]) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
