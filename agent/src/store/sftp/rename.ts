import { isUnsupported, Status, statusOf } from './errors.ts';
import { removeFile, statOf } from './files.ts';
import type { SftpSession } from './session.ts';

/** How often another run may put its own file into the gap. */
const ATTEMPTS = 10;

/** Renames over what is there, at once where the server can; else what is there goes first. */
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
      if (statusOf(error) !== Status.failure || attempts === ATTEMPTS) throw error;
      await removeFile(session, to);
    }
  }
}

/** False when something is there already: without its extension a server's rename replaces nothing. */
export async function renameToNew(session: SftpSession, from: string, to: string): Promise<boolean> {
  try {
    await session.request((sftp, done) => sftp.rename(from, to, done));
    return true;
  } catch (error) {
    if (statusOf(error) === Status.failure && (await statOf(session, to))) return false;
    throw error;
  }
}
