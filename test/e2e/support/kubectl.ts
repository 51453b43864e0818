import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
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

/** Starts a proxy to the API server, and returns it and its URL. */
export async function kubectlProxy(): Promise<{ readonly proxy: ChildProcess; readonly url: string }> {
  const proxy = spawn('kubectl', ['proxy', '--port=0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: proxy.stdout }), 'line');
  const [, address] = /serve on (\S+)/.exec(line) ?? [];
  return { proxy, url: `http://${address}` };
}
