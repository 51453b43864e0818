import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cannotWrite } from '../../lib/files/file-faults.ts';

export interface ScratchDirectory extends AsyncDisposable {
  readonly path: string;
}

/** Creates a directory below the one for scratch files. Disposing removes it with its contents. */
export async function scratchDirectory(scratch: string): Promise<ScratchDirectory> {
  const path = await mkdtemp(join(scratch, 'etcd-agent-')).catch((error) => {
    throw cannotWrite(scratch, error, 'scratch');
  });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
