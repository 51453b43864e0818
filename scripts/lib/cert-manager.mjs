import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from './cache.mjs';
import { run } from './run.mjs';

const wrapper = join(import.meta.dirname, '../../test/tools/cert-manager');
const kinds = /^cert-manager\.io_(certificates|issuers|clusterissuers)\.yaml$/;

/** Returns a directory with cert-manager's CustomResourceDefinitions, from its Go module; throws if it is unavailable. */
export async function certManagerCrds() {
  const directory = join(cacheDirectory, 'cert-manager-crds');
  const found = await readdir(directory).catch(() => []);
  if (found.length === 0) await fillDirectory(directory, fill);
  return directory;
}

async function fill(fresh) {
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=readonly' };
  const args = ['mod', 'download', '-json', 'github.com/cert-manager/cert-manager'];
  const module = JSON.parse(await run('go', args, { cwd: wrapper, env, timeout: 300_000 }));
  const source = join(module.Dir, 'deploy/crds');
  const files = (await readdir(source)).filter((name) => kinds.test(name));
  if (files.length !== 3) throw new Error(`${source} has other files than expected`);
  for (const name of files) await cp(join(source, name), join(fresh, name));
}
