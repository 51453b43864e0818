import { lchown, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sync } from '../../lib/files/directories.ts';
import { ifThere } from '../../lib/files/file-faults.ts';

/** File in a restored `member` directory that names the snapshot. */
export const MARKER = 'etcd-agent-restore.json';

export interface RestoreMark {
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

/** Undefined if these data were not restored. Throws if that cannot be read. */
export const readMarker = (member: string): Promise<RestoreMark | undefined> =>
  readDocument(
    join(member, MARKER),
    `so it is not known which restore made these data; if they are not needed, move ${member} away`,
  );

/** Reads what a restore has written into a file. Undefined without the file. `so`: what its damage means. */
export const readDocument = <T extends object>(file: string, so: string): Promise<T | undefined> =>
  ifThere(file, readFile(file, 'utf8').then(parsed<T>), so);

function parsed<T extends object>(text: string): T {
  const found: unknown = JSON.parse(text);
  if (typeof found !== 'object' || found === null) throw new TypeError('it holds no object');
  return found as T;
}

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Sets the owner of a directory and everything in it, and syncs them to the disk. */
export async function setOwner(directory: string, owner: FileOwner): Promise<void> {
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
