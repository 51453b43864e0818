// Bundles the agent into agent/lib/bin: one entry, and a chunk per command or store that is loaded when needed.
import { cp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const here = import.meta.dirname;
const out = join(here, 'lib');
await rm(out, { recursive: true, force: true });
await build({
  entryPoints: { 'etcd-agent': join(here, 'src/cli.ts') },
  outdir: join(out, 'bin'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
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
