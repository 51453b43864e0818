// The wheel for Python.
import { runIfThere } from './left-out.mjs';

export async function python(release) {
  const pip = ['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps', '--no-cache-dir'];
  const args = [...pip, '--wheel-dir', release.directory, release.sources('python')];
  await runIfThere('python3', args, { env: release.environment, timeout: 600_000 });
}
