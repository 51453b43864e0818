import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from '../cache.mjs';
import { say } from '../run.mjs';
import { goBuild } from './go-build.mjs';

const wrappers = join(import.meta.dirname, '../../../test/tools');

/** Builds a program of the tests into the cache, from its folder in test/tools. Returns its path; throws if it cannot be built. */
export async function builtGoTool(name) {
  const directory = join(cacheDirectory, name);
  // Always, because its source may have changed. Go keeps what has not.
  const build = (fresh) => goBuild(join(wrappers, name), ['.'], fresh, `${name}: building, minutes for the first time`);
  await fillDirectory(directory, build);
  return join(directory, name);
}

/** The same. Sets the exit code to 2 if it cannot be built. */
export async function goTool(name) {
  const started = performance.now();
  try {
    await builtGoTool(name);
    say(`${name}: built`, started);
  } catch (error) {
    say(`${name} is missing and cannot be built here: install Go 1.26 (${error.message})`);
    process.exitCode = 2;
  }
}
