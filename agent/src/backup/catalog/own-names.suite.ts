import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { backupRequest, silent } from '../../../test/support/backup-request.ts';
import { CrashingStore } from '../../../test/support/crashing-store.ts';
import { S3Stub } from '../../../test/support/s3-stub.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { keysOf, once } from '../../../test/support/store-contract.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { openS3 } from '../../store/s3/s3-store.ts';
import type { Store } from '../../store/store.ts';
import { verifySnapshot } from '../payload/verify.ts';
import { readExactEntry } from '../take/exact-key.ts';
import { type BackupRequest, takeBackup } from '../take/take.ts';
import { readCatalog } from './catalog.ts';
import { Folder } from './folder.ts';
import type { SnapshotManifest } from './manifest.ts';

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

/** The id of what is under the key, which has to be whole. */
async function wholeAt(store: Store, key = KEY): Promise<string> {
  const { manifest } = await readExactEntry(store, key, {});
  await verify(store, manifest);
  return manifest.id;
}

const exitCodeOf = (outcome: PromiseSettledResult<unknown>) =>
  outcome.status === 'fulfilled' ? 0 : (outcome.reason as { exitCode?: number }).exitCode;

describe('an exact key', () => {
  test('killed at any step: another attempt of the same request ends with the snapshot under its key, and nothing else', async () => {
    const healthy = new CrashingStore(directory('healthy'));
    await take(healthy, { key: KEY });
    for (let step = 1; step <= healthy.steps.length; step++) {
      const name = `killed-${step}`;
      await take(new CrashingStore(directory(name), step), { key: KEY, request: 'uid-1' }).catch(() => {});
      const again = await take(directory(name), { key: KEY, request: 'uid-1', sweepAge: 0 });
      expect(again.targets).toMatchObject([{ key: KEY, verified: 'read' }]);
      expect(again.targets[0]!.keyError).toBeUndefined();
      expect(await wholeAt(directory(name))).toBe(again.manifest.id);
      // The next run with this key deletes a leftover of the last step.
      const files = await filesIn(name);
      expect(files.filter((file) => !file.startsWith('before.db.etcd-snapshot-'))).toEqual([
        'before.db',
        'before.db.json',
      ]);
    }
  });

  test('killed at any step: another run succeeds, or is refused because a complete snapshot is there', async () => {
    const healthy = new CrashingStore(directory('healthy'));
    await take(healthy, { key: KEY });
    for (let step = 1; step <= healthy.steps.length; step++) {
      const name = `killed-${step}`;
      await take(new CrashingStore(directory(name), step), { key: KEY }).catch(() => {});
      const [again] = await Promise.allSettled([take(directory(name), { key: KEY })]);
      expect([0, ExitCode.refused]).toContain(exitCodeOf(again!));
      await wholeAt(directory(name));
    }
  });

  test('overwritten and killed at any step: the complete old or new snapshot is under it, and leftovers are deleted', async () => {
    const counted = new CrashingStore(directory('counted'));
    await take(directory('counted'), { key: KEY });
    await take(counted, { key: KEY, overwrite: true });
    for (let step = 1; step <= counted.steps.length; step++) {
      const name = `killed-${step}`;
      await take(directory(name), { key: KEY });
      await take(new CrashingStore(directory(name), step), { key: KEY, overwrite: true }).catch(() => {});
      await wholeAt(directory(name));
      // The first run replaces the payload that the key may still lead to, the second deletes that payload.
      await take(directory(name), { key: KEY, overwrite: true, sweepAge: 0 });
      const { manifest } = await take(directory(name), { key: KEY, overwrite: true, sweepAge: 0 });
      expect(await wholeAt(directory(name))).toBe(manifest.id);
      expect(await filesIn(name)).toEqual(['before.db', 'before.db.json']);
    }
  });

  test('whose second put is damaged: the snapshot stays beside it, the key leads there, and the error is reported', async () => {
    await take(bucket, { key: KEY });
    stub.intercept = (request, operation) => {
      if (operation !== 'PutObject' || request.key !== KEY) return undefined;
      const body = Buffer.from(request.body);
      body[100]! ^= 1;
      stub.objects.set(KEY, { body, modified: new Date(), etag: 'e' });
      return { status: 200, headers: { etag: '"e"' } };
    };
    const { manifest, targets } = await take(bucket, { key: KEY, overwrite: true });
    expect(targets).toMatchObject([
      { key: KEY, keyError: { message: expect.stringMatching(/sha256 differs.*stays at releases\/before/) } },
    ]);
    stub.intercept = () => undefined;
    expect(await wholeAt(bucket)).toBe(manifest.id);
  });

  test.each([
    ['S3', () => bucket],
    ['a directory', () => directory()],
  ] as const)(
    'twice at once, in %s: one has it, the other is refused and takes nothing of it away',
    async (_, open) => {
      for (let round = 0; round < 5; round++) {
        stub.delay = (operation) => (operation === 'ListObjectsV2' ? 0 : Math.random() * 30);
        const key = `${KEY}-${round}`;
        const both = await Promise.allSettled([take(open(), { key }), take(open(), { key })]);
        expect(both.map(exitCodeOf).sort()).toEqual([0, ExitCode.refused]);
        const won = both.find((each) => each.status === 'fulfilled')!;
        expect(await wholeAt(open(), key)).toBe(won.value.manifest.id);
        expect((await keysOf(open(), `${key}.`)).sort()).toEqual([`${key}.json`]);
      }
    },
  );

  test('overwritten by two concurrent runs: the snapshot under it is complete', async () => {
    await take(bucket, { key: KEY });
    for (let round = 0; round < 5; round++) {
      stub.delay = () => Math.random() * 30;
      const both = await Promise.all([1, 2].map(() => take(bucket, { key: KEY, overwrite: true })));
      stub.delay = () => 0;
      expect(both.map(({ manifest }) => manifest.id)).toContain(await wholeAt(bucket));
    }
  });

  test('that another program took is refused, and its object stays', async () => {
    await bucket.put(KEY, once('theirs'));
    await expect(take(bucket, { key: KEY })).rejects.toMatchObject({ exitCode: ExitCode.refused });
    expect(stub.objects.get(KEY)!.body.toString()).toBe('theirs');
  });

  test('in the folder of the cluster is not in the catalog, wherever its payload lies', async () => {
    stub.intercept = ({ key }, operation) =>
      operation === 'PutObject' && key === 'orders/before' ? { status: 403, code: 'AccessDenied' } : undefined;
    const { targets } = await take(bucket, { key: 'orders/before' });
    expect(targets[0]!.keyError?.message).toContain('AccessDenied');
    expect(await readCatalog(new Folder(bucket, 'orders'))).toEqual([]);
    await wholeAt(bucket, 'orders/before');
  });
});

describe('a user-defined name', () => {
  const fileName = 'daily-%Y';
  const name = `daily-${new Date().getUTCFullYear()}`;

  test.each([
    ['S3', () => bucket],
    ['a directory', () => directory()],
  ] as const)('for several at once, in %s: each has a name and a snapshot of its own', async (_, open) => {
    stub.delay = () => Math.random() * 30;
    const all = await Promise.all([1, 2, 3].map(() => take(open(), { fileName })));
    const ids = all.map(({ manifest }) => manifest.id);
    expect(new Set(ids).size).toBe(3);
    for (const { manifest } of all) {
      const entry = (await readCatalog(new Folder(open(), 'orders'))).find(({ id }) => id === manifest.id);
      expect(entry?.problem).toBeUndefined();
      expect(entry?.manifest?.object.sha256).toBe(manifest.object.sha256);
      await verify(open(), manifest);
    }
    expect((await keysOf(open(), 'orders/')).filter((key) => key.endsWith('.reserved'))).toEqual([]);
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
      const ids = (await readCatalog(new Folder(directory(at), 'orders'))).map(({ id, problem }) => [id, problem]);
      expect(ids.every(([, problem]) => problem === undefined)).toBe(true);
      const whole = ids.flatMap(([id]) => [`${id}.db`, `${id}.json`]).sort();
      expect(await filesIn(at)).toEqual(whole);
    }
  });

  test('an unreachable etcd does not leave a reserved name', async () => {
    const stopped = { access: { endpoints: ['http://127.0.0.1:1'], dialTimeout: 500 } };
    await expect(take(bucket, { fileName, ...stopped })).rejects.toMatchObject({ exitCode: ExitCode.etcdUnavailable });
    expect((await take(bucket, { fileName })).manifest.id).toBe(name);
  });
});
