import { access, constants, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from '../cache.mjs';
import { onPath } from '../on-path.mjs';
import { say } from '../run.mjs';
import { goBuild } from './go-build.mjs';

const wrappers = join(import.meta.dirname, '../../../test/tools');

/**
 * Puts a program into the cache: the one on the PATH, else one built from its Go module by the wrapper in test/.
 * Returns its path; throws if it is unavailable.
 */
export async function goProgram(name, mainPackage, announcement) {
  const directory = join(cacheDirectory, name);
  const program = join(directory, name);
  const started = performance.now();
  const there = await access(program, constants.X_OK).then(
    () => true,
    () => false,
  );
  const how = there ? 'at hand' : await fillDirectory(directory, provide);
  say(`${name}: ${how}`, started);
  return program;

  async function provide(fresh) {
    const [found] = await onPath(new RegExp(`^${name}$`));
    if (found) {
      await symlink(found, join(fresh, name));
      return 'from the PATH';
    }
    await goBuild(join(wrappers, name), [mainPackage], fresh, `${name}: building, ${announcement}`);
    return 'built from its Go module';
  }
}
