import { copyFile, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { walFiles, walIdentity } from '../../etcd/offline/wal.ts';
import { sync } from '../../lib/files/directories.ts';
import { type Owner, settle } from '../state/data-folders.ts';

// A write-ahead log in a place of its own (`--wal-dir`) changes places within it: it may be a mount point, of another disk.
// etcd passes by the folders that lie there.

const MADE = 'restored.partial';
export const logAside = (walDir: string, aside: string) => join(walDir, basename(aside).replace(/^member\./, ''));

/** Puts the log that a restore made beside the one that may still be written. */
export async function stageLog(member: string, walDir: string, owner: Owner): Promise<void> {
  const staged = join(walDir, MADE);
  await discardLog(walDir);
  await mkdir(staged, { recursive: true, mode: 0o700 });
  const made = join(member, 'wal');
  for (const name of await walFiles(made)) await copyFile(join(made, name), join(staged, name));
  await settle(staged, owner);
  await rm(made, { recursive: true });
}

export const discardLog = (walDir: string): Promise<void> => rm(join(walDir, MADE), { recursive: true, force: true });

/** The old files go aside, then the new one, of which there is one, comes in. May be called again wherever it was killed. */
export async function replaceLog(walDir: string, aside: string): Promise<void> {
  const staged = join(walDir, MADE);
  const [log] = await walFiles(staged);
  if (log !== undefined) {
    await moveFiles(walDir, logAside(walDir, aside));
    await rename(join(staged, log), join(walDir, log));
    await sync(walDir);
  }
  await discardLog(walDir);
}

/** Puts the old files back; those of the restored cluster are kept beside them. */
export async function putLogBack(walDir: string, aside: string, clusterId: string): Promise<void> {
  await discardLog(walDir);
  if ((await walIdentity('', walDir))?.clusterId === clusterId) {
    await moveFiles(walDir, logAside(walDir, aside).replace('replaced-', 'undone-'));
  }
  const old = logAside(walDir, aside);
  await moveFiles(old, walDir);
  await rmdir(old).catch(() => {});
}

async function moveFiles(from: string, to: string): Promise<void> {
  const files = (await readdir(from, { withFileTypes: true }).catch(() => [])).filter((entry) => entry.isFile());
  if (files.length === 0) return;
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const { name } of files) await rename(join(from, name), join(to, name));
  await sync(to);
  await sync(from);
}
