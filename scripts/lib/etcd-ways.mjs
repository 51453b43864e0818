// The ways to get the programs of a minor. Each fills a directory, or throws an error of one line.
import { readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { candidate, unpack } from './debian-package.mjs';
import { minorOf, programsOf, versionOf } from './etcd-programs.mjs';
import { downloadRelease } from './etcd-release.mjs';
import { goBuild } from './go/go-build.mjs';
import { onPath } from './on-path.mjs';

const wrappers = join(import.meta.dirname, '../../test/tools/etcd');

export const path = {
  done: 'from the PATH',
  async fill(minor, directory) {
    for (const program of programsOf(minor)) {
      const found = await newestOnPath(program, minor);
      if (!found) throw new Error(`no ${program} ${minor} on the PATH`);
      await symlink(found, join(directory, program));
    }
  },
};

export const go = {
  done: 'built from its Go modules',
  /** `environment` is Go's, such as GOARCH. */
  async fill(minor, directory, environment = {}) {
    const wrapper = (await readdir(wrappers)).find((version) => minorOf(version) === minor);
    if (!wrapper) throw new Error(`no Go module for ${minor}`);
    const modules = ['server', 'etcdctl', 'etcdutl'].map((name) => `go.etcd.io/etcd/${name}/v3`);
    const announcement = `etcd ${wrapper}: building, a minute or so`;
    await goBuild(join(wrappers, wrapper), modules, directory, announcement, environment);
    await rename(join(directory, 'server'), join(directory, 'etcd'));
  },
};

export const debian = {
  done: "from Debian's package",
  async fill(minor, directory) {
    const version = await candidate('etcd-server');
    if (!version) throw new Error('apt knows no etcd-server');
    if (minorOf(version) !== minor) throw new Error(`apt has ${version}`);
    const unpacked = join(directory, 'debian');
    await unpack(['etcd-server', 'etcd-client'], unpacked);
    for (const program of programsOf(minor)) {
      await rename(join(unpacked, 'usr/bin', program), join(directory, program)).catch(() => {
        throw new Error(`Debian's packages have no ${program}`);
      });
    }
    await rm(unpacked, { recursive: true });
  },
};

export const release = { done: 'from its official release', fill: downloadRelease };

const scans = {};

async function newestOnPath(program, minor) {
  scans[program] ??= scan(program);
  const ours = (await scans[program]).filter(({ version }) => version && minorOf(version) === minor);
  return ours.sort((a, b) => b.version.localeCompare(a.version, 'en', { numeric: true }))[0]?.path;
}

/** Every such program on the PATH with its version: `etcd`, and names such as `etcd-3.6.16`. */
async function scan(program) {
  const paths = await onPath(new RegExp(`^${program}(-v?\\d+\\.\\d+(\\.\\d+)?)?$`));
  return Promise.all(paths.map(async (path) => ({ path, version: await versionOf(program, path) })));
}
