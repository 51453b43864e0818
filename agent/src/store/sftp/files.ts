import { posix } from 'node:path';
import type { Stats } from 'ssh2';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { type FoundFile, Seen, SYSTEM_ENTRIES } from '../../lib/files/directories.ts';
import { type DiskState, isUnsupported, Status, statusOf, unlessGone } from './errors.ts';
import type { SftpSession } from './session.ts';

/** The owner writes, the group reads, and others have no access: snapshots contain secrets. */
const FILE_MODE = 0o640;
/** Owner and group only: snapshots contain secrets. */
const DIRECTORY_MODE = 0o750;
/** How often a rename is tried again because another run has put its own file into the gap. */
const RENAME_ATTEMPTS = 10;

/** Time of the last modification. SFTP reports whole seconds. */
export const modifiedOf = ({ mtime }: Stats): Date => new Date(mtime * 1000);

export const statOf = (session: SftpSession, path: string): Promise<Stats | undefined> =>
  unlessGone(session.request<Stats>((sftp, done) => sftp.stat(path, done)));

export const statOfOpen = (session: SftpSession, handle: Buffer): Promise<Stats> =>
  session.request<Stats>((sftp, done) => sftp.fstat(handle, done));

const openFile = (session: SftpSession, path: string, flags: 'r' | 'w' | 'wx'): Promise<Buffer> =>
  session.request<Buffer>((sftp, done) => sftp.open(path, flags, { mode: FILE_MODE }, done));

export const openToRead = (session: SftpSession, path: string): Promise<Buffer | undefined> =>
  unlessGone(openFile(session, path, 'r'));

export const closeFile = (session: SftpSession, handle: Buffer): Promise<void> =>
  session.request((sftp, done) => sftp.close(handle, done));

/** Syncs a file to disk where the server supports it. Elsewhere only closing the file remains. */
export async function syncFile(session: SftpSession, handle: Buffer): Promise<void> {
  try {
    await session.sync(handle);
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
}

export async function removeFile(session: SftpSession, path: string): Promise<void> {
  try {
    await unlessGone(session.request((sftp, done) => sftp.unlink(path, done)));
  } catch (error) {
    if (statusOf(error) === undefined || !(await statOf(session, path))?.isDirectory()) throw error;
  }
}

/**
 * Creates a file, returns what the server reports about it, and removes it; undefined if the server refuses to create
 * it.
 */
export async function statOfNewFile(session: SftpSession, path: string): Promise<Stats | undefined> {
  const unlink = () => session.request((sftp, done) => sftp.unlink(path, done)).catch(() => {});
  await unlink();
  const handle = await openFile(session, path, 'w').catch((error: unknown) => {
    if (statusOf(error) === undefined) throw error;
    return undefined;
  });
  if (!handle) return undefined;
  try {
    return await statOfOpen(session, handle);
  } finally {
    await closeFile(session, handle).catch(() => {});
    await unlink();
  }
}

/**
 * Renames a file and replaces an existing one: in one step where the server can, else after removing the existing
 * file.
 */
export async function renameOver(session: SftpSession, from: string, to: string): Promise<true> {
  try {
    await session.request((sftp, done) => sftp.ext_openssh_rename(from, to, done));
    return true;
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
  for (let attempts = 1; ; attempts++) {
    try {
      await session.request((sftp, done) => sftp.rename(from, to, done));
      return true;
    } catch (error) {
      if (statusOf(error) !== Status.failure || attempts === RENAME_ATTEMPTS) throw error;
      await removeFile(session, to);
    }
  }
}

/**
 * Renames a file; returns false if the target exists. SFTP's plain rename, without the extension, never replaces a
 * file.
 */
export async function renameToNew(session: SftpSession, from: string, to: string): Promise<boolean> {
  try {
    await session.request((sftp, done) => sftp.rename(from, to, done));
    return true;
  } catch (error) {
    if (statusOf(error) === Status.failure && (await statOf(session, to))) return false;
    throw error;
  }
}

/** Creates a directory and its missing parents. */
async function makeDirectory(session: SftpSession, directory: string): Promise<void> {
  const found = await statOf(session, directory);
  if (found?.isDirectory()) return;
  if (found) throw new AgentError(ExitCode.storeRefused, `${directory} is not a directory; name a directory`);
  const parent = posix.dirname(directory);
  if (parent !== directory) await makeDirectory(session, parent);
  try {
    await session.request((sftp, done) => sftp.mkdir(directory, { mode: DIRECTORY_MODE }, done));
  } catch (error) {
    // Another run may have created it first.
    if (!(await statOf(session, directory))?.isDirectory()) throw error;
  }
}

/** Creates a file, and the directories above it where they are missing. */
export async function createFile(session: SftpSession, path: string): Promise<Buffer> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await openFile(session, path, 'wx');
    } catch (error) {
      // A concurrent delete may have removed the directory because it was empty.
      if (statusOf(error) !== Status.noSuchFile || attempts === 5) throw error;
      await makeDirectory(session, posix.dirname(path));
    }
  }
}

/** Removes a directory and its parents as long as they are empty, up to `root`, which stays. */
export async function removeEmptyDirectories(session: SftpSession, directory: string, root: string): Promise<void> {
  const within = root === '/' ? '/' : root === '.' ? '' : `${root}/`;
  for (let at = directory; at !== root && at.startsWith(within); at = posix.dirname(at)) {
    try {
      await session.request((sftp, done) => sftp.rmdir(at, done));
    } catch (error) {
      if (statusOf(error) === undefined) throw error;
      return;
    }
  }
}

/**
 * Yields every file below `directory`, which is relative to `root` (empty for the root itself). A missing directory
 * yields none. A symbolic link to a directory elsewhere is followed once: what lies within the root has a name of its own.
 */
export async function* walk(
  session: SftpSession,
  root: string,
  directory: string,
  seen?: Seen,
): AsyncGenerator<FoundFile> {
  const path = posix.join(root, directory);
  const entries = await unlessGone(
    session.request<{ filename: string; attrs: Stats }[]>((sftp, done) => sftp.readdir(path, done)),
  );
  if (!entries) return;
  const known = seen ?? new Seen(await realPaths(session, [root, path]));
  for (const { filename, attrs } of entries) {
    const name = directory === '' ? filename : `${directory}/${filename}`;
    if (SYSTEM_ENTRIES.has(name)) continue;
    if (attrs.isDirectory()) {
      yield* walk(session, root, name, known);
      continue;
    }
    const at = posix.join(root, name);
    const isLink = attrs.isSymbolicLink();
    // The protocol lets a server omit size or time from a directory listing.
    const isComplete = attrs.isFile() && attrs.size !== undefined && attrs.mtime !== undefined;
    const found = isComplete ? attrs : await statOf(session, at);
    if (found?.isFile()) yield { name, size: found.size, modified: modifiedOf(found), isLink };
    if (!found?.isDirectory()) continue;
    const [place] = await realPaths(session, [at]);
    if (known.isNew(place)) yield* walk(session, root, name, known);
  }
}

/** Empty if the server does not say. */
const realPaths = async (session: SftpSession, paths: readonly string[]): Promise<string[]> => {
  const real = (at: string) => session.request<string>((sftp, done) => sftp.realpath(at, done));
  return (await unlessRefused(Promise.all(paths.map(real)))) ?? [];
};

/** Name of the file that a symbolic link leads to, if that lies beside it. A link to elsewhere is all that there is here. */
export async function besideLink(session: SftpSession, path: string): Promise<string | undefined> {
  const [from, to] = await realPaths(session, [posix.dirname(path), path]);
  return to !== undefined && posix.dirname(to) === from ? posix.basename(to) : undefined;
}

/** Whether the name itself is a symbolic link. */
export const isLinkAt = async (session: SftpSession, path: string): Promise<boolean> =>
  (await unlessRefused(session.request<Stats>((sftp, done) => sftp.lstat(path, done))))?.isSymbolicLink() ?? false;

/** A server that does not answer questions about links has none. A lost connection is an error. */
async function unlessRefused<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (statusOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Fields of statvfs(2). */
type Disk = Record<'f_bavail' | 'f_frsize' | 'f_files' | 'f_favail' | 'f_flag', number>;
const READ_ONLY = 1;

/** Reports the state of the disk below a directory, if the server gives access to it. `needed` is in bytes. */
export async function volumeOf(session: SftpSession, directory: string, needed: number): Promise<DiskState> {
  try {
    const disk = await session.request<Disk>((sftp, done) => sftp.ext_openssh_statvfs(directory, done));
    if (disk.f_flag & READ_ONLY) return 'read-only';
    const withoutFiles = disk.f_files > 0 && disk.f_favail === 0;
    return withoutFiles || disk.f_bavail * disk.f_frsize < needed ? 'full' : 'unknown';
  } catch (error) {
    const parent = posix.dirname(directory);
    const missing = statusOf(error) === Status.noSuchFile && parent !== directory;
    return missing ? volumeOf(session, parent, needed) : 'unknown';
  }
}
