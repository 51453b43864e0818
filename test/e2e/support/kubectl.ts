import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl with KUBECONFIG. Throws unless it exits with 0. */
export async function kubectl(args: readonly string[], input = ''): Promise<Output> {
  const running = execute('kubectl', [...args], { maxBuffer: 1024 ** 3 });
  // A kubectl that ends early closes its stdin. Its own error has the reason.
  running.child.stdin?.on('error', () => {}).end(input);
  return running;
}
