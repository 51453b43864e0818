import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MARKER, memberDir, partialDir } from '../node/data-directory.ts';
import { refuseWithoutRoom } from './free-space.ts';
import { oldData, oldDataText, putBack, replaceMember } from './replace-member.ts';

const made = { id: 'snapshot', token: 't', clusterId: 'c' };
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

test('the new member replaces the old one, once', async () => {
  await replaceMember({ dataDir }, aside, made);
  await replaceMember({ dataDir }, aside, made);
  expect(await readdir(dataDir)).toEqual(['member', 'member.replaced-1']);
  expect(await isOld(aside)).toBe(true);
  expect(oldDataText(await oldData({ dataDir }, aside))).toBe(`the old data are in ${aside}`);
});

test('on a new disk there are no old data', async () => {
  await rm(memberDir(dataDir), { recursive: true });
  await replaceMember({ dataDir }, aside, made);
  expect(oldDataText(await oldData({ dataDir }, aside))).toBe('there were no old data');
});

const guide = () => readFile(join(import.meta.dirname, '../../../../docs/control-plane/restore.md'), 'utf8');
const named = (place: string, [name]: string[]) => `\`<${place}>/${name!.replace('-1', '-<time>')}\``;

test('a separate write-ahead log is replaced inside its directory; the guide names the folders that remain', async () => {
  const walDir = join(dataDir, 'log');
  await mkdir(walDir);
  await writeFile(join(walDir, '0.wal'), 'old');
  await mkdir(join(walDir, 'restored.partial'));
  await writeFile(join(walDir, 'restored.partial', '0.wal'), 'new');
  await replaceMember({ dataDir, walDir }, aside, made);
  expect(oldDataText(await oldData({ dataDir, walDir }, aside))).toBe(
    `the old data are in ${aside} and ${join(walDir, 'replaced-1')}`,
  );
  const kept = named('wal-dir', (await readdir(walDir)).slice(1));
  const text = await guide();
  expect(text).toContain(kept);
  expect(text).toContain(kept.replace('replaced-', 'undone-'));
});

test('the old data are put back; the restored data are kept', async () => {
  await replaceMember({ dataDir }, aside, made);
  await putBack({ dataDir }, aside, made);
  await putBack({ dataDir }, aside, made);
  expect(await readdir(dataDir)).toEqual(['member', 'member.undone-1']);
  expect(await guide()).toContain(named('data-dir', (await readdir(dataDir)).slice(1)));
  expect(await isOld(memberDir(dataDir))).toBe(true);
});

test('data of an etcd that was started meanwhile are not overwritten', async () => {
  await mkdir(aside);
  await expect(replaceMember({ dataDir }, aside, made)).rejects.toThrow(/both exist/);
  expect(await isOld(memberDir(dataDir))).toBe(true);
});

test('old data that cannot be put back are reported', async () => {
  await replaceMember({ dataDir }, aside, made);
  await rm(memberDir(dataDir), { recursive: true });
  await mkdir(memberDir(dataDir));
  await expect(putBack({ dataDir }, aside, made)).rejects.toThrow(/both exist/);
  expect(await isOld(aside)).toBe(true);
});

test('another member in its place is refused', async () => {
  await rm(partialDir(dataDir), { recursive: true });
  await expect(replaceMember({ dataDir }, aside, made)).rejects.toThrow(/does not hold the data restored/);
});

test('missing space is reported before anything is written', async () => {
  await expect(refuseWithoutRoom({ dataDir: join(dataDir, 'deep', 'er') }, 2 ** 60)).rejects.toThrow(
    /no room for a second data dir/,
  );
  expect(await readdir(dataDir)).toEqual(['member', 'member.partial']);
});

test('a separate write-ahead log needs room in its own file system', async () => {
  const walDir = join(dataDir, 'log');
  await mkdir(walDir);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', walDir]).status !== 0) {
    console.warn('skipped: only root may mount a tmpfs');
    return;
  }
  try {
    const log = /log: no room for a second write-ahead log: it needs 160 MiB, and \d MiB are free/;
    await expect(refuseWithoutRoom({ dataDir, walDir: join(walDir, 'wal') }, 1)).rejects.toThrow(
      /log\/wal: no room for a/,
    );
    await expect(refuseWithoutRoom({ dataDir, walDir }, 1)).rejects.toThrow(log);
    // On one disk there must be room for both.
    const both = refuseWithoutRoom({ dataDir: walDir, walDir }, 1);
    await expect(both).rejects.toThrow(/no room for a second data directory: it needs 320 MiB/);
  } finally {
    spawnSync('umount', [walDir]);
  }
});

test('an old log that is damaged at its head is put back all the same', async () => {
  const walDir = join(dataDir, 'log');
  await mkdir(walDir);
  await writeFile(join(walDir, '0.wal'), Buffer.alloc(128));
  await putBack({ dataDir, walDir }, aside, made);
  expect(await readdir(walDir)).toEqual(['0.wal']);
});
