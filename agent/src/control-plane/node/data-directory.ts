import { lchown, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sync } from '../../lib/files/directories.ts';

/** File in a restored `member` directory that names the snapshot. */
export const MARKER = 'etcd-agent-restore.json';

export interface Marker {
  readonly id: string;
  readonly token: string;
  readonly bump: number;
  readonly clusterId: string;
  readonly memberId?: string;
  readonly name?: string;
  readonly peerUrls?: string;
  readonly initialCluster?: string;
  /** Checksum of the snapshot. */
  readonly sha256?: string;
}

export const memberDir = (dataDir: string) => join(dataDir, 'member');
/** Where the new member is built while the old one may still run. Inside the data directory, so that a rename moves it into place. */
export const partialDir = (dataDir: string) => join(dataDir, 'member.partial');

export async function readMarker(member: string): Promise<Marker | undefined> {
  try {
    return JSON.parse(await readFile(join(member, MARKER), 'utf8'));
  } catch {
    return undefined;
  }
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Sets the owner of a directory and everything in it, and syncs them to the disk. */
export async function setOwner(directory: string, owner: Owner): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await setOwner(path, owner);
    else {
      await lchown(path, owner.uid, owner.gid);
      await sync(path);
    }
  }
  await lchown(directory, owner.uid, owner.gid);
  await sync(directory);
}
