// What `npm pack` and `npm publish` run first: writes lib/ anew, and .jsii, from which jsii makes packages that use this one.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compile } from '../lib/assembly.mjs';
import { build, plugin, root } from '../lib/steps.mjs';

rmSync(join(root, 'lib'), { recursive: true, force: true });
build();
plugin();
const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-prepack-'));
try {
  compile(directory);
  copyFileSync(join(directory, '.jsii'), join(root, '.jsii'));
} finally {
  rmSync(directory, { recursive: true });
}
