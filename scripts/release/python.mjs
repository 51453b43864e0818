// The wheel for Python.
import { run } from '../lib/run.mjs';
import { need } from './left-out.mjs';

export async function python(release) {
  await need('python3', '-m', 'pip', '--version');
  const pip = ['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps', '--no-cache-dir'];
  const args = [...pip, '--wheel-dir', release.directory, release.sources('python')];
  await run('python3', args, { env: release.environment, timeout: 600_000 });
}
