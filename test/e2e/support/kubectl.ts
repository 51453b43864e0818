import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs kubectl on whatever KUBECONFIG says, and throws when it exits with anything but 0. */
export async function kubectl(args: readonly string[], input = ''): Promise<Output> {
  const running = execute('kubectl', [...args], { maxBuffer: 1024 ** 3 });
  // A kubectl that ends early closes its stdin; why it ended is in its own error.
  running.child.stdin?.on('error', () => {}).end(input);
  return running;
}
