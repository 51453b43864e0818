// What `npm pack` and `npm publish` run first in a checkout. A release packs a directory of its own instead, with other links.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/steps.mjs';
import { compilePackage } from '../release/package.mjs';

rmSync(join(root, 'lib'), { recursive: true, force: true });
compilePackage(root);
