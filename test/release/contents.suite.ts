// What a release expects of the files of its images.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { evaluated } from '../unit/scripts';

const amd64 = 0x3e;
const arm64 = 0xb7;
const agent = {
  'usr/local/bin/node': arm64,
  'usr/local/bin/etcdutl': arm64,
  'lib/ld-linux-aarch64.so.1': arm64,
  'lib/aarch64-linux-gnu/libc.so.6': arm64,
  'opt/etcd-agent/bin/etcd-agent.mjs': undefined,
};

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'release-contents-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Complaints about an image for arm64 with these files, which are programs for a machine, or texts. */
function wrong(files: Readonly<Record<string, number | undefined>>, stage = 'agent', architecture = 'arm64') {
  for (const [path, machine] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    const head = Buffer.alloc(64);
    head.write('\x7fELF', 'latin1');
    head.writeUInt16LE(machine ?? 0, 18);
    writeFileSync(join(directory, path), machine === undefined ? 'text' : head);
  }
  const part = { architecture: 'arm64', config: { architecture }, directory };
  return evaluated('release/contents.mjs', `m.wrongIn(${JSON.stringify(part)}, ${JSON.stringify(stage)})`);
}

test('nothing is wrong with an image whose programs are all for its platform', () => {
  expect(wrong(agent)).toEqual([]);
});

test.each([
  [
    'a program of the machine that built it',
    { ...agent, 'usr/local/bin/node': amd64 },
    'usr/local/bin/node is for amd64',
  ],
  [
    'a library of it',
    { ...agent, 'lib/x86_64-linux-gnu/libm.so.6': amd64 },
    'lib/x86_64-linux-gnu/libm.so.6 is for amd64',
  ],
  ['a program of a third kind', { ...agent, 'a/b': 0xf3 }, 'a/b is for machine 243'],
  [
    'a text in the place of a program',
    { ...agent, 'usr/local/bin/etcdutl': undefined },
    'it has no usr/local/bin/etcdutl',
  ],
])('%s', (_, files, complaint) => {
  expect(wrong(files)).toEqual([complaint]);
});

test('a missing loader, without which Node does not start', () => {
  const { 'lib/ld-linux-aarch64.so.1': _, ...others } = agent;
  expect(wrong(others)).toEqual(['it has no lib/ld-linux-aarch64.so.1']);
});

test('the image of members has an etcd of each minor', () => {
  expect(wrong(agent, 'member')).toEqual(['3.5', '3.6', '3.7'].map((minor) => `it has no opt/etcd/${minor}/etcd`));
});

test('a configuration for another platform', () => {
  expect(wrong(agent, 'agent', 'amd64')).toEqual(['its configuration is for amd64']);
});

/** Unpacks a layout, or returns the message of the failure. */
const unpacked = (layout: string, platforms: readonly string[]) =>
  evaluated(
    'release/contents.mjs',
    `m.unpack(${JSON.stringify(layout)}, ${JSON.stringify(join(directory, 'unpacked'))}, ${JSON.stringify(platforms)})
      .catch(({ message }) => message)`,
  );

test.each([
  [['amd64'], 'amd64'],
  [['amd64', 'arm64', 'amd64'], 'amd64, amd64, arm64'],
])('a list of %j is not for both platforms', (architectures, found) => {
  const layout = join(directory, 'layout');
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
  const json = (name: string, value: unknown) => writeFileSync(join(layout, name), JSON.stringify(value));
  json('blobs/sha256/config', {});
  json('blobs/sha256/manifest', { config: { digest: 'sha256:config' }, layers: [] });
  const manifests = architectures.map((architecture) => ({ digest: 'sha256:manifest', platform: { architecture } }));
  json('blobs/sha256/list', { manifests });
  json('index.json', { manifests: [{ digest: 'sha256:list' }] });
  expect(unpacked(layout, ['linux/amd64', 'linux/arm64'])).toBe(`${layout}: is for ${found}, not amd64, arm64`);
});

test('docker writes no list for one platform, and the image is unpacked all the same', () => {
  const layout = join(directory, 'one-platform');
  const blobs = join(layout, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  mkdirSync(join(directory, 'layer'));
  writeFileSync(join(directory, 'layer/file'), 'content');
  execFileSync('tar', ['-cf', join(blobs, 'layer'), '-C', join(directory, 'layer'), 'file']);
  const json = (name: string, value: unknown) => writeFileSync(join(blobs, name), JSON.stringify(value));
  json('config', { architecture: 'arm64' });
  json('manifest', { config: { digest: 'sha256:config' }, layers: [{ digest: 'sha256:layer' }] });
  writeFileSync(join(layout, 'index.json'), JSON.stringify({ manifests: [{ digest: 'sha256:manifest' }] }));
  const into = join(directory, 'unpacked');
  expect(unpacked(layout, ['linux/arm64'])).toEqual([
    { architecture: 'arm64', config: { architecture: 'arm64' }, directory: join(into, 'arm64') },
  ]);
  expect(readFileSync(join(into, 'arm64/file'), 'utf8')).toBe('content');
});
