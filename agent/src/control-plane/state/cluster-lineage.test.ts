import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entryOf } from '../../../test/support/entry-of.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { ExitCode } from '../../lib/errors.ts';
import { refuseOtherCluster } from './cluster-lineage.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'lineage-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

const manifest = manifestOf(Buffer.alloc(64));
const entry = entryOf(manifest);
const refuse = (restoredFrom?: string) => refuseOtherCluster(manifest, [entry], { dataDir }, { restoredFrom });

test('nothing is refused where there are no data', async () => {
  await refuse();
  await mkdir(join(dataDir, 'member/wal'), { recursive: true });
  await refuse();
});

test('data whose log is damaged at its head may be of another cluster, unless they were restored from this one', async () => {
  await mkdir(join(dataDir, 'member/wal'), { recursive: true });
  await writeFile(join(dataDir, 'member/wal/0000000000000000-0000000000000000.wal'), Buffer.alloc(128));
  await expect(refuse()).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(/may be a snapshot of another cluster.*does not say of which cluster/),
    finding: { kind: 'foreign', isUnread: false },
  });
  await refuse(manifest.id);
});

test('data whose log is lost may be of another cluster', async () => {
  await mkdir(join(dataDir, 'member/snap'), { recursive: true });
  await writeFile(join(dataDir, 'member/snap/db'), 'data');
  await expect(refuse()).rejects.toMatchObject({
    message: expect.stringMatching(/may be a snapshot of another cluster.*missing or damaged/),
    finding: { kind: 'foreign', isUnread: false },
  });
  await refuse(manifest.id);
});

test('nothing is refused where etcd has just begun, and has neither a log nor anything in its database', async () => {
  await mkdir(join(dataDir, 'member/snap'), { recursive: true });
  await writeFile(join(dataDir, 'member/snap/db'), '');
  await refuse();
});

test('data whose log is a file may be of another cluster', async () => {
  await mkdir(join(dataDir, 'member'));
  await writeFile(join(dataDir, 'member/wal'), 'log');
  await expect(refuse()).rejects.toThrow(/may be a snapshot of another cluster/);
});
