// Puts the evaluator of the rules and the schemas into lib/src/resource/bundled.js of a compiled library.
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { thirdPartyLicenses } from '../../agent/third-party-licenses.mjs';

const root = join(import.meta.dirname, '../..');

export function bundleResources(lib) {
  const options = {
    absWorkingDir: root,
    entryPoints: [join(root, 'src/resource/bundled.ts')],
    outfile: join(lib, 'src/resource/bundled.js'),
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
}
