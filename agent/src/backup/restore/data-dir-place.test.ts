import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../lib/errors.ts';
import { refuseMisplaced } from './data-dir-place.ts';
import { MARKER } from './restore-marker.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'place-'));
  await mkdir(join(dataDir, 'member/snap'), { recursive: true });
});
afterEach(() => rm(dataDir, { recursive: true }));

const check = () => refuseMisplaced(dataDir, 's3://bucket', async () => false);

test('a database whose write-ahead log is elsewhere is refused, with what to do', async () => {
  await check();
  await writeFile(join(dataDir, 'member/snap/db'), '');
  await expect(check()).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(/without its write-ahead log$/),
    finding: { kind: 'separateLog', dataDir },
  });
  await mkdir(join(dataDir, 'member/wal'));
  await check();
});

test('a directory that the agent has restored has lost its log, which is not elsewhere', async () => {
  await writeFile(join(dataDir, 'member/snap/db'), '');
  await writeFile(join(dataDir, MARKER), '{}');
  await check();
});
