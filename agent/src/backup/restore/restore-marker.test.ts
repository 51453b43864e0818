import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeSince, MARKER, type Marker, readMarker } from './restore-marker.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'marker-'));
});
afterAll(() => rm(directory, { recursive: true }));

const read = async (content: unknown) => {
  await writeFile(join(directory, MARKER), JSON.stringify(content));
  return readMarker(directory);
};
const marker = { id: 'a', initialCluster: 'a=http://a', initialAdvertisePeerUrls: 'http://a' };

test('no marker, one with the least fields, and one with more', async () => {
  expect(await readMarker(join(directory, 'none'))).toBeUndefined();
  expect(await read(marker)).toEqual(marker);
  expect(await read({ ...marker, more: 1 })).toEqual({ ...marker, more: 1 });
});

test.each([[null], [5], [{}], [{ ...marker, initialCluster: 1 }], [{ ...marker, wal: 3 }]])(
  '%j is refused',
  async (content) => {
    await expect(read(content)).rejects.toMatchObject({
      exitCode: 40,
      message: expect.stringMatching(/it is damaged/),
    });
  },
);

test('data that cannot be read are not gone, and etcd has not written to them', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'marker-'));
  const [snap, wal] = ['snap', 'wal'].map((name) => join(dataDir, 'member', name)) as [string, string];
  const change = () => changeSince({ clusterId: 'c', memberId: 'm' } as Marker, dataDir);
  await mkdir(snap, { recursive: true });
  expect(await change()).toEqual({ what: 'its database is gone', byEtcd: false });
  await writeFile(join(snap, 'db'), '');
  expect(await change()).toEqual({ what: 'its log is gone', byEtcd: false });
  await mkdir(wal);
  await writeFile(join(wal, '0.wal'), Buffer.alloc(100));
  expect(await change()).toEqual({ what: expect.stringMatching(/^it cannot be read: .*no cluster id/), byEtcd: false });
  await rm(snap, { recursive: true });
  await symlink('snap', snap);
  expect(await change()).toEqual({ what: expect.stringMatching(/^it cannot be read: .*ELOOP/), byEtcd: false });
  await rm(dataDir, { recursive: true });
});
