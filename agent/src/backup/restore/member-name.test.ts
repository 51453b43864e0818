import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memberNameIn } from './member-name.ts';
import { MARKER } from './restore-marker.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'member-name-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

const named = () => memberNameIn(dataDir, { members: [] });
async function damagedLog() {
  await mkdir(join(dataDir, 'member/wal'), { recursive: true });
  await writeFile(join(dataDir, 'member/wal/0.wal'), Buffer.alloc(100));
}

test('a directory without data holds no member', async () => {
  expect(await named()).toBeUndefined();
});

test('data whose log names no member may be those of any', async () => {
  await damagedLog();
  await expect(named()).rejects.toMatchObject({
    exitCode: 40,
    message: expect.stringMatching(/wal cannot be read .*; so it is not known of which member the data are$/),
    finding: { kind: 'memberUnknown' },
  });
});

test('a restore has noted the name beside the log', async () => {
  await damagedLog();
  const marker = { id: 'a', name: 'b', initialCluster: 'b=http://b', initialAdvertisePeerUrls: 'http://b' };
  await writeFile(join(dataDir, MARKER), JSON.stringify(marker));
  expect(await named()).toBe('b');
});
