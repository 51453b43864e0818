import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestsIn, moveManifests } from './manifests.ts';

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
