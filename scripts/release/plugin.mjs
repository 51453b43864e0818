// kubectl-etcd for krew: the archive and its manifest, from the file that the npm package contains.
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../lib/run.mjs';
import { plugin as bundle, root } from '../lib/steps.mjs';

export async function plugin(release) {
  bundle();
  const args = ['--disable-warning=MODULE_TYPELESS_PACKAGE_JSON', join(root, 'scripts/generate/krew.mjs')];
  await run(process.execPath, [...args, '--to', release.directory], { env: release.environment });
  renameSync(release.file('etcd.yaml'), release.file('krew-etcd.yaml'));
}
