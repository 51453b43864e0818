import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MARKER, readMarker } from './restore-marker.ts';

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
