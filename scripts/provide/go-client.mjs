// Builds the client in Go of the tests into the cache, from test/tools/go-client. Runs on Node 20.
import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from '../lib/cache.mjs';
import { goBuild } from '../lib/go-build.mjs';
import { say } from '../lib/run.mjs';

const wrapper = join(import.meta.dirname, '../../test/tools/go-client');
const started = performance.now();
try {
  // Always, because its source may have changed. Go keeps what has not.
  const build = (fresh) => goBuild(wrapper, ['.'], fresh, 'go-client: building, a minute for the first time');
  await fillDirectory(join(cacheDirectory, 'go-client'), build);
  say('go-client: built', started);
} catch (error) {
  say(`go-client is missing and cannot be built here: install Go 1.26 (${error.message})`);
  process.exitCode = 2;
}
