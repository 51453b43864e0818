// Puts age and age-keygen into the cache: from the PATH, else built from their Go module, else from Debian. Runs on
// Node 20.
import { access, constants, copyFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from '../lib/cache.mjs';
import { candidate, unpack } from '../lib/debian-package.mjs';
import { goBuild } from '../lib/go/go-build.mjs';
import { onPath } from '../lib/on-path.mjs';
import { say } from '../lib/run.mjs';

const directory = join(cacheDirectory, 'age');
const wrapper = join(import.meta.dirname, '../../test/tools/age');
const programs = ['age', 'age-keygen'];

async function provide(fresh) {
  const found = await Promise.all(programs.map(async (name) => (await onPath(new RegExp(`^${name}$`)))[0]));
  if (found.every(Boolean)) {
    for (const [index, name] of programs.entries()) await symlink(found[index], join(fresh, name));
    return 'from the PATH';
  }
  try {
    const packages = programs.map((name) => `filippo.io/age/cmd/${name}`);
    await goBuild(wrapper, packages, fresh, 'age: building, some seconds');
    return 'built from its Go module';
  } catch (error) {
    say(`age: cannot be built here (${error.message})`);
  }
  if (!(await candidate('age'))) throw new Error('no package either');
  const unpacked = join(fresh, 'unpacked');
  await unpack(['age'], unpacked);
  for (const name of programs) await copyFile(join(unpacked, 'usr/bin', name), join(fresh, name));
  await rm(unpacked, { recursive: true });
  return "from the distribution's package";
}

const started = performance.now();
try {
  const there = await access(join(directory, 'age'), constants.X_OK).then(
    () => true,
    () => false,
  );
  say(`age: ${there ? 'at hand' : await fillDirectory(directory, provide)}`, started);
} catch (error) {
  say(`age is missing and cannot be installed here: install it or Go (${error.message})`);
  process.exitCode = 2;
}
