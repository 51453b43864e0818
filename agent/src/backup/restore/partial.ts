import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { withFileLock } from '../../lib/files/file-lock.ts';

const lockOf = (path: string) => `${path}.lock`;

/**
 * Creates the content of `path` under a temporary name beside it, one run at a time. Removes what is left under that
 * name at the end.
 */
export async function withPartial<T>(path: string, at: string, work: (partial: string) => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  const write = async () => {
    await removePartials(path);
    // Runs on other machines may not see the lock, so each run uses a name of its own.
    const partial = `${path}.partial-${randomBytes(4).toString('hex')}`;
    try {
      return await work(partial);
    } finally {
      await rm(partial, { recursive: true, force: true }).catch(() => {});
    }
  };
  return withFileLock(lockOf(path), `another run is restoring to ${path}`, write, at);
}

/** Removes what a killed run left, unless another run is working there. */
export async function removeLeft(path: string): Promise<void> {
  const names = await namesBeside(path);
  if (!names.some((name) => name === basename(lockOf(path)) || isPartial(name, path))) return;
  await unlessBusy(path, () => removePartials(path)).catch(() => {});
}

/** Runs the work under the lock of `path`, or not at all if another run holds the lock. */
export async function unlessBusy(path: string, work: () => Promise<void>): Promise<void> {
  await withFileLock(lockOf(path), 'busy', work).catch((error) => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.refused) throw error;
  });
}

async function removePartials(path: string): Promise<void> {
  const left = (await namesBeside(path)).filter((name) => isPartial(name, path));
  await Promise.all(left.map((name) => rm(join(dirname(resolve(path)), name), { recursive: true, force: true })));
}

const namesBeside = (path: string) => readdir(dirname(resolve(path))).catch((): string[] => []);

/** Older agents used names without the random suffix. */
const isPartial = (name: string, path: string): boolean =>
  name.startsWith(`${basename(path)}.partial`) &&
  /^(-[0-9a-f]{8})?$/.test(name.slice(`${basename(path)}.partial`.length));
