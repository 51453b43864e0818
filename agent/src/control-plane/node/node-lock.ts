import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cannotWrite } from '../../lib/files/file-faults.ts';
import { withFileLock } from '../../lib/files/file-lock.ts';

const FILE = 'etcd-restore.lock';

/** Runs `work` while no other run can change this node. */
export async function withNodeLock<T>(journalDir: string, work: () => Promise<T>): Promise<T> {
  await mkdir(journalDir, { recursive: true }).catch((error) => {
    throw cannotWrite(journalDir, error);
  });
  return withFileLock(join(journalDir, FILE), 'another restore is running on this node', work);
}
