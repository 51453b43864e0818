// Bundles kubectl-etcd into lib/kubectl-etcd, or the given file: one file without dependencies, which the npm package contains.
// THIRD_PARTY_LICENSES beside it has the notices of what is in the bundle.
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { parse } from 'yaml';
import { thirdPartyLicenses } from './third-party-licenses.mjs';

const here = import.meta.dirname;
const out = process.argv[2] ?? join(here, '../lib/kubectl-etcd');
const page = (path) => readFile(join(here, '../docs', path), 'utf8');
const { version } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'));
// The client of Kubernetes imports it for requests that the plugin never makes, and it needs Node 22.
const withoutUndici = {
  name: 'without-undici',
  setup(bundler) {
    bundler.onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'empty' }));
    bundler.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'module.exports = {}', loader: 'js' }));
  },
};
const crds = join(here, '../crds');
const crdFiles = Object.fromEntries(
  await Promise.all((await readdir(crds)).map(async (file) => [file, parse(await readFile(join(crds, file), 'utf8'))])),
);
/** What the library takes from the packages beside it, the plugin brings. */
const own = {
  'src/packaged/cdk8s-yaml.ts': "export const cdk8sYaml = require('yaml');",
  'src/packaged/crd-files.ts': `const files = ${JSON.stringify(crdFiles)}; export const crdIn = (file) => files[file];`,
};
const asItsOwn = {
  name: 'as-its-own',
  setup(bundler) {
    for (const [file, contents] of Object.entries(own)) {
      const filter = new RegExp(`${file.replaceAll(/[/.]/g, '\\$&')}$`);
      bundler.onLoad({ filter }, () => ({ contents, loader: 'js' }));
    }
  },
};
const { metafile } = await build({
  absWorkingDir: join(here, '..'),
  entryPoints: [join(here, 'src/plugin/kubectl-etcd.ts')],
  outfile: out,
  bundle: true,
  // The file has no extension, so every Node takes it for CommonJS.
  format: 'cjs',
  platform: 'node',
  // The oldest Node that the library supports: readers have their own.
  target: 'node20',
  minify: true,
  // `debug` takes it if a package of the development happens to bring it.
  external: ['supports-color'],
  plugins: [withoutUndici, asItsOwn],
  define: {
    AGENT_VERSION: JSON.stringify(version),
    PAGES: JSON.stringify({
      runbook: await page('operations/runbook.md'),
      members: await page('clusters/member-pods.md'),
      users: await page('clusters/users.md'),
      backups: await page('backups/backup-and-restore-resources.md'),
      alerts: await page('operations/alerts.md'),
    }),
    'import.meta.url': 'undefined',
  },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});
await chmod(out, 0o755);
await writeFile(join(dirname(out), 'THIRD_PARTY_LICENSES'), thirdPartyLicenses(metafile));
