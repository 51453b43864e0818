import { copyFile, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { walFiles, walIdentity } from '../../etcd/offline/wal.ts';
import { sync, unlessMissing } from '../../lib/files/directories.ts';
import { type FileOwner, setOwner } from '../node/data-directory.ts';

// A separate write-ahead log (`--wal-dir`) is replaced inside its directory, because that may be the mount point of another
// disk. etcd ignores the subdirectories that a restore creates there.

const STAGED = 'restored.partial';
export const replacedLogDir = (walDir: string, replacedDir: string) =>
  join(walDir, basename(replacedDir).replace(/^member\./, ''));

/** Copies the restored log next to the old one, which may still be in use. */
export async function stageLog(member: string, walDir: string, owner: FileOwner): Promise<void> {
  const staged = join(walDir, STAGED);
  await discardLog(walDir);
  await mkdir(staged, { recursive: true, mode: 0o700 });
  const made = join(member, 'wal');
  for (const name of await walFiles(made)) await copyFile(join(made, name), join(staged, name));
  await setOwner(staged, owner);
  await rm(made, { recursive: true });
}

export const discardLog = (walDir: string): Promise<void> => rm(join(walDir, STAGED), { recursive: true, force: true });

/** Moves the old files away, then the new file into place; a restore creates exactly one. Safe to repeat after a kill at any point. */
export async function replaceLog(walDir: string, replacedDir: string): Promise<void> {
  const staged = join(walDir, STAGED);
  const [log] = await walFiles(staged);
  if (log !== undefined) {
    await moveFiles(walDir, replacedLogDir(walDir, replacedDir));
    await rename(join(staged, log), join(walDir, log));
    await sync(walDir);
  }
  await discardLog(walDir);
}

/** Moves the old files back, and keeps those of the restored cluster next to them. */
export async function putLogBack(walDir: string, replacedDir: string, clusterId: string): Promise<void> {
  await discardLog(walDir);
  // The old log may be damaged.
  const there = await walIdentity('', walDir).catch(() => undefined);
  if (there?.clusterId === clusterId) {
    await moveFiles(walDir, replacedLogDir(walDir, replacedDir).replace('replaced-', 'undone-'));
  }
  const old = replacedLogDir(walDir, replacedDir);
  await moveFiles(old, walDir);
  await rmdir(old).catch(() => {});
}

async function moveFiles(from: string, to: string): Promise<void> {
  const files = ((await unlessMissing(readdir(from, { withFileTypes: true }))) ?? []).filter((entry) => entry.isFile());
  if (files.length === 0) return;
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const { name } of files) await rename(join(from, name), join(to, name));
  await sync(to);
  await sync(from);
}
