import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../lib/errors.ts';
import { sync } from '../lib/files/directories.ts';
import { replaceFile } from '../lib/files/replace-file.ts';

const fileOf = (dataDir: string) => join(dataDir, 'volume-id');

/** Returns the name of this volume in permits, or undefined if there is no valid volumeId. */
export async function readVolumeId(dataDir: string): Promise<string | undefined> {
  try {
    const text = (await readFile(fileOf(dataDir), 'utf8')).trim();
    return /^[0-9a-f]{32}$/.test(text) ? text : undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a new volumeId, which no permit names yet. */
export async function writeVolumeId(dataDir: string): Promise<string> {
  const volumeId = randomBytes(16).toString('hex');
  await replaceFile(fileOf(dataDir), `${volumeId}\n`);
  return volumeId;
}

/** Removes the volumeId durably, so that no permit is valid for this volume any more. */
export async function removeVolumeId(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
  await sync(dataDir);
}
