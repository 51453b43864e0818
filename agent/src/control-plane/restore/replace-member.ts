import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { sync } from '../../lib/files/directories.ts';
import { discardLog, logAside, putLogBack, replaceLog } from '../node/log-folder.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { type Marker, memberDir, partialDir, readMarker } from '../state/data-folders.ts';

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

type Places = Pick<MemberFlags, 'dataDir' | 'walDir'>;

/** Where the old data lie by now; after a lost disk there are none. */
export async function oldData({ walDir }: Places, aside: string): Promise<string[]> {
  const places = [aside, ...(walDir ? [logAside(walDir, aside)] : [])];
  const there = await Promise.all(places.map(exists));
  return places.filter((_, n) => there[n]);
}

export const oldDataText = (places: readonly string[]): string =>
  places.length > 0 ? `the old data are in ${places.join(' and ')}` : 'there were no old data';

/** Puts the new member in the old one's place, which goes aside. May be called again wherever it was killed. */
export async function replaceMember(
  { dataDir, walDir }: Places,
  aside: string,
  { id, token }: Pick<Marker, 'id' | 'token'>,
): Promise<void> {
  const member = memberDir(dataDir);
  const made = join(partialDir(dataDir), 'data', 'member');
  if (await exists(made)) {
    if (await exists(member)) await moveAside(member, aside);
    await rename(made, member);
    await sync(dataDir);
  }
  const marker = await readMarker(member);
  if (marker?.id !== id || marker.token !== token) {
    throw new AgentError(
      ExitCode.refused,
      `${member} is not what was restored from ${id}; ${oldDataText(await oldData({ dataDir, walDir }, aside))}`,
    );
  }
  if (walDir) await replaceLog(walDir, aside);
  await rm(partialDir(dataDir), { recursive: true, force: true });
}

/** What was made is not wanted any more, and nothing was replaced yet. */
export async function discardMade({ dataDir, walDir }: Places): Promise<void> {
  await rm(partialDir(dataDir), { recursive: true, force: true });
  if (walDir) await discardLog(walDir);
}

async function moveAside(member: string, aside: string): Promise<void> {
  await refuseBoth(member, aside);
  await rename(member, aside);
  await sync(join(member, '..'));
}

async function refuseBoth(member: string, aside: string): Promise<void> {
  if (!(await exists(member)) || !(await exists(aside))) return;
  throw new AgentError(
    ExitCode.refused,
    `${member} and ${aside} are both there: etcd was started meanwhile; move ${member} away and try again`,
  );
}

/** Puts the old data back, if any were moved; what was restored is kept beside them. */
export async function putBack(
  { dataDir, walDir }: Places,
  aside: string,
  { id, token, clusterId }: Pick<Marker, 'id' | 'token' | 'clusterId'>,
): Promise<void> {
  const member = memberDir(dataDir);
  const marker = await readMarker(member);
  if (marker?.id === id && marker.token === token) {
    await rename(member, await free(`${aside.replace('.replaced-', '.undone-')}`));
    await sync(dataDir);
  }
  if (await exists(aside)) {
    await refuseBoth(member, aside);
    await rename(aside, member);
    await sync(dataDir);
  }
  if (walDir) await putLogBack(walDir, aside, clusterId);
  await rm(partialDir(dataDir), { recursive: true, force: true });
}

async function free(path: string): Promise<string> {
  return (await exists(path)) ? free(`${path}-1`) : path;
}
