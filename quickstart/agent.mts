import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { etcdutl } from '../agent/test/harness/etcd-binaries.ts';

const agent = join(import.meta.dirname, '../agent/lib/bin/etcd-agent.mjs');

/** Runs the agent as its pod would, and returns its standard output. Throws unless the exit code is 0. */
export async function runAgent(...args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${dirname(etcdutl())}:${process.env.PATH}` };
  const child = spawn(process.execPath, [agent, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`etcd-agent ${args.join(' ')} exited with ${code}:\n${stderr}${stdout}`);
  return stdout;
}
