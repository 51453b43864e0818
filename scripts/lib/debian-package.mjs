import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run.mjs';

const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
let updated;

/** Returns the version that apt would install, without Debian's suffix. Root updates missing package lists first. */
export async function candidate(name) {
  const found = await policy(name);
  if (found || process.getuid() !== 0) return found;
  updated ??= run('apt-get', ['update', '-q'], { env, timeout: 300_000 });
  await updated;
  return policy(name);
}

async function policy(name) {
  const text = await run('apt-cache', ['policy', name], { env });
  return text.match(/Candidate: (?:\d+:)?(\d[\w.]*)/)?.[1];
}

/** Unpacks packages into `directory` without installing them: an installed etcd is a service that starts at boot. */
export async function unpack(names, directory) {
  await mkdir(directory);
  await run('apt-get', ['download', '-q', ...names], { env, cwd: directory, timeout: 300_000 });
  for (const file of await readdir(directory)) await run('dpkg-deb', ['-x', join(directory, file), directory]);
}
