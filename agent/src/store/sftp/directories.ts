import { posix } from 'node:path';
import type { Stats } from 'ssh2';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FOREIGN, type FoundFile } from '../../lib/files/directories.ts';
import { Status, statusOf, unlessGone, type Volume } from './errors.ts';
import { modifiedOf, openFile, statOf } from './files.ts';
import type { SftpSession } from './session.ts';

/** Only owner and group: snapshots hold secrets. */
const DIRECTORY_MODE = 0o750;

/** Creates a directory and its parents where missing. */
async function makeDirectory(session: SftpSession, directory: string): Promise<void> {
  const found = await statOf(session, directory);
  if (found?.isDirectory()) return;
  if (found) throw new AgentError(ExitCode.storeRefused, `${directory} is not a directory; name a directory`);
  const parent = posix.dirname(directory);
  if (parent !== directory) await makeDirectory(session, parent);
  try {
    await session.request((sftp, done) => sftp.mkdir(directory, { mode: DIRECTORY_MODE }, done));
  } catch (error) {
    // Another run may have been faster.
    if (!(await statOf(session, directory))?.isDirectory()) throw error;
  }
}

/** A new file, in directories that are made where missing. */
export async function createFile(session: SftpSession, path: string): Promise<Buffer> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await openFile(session, path, 'wx');
    } catch (error) {
      // A delete at the same time may have removed the directory as empty.
      if (statusOf(error) !== Status.noSuchFile || attempts === 5) throw error;
      await makeDirectory(session, posix.dirname(path));
    }
  }
}

/** Removes a directory and its parents while they are empty, up to `root`, which stays. */
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

/** Every file below `directory` (relative to `root`, empty for the root itself); a missing directory has none. */
export async function* walk(session: SftpSession, root: string, directory: string): AsyncGenerator<FoundFile> {
  const path = posix.join(root, directory);
  const entries = await unlessGone(
    session.request<{ filename: string; attrs: Stats }[]>((sftp, done) => sftp.readdir(path, done)),
  );
  for (const { filename, attrs } of entries ?? []) {
    const name = directory === '' ? filename : `${directory}/${filename}`;
    if (FOREIGN.has(name)) continue;
    if (attrs.isDirectory()) {
      yield* walk(session, root, name);
      continue;
    }
    // A server may leave out what it does not have at hand.
    const told = attrs.isFile() && attrs.size !== undefined && attrs.mtime !== undefined;
    const found = told ? attrs : await statOf(session, posix.join(root, name));
    if (found?.isFile()) yield { name, size: found.size, modified: modifiedOf(found) };
  }
}

/** As statvfs(2) has it. */
type Disk = Record<'f_bavail' | 'f_frsize' | 'f_files' | 'f_favail' | 'f_flag', number>;
const READ_ONLY = 1;

/** Looks at the disk of a directory, where the server lets one. */
export async function volumeOf(session: SftpSession, directory: string, needed: number): Promise<Volume> {
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
