import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceDirectory } from './replace-directory.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'replace-directory-'));
});
afterEach(() => rm(root, { recursive: true }));

async function made(name: string, content: string, more = 'chunk'): Promise<string> {
  const directory = join(root, name);
  await mkdir(join(directory, 'bin'), { recursive: true });
  await writeFile(join(directory, 'bin/entry'), content);
  await writeFile(join(directory, 'bin', more), '');
  return directory;
}
const lib = () => join(root, 'lib');
const now = async () => ({
  all: await readdir(root),
  entry: await readFile(join(lib(), 'bin/entry'), 'utf8'),
  ino: (await stat(lib())).ino,
});

test('another one takes the place of the one that is there, or of none', async () => {
  await replaceDirectory(await made('lib.1', 'a'), lib());
  expect(await now()).toMatchObject({ all: ['lib'], entry: 'a' });
  await replaceDirectory(await made('lib.2', 'b'), lib());
  expect(await now()).toMatchObject({ all: ['lib'], entry: 'b' });
  await replaceDirectory(await made('lib.3', 'b', 'another'), lib());
  expect(await readdir(join(lib(), 'bin'))).toEqual(['another', 'entry']);
});

test('the same again leaves what runs from there its files', async () => {
  await replaceDirectory(await made('lib.1', 'a'), lib());
  const { ino } = await now();
  await replaceDirectory(await made('lib.2', 'a'), lib());
  expect(await now()).toEqual({ all: ['lib'], entry: 'a', ino });
});

test('the same for other readers takes its place', async () => {
  await replaceDirectory(await made('lib.1', 'a'), lib());
  await chmod(join(lib(), 'bin/entry'), 0o600);
  await replaceDirectory(await made('lib.2', 'a'), lib());
  expect((await stat(join(lib(), 'bin/entry'))).mode & 0o777).not.toBe(0o600);
});

test('several at once all come to their end', async () => {
  const all = await Promise.all(Array.from({ length: 20 }, (_, n) => made(`lib.${n}`, `${n}`)));
  await Promise.all(all.map((each) => replaceDirectory(each, lib())));
  expect(await now()).toMatchObject({ all: ['lib'], entry: expect.stringMatching(/^\d+$/) });
});
