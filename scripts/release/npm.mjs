// The npm package, as `npm pack` makes it, but for the modes of its files, which would be those of the checkout.
import { run } from '../lib/run.mjs';
import { root } from '../lib/steps.mjs';
import { pack } from './pack.mjs';

export async function npm(release) {
  const { directory, environment, version, time } = release;
  const options = { cwd: root, env: environment };
  // By name: with `ignore-scripts` in somebody's npmrc, `npm pack` would pack what happens to be in lib/.
  await run('npm', ['run', '--silent', 'prepack'], options);
  await run('npm', ['pack', '--silent', '--ignore-scripts', `--pack-destination=${directory}`], options);
  await sameModes(release.file(`cdk8s-etcd-${version}.tgz`), release.scratch('npm'), time);
}

/** Packs an archive anew, by way of an empty directory. */
export async function sameModes(archive, directory, time) {
  await run('tar', ['-xzf', archive, '-C', directory]);
  pack(directory, archive, time);
}
