import { mkdir, rename, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../lib/errors.ts';
import { sync } from '../../lib/files/directories.ts';
import { identityFile } from '../identity.ts';
import type { AtStep } from '../steps.ts';
import { etcdDirOf, quarantineDirOf } from '../volume.ts';
import { removeVolumeId } from '../volume-id.ts';

interface Retired {
  readonly epoch: number;
  /** Cause, as part of the directory's name. */
  readonly why: string;
}

/**
 * Moves data and their identity to quarantine/; never deletes them. Removes the volumeId first: an emptied volume must not
 * keep a volumeId that an old permit names.
 */
export async function quarantineData(dataDir: string, retired: Retired, at: AtStep): Promise<void> {
  await removeVolumeId(dataDir);
  await at('volumeId.removed');
  const directory = await newDirectory(dataDir, retired);
  await move(etcdDirOf(dataDir), directory);
  await at('quarantine.moved');
  await move(identityFile(dataDir), directory);
  await at('quarantine.identity');
}

/** Moves what a failed start of etcd left behind. The volume keeps its volumeId, because no member ever ran on it. */
export async function quarantineLeftover(dataDir: string, at: AtStep): Promise<void> {
  await move(etcdDirOf(dataDir), await newDirectory(dataDir, { epoch: 0, why: 'leftover' }));
  await at('leftover.moved');
}

async function newDirectory(dataDir: string, { epoch, why }: Retired): Promise<string> {
  const quarantine = quarantineDirOf(dataDir);
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  await mkdir(quarantine, { recursive: true, mode: 0o700 });
  for (let attempt = 0; ; attempt++) {
    const directory = join(quarantine, `${stamp}-${epoch}-${why}${attempt ? `-${attempt}` : ''}`);
    if (await mkdirNew(directory)) return directory;
  }
}

async function mkdirNew(directory: string): Promise<boolean> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  await sync(dirname(directory));
  return true;
}

async function move(path: string, into: string): Promise<void> {
  if (!(await stat(path).catch(() => undefined))) return;
  await rename(path, join(into, basename(path)));
  await sync(into);
  await sync(dirname(path));
}
