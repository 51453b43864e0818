// Copies between stores of different kinds, encrypted and in several parts; and stores that refuse.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { BucketPlace } from '../faults/bucket-place.ts';
import { backup, CLUSTER, command, run, succeed, wholeSnapshots } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { Versitygw } from '../harness/versitygw.ts';

const MIB = 1024 * 1024;

let etcd: EtcdCluster;
let server: Versitygw;
let source: DirectoryPlace;
let identityFile: string;
/** Encrypted, and larger than a part. */
let id: string;

beforeAll(async () => {
  [etcd, server, source] = await Promise.all([EtcdCluster.start(), Versitygw.start(), DirectoryPlace.make()]);
  await etcd.put(20, { valueSize: MIB });
  const identity = await generateX25519Identity();
  identityFile = join(source.path, 'identity');
  await writeFile(identityFile, identity);
  const recipient = await identityToRecipient(identity);
  const flags = ['--compression', 'none', '--age-recipient', recipient];
  id = (await succeed(backup(etcd, source.store, ...flags))).snapshot.id;
});
afterAll(async () => {
  await source?.[Symbol.asyncDispose]();
  await Promise.all([etcd?.stop(), server?.stop()]);
});

test('from a directory to S3, on to another bucket, and back: the same bytes, and no key is needed', async () => {
  await using first = await BucketPlace.make(server);
  await using second = await BucketPlace.make(server);
  await using back = await DirectoryPlace.make();
  await succeed(command('copy', source.store, '--to', first.store));
  await succeed(command('copy', first.store, '--to', second.store));
  await succeed(command('copy', second.store, '--to', back.store));
  for (const place of [first, second, back]) expect(await wholeSnapshots(place)).toEqual([id]);

  const payload = `${CLUSTER}/${id}.db.age`;
  expect((await back.get(payload)).equals(await source.get(payload))).toBe(true);
  const objectIn = async (place: BucketPlace | DirectoryPlace) =>
    JSON.parse(String(await place.get(`${CLUSTER}/${id}.json`))).object;
  expect(await objectIn(second)).toMatchObject({ etag: expect.any(String), parts: expect.any(Number) });
  expect((await objectIn(second)).parts).toBeGreaterThan(1);
  expect(await objectIn(back)).toEqual(await objectIn(source));

  const file = join(back.path, 'restored.db');
  await succeed(command('restore fetch', second.store, '--to', file, '--age-identity-file', identityFile));
  expect((await readFile(file)).length).toBeGreaterThan(20 * MIB);
});

test('a target that refuses: 21, in one line, and the copied snapshots are listed', async () => {
  await using bucket = await BucketPlace.make(server);
  const nowhere = bucket.store.replace(bucket.bucket, `${bucket.bucket}-not`);
  const { code, result } = await run(command('copy', source.store, '--to', nowhere));
  expect({ code, error: result.error }).toEqual({ code: 21, error: expect.stringMatching(/bucket/i) });
});

test('status, check, pin and adopt on S3', async () => {
  await using bucket = await BucketPlace.make(server);
  await succeed(command('copy', source.store, '--to', bucket.store));
  expect((await succeed(command('status', bucket.store, '--max-age', '1d'))).stores).toMatchObject([{ ok: true, id }]);
  expect(await succeed(command('check', bucket.store))).toMatchObject({ failed: 0 });
  expect(await bucket.keys()).toEqual([`${CLUSTER}/${id}.db.age`, `${CLUSTER}/${id}.json`]);
  await succeed(command('pin', bucket.store, id));
  expect(await bucket.keys()).toContain(`${CLUSTER}/${id}.pin`);
  await succeed(command('unpin', bucket.store, id));

  await bucket.put(`${CLUSTER}/mine.db.age`, await source.get(`${CLUSTER}/${id}.db.age`));
  expect(await succeed(command('adopt', bucket.store))).toMatchObject({ adopted: 0, skipped: 1 });
  expect(await succeed(command('adopt', bucket.store, '--age-identity-file', identityFile))).toMatchObject({
    snapshots: [{ id: 'mine', outcome: 'adopted' }],
  });
  expect((await wholeSnapshots(bucket)).sort()).toEqual([id, 'mine'].sort());
});
