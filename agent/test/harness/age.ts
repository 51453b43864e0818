import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { cacheDirectory } from './etcd-binaries.ts';

const directory = join(cacheDirectory, 'age');

/** Runs age itself, or age-keygen, and returns its stdout. */
export async function age(args: readonly string[], input?: Uint8Array, program = 'age'): Promise<Buffer> {
  const path = join(directory, program);
  if (!existsSync(path)) throw new Error('no age at hand; run `node scripts/provide/age.mjs`');
  const child = spawn(path, args);
  const exited = once(child, 'close');
  const [output, errors] = [buffer(child.stdout), text(child.stderr)];
  // The process may end before it has read everything.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await exited;
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${await errors}`);
  return output;
}

/**
 * Creates an identity file and returns its recipient; with `-pq` a post-quantum one, which older versions do not
 * support.
 */
export async function ageKeygen(file: string, ...flags: string[]): Promise<string> {
  await age([...flags, '-o', file], undefined, 'age-keygen');
  return (await age(['-y', file], undefined, 'age-keygen')).toString().trim();
}
