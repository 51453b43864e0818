// kubectl-etcd for krew: the archive and its manifest, from the file that the npm package contains.
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/run.mjs';
import { plugin as bundle, orThrow, root } from '../lib/steps.mjs';

export async function plugin(release) {
  const directory = release.scratch('plugin');
  bundle(directory, orThrow);
  const script = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', join(root, 'scripts/generate/krew.mjs')];
  const options = ['--from', join(directory, 'kubectl-etcd'), '--to', release.directory];
  await run(process.execPath, [...script, ...options], { env: release.environment });
  renameSync(release.file('etcd.yaml'), release.file('krew-etcd.yaml'));
}
