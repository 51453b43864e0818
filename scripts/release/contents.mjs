// The files of an image, for each platform, and what must be true of them.
import { closeSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs';
import { join, relative } from 'node:path';
import { run } from '../lib/run.mjs';
import { filesBelow } from './pack.mjs';

const agentPrograms = ['usr/local/bin/node', 'usr/local/bin/etcdutl'];
/** Programs of each image, by its stage in the Dockerfile. */
const programsOf = {
  agent: agentPrograms,
  member: [...agentPrograms, ...['3.5', '3.6', '3.7'].map((minor) => `opt/etcd/${minor}/etcd`)],
};
/** What Node needs to start, which the Dockerfile finds by patterns. */
const neededByNode = {
  amd64: ['lib64/ld-linux-x86-64.so.2', 'lib/x86_64-linux-gnu/libc.so.6'],
  arm64: ['lib/ld-linux-aarch64.so.1', 'lib/aarch64-linux-gnu/libc.so.6'],
};

/**
 * Unpacks the image of an OCI layout, for each platform. Returns for each its architecture, its configuration and the directory.
 * Throws unless the layout has each of these platforms once.
 */
export async function unpack(layout, into, platforms) {
  const blob = (digest) => join(layout, 'blobs', digest.replace(':', '/'));
  const read = ({ digest }) => JSON.parse(readFileSync(blob(digest), 'utf8'));
  const [top] = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')).manifests;
  // docker writes no list for one platform.
  const images = (read(top).manifests ?? [top]).map((described) => {
    const { config, layers } = read(described);
    return {
      architecture: described.platform?.architecture ?? read(config).architecture,
      config: read(config),
      layers,
    };
  });
  const found = images.map(({ architecture }) => architecture).sort();
  const wanted = [...new Set(platforms.map((platform) => platform.split('/')[1]))].sort();
  if (found.join() !== wanted.join())
    throw new Error(`${layout}: is for ${found.join(', ')}, not ${wanted.join(', ')}`);
  const parts = [];
  for (const { architecture, config, layers } of images) {
    const directory = join(into, architecture);
    mkdirSync(directory, { recursive: true });
    for (const { digest } of layers) {
      await run('tar', ['-xf', blob(digest), '-C', directory, '--no-same-owner', '--no-same-permissions']);
    }
    parts.push({ architecture, config, directory });
  }
  return parts;
}

/**
 * Returns what is wrong with an unpacked image of a stage: another architecture in its configuration, a file of another one, or a
 * file that is missing.
 */
export function wrongIn({ architecture, config, directory }, stage) {
  const found = architecturesOf(directory);
  const wanted = [...programsOf[stage], ...(neededByNode[architecture] ?? [])];
  const foreign = [...found].filter(([, each]) => each !== architecture);
  return [
    ...(config.architecture === architecture ? [] : [`its configuration is for ${config.architecture}`]),
    ...wanted.filter((path) => !found.has(path)).map((path) => `it has no ${path}`),
    ...foreign.map(([path, each]) => `${path} is for ${each}`),
  ];
}

const machines = { 62: 'amd64', 183: 'arm64' };

/** Architecture of each program and library below a directory, by its path. */
export function architecturesOf(directory) {
  const found = new Map();
  for (const path of filesBelow(directory)) {
    const head = headOf(path);
    if (head.toString('latin1', 0, 4) !== '\x7fELF') continue;
    const machine = head.readUInt16LE(18);
    found.set(relative(directory, path), machines[machine] ?? `machine ${machine}`);
  }
  return found;
}

function headOf(path) {
  const head = Buffer.alloc(20);
  const file = openSync(path, 'r');
  readSync(file, head);
  closeSync(file);
  return head;
}
