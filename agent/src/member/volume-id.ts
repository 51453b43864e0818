import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../lib/errors.ts';
import { sync } from '../lib/files/directories.ts';
import { replaceFile } from '../lib/files/replace-file.ts';

const fileOf = (dataDir: string) => join(dataDir, 'volume-id');

/** The name of this volume in permits; undefined when it has none, or what is there is no volumeId. */
export async function readVolumeId(dataDir: string): Promise<string | undefined> {
  try {
    const text = (await readFile(fileOf(dataDir), 'utf8')).trim();
    return /^[0-9a-f]{32}$/.test(text) ? text : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A name that no permit holds. */
export async function writeVolumeId(dataDir: string): Promise<string> {
  const volumeId = randomBytes(16).toString('hex');
  await replaceFile(fileOf(dataDir), `${volumeId}\n`);
  return volumeId;
}

/** On the disk when it returns: no permit fits this volume any more. */
export async function removeVolumeId(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
  await sync(dataDir);
}
