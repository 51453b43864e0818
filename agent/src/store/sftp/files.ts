import type { Stats } from 'ssh2';
import { isUnsupported, statusOf, unlessGone } from './errors.ts';
import type { SftpSession } from './session.ts';

/** The owner writes, its group reads, nobody else: snapshots hold secrets. */
const FILE_MODE = 0o640;

/** SFTP tells time in whole seconds. */
export const modifiedOf = ({ mtime }: Stats): Date => new Date(mtime * 1000);

export const statOf = (session: SftpSession, path: string): Promise<Stats | undefined> =>
  unlessGone(session.request<Stats>((sftp, done) => sftp.stat(path, done)));

export const statOfOpen = (session: SftpSession, handle: Buffer): Promise<Stats> =>
  session.request<Stats>((sftp, done) => sftp.fstat(handle, done));

export const openFile = (session: SftpSession, path: string, flags: 'r' | 'w' | 'wx'): Promise<Buffer> =>
  session.request<Buffer>((sftp, done) => sftp.open(path, flags, { mode: FILE_MODE }, done));

export const openToRead = (session: SftpSession, path: string): Promise<Buffer | undefined> =>
  unlessGone(openFile(session, path, 'r'));

export const closeFile = (session: SftpSession, handle: Buffer): Promise<void> =>
  session.request((sftp, done) => sftp.close(handle, done));

/** Not every server can: then closing the file is all there is. */
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

/** What the server says of a file that it has just made; undefined where it makes none. */
export async function freshFile(session: SftpSession, path: string): Promise<Stats | undefined> {
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
