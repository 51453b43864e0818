// Bundles the agent into agent/lib/bin: an entry, and chunks for commands and stores that are loaded when needed. With
// --crashing, also bundles the entries of test suites. Only the test image contains those. A path replaces agent/lib.
import { rmSync } from 'node:fs';
import { chmod, cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { normalizeModes } from '../scripts/lib/modes.mjs';
import { replaceDirectory } from './replace-directory.ts';
import { thirdPartyLicenses } from './third-party-licenses.mjs';

const here = import.meta.dirname;
const { values, positionals } = parseArgs({ options: { crashing: { type: 'boolean' } }, allowPositionals: true });
const [target = join(here, 'lib')] = positionals;
// Build beside the old bundle, which stays until the new one is complete.
const out = `${target}.${process.pid}`;
process.on('exit', () => {
  for (const each of [out, `${out}.old`]) rmSync(each, { recursive: true, force: true });
});
const options = {
  absWorkingDir: join(here, '..'),
  outdir: join(out, 'bin'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Optional native helpers of ssh2, which are not built here, because install scripts of packages do not run; and what
  // `debug` takes if a package of the development happens to bring it.
  external: ['cpu-features', '*.node', 'supports-color'],
  minifySyntax: true,
  define: { AGENT_VERSION: JSON.stringify(JSON.parse(await readFile(join(here, 'package.json'), 'utf8')).version) },
  // The notices are in THIRD_PARTY_LICENSES.
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  // CommonJS dependencies expect these three variables.
  banner: {
    js: [
      "import { createRequire as $require } from 'node:module';",
      'const require = $require(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;',
    ].join('\n'),
  },
};
const { metafile } = await build({
  ...options,
  entryPoints: { 'etcd-agent': join(here, 'src/cli.ts') },
  splitting: true,
});
// A build of its own, so that the files of the agent are the same with and without it.
if (values.crashing) {
  const entryPoints = {
    'etcd-agent-crashing': join(here, 'test/local/pods/agent-crashing.mts'),
    'etcd-agent-hasty': join(here, 'test/local/pods/agent-hasty.mts'),
  };
  await build({ ...options, entryPoints });
}
// The image has this file on its PATH.
await chmod(join(out, 'bin/etcd-agent.mjs'), 0o755);
await writeFile(join(out, 'THIRD_PARTY_LICENSES'), thirdPartyLicenses(metafile));
// The image has it as the license of the agent and of etcd.
await cp(join(here, '../LICENSE'), join(out, 'LICENSE'));
// The user of the image is not the owner.
normalizeModes(out);
await replaceDirectory(out, target);
