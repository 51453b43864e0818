import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { S3Stub } from '../support/s3-stub.ts';
import { secretDirectory } from '../support/secret-directory.ts';
import { backup, expectFailure, run, start, succeed, wholeSnapshots } from './commands.ts';
import { DirectoryPlace } from './directory-place.ts';

const MIB = 1024 * 1024;

let etcd: EtcdCluster;
let root: string;
let credentials: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bad-store-'));
  const keys = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
  credentials = secretDirectory(join(root, 'secret'), keys).path;
  etcd = await EtcdCluster.start();
  // More than the two parts that an upload holds in memory.
  await etcd.put(16, { valueSize: MIB });
});
afterAll(async () => {
  await etcd?.stop();
  await rm(root, { recursive: true, force: true });
});

const bucket = ({ bucket, endpoint }: S3Stub, credentialsDirectory = credentials) =>
  `s3://${bucket}?${new URLSearchParams({ endpoint, credentialsDirectory })}`;

const isManifest = (key: string) => key.endsWith('.json');

describe.each(['UploadPart', 'CompleteMultipartUpload', 'GetObject', 'ListObjectsV2', 'everything'])(
  'a store that hangs in %s beside a good one',
  (hung) => {
    test.each([
      ['first', 0],
      ['last', 1],
    ])('named %s: the good one has the backup within --timeout, exit 3', async (_, at) => {
      await using stub = await S3Stub.start();
      await using place = await DirectoryPlace.make();
      stub.intercept = (_request, operation) => (hung === 'everything' || operation === hung ? 'hang' : undefined);
      const stores = at === 0 ? [bucket(stub), place.store] : [place.store, bucket(stub)];
      const flags = ['--compression', 'none', '--timeout', '12s'];
      const startedAt = Date.now();
      const { code, result } = await run(backup(etcd, stores[0]!, '--store', stores[1]!, ...flags));
      expect(code).toBe(3);
      // A hanging call must not keep the process alive.
      expect(Date.now() - startedAt).toBeLessThan(25_000);
      expect(await wholeSnapshots(place)).toEqual([result.snapshot.id]);
      expect(result.stores[at]).toMatchObject({ exitCode: expect.any(Number), error: expect.any(String) });
      expect(result.stores[1 - at]).toMatchObject({ verified: 'read' });
    });
  },
);

test('a Secret that is not mounted costs only its own store', async () => {
  await using stub = await S3Stub.start();
  await using place = await DirectoryPlace.make();
  const { code, result } = await run(backup(etcd, bucket(stub, join(root, 'none')), '--store', place.store));
  expect(code).toBe(3);
  expect(result.stores[0]).toMatchObject({ exitCode: 2, error: expect.stringContaining('mount the Secret there') });
  expect(await wholeSnapshots(place)).toEqual([result.snapshot.id]);
});

test('--timeout during retention: the snapshot exists, exit 3 with its id', async () => {
  await using stub = await S3Stub.start();
  const args = (...more: string[]) => backup(etcd, bucket(stub), '--compression', 'none', ...more);
  for (let n = 0; n < 3; n++) await succeed(args());
  const before = stub.objects.size;
  // The payload, the marker and the manifest of the new one.
  stub.intercept = (_request, operation) =>
    operation === 'ListObjectsV2' && stub.objects.size >= before + 3 ? 'hang' : undefined;
  const { code, result } = await run(args('--retention', 'last=1', '--timeout', '8s'));
  expect(code).toBe(3);
  expect(result.stores).toMatchObject([{ verified: 'read', retentionError: expect.stringContaining('--timeout') }]);
  expect([...stub.objects.keys()]).toContain(`orders/${result.snapshot.id}.json`);
});

test('a deletion that hangs during retention costs only its own snapshot', async () => {
  await using stub = await S3Stub.start();
  const args = (...more: string[]) => backup(etcd, bucket(stub), '--compression', 'none', ...more);
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await succeed(args())).snapshot.id);
  stub.intercept = ({ key }, operation) =>
    operation === 'DeleteObject' && key.endsWith(`${ids[0]}.json`) ? 'hang' : undefined;
  const { code, result } = await run(args('--retention', 'last=1', '--timeout', '20s'));
  expect(code).toBe(3);
  const retentionError = expect.stringMatching(`^1 snapshot of 3 tried could not be deleted, such as ${ids[0]}: `);
  expect(result.stores).toMatchObject([{ verified: 'read', deleted: ids.slice(1), retentionError }]);
  const keys = [...stub.objects.keys()];
  expect(keys.filter((key) => key.endsWith('.taking') || key.includes(ids[1]!))).toEqual([]);
  expect(keys).toContain(`orders/${ids[0]}.json`);
});

describe.each([
  ['retention', 'ListObjectsV2', ['--retention', 'last=1']],
  // The store has the manifest, but its answer is lost.
  ['the answer to the manifest', 'PutObject', []],
] as const)('a store that hangs in %s when the snapshot is stored', (_, hung, flags) => {
  async function hanging(stub: S3Stub): Promise<{ args: string[]; asked: Promise<void> }> {
    const args = (...more: string[]) => backup(etcd, bucket(stub), '--compression', 'none', ...more);
    await succeed(args());
    const asked = Promise.withResolvers<void>();
    const before = [...stub.objects.keys()].filter(isManifest).length;
    stub.intercept = (request, operation) => {
      const isOfManifest = hung === 'PutObject' ? isManifest(request.key) : true;
      if (operation !== hung || !isOfManifest) return undefined;
      if (hung === 'PutObject') stub.carryOut(request);
      if ([...stub.objects.keys()].filter(isManifest).length === before) return undefined;
      asked.resolve();
      return 'hang';
    };
    return { args: args(...flags), asked: asked.promise };
  }

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s: the error names the snapshot, and no marker stays', async (signal, exitCode) => {
    await using stub = await S3Stub.start();
    const { args, asked } = await hanging(stub);
    const running = start(args);
    await asked;
    const stored = `; before that, the snapshot was stored: orders/etcd-snapshot-\\S+\\.db in s3:`;
    expectFailure(await running.kill(signal), exitCode, new RegExp(`^stopped by ${signal}${stored}`));
    expect([...stub.objects.keys()].filter((key) => key.endsWith('.taking'))).toEqual([]);
  });
});

test.each(['ListMultipartUploads', 'UploadPart', 'CompleteMultipartUpload', 'GetObject', 'PutObject'])(
  'SIGTERM while a store hangs in %s ends the run in time, with 143',
  async (hung) => {
    await using stub = await S3Stub.start();
    const asked = Promise.withResolvers<void>();
    stub.intercept = (_request, operation) => {
      if (operation !== hung) return undefined;
      asked.resolve();
      return 'hang';
    };
    const running = start(backup(etcd, bucket(stub), '--compression', 'none'));
    await asked.promise;
    const killedAt = Date.now();
    const { code } = await running.kill('SIGTERM');
    expect(code).toBe(143);
    expect(Date.now() - killedAt).toBeLessThan(20_000);
    expect([...stub.objects.keys()].filter((key) => key.endsWith('.json'))).toEqual([]);
  },
);
