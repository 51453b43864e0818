import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { backupRequest, silent } from '../../../test/support/backup-request.ts';
import { CrashingStore, Killed } from '../../../test/support/crashing-store.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { isVerified, putJson, readCatalog } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { compressions, revisionOf, type SnapshotManifest } from '../catalog/manifest.ts';
import { whole } from '../catalog/select.ts';
import { newSnapshotId } from '../catalog/snapshot-id.ts';
import { extensions } from '../payload/compression.ts';
import { verifySnapshot } from '../payload/verify.ts';
import { fetchSnapshot } from '../restore/restore.ts';
import { type BackupRequest, takeBackup } from './take.ts';

let etcd: EtcdCluster;
let root: string;

beforeAll(async () => {
  etcd = await EtcdCluster.start({ size: 1 });
  await etcd.put(300);
});
afterAll(() => etcd?.stop());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'take-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const open = (name = 'store') => new FilesystemStore({ path: join(root, name) });

const request = (stores: readonly Store[], overrides: Partial<BackupRequest> = {}): BackupRequest =>
  backupRequest(etcd, root, stores, {
    targets: stores.map((store) => ({ store, retention: { last: 2 } })),
    compression: 'zstd',
    ...overrides,
  });

const take = (stores: readonly Store[], overrides?: Partial<BackupRequest>) =>
  takeBackup(request(stores, overrides), silent);

async function allAreWhole(store: Store): Promise<string[]> {
  const entries = await readCatalog(new Folder(store, 'orders'));
  for (const { id, problem } of entries) {
    expect(problem).toBeUndefined();
    const { manifest } = await whole(new Folder(store, 'orders'), id);
    await verifySnapshot(store, manifest, { level: 'read', scratch: root, etcdutl: new Etcdutl(etcdutl()) });
  }
  return entries.map(({ id }) => id);
}

describe('killed at any step', () => {
  test('a payload that a killed run left is deleted after retention has deleted every snapshot before it', async () => {
    const store = open();
    const last = { targets: [{ store, retention: { last: 1 } }], verify: 'read' as const };
    await take([store], last);
    const [payload] = (await readdir(join(root, 'store/orders'))).filter((name) => /\.db/.test(name));
    const saved = await readFile(join(root, 'store/orders', payload!));
    // A second, which is all that its name holds.
    await sleep(1_100);
    const left = `${newSnapshotId(new Date())}${payload!.slice(payload!.indexOf('.'))}`;
    await writeFile(join(root, 'store/orders', left), saved);
    await writeFile(join(root, 'store/orders', left.replace(/\.db.*/, '.taking')), '');
    await sleep(1_100);
    await take([store], last);
    await take([store], last);
    expect(await readCatalog(new Folder(store, 'orders'))).toHaveLength(1);
    expect(await readdir(join(root, 'store/orders'))).toContain(left);
    await take([store], { ...last, sweepAge: 0 });
    expect(await readdir(join(root, 'store/orders'))).not.toContain(left);
  });

  test('only complete snapshots are listed, no good one is lost, and the next run sweeps leftovers', async () => {
    const healthy = new CrashingStore(open('healthy'));
    for (let n = 0; n < 3; n++) await take([healthy]);
    const steps = healthy.steps.length;
    // The third run deletes the first snapshot, so that every kind of step occurs.
    expect(healthy.steps.filter((step) => step.includes('delete')).length).toBeGreaterThan(0);

    for (let step = 1; step <= steps; step++) {
      const name = `killed-${step}`;
      // Without a snapshot before it, a payload would be kept: it may be of an earlier etcd.
      await take([open(name)]);
      const dying = new CrashingStore(open(name), step);
      const good: string[] = [];
      for (let n = 0; n < 3; n++) {
        try {
          const { manifest } = await take([dying]);
          good.push(manifest.id);
        } catch (error) {
          expect(dying.steps).toHaveLength(step);
          expect((error as Error).message).toMatch(/before|within|after|dead/);
        }
      }
      const left = await allAreWhole(open(name));
      // Retention keeps two. A killed run may have stored its snapshot without reporting it.
      expect(left).toEqual(expect.arrayContaining(good.slice(-1)));

      const { manifest } = await take([open(name)], { sweepAge: 0 });
      const after = await allAreWhole(open(name));
      expect(after).toContain(manifest.id);
      const files = await readdir(join(root, name, 'orders'));
      const rests = files.filter((file) => !after.some((id) => file === `${id}.json` || file === `${id}.db.zst`));
      expect(rests).toEqual([]);
    }
  }, 180_000);
});

test('what a restore names while the backup is taken is kept', async () => {
  const store = open();
  const { manifest: first } = await take([store]);
  await take([store]);
  const kept = new Map<string, string>();
  const phase = (name: string) => void (name === 'retention' && kept.set(first.id, 'named'));
  const progress = { ...silent.progress, phase };
  await takeBackup(request([store], { keep: async () => new Map(kept) }), { ...silent, progress });
  expect(await allAreWhole(store)).toContain(first.id);
});

describe('several stores', () => {
  class Refusing extends CrashingStore {
    override async put(): Promise<never> {
      throw new Killed('full');
    }
  }

  test('get the same snapshot, each with its own retention', async () => {
    const [a, b] = [open('a'), open('b')];
    for (let n = 0; n < 3; n++) {
      await takeBackup({ ...request([]), targets: [{ store: a, retention: { last: 1 } }, { store: b }] }, silent);
    }
    const [inA, inB] = [await allAreWhole(a), await allAreWhole(b)];

    expect(inB).toHaveLength(3);
    expect(inA).toEqual(inB.slice(0, 1));
  });

  test('one that fails does not keep the other from its snapshot', async () => {
    const good = open('good');
    const { targets } = await take([new Refusing(open('bad')), good]);

    expect(targets.map(({ error }) => error?.message)).toEqual(['full', undefined]);
    expect(await allAreWhole(good)).toHaveLength(1);
  });

  test('when all fail, so does the backup', async () => {
    await expect(take([new Refusing(open('bad')), new Refusing(open('worse'))])).rejects.toThrow('full');
  });
});

const alarm = async (action: 'Activate' | 'Deactivate', type: 'Nospace' | 'Corrupt') => {
  const client = await etcd.connect();
  const { header } = await client.maintenance.status();
  await client.maintenance.alarm({ action, memberID: header.member_id, alarm: type });
  client.close();
};

describe('alarms of etcd', () => {
  test('NOSPACE: the snapshot is taken and reported as degraded', async () => {
    await alarm('Activate', 'Nospace');
    const { degraded, targets } = await take([open()]);
    await alarm('Deactivate', 'Nospace');

    expect(degraded).toEqual(['NOSPACE']);
    expect(targets[0]?.verified).toBe('read');
  });

  test('CORRUPT of a survivor: the snapshot never counts as verified either, and nothing is pruned', async () => {
    const store = open();
    for (let n = 0; n < 3; n++) await take([store]);
    await alarm('Activate', 'Corrupt');
    const { manifest, targets } = await take([store], { survivor: etcd.endpoints[0] });
    await alarm('Deactivate', 'Corrupt');

    expect(manifest.source).toMatchObject({ role: 'survivor', suspect: ['Corrupt'], alarms: ['CORRUPT'] });
    expect(targets[0]).toMatchObject({ verified: undefined, deleted: [] });
  });

  test('CORRUPT: the snapshot is taken but never counts as verified, and nothing is pruned', async () => {
    const store = open();
    const before: string[] = [];
    for (let n = 0; n < 2; n++) before.push((await take([store])).manifest.id);
    await alarm('Activate', 'Corrupt');
    const { manifest } = await take([store]);
    await alarm('Deactivate', 'Corrupt');

    expect(manifest.source.suspect).toEqual(['Corrupt']);
    expect(manifest.source.alarms).toEqual(['CORRUPT']);
    const entries = await readCatalog(new Folder(store, 'orders'));
    expect(entries.map(({ id }) => id)).toEqual([manifest.id, ...before.reverse()]);
    expect(entries.map(isVerified)).toEqual([false, true, true]);
  });
});

describe('an export to a key of the user', () => {
  test('is replaced by the next one, and its snapshot is left alone by retention', async () => {
    const store = open();
    const key = 'before/upgrade.db';
    const first = await take([store], { key, compression: 'none' });
    const second = await take([store], { key, compression: 'none' });
    expect(second.manifest.id).not.toBe(first.manifest.id);
    expect(await readdir(join(root, 'store', 'before'))).toEqual(['upgrade.db', 'upgrade.db.json']);
    for (let n = 0; n < 3; n++) await take([store]);
    const left = await allAreWhole(store);
    expect(left).toContain(second.manifest.id);
    expect(left).not.toContain(first.manifest.id);
    expect((await whole(new Folder(store, 'orders'), key)).id).toBe(second.manifest.id);
  });
});

describe('a request that an earlier run may have completed', () => {
  const unreachable = { access: { endpoints: ['http://127.0.0.1:1'], dialTimeout: 500 } };

  test('is reported without asking etcd, and another request takes another snapshot', async () => {
    const [a, b] = [open('a'), open('b')];
    const first = await take([a, b], { request: 'uid-1' });
    const again = await take([a, b], { request: 'uid-1', ...unreachable });
    expect(again.manifest.id).toBe(first.manifest.id);
    expect(again.revision).toBe(first.revision);
    const { store, key, verified } = first.targets[1]!;
    expect(again.targets[1]).toEqual({ store, key, verified });
    await take([a, b], { request: 'uid-2' });
    await take([a, b]);
    expect(await allAreWhole(b)).toHaveLength(2);
  });

  test('an old one does not count, unless it is suspect', async () => {
    const asked = { request: 'uid-1', requestAge: 600_000 };
    const taken = async () => (await take([open()], asked)).manifest;
    const makeOld = async (manifest: SnapshotManifest) => {
      const createdAt = new Date(Date.now() - 601_000).toISOString();
      await putJson(open(), `orders/${manifest.id}.json`, { ...manifest, createdAt }, {});
    };
    const first = await taken();
    expect((await taken()).id).toBe(first.id);
    await makeOld(first);
    expect((await take([open()], { request: 'uid-1' })).manifest.id).toBe(first.id);
    const second = await taken();
    expect(second.id).not.toBe(first.id);
    expect((await taken()).id).toBe(second.id);

    await makeOld(second);
    await alarm('Activate', 'Corrupt');
    const suspect = await taken();
    await makeOld(suspect);
    expect((await taken()).id).toBe(suspect.id);
    await alarm('Deactivate', 'Corrupt');
    expect((await taken()).source.suspect).toBeUndefined();
  });

  test('is not complete while one store lacks the snapshot or a part of it', async () => {
    const [a, b] = [open('a'), open('b')];
    const first = await take([a], { request: 'uid-1' });
    await expect(take([a, b], { request: 'uid-1', ...unreachable })).rejects.toThrow();
    await rm(join(root, 'a', first.manifest.object.key));
    await expect(take([a], { request: 'uid-1', ...unreachable })).rejects.toThrow();
  });

  test('a second snapshot of a suspect source is not stored; once the source is sound, one is', async () => {
    const store = open();
    await alarm('Activate', 'Corrupt');
    const first = await take([store], { request: 'uid-1' });
    const again = await take([store], { request: 'uid-1' });
    await alarm('Deactivate', 'Corrupt');
    expect([again.manifest.id, again.manifest.source.suspect]).toEqual([first.manifest.id, ['Corrupt']]);
    expect(await readCatalog(new Folder(open(), 'orders'))).toHaveLength(1);

    const good = await take([open()], { request: 'uid-1' });
    expect(good.manifest.source.suspect).toBeUndefined();
    await alarm('Activate', 'Corrupt');
    const last = await take([open()], { request: 'uid-1' });
    await alarm('Deactivate', 'Corrupt');
    expect(last.manifest.id).toBe(good.manifest.id);
  });

  test('is not completed by a snapshot that a later verify found bad', async () => {
    const { manifest } = await take([open()], { request: 'uid-1' });
    const verification = {
      ...{ schema: 'cdk8s-etcd/verification/v1', id: manifest.id, level: 'read', outcome: 'failed' },
      ...{ at: new Date().toISOString(), detail: 'sha256 differs', agent: { version: 'test' } },
    };
    await putJson(open(), `orders/${manifest.id}.verify.json`, verification, {});
    expect((await take([open()], { request: 'uid-1' })).manifest.id).not.toBe(manifest.id);
  });

  test('its export is not refused to it', async () => {
    const key = 'before/upgrade.db';
    const first = await take([open()], { key, request: 'uid-1' });
    const again = await take([open()], { key, request: 'uid-1', ...unreachable });
    expect([again.manifest.id, again.targets[0]!.key]).toEqual([first.manifest.id, key]);
  });
});

describe('extra files of the machine', () => {
  const keys = async () => {
    const path = join(root, 'ca.key');
    await writeFile(path, 'key');
    return { paths: [path], recipients: [await identityToRecipient(await generateX25519Identity())] };
  };
  const endings = ['.db.zst', '.extra.tar.age', '.json'];
  const filesIn = async (name: string) => (await readdir(join(root, name, 'orders'))).sort();
  const filesOf = (ids: readonly string[]) => ids.flatMap((id) => endings.map((ending) => `${id}${ending}`)).sort();

  test.each([undefined, 'own-%Y%m%d-%H%M%S'])(
    'lie beside the snapshot, named %s, and are deleted with it',
    async (fileName) => {
      const host = { nodeName: 'cp-1' };
      for (let n = 0; n < 3; n++) await take([open()], { extra: await keys(), host, fileName });
      const left = await allAreWhole(open());
      expect(left).toHaveLength(2);
      const isExport = (name: string) => name.startsWith('own-');
      expect((await filesIn('store')).filter((name) => !isExport(name))).toEqual(filesOf(left));
      expect((await filesIn('store')).filter(isExport)).toHaveLength(fileName ? 4 : 0);
      const entry = await whole(new Folder(open(), 'orders'), left[0]!);
      expect(entry.manifest).toMatchObject({
        host,
        extra: { key: `orders/${left[0]}.extra.tar.age`, paths: [join(root, 'ca.key')] },
        members: [{ id: entry.manifest.source.memberId, clientUrls: etcd.endpoints }],
      });
    },
  );

  test('a kill at any step leaves none of them without a snapshot', async () => {
    const extra = await keys();
    const healthy = new CrashingStore(open('healthy'));
    await take([healthy], { extra });
    expect(healthy.steps.filter((step) => step.includes('put')).length).toBe(12);
    for (let step = 1; step <= healthy.steps.length; step++) {
      const name = `killed-${step}`;
      await take([open(name)], { extra });
      await take([new CrashingStore(open(name), step)], { extra }).catch(() => {});
      await take([open(name)], { extra, sweepAge: 0 });
      expect(await filesIn(name)).toEqual(filesOf(await allAreWhole(open(name))));
    }
  });

  test('a missing path is reported before etcd is asked', async () => {
    const access = { endpoints: ['http://127.0.0.1:1'], dialTimeout: 500 };
    const extra = { ...(await keys()), paths: [join(root, 'gone')] };
    await expect(take([open()], { extra, access })).rejects.toMatchObject({ exitCode: ExitCode.usage });
  });
});

describe.each(compressions)('encrypted, with compression %s', (compression) => {
  const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

  test('it is verified as stored and decrypted by any of its identities only, and damage is reported', async () => {
    const [first, second, other] = [
      await generateX25519Identity(),
      await generateX25519Identity(),
      await generateX25519Identity(),
    ];
    const recipients = [await identityToRecipient(first), await identityToRecipient(second)];
    const store = open();
    const { manifest, targets } = await take([store], { compression, recipients, level: 'open', identities: [second] });
    const { content, object } = manifest;
    expect(targets[0]?.verified).toBe('open');
    expect(object).toMatchObject({
      key: `orders/${manifest.id}${extensions[compression]}.age`,
      compression,
      encryption: { recipients },
    });
    expect(await allAreWhole(store)).toEqual([manifest.id]);

    const stored = await readFile(join(root, 'store', object.key));
    expect(stored.toString('latin1')).toMatch(/^age-encryption\.org\/v1\n/);
    expect({ sizeBytes: stored.length, sha256: sha256(stored) }).toMatchObject({
      sizeBytes: object.sizeBytes,
      sha256: object.sha256,
    });

    for (const identity of [first, second]) {
      const file = join(root, `${identity.slice(-6)}.db`);
      await fetchSnapshot(store, manifest, file, { identities: [other, identity] });
      expect(sha256(await readFile(file))).toBe(content.sha256);
    }

    const refused = async (identities: string[], exitCode: ExitCode, message: RegExp) => {
      const into = join(root, 'refused');
      const fetching = fetchSnapshot(store, manifest, join(into, 'file.db'), { identities });
      await expect(fetching).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });
      expect(await readdir(into)).toEqual([]);
    };
    await refused([], ExitCode.usage, /is encrypted; pass a file with its age identity of age1\w+ or age1/);
    await refused([other], ExitCode.usage, /is encrypted for other identities; pass the one of age1/);

    for (const at of [60, 200, 300, stored.length >> 1, stored.length - 1]) {
      const flipped = Buffer.from(stored);
      flipped[at]! ^= 1;
      await writeFile(join(root, 'store', object.key), flipped);
      await refused([first, second], ExitCode.verificationFailed, /sha256 differs/);
      await expect(allAreWhole(store)).rejects.toMatchObject({ exitCode: ExitCode.verificationFailed });
    }
    for (const end of [0, 50, 300, stored.length >> 1, -1]) {
      await writeFile(join(root, 'store', object.key), stored.subarray(0, end));
      await refused([first, second], ExitCode.verificationFailed, /bytes, not/);
    }
  });
});

test.each<[string, Partial<BackupRequest>, number]>([
  ['alone', {}, 1],
  ['that may have been met before', { request: 'uid-1' }, 1],
  ['with an export', { fileName: 'own-%Y' }, 1],
  ['with retention, which has to see what other runs did meanwhile', { targets: [] }, 2],
])('a backup lists the folder once, %s', async (_, overrides, times) => {
  const listed: string[] = [];
  class Counting extends FilesystemStore {
    override list(prefix: string, options?: CallOptions) {
      listed.push(prefix);
      return super.list(prefix, options);
    }
  }
  const store = new Counting({ path: join(root, 'store') });
  await take([store], { ...overrides, targets: [{ store, ...(overrides.targets && { retention: { last: 2 } }) }] });
  expect(listed.filter((prefix) => prefix === 'orders/')).toHaveLength(times);
});

test('user-defined names: a second run in the same second gets another name', async () => {
  const store = open();
  const names: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { targets } = await take([store], { fileName: 'orders-%Y', fileNameTimeZone: 'Europe/Berlin' });
    names.push(basename(targets[0]!.key!));
  }
  const year = new Date().getFullYear();
  expect(names.map((name) => name.replace(/\.db.*/, ''))).toEqual([
    `orders-${year}`,
    `orders-${year}-1`,
    `orders-${year}-2`,
  ]);
  expect((await readdir(join(root, 'store', 'orders'))).filter((name) => name.startsWith('orders-'))).toEqual(
    names.slice(1).flatMap((name) => [name, `${name}.json`]),
  );
  expect(await allAreWhole(store)).toHaveLength(2);
});

test('the time limit grows with the database before the members are compared, which takes long for a large one', async () => {
  const seen: string[] = [];
  const progress = { ...silent.progress, phase: (name: string) => void seen.push(name) };
  await takeBackup(request([open()]), { ...silent, progress, onSize: (bytes) => void seen.push(`size ${bytes > 0}`) });
  expect(seen.indexOf('size true')).toBeGreaterThan(seen.indexOf('connect'));
  expect(seen.indexOf('size true')).toBeLessThan(seen.indexOf('compare'));
});

test('a survivor is taken without asking for a quorum, and the manifest says so', async () => {
  const { manifest } = await take([open()], {
    survivor: etcd.endpoints[0],
    access: { endpoints: [], dialTimeout: 1_000 },
  });

  expect(manifest.source.role).toBe('survivor');
  expect(manifest.content.hashKV).toBeUndefined();
  // An idle cluster that was restored in place is at its compact revision, which has no hash either.
  expect(manifest.content.revision).toBeGreaterThan(0);
  expect(revisionOf(manifest)).toBe(manifest.content.revision);
});
