import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../lib/errors.ts';
import { MARKER, readMarker } from './data-directory.ts';

let member: string;
beforeEach(async () => {
  member = await mkdtemp(join(tmpdir(), 'member-'));
});
afterEach(() => rm(member, { recursive: true }));

test('data without a marker were not restored', async () => {
  expect(await readMarker(member)).toBeUndefined();
  expect(await readMarker(join(member, 'none'))).toBeUndefined();
});

test.each(['{"id":', 'null', '5'])('a marker with %j does not count as none', async (text) => {
  await writeFile(join(member, MARKER), text);
  await expect(readMarker(member)).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringContaining(join(member, MARKER)),
  });
});

test('neither does one that cannot be read', async () => {
  await mkdir(join(member, MARKER));
  await expect(readMarker(member)).rejects.toMatchObject({ exitCode: ExitCode.refused });
});
