import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const program = join(__dirname, '../../agent/test/local/tools.mts');

/** Programs of others on this machine. */
export type Tools = Readonly<Record<'etcdctl' | 'etcdutl' | 'age' | 'ageKeygen', string>>;

export async function findTools(): Promise<Tools> {
  const { stdout } = await execute(process.execPath, [program]);
  return JSON.parse(stdout);
}

/** Returns its stdout. */
export async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(program, args, { maxBuffer: 64 * 1024 ** 2 });
  return stdout.trim();
}
