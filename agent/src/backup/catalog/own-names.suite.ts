import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { backupRequest, silent } from '../../../test/support/backup-request.ts';
import { CrashingStore } from '../../../test/support/crashing-store.ts';
import { S3Stub } from '../../../test/support/s3-stub.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { once } from '../../../test/support/store-contract.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { openS3 } from '../../store/s3/s3-store.ts';
import type { Store } from '../../store/store.ts';
import { verifySnapshot } from '../payload/verify.ts';
import { type BackupRequest, takeBackup } from '../take/take.ts';
import { readCatalog, type WholeEntry } from './catalog.ts';
import { Folder } from './folder.ts';
import type { SnapshotManifest } from './manifest.ts';
import { whole } from './select.ts';

const KEY = 'releases/before.db';

let etcd: EtcdCluster;
let root: string;
let stub: S3Stub;
let bucket: Store;
beforeAll(async () => {
  etcd = await EtcdCluster.start({ size: 1 });
  await etcd.put(50);
});
afterAll(() => etcd?.stop());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'own-names-'));
  stub = await S3Stub.start();
  const keys = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
  const credentialsDirectory = secretDirectory(join(root, 'secret'), keys).path;
  bucket = await openS3({ bucket: stub.bucket, endpoint: stub.endpoint, credentialsDirectory });
});
afterEach(async () => {
  bucket.close();
  await stub[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

const directory = (name = 'store') => new FilesystemStore({ path: join(root, name) });
const filesIn = async (name: string) =>
  (await readdir(join(root, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();

const take = (store: Store, overrides: Partial<BackupRequest> = {}) =>
  takeBackup(backupRequest(etcd, root, [store], overrides), silent);

const verify = (store: Store, manifest: SnapshotManifest) =>
  verifySnapshot(store, manifest, { level: 'read', scratch: root, etcdutl: new Etcdutl(etcdutl()) });

/** The snapshot that was exported under a name. The export has to be whole. */
async function exportedAs(store: Store, name = KEY): Promise<WholeEntry> {
  const entry = await whole(new Folder(store, 'orders'), name);
  const { manifest } = entry;
  await verify(store, manifest);
  for (const { key } of manifest.exports ?? [])
    await verify(store, { ...manifest, object: { ...manifest.object, key } });
  return entry;
}

/** The files of these snapshots, and of their exports. */
const filesOf = (manifests: readonly SnapshotManifest[]) => [
  ...new Set(
    manifests.flatMap(({ id, exports = [] }) => [
      `${id}.db`,
      `${id}.json`,
      ...exports.flatMap(({ key }) => [basename(key), `${basename(key)}.json`]),
    ]),
  ),
];

describe('a key of the user', () => {
  test('killed at any step: another attempt of the same request exports the snapshot', async () => {
    const healthy = new CrashingStore(directory('healthy'));
    await take(healthy, { key: KEY });
    for (let step = 1; step <= healthy.steps.length; step++) {
      const name = `killed-${step}`;
      await take(new CrashingStore(directory(name), step), { key: KEY, request: 'uid-1' }).catch(() => {});
      const again = await take(directory(name), { key: KEY, request: 'uid-1', sweepAge: 0 });
      expect(again.targets).toMatchObject([{ key: KEY, verified: 'read' }]);
      expect(again.targets[0]!.keyError).toBeUndefined();
      expect((await exportedAs(directory(name))).id).toBe(again.manifest.id);
    }
  });

  test('killed at any step: the next run exports its own, and the one before stays whole', async () => {
    const counted = new CrashingStore(directory('counted'));
    await take(directory('counted'), { key: KEY });
    await take(counted, { key: KEY });
    for (let step = 1; step <= counted.steps.length; step++) {
      const name = `killed-${step}`;
      const first = await take(directory(name), { key: KEY });
      await take(new CrashingStore(directory(name), step), { key: KEY }).catch(() => {});
      const { manifest } = await take(directory(name), { key: KEY, sweepAge: 0 });
      expect((await exportedAs(directory(name))).id).toBe(manifest.id);
      await verify(directory(name), first.manifest);
      // A later one deletes what is left.
      const last = await take(directory(name), { key: KEY, sweepAge: 0 });
      const entries = await readCatalog(new Folder(directory(name), 'orders'));
      expect(await filesIn(name)).toEqual(filesOf(entries.map(({ manifest: one }) => one as SnapshotManifest)).sort());
      expect((await exportedAs(directory(name))).id).toBe(last.manifest.id);
    }
  });

  test('at which the put fails: the snapshot stays, and the error is reported', async () => {
    await take(bucket, { key: KEY });
    stub.intercept = ({ key }, operation) =>
      operation === 'PutObject' && key === KEY ? { status: 403, code: 'AccessDenied' } : undefined;
    const { manifest, targets } = await take(bucket, { key: KEY });
    expect(targets).toMatchObject([
      {
        key: manifest.object.key,
        keyError: { message: expect.stringMatching(/AccessDenied.*the snapshot itself is/) },
      },
    ]);
    stub.intercept = () => undefined;
    expect((await whole(new Folder(bucket, 'orders'), KEY)).id).toBe(manifest.id);
    await verify(bucket, manifest);
  });

  test.each([
    ['S3', () => bucket],
    ['a directory', () => directory()],
  ] as const)('of several runs at once, in %s: each has its snapshot, and the key that of one', async (_, open) => {
    for (let round = 0; round < 5; round++) {
      stub.delay = (operation) => (operation === 'ListObjectsV2' ? 0 : Math.random() * 30);
      const key = `${KEY}-${round}`;
      const both = await Promise.all([take(open(), { key }), take(open(), { key })]);
      for (const { manifest, targets } of both) {
        expect(targets[0]!.keyError).toBeUndefined();
        await verify(open(), manifest);
      }
      const bytes = async (at: string) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of await open().get(at)) chunks.push(chunk);
        return Buffer.concat(chunks);
      };
      const payloads = await Promise.all(both.map(({ manifest }) => bytes(manifest.object.key)));
      const exported = await bytes(key);
      expect(payloads.some((payload) => payload.equals(exported))).toBe(true);
    }
  });

  test('that another program took is refused, and its object stays', async () => {
    await bucket.put(KEY, once('theirs'));
    await expect(take(bucket, { key: KEY })).rejects.toMatchObject({ exitCode: ExitCode.refused });
    expect(stub.objects.get(KEY)!.body.toString()).toBe('theirs');
  });
});

describe('a user-defined name', () => {
  const fileName = 'daily-%Y';
  const name = `daily-${new Date().getUTCFullYear()}`;

  test.each([
    ['S3', () => bucket],
    ['a directory', () => directory()],
  ] as const)('for several at once, in %s: each has its snapshot, and each name that of one', async (_, open) => {
    stub.delay = () => Math.random() * 30;
    const all = await Promise.all([1, 2, 3].map(() => take(open(), { fileName })));
    expect(new Set(all.map(({ manifest }) => manifest.id)).size).toBe(3);
    for (const { manifest, targets } of all) {
      expect(targets[0]!.keyError).toBeUndefined();
      await verify(open(), manifest);
    }
    await whole(new Folder(open(), 'orders'), name);
  });

  test('killed at any step: the next run stores a snapshot, and a later one deletes leftovers', async () => {
    await take(directory('healthy'), { fileName });
    const healthy = new CrashingStore(directory('healthy'));
    await take(healthy, { fileName });
    for (let step = 1; step <= healthy.steps.length; step++) {
      const at = `killed-${step}`;
      // Without a snapshot before it, a payload would be kept: it may be of an earlier etcd.
      await take(directory(at), { fileName });
      await take(new CrashingStore(directory(at), step), { fileName }).catch(() => {});
      await take(directory(at), { fileName });
      await take(directory(at), { fileName, sweepAge: 0 });
      const entries = await readCatalog(new Folder(directory(at), 'orders'));
      expect(entries.every(({ problem }) => problem === undefined)).toBe(true);
      const all = filesOf(entries.map(({ manifest }) => manifest as SnapshotManifest));
      const files = await filesIn(at);
      expect(all).toEqual(expect.arrayContaining(files));
      // That of the killed run may be missing.
      expect(all.length - files.length).toBeLessThanOrEqual(1);
    }
  });
});
