import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, ExitCode } from '../errors.ts';
import { sync } from '../store/directories.ts';
import { type Marker, memberDir, partialDir, readMarker } from './data-folders.ts';

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Puts the new member in the old one's place, which goes aside. May be called again wherever it was killed. */
export async function replaceMember(
  dataDir: string,
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
      `${member} is not what was restored from ${id}; the old data are in ${aside}`,
    );
  }
  await rm(partialDir(dataDir), { recursive: true, force: true });
}

async function moveAside(member: string, aside: string): Promise<void> {
  if (await exists(aside)) {
    throw new AgentError(
      ExitCode.refused,
      `${member} and ${aside} are both there: etcd was started meanwhile; move ${member} away and try again`,
    );
  }
  await rename(member, aside);
  await sync(join(member, '..'));
}

/** Puts the old data back, if any were moved; what was restored is kept beside them. */
export async function putBack(
  dataDir: string,
  aside: string,
  { id, token }: Pick<Marker, 'id' | 'token'>,
): Promise<void> {
  const member = memberDir(dataDir);
  const marker = await readMarker(member);
  if (marker?.id === id && marker.token === token) {
    await rename(member, await free(`${aside.replace('.replaced-', '.undone-')}`));
    await sync(dataDir);
  }
  if ((await exists(aside)) && !(await exists(member))) {
    await rename(aside, member);
    await sync(dataDir);
  }
  await rm(partialDir(dataDir), { recursive: true, force: true });
}

async function free(path: string): Promise<string> {
  return (await exists(path)) ? free(`${path}-1`) : path;
}
