import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { SftpConnection } from './connection.ts';
import { removeFile } from './files.ts';

/** In milliseconds: a stopped run must get to its end. What then still lies there is swept by a later run. */
const LIMIT = 5_000;
const PAUSE = 250;

/** Removes what a failed put has left, by a new connection when the old one is lost. */
export async function cleanUp(connection: SftpConnection, path: string): Promise<void> {
  const end = new AbortController();
  void removeInTheEnd(connection, path, end.signal).finally(() => end.abort());
  await sleep(LIMIT, undefined, { signal: end.signal }).catch(() => {});
  end.abort();
}

async function removeInTheEnd(connection: SftpConnection, path: string, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    try {
      return await removeFile(await connection.session(), path);
    } catch (error) {
      if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeUnreachable) return;
      await sleep(PAUSE, undefined, { signal: end }).catch(() => {});
    }
  }
}
