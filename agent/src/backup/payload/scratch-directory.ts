import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';

export interface ScratchDirectory extends AsyncDisposable {
  readonly path: string;
}

/** A new directory below `--scratch`, removed with all that is in it when it is disposed. */
export async function scratchDirectory(scratch: string): Promise<ScratchDirectory> {
  const path = await mkdtemp(join(scratch, 'etcd-agent-')).catch((error) => {
    throw new AgentError(ExitCode.usage, `--scratch: cannot write to ${scratch} (${codeOf(error)})`);
  });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
