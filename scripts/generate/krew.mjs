// `node scripts/generate/krew.mjs [--from FILE] [--to DIRECTORY] [--uri URL]`: packs lib/kubectl-etcd for krew, kubectl's plugin
// manager, and writes the manifest beside the archive. The same file always gives the same archive, whose times are
// SOURCE_DATE_EPOCH, or 1970. --uri is the address from which krew will download the archive; by default that of the release.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { tarFile } from '../../agent/src/lib/files/tar.ts';

const root = join(import.meta.dirname, '../..');
const { version, repository, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const homepage = repository.url.replace(/\.git$/, '');
const file = `kubectl-etcd-v${version}.tar.gz`;
const { values } = parseArgs({
  options: {
    from: { type: 'string', default: join(root, 'lib/kubectl-etcd') },
    to: { type: 'string', default: join(root, 'lib/krew') },
    uri: { type: 'string', default: `${homepage}/releases/download/v${version}/${file}` },
  },
});

// The manifest would promise another version than the one in the archive.
const printed = spawnSync(process.execPath, [values.from, '--version'], { encoding: 'utf8' }).stdout.trim();
if (printed !== version) {
  const found = printed ? `is version ${printed}, not ${version}` : 'prints no version';
  console.error(`--from: ${values.from} ${found}; write it with npm run build`);
  process.exit(1);
}

const entry = async (path, source, mode) => ({
  ...{ path, type: 'file', mode, uid: 0, gid: 0, modified: Number(process.env.SOURCE_DATE_EPOCH ?? 0) },
  content: await readFile(source),
});
const archive = gzipSync(
  tarFile([
    await entry('kubectl-etcd', values.from, 0o755),
    await entry('LICENSE', join(root, 'LICENSE'), 0o644),
    await entry('THIRD_PARTY_LICENSES', join(dirname(values.from), 'THIRD_PARTY_LICENSES'), 0o644),
  ]),
);

const manifest = {
  apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
  kind: 'Plugin',
  metadata: { name: 'etcd' },
  spec: {
    version: `v${version}`,
    homepage,
    shortDescription: 'Show and change etcd clusters of cdk8s-etcd',
    description: `Shows the etcd clusters of cdk8s-etcd, explains what is wrong, and takes, verifies and
restores their backups. It talks to the API server alone, with your kubeconfig and your rights.
License: ${license}.
`,
    caveats: `The plugin is a script of Node: it needs Node 22 or newer as "node" on the PATH.
The clusters and their CustomResourceDefinitions come from cdk8s-etcd: ${homepage}
`,
    platforms: [
      {
        selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }] },
        uri: values.uri,
        sha256: createHash('sha256').update(archive).digest('hex'),
        files: [
          { from: 'kubectl-etcd', to: '.' },
          { from: 'LICENSE', to: '.' },
          { from: 'THIRD_PARTY_LICENSES', to: '.' },
        ],
        bin: 'kubectl-etcd',
      },
    ],
  },
};

await mkdir(values.to, { recursive: true });
await writeFile(join(values.to, file), archive);
await writeFile(join(values.to, 'etcd.yaml'), stringify(manifest, { lineWidth: 0 }));
console.log(`${join(values.to, 'etcd.yaml')}: krew's manifest of ${file}`);
