import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseYaml } from '../../lib/input/yaml.ts';
import { manifestsIn, moveManifests, startManifests } from './manifests.ts';

const NAMES = ['etcd.yaml', 'kube-apiserver.yaml'];
/** A file system of its own on Linux. */
const other = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

let manifests: string;
let journal: string;
beforeEach(async () => {
  manifests = await mkdtemp(join(tmpdir(), 'manifests-'));
  journal = await mkdtemp(join(other, 'journal-'));
  for (const name of NAMES) await writeFile(join(manifests, name), name, { mode: 0o600 });
});
afterEach(() => Promise.all([manifests, journal].map((folder) => rm(folder, { recursive: true }))));

test('manifests are moved to another mount and back', async () => {
  await moveManifests(NAMES, manifests, journal);
  expect([await readdir(manifests), (await readdir(journal)).sort()]).toEqual([[], NAMES]);
  await moveManifests(NAMES, journal, manifests);
  expect([(await readdir(manifests)).sort(), await readdir(journal)]).toEqual([NAMES, []]);
  const file = join(manifests, 'etcd.yaml');
  expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual(['etcd.yaml', 0o600]);
});

test('a manifest that a killed run has copied and not removed is moved', async () => {
  await writeFile(join(journal, 'etcd.yaml'), 'etcd.yaml');
  await moveManifests(NAMES, manifests, journal);
  expect([await readdir(manifests), (await readdir(journal)).sort()]).toEqual([[], NAMES]);
});

test('a manifest is never moved over another one', async () => {
  await writeFile(join(journal, 'etcd.yaml'), 'of someone else');
  await expect(moveManifests(NAMES, manifests, journal)).rejects.toThrow(/etcd.yaml both exist/);
  expect(await readFile(join(manifests, 'etcd.yaml'), 'utf8')).toBe('etcd.yaml');
});

test('a folder that cannot be read is not one without manifests', async () => {
  const folder = join(journal, 'folder');
  expect(await manifestsIn(folder)).toEqual([]);
  await symlink('folder', folder);
  await expect(manifestsIn(folder)).rejects.toThrow(/folder cannot be read \(.*ELOOP/);
});

describe('manifests that are started', () => {
  const start = async (text: string) => {
    await writeFile(join(journal, 'etcd.yaml'), text, { mode: 0o600 });
    await rm(join(manifests, 'etcd.yaml'));
    await startManifests(['etcd.yaml'], journal, manifests);
    expect(await readdir(journal)).toEqual([]);
    const file = join(manifests, 'etcd.yaml');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    return readFile(file, 'utf8');
  };
  const long =
    '--experimental-initial-corrupt-check=true --initial-cluster=cp1=https://10.0.0.1:2380,cp2=https://10.0.0.2:2380';

  test('are another pod for the kubelet, and otherwise what they were', async () => {
    const text = `# by hand\nmetadata:\n  name: etcd\nspec:\n  containers:\n    - command: ["etcd", "${long}"] # keep\n      ports: [{containerPort: 2379}]\n`;
    const started = await start(text);
    expect(started.replace(/ {2}annotations:\n {4}cdk8s-etcd.dev\/started-at: \S+Z\n/, '')).toBe(text);
    expect(started).toContain('started-at');
  });

  test('are so once more when they are started again', async () => {
    const text = '{"metadata": {"name": "etcd", "annotations": {"a": "b"}}}';
    const once = await start(text);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const twice = await start(once);
    expect(twice).not.toBe(once);
    expect(JSON.parse(JSON.stringify(parseYaml(twice)))).toMatchObject({
      metadata: { name: 'etcd', annotations: { a: 'b' } },
    });
  });

  test.each(['metadata: none', 'metadata: [', 'a: 1\n---\nb: 2\n'])(
    'are left as they are if they are no pod: %j',
    async (text) => {
      expect(await start(text)).toBe(text);
    },
  );
});
