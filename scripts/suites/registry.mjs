// `npm run suite -- registry [--stand-ins] [--platform linux/amd64] [--build-arg KEY=VALUE] [--release DIRECTORY]`: rehearses a
// release with a registry, cosign and the nodes of the Kubernetes that KUBECONFIG names. docs/contributing/release.md describes it.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheDirectory } from '../lib/cache.mjs';
import { releaseImages } from '../lib/image/labels.mjs';
import { standInBases } from '../lib/image/stand-ins.mjs';
import { run, say } from '../lib/run.mjs';
import { TestKubernetes } from '../lib/test-kubernetes.mjs';
import { layoutOf } from '../release/image.mjs';
import { makeRelease } from '../release/make.mjs';
import { cosignProgram } from '../release/signature.mjs';

const { values } = parseArgs({
  options: {
    release: { type: 'string' },
    'stand-ins': { type: 'boolean', default: false },
    platform: { type: 'string', multiple: true },
    'build-arg': { type: 'string', multiple: true, default: [] },
  },
});

/** What a registry gets, and what says where it comes from. */
const steps = ['image', 'manifests', 'image-sbom', 'provenance', 'checksums', 'signature'];

const kubernetes = new TestKubernetes('registry');
if (!process.env.NODE_DRIVER)
  kubernetes.give('set NODE_DRIVER to a command that reaches the nodes; they must trust the registry');
const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-registry-'));
try {
  await provideRelease();
  const address = process.env.HOST_ADDRESS ?? gateway();
  const [pull, push] = [await freePort(address), await freePort(address)];
  const digests = Object.fromEntries(await Promise.all(releaseImages.map(digest)));
  const [, version] = releaseImages[0].name.split(':');
  const rehearsal = {
    ...{ directory, version, digests, address, ports: { pull, push }, cosign: await cosignProgram() },
    authority: join(cacheDirectory, 'registry-authority'),
  };
  const env = {
    REHEARSAL: JSON.stringify(rehearsal),
    AGENT_IMAGE: `${address}:${pull}/cdk8s-etcd/member@${digests.member}`,
  };
  process.exitCode = kubernetes.suites(['test/registry/'], env);
} catch (error) {
  console.error(`registry: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true });
}

/** Puts the artifacts into `release/`, where the workflow expects them. */
async function provideRelease() {
  const to = join(directory, 'release');
  if (values.release) cpSync(values.release, to, { recursive: true });
  else for (const line of await makeRelease(to, await options())) say(`left out: ${line}`);
  for (const { name } of releaseImages)
    if (!existsSync(archiveOf(name))) throw new Error(`the release has no ${basename(archiveOf(name))}`);
  await run('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: to });
}

async function options() {
  const bases = values['stand-ins'] ? await standInBases(process.arch === 'arm64' ? 'amd64' : 'arm64') : [];
  return { only: steps, platforms: values.platform, buildArgs: [...bases, ...values['build-arg']] };
}

function archiveOf(name) {
  return join(directory, 'release', `${layoutOf(name)}.oci.tar`);
}

async function digest({ name, target }) {
  const { manifests } = JSON.parse(await run('tar', ['-xOf', archiveOf(name), 'index.json']));
  return [target, manifests[0].digest];
}

/** Where the nodes reach this machine: it is their way out. */
function gateway() {
  const [node] = kubernetes.kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}').split(' ');
  const command = `${process.env.NODE_DRIVER} shell "$1" ip -4 route show default`;
  const { stdout } = spawnSync('sh', ['-c', command, 'sh', node], { encoding: 'utf8' });
  const [, address] = /\bvia (\S+)/.exec(stdout) ?? [];
  return address ?? kubernetes.give(`${node} has no default route; set HOST_ADDRESS`);
}

async function freePort(host) {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
