// The npm package, as `npm pack` makes it.
import { run } from '../lib/run.mjs';
import { root } from '../lib/steps.mjs';

export async function npm({ directory, environment }) {
  await run('npm', ['pack', '--silent', `--pack-destination=${directory}`], { cwd: root, env: environment });
}
