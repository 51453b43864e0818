import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../lib/errors.ts';
import { isInUse } from './data-dir.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'data-'));
  await mkdir(join(dataDir, 'member', 'snap'), { recursive: true });
  await symlink('wal', join(dataDir, 'member', 'wal'));
});
afterEach(() => rm(dataDir, { recursive: true }));

test('a log that cannot be listed is not in use while nobody holds the database', async () => {
  await writeFile(join(dataDir, 'member', 'snap', 'db'), '');
  expect(await isInUse(dataDir)).toBe(false);
});

test('without a database it is not known, and the way out is named', async () => {
  await expect(isInUse(dataDir)).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(/wal cannot be read \(.*ELOOP.*not known whether.*if none does, move .*wal away/),
  });
});
