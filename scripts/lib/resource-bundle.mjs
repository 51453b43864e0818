// Puts the evaluator of the rules and the schemas into src/resource/bundled.js of a compiled library: `node
// scripts/lib/resource-bundle.mjs LIB`.
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { thirdPartyLicenses } from '../../agent/third-party-licenses.mjs';

const root = join(import.meta.dirname, '../..');
const options = {
  absWorkingDir: root,
  entryPoints: [join(root, 'src/resource/bundled.ts')],
  outfile: join(process.argv[2], 'src/resource/bundled.js'),
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node22',
  minify: true,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};
const { metafile } = buildSync({ ...options, write: false });
buildSync({ ...options, banner: { js: `/*\n${thirdPartyLicenses(metafile)}*/` } });
