// Stand-ins for the base images of another architecture, where no registry has them: the same programs, from npm, Debian's
// packages and Go modules. With them a release can be made for that architecture and its files can be inspected.
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from '../cache.mjs';
import { minorOf } from '../etcd-programs.mjs';
import { go } from '../etcd-ways.mjs';
import { run, say } from '../run.mjs';
import { baseImages, withBases } from './base-images.mjs';

const environment = { ...process.env, BUILDAH_ISOLATION: 'chroot' };
const buildah = (...args) => run('buildah', args, { env: environment });
const prefix = 'localhost/cdk8s-etcd-stand-in';

/** Returns arguments of the builder: lists in buildah's storage of this machine's image and the stand-in for `architecture`. */
export async function standInBases(architecture) {
  const args = [];
  for (const [name, image] of baseImages(withBases())) {
    const started = performance.now();
    const files = name === 'NODE_IMAGE' ? await nodeFiles(architecture) : await etcdFiles(architecture, tagOf(image));
    args.push(`${name}=${await list(image, files, architecture)}`);
    say(`${image}: a stand-in for ${architecture}`, started);
  }
  return args;
}

const tagOf = (image) => image.split('@')[0].split(':').at(-1);

async function list(image, files, architecture) {
  const name = `${prefix}/${image.split('@')[0].split('/').at(-1)}`;
  const part = `${name}-${architecture}`;
  const container = (await buildah('from', `--arch=${architecture}`, 'scratch')).trim();
  await buildah('copy', '--quiet', container, files, '/');
  await buildah('config', '--arch', architecture, container);
  // With one time, the same files are the same image.
  await buildah('commit', '--quiet', '--rm', '--timestamp=0', container, part);
  await buildah('manifest', 'rm', name).catch(() => {});
  await buildah('manifest', 'create', name);
  await buildah('pull', '--quiet', '--policy=missing', image);
  await buildah('manifest', 'add', name, `containers-storage:${image}`);
  await buildah('manifest', 'add', '--arch', architecture, name, `containers-storage:${part}`);
  return name;
}

/** Node, and what it links to. */
function nodeFiles(architecture) {
  const { node } = process.versions;
  const [major] = node.split('.');
  return filled(`node-${major}-${architecture}`, async (directory) => {
    const temporary = join(directory, 'temporary');
    for (const name of ['lists/partial', 'archives/partial']) await mkdir(join(temporary, name), { recursive: true });
    await run('npm', ['pack', '--silent', `node-linux-${architecture}@${major}`], { cwd: temporary });
    // Of its own, so that the system's apt does not get another architecture.
    const apt = [
      ...['-q', '-o', `APT::Architecture=${architecture}`, '-o', `APT::Architectures=${architecture}`],
      ...['-o', `Dir::State=${temporary}`, '-o', `Dir::Cache=${temporary}`, '-o', 'Dir::State::status=/dev/null'],
    ];
    await run('apt-get', [...apt, 'update'], { timeout: 300_000 });
    await run('apt-get', [...apt, 'download', 'libc6', 'libgcc-s1', 'libstdc++6'], {
      cwd: temporary,
      timeout: 300_000,
    });
    const script = `set -eu
mkdir -p usr/local usr/lib
ln -s usr/lib lib
tar -xzf temporary/node-linux-*.tgz -C usr/local --strip-components=1 --no-same-owner package/bin/node package/LICENSE
for package in temporary/*.deb; do dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink; done`;
    await run('bash', ['-o', 'pipefail', '-c', script], { cwd: directory });
    await rm(temporary, { recursive: true });
  });
}

/** etcd and its tools. */
function etcdFiles(architecture, tag) {
  const minor = minorOf(tag.slice(1));
  return filled(`etcd-${tag}-${architecture}`, async (directory) => {
    const programs = join(directory, 'usr/local/bin');
    await mkdir(programs, { recursive: true });
    await go.fill(minor, programs, { GOARCH: architecture });
  });
}

/** Returns the directory in the cache, which `fill` fills the first time. */
async function filled(name, fill) {
  const directory = join(cacheDirectory, 'stand-ins', name);
  if (!existsSync(directory)) await fillDirectory(directory, fill);
  return directory;
}
