import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MARKER, memberDir, partialDir, refuseWithoutRoom } from './data-folders.ts';
import { putBack, replaceMember } from './replace-member.ts';

const made = { id: 'snapshot', token: 't' };
let dataDir: string;
let aside: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'data-'));
  aside = join(dataDir, 'member.replaced-1');
  await mkdir(memberDir(dataDir));
  await writeFile(join(memberDir(dataDir), 'what'), 'old');
  await mkdir(join(partialDir(dataDir), 'data', 'member'), { recursive: true });
  await writeFile(join(partialDir(dataDir), 'data', 'member', MARKER), JSON.stringify(made));
});
afterEach(() => rm(dataDir, { recursive: true }));

const isOld = (directory: string) => readFile(join(directory, 'what'), 'utf8').then((text) => text === 'old');

test('old and new change places, once', async () => {
  await replaceMember(dataDir, aside, made);
  await replaceMember(dataDir, aside, made);
  expect(await readdir(dataDir)).toEqual(['member', 'member.replaced-1']);
  expect(await isOld(aside)).toBe(true);
});

test('and back; what was restored is kept', async () => {
  await replaceMember(dataDir, aside, made);
  await putBack(dataDir, aside, made);
  await putBack(dataDir, aside, made);
  expect(await readdir(dataDir)).toEqual(['member', 'member.undone-1']);
  expect(await isOld(memberDir(dataDir))).toBe(true);
});

test('data that an etcd made meanwhile are not overwritten', async () => {
  await mkdir(aside);
  await expect(replaceMember(dataDir, aside, made)).rejects.toThrow(/both there/);
  expect(await isOld(memberDir(dataDir))).toBe(true);
});

test('another member in its place is no success', async () => {
  await rm(partialDir(dataDir), { recursive: true });
  await expect(replaceMember(dataDir, aside, made)).rejects.toThrow(/is not what was restored/);
});

test('no room is told before anything is written', async () => {
  await expect(refuseWithoutRoom(join(dataDir, 'deep', 'er'), 2 ** 60)).rejects.toThrow(
    /no room for a second data dir/,
  );
  expect(await readdir(dataDir)).toEqual(['member', 'member.partial']);
});
