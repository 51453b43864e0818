import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run, say } from '../run.mjs';

/**
 * Builds main packages of the module in `wrapper` into `out`, each under the last part of its path without its version.
 * Building takes a while, so `announcement` is printed if Go is available.
 */
export async function goBuild(wrapper, packages, out, announcement, environment = {}) {
  const own = { CGO_ENABLED: '0', GOWORK: 'off', GOFLAGS: '-buildvcs=false -mod=readonly' };
  const env = { ...process.env, ...own, ...environment };
  const installed = await run('go', ['env', 'GOVERSION'], { env: { ...env, GOTOOLCHAIN: 'local' } });
  const wanted = (await readFile(join(wrapper, 'go.mod'), 'utf8')).match(/^go (\S+)/m)[1];
  // Another toolchain is an additional download, so avoid it if possible.
  if (isAtLeast(installed.trim().slice(2), wanted)) env.GOTOOLCHAIN = 'local';
  say(announcement);
  const args = ['build', '-trimpath', '-ldflags', '-s -w', '-o', `${out}/`, ...packages];
  await run('go', args, { cwd: wrapper, env, timeout: 1_800_000 });
}

function isAtLeast(version, wanted) {
  const [a, b] = [version, wanted].map((text) => text.match(/\d+/g).map(Number));
  const at = [0, 1, 2].find((i) => (a[i] ?? 0) !== (b[i] ?? 0));
  return at === undefined || (a[at] ?? 0) > (b[at] ?? 0);
}
