// Runs a cdk8s app written in TypeScript, which writes its manifests into a directory.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { fillDirectory } from './cache.mjs';

const root = join(import.meta.dirname, '../..');

/** Writes dist/, which stays as it was until every file is made. */
export async function writeDist() {
  await fillDirectory(join(root, 'dist'), (fresh) => synthesize('src/main.ts', fresh));
}

export function synthesize(app, outdir) {
  const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-app-'));
  const bundle = join(directory, 'app.cjs');
  try {
    buildSync({
      entryPoints: [join(root, app)],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      packages: 'external',
      // As in the package, so that the library finds its crds/.
      define: { __dirname: JSON.stringify(join(root, 'src')) },
      logLevel: 'warning',
    });
    const env = { ...process.env, CDK8S_OUTDIR: outdir, NODE_PATH: join(root, 'node_modules') };
    // Files that it writes with other names go there too.
    execFileSync(process.execPath, [bundle], { env, cwd: outdir, stdio: ['ignore', 'ignore', 'inherit'] });
  } finally {
    rmSync(directory, { recursive: true });
  }
}
