import { isUnsupported, Status, statusOf } from './sftp-errors.ts';
import { removeFile } from './sftp-files.ts';
import type { SftpSession } from './sftp-session.ts';

/** How often another run may put its own file into the gap. */
const ATTEMPTS = 10;

/** Renames over what is there, at once where the server can; else what is there goes first. */
export async function renameOver(session: SftpSession, from: string, to: string): Promise<void> {
  try {
    return await session.request((sftp, done) => sftp.ext_openssh_rename(from, to, done));
  } catch (error) {
    if (!isUnsupported(error)) throw error;
  }
  for (let attempts = 1; ; attempts++) {
    try {
      return await session.request((sftp, done) => sftp.rename(from, to, done));
    } catch (error) {
      if (statusOf(error) !== Status.failure || attempts === ATTEMPTS) throw error;
      await removeFile(session, to);
    }
  }
}
