// Puts a virtual environment of Python into the cache, with what the client in Python of the tests needs. Runs on Node 20.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from '../lib/cache.mjs';
import { run, say } from '../lib/run.mjs';

const directory = join(cacheDirectory, 'python');
const requirements = join(import.meta.dirname, '../../test/tools/python-client/requirements.txt');
const wanted = await readFile(requirements, 'utf8');

/** An environment whose Python was removed or upgraded since does not run. */
async function isThere() {
  if ((await readFile(join(directory, 'requirements.txt'), 'utf8').catch(() => '')) !== wanted) return false;
  return run(join(directory, 'bin/python'), ['-c', 'import grpc']).then(
    () => true,
    () => false,
  );
}

async function install(fresh) {
  const timeout = 600_000;
  await run('python3', ['-m', 'venv', fresh], { timeout });
  const flags = ['--quiet', '--disable-pip-version-check', '--only-binary=:all:', '--requirement', requirements];
  await run(join(fresh, 'bin/python'), ['-m', 'pip', 'install', ...flags], { timeout });
  await writeFile(join(fresh, 'requirements.txt'), wanted);
  return 'a virtual environment from PyPI';
}

const started = performance.now();
try {
  say(`python: ${(await isThere()) ? 'at hand' : await fillDirectory(directory, install)}`, started);
} catch (error) {
  say(`python is missing and cannot be installed here: install python3 with venv and pip (${error.message})`);
  process.exitCode = 2;
}
