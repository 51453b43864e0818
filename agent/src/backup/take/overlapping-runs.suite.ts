import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { backupRequest, silent } from '../../../test/support/backup-request.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { Store } from '../../store/store.ts';
import { manifestKey, readManifest, takingKey } from '../catalog/catalog.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { takeBackup } from './take.ts';

let etcd: EtcdCluster;
let other: EtcdCluster;
let path: string;
beforeAll(async () => {
  [etcd, other] = await Promise.all([EtcdCluster.start(), EtcdCluster.start()]);
});
afterAll(() => Promise.all([etcd, other].map((each) => each.stop())));
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'overlapping-'));
});
afterEach(() => rm(path, { recursive: true }));

/** Holds the manifest back until it is released. */
class Held extends FilesystemStore {
  readonly reached = Promise.withResolvers<void>();
  readonly release = Promise.withResolvers<void>();
  markedAt = Number.POSITIVE_INFINITY;

  override async put(...args: Parameters<FilesystemStore['put']>) {
    if (args[0].endsWith('.json')) {
      this.reached.resolve();
      await this.release.promise;
    }
    const put = await super.put(...args);
    if (args[0].endsWith('.taking')) this.markedAt = Date.now();
    return put;
  }
}

/** Takes a backup, and returns its manifest as it is in the store. */
async function take(
  source: EtcdCluster,
  store: Store = new FilesystemStore({ path }),
  sweepAge = 86_400_000,
): Promise<SnapshotManifest> {
  const { manifest } = await takeBackup(backupRequest(source, path, [store], { sweepAge }), silent);
  const read = await readManifest(store, manifestKey('orders', manifest.id), {});
  if (!read || 'problem' in read) throw new Error(`${manifest.id} has no manifest`);
  return read.manifest;
}

async function remove(...manifests: readonly SnapshotManifest[]): Promise<void> {
  for (const { id, object } of manifests)
    for (const key of [manifestKey('orders', id), object.key]) await rm(join(path, key), { force: true });
}

test('a run does not answer for the time in which a run of another etcd overlaps it', async () => {
  const first = await take(etcd);
  const held = new Held({ path });
  const overlapping = take(other, held);
  await held.reached.promise;
  await take(etcd);
  held.release.resolve();
  const between = await overlapping;

  // As retention of the one and of the other does in time. A later run of the other etcd was killed at the same moment.
  await take(other);
  await remove(first);
  await rm(join(path, manifestKey('orders', between.id)));
  await writeFile(join(path, takingKey('orders', between.id)), '');
  await take(etcd, undefined, 0);
  expect(await readdir(join(path, 'orders'))).toContain(between.object.key.slice('orders/'.length));
});

test('what the runs of one etcd say grows with each, but not while another run is under way', async () => {
  const first = await take(etcd);
  const second = await take(etcd);
  const third = await take(etcd);
  expect([second, third].map(({ sameEtcdSince, sameEtcdUntil }) => [sameEtcdSince, sameEtcdUntil])).toEqual([
    [first.createdAt, first.createdAt],
    [first.createdAt, second.createdAt],
  ]);
  const held = new Held({ path });
  const overlapping = take(other, held);
  await held.reached.promise;
  const meanwhile = [await take(etcd), await take(etcd)];
  for (const { sameEtcdSince, sameEtcdUntil } of meanwhile)
    expect([sameEtcdSince, sameEtcdUntil]).toEqual([first.createdAt, second.createdAt]);
  held.release.resolve();
  await overlapping;
  const { sameEtcdSince, sameEtcdUntil } = await take(etcd);
  expect([sameEtcdSince, sameEtcdUntil]).toEqual([meanwhile[1]!.createdAt, meanwhile[1]!.createdAt]);
});

test('other runs see that a run is under way before the moment that its snapshot is dated at', async () => {
  const store = new Held({ path });
  store.release.resolve();
  const { createdAt } = await take(etcd, store);
  expect(store.markedAt).toBeLessThanOrEqual(Date.parse(createdAt));
});
