// Bundles the agent into agent/lib/bin: one entry, and a chunk per command or store that is loaded when needed.
import { rmSync } from 'node:fs';
import { cp, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
// Beside the old one, which stays until the new one is whole.
const out = join(here, `lib.${process.pid}`);
process.on('exit', () => rmSync(out, { recursive: true, force: true }));
await build({
  entryPoints: { 'etcd-agent': join(here, 'src/cli.ts') },
  outdir: join(out, 'bin'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  // Native helpers that ssh2 does without: no script of a package builds them here.
  external: ['cpu-features', '*.node'],
  minifySyntax: true,
  define: { AGENT_VERSION: JSON.stringify(JSON.parse(await readFile(join(here, 'package.json'), 'utf8')).version) },
  legalComments: 'none',
  logLevel: 'warning',
  // CommonJS dependencies expect these three.
  banner: {
    js: [
      "import { createRequire as $require } from 'node:module';",
      'const require = $require(import.meta.url), __filename = import.meta.filename, __dirname = import.meta.dirname;',
    ].join('\n'),
  },
});
// etcd3 reads ../proto/*.proto, seen from its own code, at run time.
const etcd3 = dirname(createRequire(import.meta.url).resolve('etcd3/package.json'));
await cp(join(etcd3, 'proto'), join(out, 'proto'), { recursive: true });
const lib = join(here, 'lib');
await rm(lib, { recursive: true, force: true });
await rename(out, lib);
