// Bundles the agent into agent/lib/bin: an entry, and chunks for commands and stores that are loaded when needed. With
// --crashing, also bundles the entries of test suites. Only the test image contains those.
import { rmSync } from 'node:fs';
import { chmod, cp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { replaceDirectory } from './replace-directory.ts';

const here = import.meta.dirname;
// Build beside the old bundle, which stays until the new one is complete.
const out = join(here, `lib.${process.pid}`);
process.on('exit', () => {
  for (const each of [out, `${out}.old`]) rmSync(each, { recursive: true, force: true });
});
const options = {
  outdir: join(out, 'bin'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Optional native helpers of ssh2. They are not built here, because install scripts of packages do not run.
  external: ['cpu-features', '*.node'],
  minifySyntax: true,
  define: { AGENT_VERSION: JSON.stringify(JSON.parse(await readFile(join(here, 'package.json'), 'utf8')).version) },
  legalComments: 'none',
  logLevel: 'warning',
  // CommonJS dependencies expect these three variables.
  banner: {
    js: [
      "import { createRequire as $require } from 'node:module';",
      'const require = $require(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;',
    ].join('\n'),
  },
};
await build({ ...options, entryPoints: { 'etcd-agent': join(here, 'src/cli.ts') }, splitting: true });
// A build of its own, so that the files of the agent are the same with and without it.
if (process.argv.includes('--crashing')) {
  const entryPoints = {
    'etcd-agent-crashing': join(here, 'test/local/pods/agent-crashing.mts'),
    'etcd-agent-hasty': join(here, 'test/local/pods/agent-hasty.mts'),
  };
  await build({ ...options, entryPoints });
}
// The image has this file on its PATH.
await chmod(join(out, 'bin/etcd-agent.mjs'), 0o755);
// At run time etcd3 reads ../proto/*.proto relative to its own code.
const etcd3 = dirname(createRequire(import.meta.url).resolve('etcd3/package.json'));
await cp(join(etcd3, 'proto'), join(out, 'proto'), { recursive: true });
await replaceDirectory(out, join(here, 'lib'));
