// Bundles the agent into agent/lib/bin: one entry, and a chunk per command or store that is loaded when needed.
import { rmSync } from 'node:fs';
import { chmod, cp, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { replaceDirectory } from './replace-directory.ts';

const here = import.meta.dirname;
// Beside the old one, which stays until the new one is whole.
const out = join(here, `lib.${process.pid}`);
process.on('exit', () => {
  for (const each of [out, `${out}.old`]) rmSync(each, { recursive: true, force: true });
});
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
// The image has it on its PATH.
await chmod(join(out, 'bin/etcd-agent.mjs'), 0o755);
// etcd3 reads ../proto/*.proto, seen from its own code, at run time.
const etcd3 = dirname(createRequire(import.meta.url).resolve('etcd3/package.json'));
await cp(join(etcd3, 'proto'), join(out, 'proto'), { recursive: true });
await replaceDirectory(out, join(here, 'lib'));
