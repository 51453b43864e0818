import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'directories-'));
});
afterEach(() => rm(root, { recursive: true }));

test('a symbolic link that leads back to itself is nothing, as a dangling one', async () => {
  await symlink('loop.db', join(root, 'loop.db'));
  await symlink('gone', join(root, 'dangling.db'));
  await writeFile(join(root, 'a.db'), 'a');
  const store = new FilesystemStore({ path: root });
  const keys: string[] = [];
  for await (const { key } of store.list('')) keys.push(key);
  for await (const { key } of store.links('')) keys.push(key);
  expect(keys).toEqual(['a.db']);
  expect(await store.stat('loop.db')).toBeUndefined();
  await expect(store.get('loop.db')).rejects.toThrow(/has no loop.db/);
});
