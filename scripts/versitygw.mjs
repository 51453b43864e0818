// Puts versitygw, an S3 server, where the tests find it: what is on the PATH, else built from its Go module. Runs on Node 20.
import { access, constants, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from './lib/cache.mjs';
import { goBuild } from './lib/go-build.mjs';
import { onPath } from './lib/on-path.mjs';
import { say } from './lib/run.mjs';

const directory = join(cacheDirectory, 'versitygw');
const wrapper = join(import.meta.dirname, '../test/versitygw');

async function provide(fresh) {
  const [found] = await onPath(/^versitygw$/);
  if (found) {
    await symlink(found, join(fresh, 'versitygw'));
    return 'from the PATH';
  }
  const main = 'github.com/versity/versitygw/cmd/versitygw';
  await goBuild(wrapper, [main], fresh, 'versitygw: building, a minute or so');
  return 'built from its Go module';
}

const started = performance.now();
try {
  const there = await access(join(directory, 'versitygw'), constants.X_OK).then(
    () => true,
    () => false,
  );
  say(`versitygw: ${there ? 'at hand' : await fillDirectory(directory, provide)}`, started);
} catch (error) {
  say(`versitygw is not to be had here: install Go 1.26 or put it on the PATH (${error.message})`);
  process.exitCode = 2;
}
