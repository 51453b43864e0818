import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { sync } from '../../lib/files/directories.ts';
import { ifThere } from '../../lib/files/file-faults.ts';
import { memberDir, partialDir, type RestoreMark, readMarker } from '../node/data-directory.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { discardLog, putLogBack, replacedLogDir, replaceLog } from './wal-dir.ts';

export const exists = async (path: string): Promise<boolean> =>
  (await ifThere(path, stat(path), 'so it is not known what is there; check it')) !== undefined;

type Directories = Pick<MemberFlags, 'dataDir' | 'walDir'>;

/** Directories that hold the old data by now. None after the loss of a disk. */
export async function oldData({ walDir }: Directories, replacedDir: string): Promise<string[]> {
  const places = [replacedDir, ...(walDir ? [replacedLogDir(walDir, replacedDir)] : [])];
  const there = await Promise.all(places.map(exists));
  return places.filter((_, n) => there[n]);
}

export const oldDataText = (places: readonly string[]): string =>
  places.length > 0 ? `the old data are in ${places.join(' and ')}` : 'there were no old data';

/** Moves the old member away and the new one into its place. Safe to repeat after a kill at any point. */
export async function replaceMember(
  { dataDir, walDir }: Directories,
  replacedDir: string,
  { id, token }: Pick<RestoreMark, 'id' | 'token'>,
): Promise<void> {
  const member = memberDir(dataDir);
  const made = join(partialDir(dataDir), 'data', 'member');
  if (await exists(made)) {
    if (await exists(member)) await moveOld(member, replacedDir);
    await rename(made, member);
    await sync(dataDir);
  }
  const marker = await readMarker(member);
  if (marker?.id !== id || marker.token !== token) {
    throw new AgentError(
      ExitCode.refused,
      `${member} does not hold the data restored from ${id}; ${oldDataText(await oldData({ dataDir, walDir }, replacedDir))}`,
    );
  }
  if (walDir) await replaceLog(walDir, replacedDir);
  await rm(partialDir(dataDir), { recursive: true, force: true });
}

/** Removes the prepared member. Nothing has been replaced yet. */
export async function discardPrepared({ dataDir, walDir }: Directories): Promise<void> {
  await rm(partialDir(dataDir), { recursive: true, force: true });
  if (walDir) await discardLog(walDir);
}

async function moveOld(member: string, replacedDir: string): Promise<void> {
  await refuseBoth(member, replacedDir);
  await rename(member, replacedDir);
  await sync(join(member, '..'));
}

async function refuseBoth(member: string, replacedDir: string): Promise<void> {
  if (!(await exists(member)) || !(await exists(replacedDir))) return;
  throw new AgentError(
    ExitCode.refused,
    `${member} and ${replacedDir} both exist, because etcd was started meanwhile; move ${member} away and try again`,
  );
}

/** Puts the old data back, if they were moved. Keeps the restored data next to them. */
export async function putBack(
  { dataDir, walDir }: Directories,
  replacedDir: string,
  { id, token, clusterId }: Pick<RestoreMark, 'id' | 'token' | 'clusterId'>,
): Promise<void> {
  const member = memberDir(dataDir);
  const marker = await readMarker(member);
  if (marker?.id === id && marker.token === token) {
    await rename(member, await freePath(replacedDir.replace('.replaced-', '.undone-')));
    await sync(dataDir);
  }
  if (await exists(replacedDir)) {
    await refuseBoth(member, replacedDir);
    await rename(replacedDir, member);
    await sync(dataDir);
  }
  if (walDir) await putLogBack(walDir, replacedDir, clusterId);
  await rm(partialDir(dataDir), { recursive: true, force: true });
}

async function freePath(path: string): Promise<string> {
  return (await exists(path)) ? freePath(`${path}-1`) : path;
}
