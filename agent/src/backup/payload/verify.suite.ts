import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAgent } from '../../../test/harness/agent.ts';
import { availableMinors, etcdOf, etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { seal } from '../../../test/mutations/mutate.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { program } from '../../../test/support/program.ts';
import { type SavedSnapshot, saveSnapshot } from '../../../test/support/save-snapshot.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { isVerified, readCatalog } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import type { Level, SnapshotManifest } from '../catalog/manifest.ts';
import { tryRestore } from './inspect.ts';
import { verifySnapshot } from './verify.ts';

let directory: string;
let saved: SavedSnapshot;
let compactedMeanwhile: SavedSnapshot;

beforeAll(async () => {
  // Only etcdutl 3.7 can compute HashKV of a file. Without it, this fails with an error that says so.
  etcdOf('3.7');
  directory = await mkdtemp(join(tmpdir(), 'verify-'));
  await using etcd = await EtcdCluster.start();
  await etcd.put(50);
  await etcd.etcdctl('compact', '10');
  const lease = /lease (\w+) granted/.exec(await etcd.etcdctl('lease', 'grant', '600'))?.[1];
  await etcd.etcdctl('put', `--lease=${lease}`, 'leased', 'value');
  saved = await saveSnapshot(etcd);
  compactedMeanwhile = await saveSnapshot(etcd, () => etcd.etcdctl('compact', '20'));
});
afterAll(() => directory && rm(directory, { recursive: true }));

let scratch: string;
beforeEach(async () => {
  scratch = await mkdtemp(join(directory, 'scratch-'));
});
afterEach(async () => {
  expect(await readdir(scratch)).toEqual([]);
});

async function verify(
  { snapshot, manifest }: SavedSnapshot,
  tool = etcdutl(),
  level: Level = 'open',
  into: string = scratch,
) {
  const path = await mkdtemp(join(directory, 'store-'));
  await mkdir(join(path, 'orders'));
  await writeFile(join(path, manifest.object.key), snapshot);
  return verifySnapshot(new FilesystemStore({ path }), manifest, { level, scratch: into, etcdutl: new Etcdutl(tool) });
}

const withContent = (content: Partial<SnapshotManifest['content']>): SavedSnapshot => ({
  ...saved,
  manifest: { ...saved.manifest, content: { ...saved.manifest.content, ...content } },
});
const withHashKV = (hashKV: Partial<SnapshotManifest['content']['hashKV']>) =>
  withContent({ hashKV: { ...saved.manifest.content.hashKV!, ...hashKV } });
const failed = (message: RegExp) => ({
  exitCode: ExitCode.verificationFailed,
  message: expect.stringMatching(message),
});

test.each(['stream', 'read', 'open'] as const)('a good snapshot is proved at level %s', async (level) => {
  expect(await verify(saved, undefined, level)).toMatchObject({ level });
});

describe.each(availableMinors())('etcd %s', (minor) => {
  async function proved(found: SavedSnapshot, revision: number): Promise<void> {
    for (const level of ['stream', 'read', 'open'] as const) {
      expect(await verify(found, undefined, level)).toMatchObject({ level });
    }
    expect(await tryRestoreOf(found)).toMatchObject({ revision, authEnabled: false });
  }

  test('that never had a key is proved at every level', async () => {
    await using etcd = await EtcdCluster.start({ minor, size: 1 });
    await proved(await saveSnapshot(etcd), 1);
  });

  test('all of whose keys were deleted and compacted is proved at every level', async () => {
    await using etcd = await EtcdCluster.start({ minor, size: 1 });
    await etcd.put(3);
    await etcd.etcdctl('del', '', '--prefix');
    await etcd.etcdctl('compact', '5', '--physical');
    // HashKV cannot be compared at the revision of a compaction.
    const file = join(await mkdtemp(join(directory, 'compacted-')), 'snapshot.db');
    await etcd.etcdctl('snapshot', 'save', file);
    const snapshot = await readFile(file);
    await proved({ snapshot, manifest: manifestOf(snapshot) }, 5);
  });
});

async function tryRestoreOf({ snapshot }: SavedSnapshot) {
  const place = await mkdtemp(join(directory, 'try-'));
  const file = join(place, 'snapshot.db');
  await writeFile(file, snapshot);
  return tryRestore('it', file, join(place, 'data'), { etcdutl: new Etcdutl(etcdutl()) });
}

test('at level open its HashKV is compared', async () => {
  const { revision } = saved.manifest.content.hashKV!;
  expect((await verify(saved)).detail).toBe(
    `etcdutl opens it at revision ${revision}, and its HashKV equals that of the cluster`,
  );
});

test('data that differ from those of the cluster are refused', async () => {
  await expect(verify(withHashKV({ hash: 1 }))).rejects.toMatchObject(failed(/HashKV at revision \d+ is \d+, not 1/));
});

test('a snapshot from before the revision that its members were compared at is refused', async () => {
  await expect(verify(withHashKV({ revision: 1_000 }))).rejects.toMatchObject(failed(/compared at revision 1000/));
});

test('a snapshot that was compacted less than its source is refused, because compact revisions never go back', async () => {
  await expect(verify(withHashKV({ compactRevision: 11 }))).rejects.toMatchObject(
    failed(/differ from those of the cluster/),
  );
});

test('damage inside the database is found before etcdutl runs', async () => {
  const database = Buffer.from(saved.snapshot.subarray(0, -32));
  const root = Number(database.readBigUInt64LE(32)) * 4096;
  const snapshot = seal(database.fill(0, root, root + 4096));
  await expect(verify({ snapshot, manifest: manifestOf(snapshot) }, '/nowhere/etcdutl')).rejects.toMatchObject(
    failed(/its database is damaged: page \d+ has the id of another page/),
  );
});

test('without HashKV it is opened, and the report says that nothing was compared', async () => {
  expect(await verify(withContent({ hashKV: undefined }))).toEqual({
    level: 'open',
    detail: expect.stringMatching(/opens it at revision \d+; its manifest has no HashKV/),
  });
});

test('a manifest that claims a higher revision than the snapshot has is refused', async () => {
  await expect(verify(withContent({ hashKV: undefined, revision: 900_000 }))).rejects.toMatchObject(
    failed(/its manifest claims revision 900000, but it ends at \d+/),
  );
});

describe('a snapshot that can be neither proved nor disproved is verified at level read only', () => {
  test('a compaction between HashKV and the snapshot', async () => {
    expect(await verify(compactedMeanwhile)).toEqual({ level: 'read', detail: expect.stringMatching(/compacted/) });
  });

  test('an etcdutl that has no hashkv, or one that panics on leases', async () => {
    for (const minor of availableMinors().filter((each) => ['3.5', '3.6'].includes(each))) {
      const tool = etcdutl().replace(/[\d.]+\/etcdutl$/, `${minor}/etcdutl`);
      expect(await verify(saved, tool)).toEqual({
        level: 'read',
        detail: expect.stringMatching(/use etcdutl 3.7/),
      });
    }
  });

  test('an etcdutl that is killed, for example because memory runs out', async () => {
    for (const command of ['snapshot', 'hashkv']) {
      const script = await program(
        join(directory, 'killed'),
        `[ "$1" = ${command} ] && kill -9 $$`,
        `exec ${etcdutl()} "$@"`,
      );
      expect(await verify(saved, script)).toEqual({ level: 'read', detail: expect.stringMatching(/was killed/) });
    }
  });
});

test('etcdutl is killed when it takes too long', async () => {
  const sleeper = new Etcdutl(await program(join(directory, 'sleeper'), 'exec sleep 60'));

  expect(await sleeper.hashKV('file', 1, { timeout: 100 })).toMatchObject({ outcome: 'unable' });
});

test('a missing etcdutl is a usage error', async () => {
  await expect(verify(saved, '/nowhere/etcdutl')).rejects.toMatchObject({ exitCode: ExitCode.usage });
});

test('a scratch directory that cannot be written to is named', async () => {
  await expect(verify(saved, undefined, 'open', '/nowhere')).rejects.toMatchObject({
    exitCode: ExitCode.usage,
    message: expect.stringMatching(/^cannot write \/nowhere \(ENOENT\): .*check the path$/),
    at: 'scratch',
  });
});

test('an inconclusive verification ends with 31, and a failed snapshot stays failed until the same level is proved', async () => {
  const path = join(directory, 'command');
  const { manifest, snapshot } = saved;
  await mkdir(join(path, 'orders'), { recursive: true });
  await writeFile(join(path, manifest.object.key), snapshot);
  const right = manifest.content.hashKV!;

  const command = async (hashKV: Partial<typeof right>, level: Level) => {
    const content = { ...manifest.content, hashKV: { ...right, ...hashKV } };
    await writeFile(join(path, `orders/${manifest.id}.json`), JSON.stringify({ ...manifest, content }));
    const flags = [`--store=file://${path}`, '--cluster=orders', '--output=json', `--level=${level}`];
    const { code, result } = await runAgent(['verify', ...flags]);
    const [entry] = await readCatalog(new Folder(new FilesystemStore({ path }), 'orders'));
    return { code, result, countsAsVerified: isVerified(entry!) };
  };

  const wrong = { hash: 1 };
  const compacted = { compactRevision: right.compactRevision - 1 };
  expect(await command(compacted, 'open')).toMatchObject({
    code: ExitCode.inconclusive,
    result: { ok: false, verified: 0, failed: 0, inconclusive: 1, snapshots: [{ outcome: 'inconclusive' }] },
    countsAsVerified: true,
  });
  const failed = { code: 30, result: { failed: 1 }, countsAsVerified: false };
  expect(await command(wrong, 'open')).toMatchObject(failed);
  expect(await command(wrong, 'read')).toMatchObject(failed);
  expect(await command(compacted, 'open')).toMatchObject(failed);
  expect(await command({}, 'open')).toMatchObject({ code: 0, result: { verified: 1 }, countsAsVerified: true });
});
