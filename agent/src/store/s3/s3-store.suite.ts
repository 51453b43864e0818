import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Stub, type StubAnswer } from '../../../test/support/s3-stub.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { keysOf, once, read, storeContract } from '../../../test/support/store-contract.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { S3Spec } from '../spec.ts';
import type { CallOptions, Store } from '../store.ts';
import type { S3Tuning } from './connection.ts';
import { partSizeFor } from './multipart.ts';
import { openS3 } from './s3-store.ts';

const MIB = 1024 * 1024;
const quick: Partial<S3Tuning> = { minPartSize: MIB, maxAttempts: 2 };

let stub: S3Stub;
let root: string;
let validSecret: string;
const opened: Store[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 's3-'));
  validSecret = secret(valid).path;
});
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  stub = await S3Stub.start();
});
afterEach(async () => {
  for (const store of opened.splice(0)) store.close();
  await stub[Symbol.asyncDispose]();
});

let directories = 0;
const secret = (files: Record<string, string>) => secretDirectory(join(root, String(directories++)), files);
const valid = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };

async function open(spec: Partial<S3Spec> = {}, tuning = quick): Promise<Store> {
  const credentialsDirectory = spec.credentialsDirectory ?? validSecret;
  const store = await openS3({ bucket: stub.bucket, endpoint: stub.endpoint, ...spec, credentialsDirectory }, tuning);
  opened.push(store);
  return store;
}

/** Replaces the answer to the n-th request of an operation. Default: the first. */
const answer = (operation: string, reply: StubAnswer | 'hang', at = 1) => {
  let seen = 0;
  stub.intercept = (_, asked) => (asked === operation && ++seen === at ? reply : undefined);
};
const always = (operation: string, reply: StubAnswer | 'hang') => {
  stub.intercept = (_, asked) => (asked === operation ? reply : undefined);
};
const count = (operation: string) => stub.log.filter((entry) => entry.split(' ')[0] === operation).length;
const failure = async (call: Promise<unknown>): Promise<Error & { exitCode: number }> =>
  call.then(
    () => Promise.reject(new Error('it did not fail')),
    (error) => error,
  );

describe('contract', () => {
  let store: Store;
  let contract: S3Stub;
  beforeAll(async () => {
    contract = await S3Stub.start();
    contract.pageSize = 20;
    const spec = {
      bucket: contract.bucket,
      endpoint: contract.endpoint,
      prefix: '/some/prefix/',
      credentialsDirectory: validSecret,
    };
    store = await openS3(spec, { minPartSize: 5 * MIB });
  });
  afterAll(async () => {
    store.close();
    await contract[Symbol.asyncDispose]();
  });
  storeContract(() => ({ store, rests: async () => [...contract.uploads.values()].map(({ key }) => key) }), 50);
});

describe('parts', () => {
  test('are 8 MiB, and larger only when 10,000 would not suffice', () => {
    const limits = { minPartSize: 8 * MIB, maxParts: 10_000 };
    expect(partSizeFor(0, limits)).toBe(8 * MIB);
    expect(partSizeFor(70_000 * MIB, limits)).toBe(8 * MIB);
    for (const size of [100_000 * MIB, 5_000_000 * MIB, 123_456_789_012]) {
      const part = partSizeFor(size, limits);
      expect(part % MIB).toBe(0);
      expect(part * limits.maxParts).toBeGreaterThanOrEqual(size * 1.1);
      expect((part - MIB) * limits.maxParts).toBeLessThan(size * 1.1);
    }
  });

  test('a body that fits into one part is put at once', async () => {
    const store = await open();
    expect(await store.put('one', once(Buffer.alloc(MIB)))).toMatchObject({ parts: 1 });
    expect(stub.log).toEqual(['PutObject one']);
    const { parts, etag } = await store.put('two', once(Buffer.alloc(MIB + 1)));
    expect(parts).toBe(2);
    expect(etag).toBe(stub.objects.get('two')!.etag);
  });

  test('a body that outgrows its hint still fits, or fails clearly and leaves nothing', async () => {
    const store = await open({}, { ...quick, maxParts: 3 });
    const body = (mib: number) => once(...Array.from({ length: mib }, () => Buffer.alloc(MIB)));
    expect(await store.put('fits', body(6), { sizeHint: 3 * MIB })).toMatchObject({ parts: 3 });
    const error = await failure(store.put('large', body(7), { sizeHint: 3 * MIB }));
    expect(error).toMatchObject({ exitCode: ExitCode.storeRefused });
    expect(error.message).toContain('large is larger than 3 parts of 2 MiB');
    expect(stub.uploads.size).toBe(0);
    expect([...stub.objects.keys()]).toEqual(['fits']);
  });

  test.each([
    ['CreateMultipartUpload', 2],
    ['UploadPart', 2],
    ['CompleteMultipartUpload', 2],
  ])('a server that keeps failing at %s: tried again, then aborted and unreachable', async (operation, attempts) => {
    const store = await open();
    always(operation, { status: 500, code: 'InternalError', message: 'oops' });
    const error = await failure(store.put('x', once(Buffer.alloc(3 * MIB))));
    expect(error).toMatchObject({ exitCode: ExitCode.storeUnreachable });
    expect(error.message).toContain('InternalError (500)');
    expect(count(operation)).toBe(attempts);
    expect(stub.uploads.size).toBe(0);
    expect(stub.objects.size).toBe(0);
  });

  test('an error within a 200 of CompleteMultipartUpload is an error', async () => {
    const store = await open();
    always('CompleteMultipartUpload', { status: 200, body: '<Error><Code>InternalError</Code></Error>' });
    const error = await failure(store.put('x', once(Buffer.alloc(3 * MIB))));
    expect(error).toMatchObject({ exitCode: ExitCode.storeUnreachable });
    expect(stub.uploads.size).toBe(0);
  });

  test.each<[string, StubAnswer]>([
    ['is cut off', { status: 200, body: Buffer.alloc(500), cutAt: 1 }],
    ['is that of a gateway that gave up', { status: 504, body: '<html>504 Gateway Time-out</html>' }],
  ])('an upload is complete although the answer %s', async (_, lost) => {
    const store = await open();
    let completed = false;
    stub.intercept = (request, operation) => {
      if (operation !== 'CompleteMultipartUpload' || completed) return undefined;
      completed = true;
      stub.carryOut(request);
      return lost;
    };
    expect(await store.put('x', once(Buffer.alloc(3 * MIB)))).toMatchObject({ parts: 3 });
    expect(await read(store, 'x')).toHaveLength(3 * MIB);
  });

  test.each([
    ['nothing is there', undefined],
    ['only an older object of the same size is there', 3 * MIB],
    ['another object is there', 2 * MIB],
  ])('an upload that the server does not know any more fails when %s', async (_, there) => {
    const store = await open();
    const modified = new Date(Date.now() - 3_600_000 * Number(there === 3 * MIB));
    always('CompleteMultipartUpload', { status: 404, code: 'NoSuchUpload' });
    if (there) stub.objects.set('x', { body: Buffer.alloc(there), modified, etag: 'x' });
    expect((await failure(store.put('x', once(Buffer.alloc(3 * MIB))))).message).toContain('NoSuchUpload');
  });

  test('a part that fails is noticed while the body is stuck', async () => {
    const store = await open();
    always('UploadPart', { status: 403, code: 'AccessDenied' });
    const body = async function* () {
      yield Buffer.alloc(MIB + 1);
      await new Promise(() => {});
    };
    expect(await failure(store.put('x', body()))).toMatchObject({ exitCode: ExitCode.storeRefused });
    expect(stub.uploads.size).toBe(0);
  });

  test('a temporary failure is survived', async () => {
    const store = await open();
    answer('UploadPart', { status: 503, code: 'SlowDown' }, 2);
    expect(await store.put('x', once(Buffer.alloc(3 * MIB)))).toMatchObject({ parts: 3 });
    expect(stub.objects.get('x')!.body).toHaveLength(3 * MIB);
  });
});

describe('request fields', () => {
  test.each([
    [{ serverSideEncryption: 'AES256' } as const, 'AES256', undefined],
    [{ serverSideEncryption: 'aws:kms', kmsKeyId: 'key-1' } as const, 'aws:kms', 'key-1'],
    [{}, undefined, undefined],
  ])('server-side encryption %j', async (spec, mode, keyId) => {
    const store = await open(spec);
    const asked: unknown[] = [];
    stub.intercept = ({ headers }, operation) => {
      if (['PutObject', 'CreateMultipartUpload'].includes(operation)) {
        asked.push([headers['x-amz-server-side-encryption'], headers['x-amz-server-side-encryption-aws-kms-key-id']]);
      }
      return undefined;
    };
    await store.put('small', once('x'));
    await store.put('large', once(Buffer.alloc(3 * MIB)));
    expect(asked).toEqual([
      [mode, keyId],
      [mode, keyId],
    ]);
  });
});

describe('reading', () => {
  test('a body that is shorter than announced fails', async () => {
    const store = await open();
    await store.put('x', once(Buffer.alloc(3 * MIB)));
    answer('GetObject', { status: 200, body: Buffer.alloc(3 * MIB), cutAt: MIB });
    const error = await failure(read(store, 'x'));
    expect(error).toMatchObject({ exitCode: ExitCode.storeUnreachable });
    expect(error.message).toContain('GetObject x');
  });

  test('a stalled body fails; one that is consumed slowly does not', async () => {
    const store = await open({}, { ...quick, idleTimeout: 200 });
    await store.put('x', once(Buffer.alloc(8 * MIB)));
    let bytes = 0;
    for await (const chunk of await store.get('x')) {
      if (bytes === 0) await sleep(600);
      bytes += chunk.length;
    }
    expect(bytes).toBe(8 * MIB);
    answer('GetObject', { status: 200, body: Buffer.alloc(MIB), stallAt: 1000 });
    const error = await failure(read(store, 'x'));
    expect(error).toMatchObject({ exitCode: ExitCode.storeUnreachable });
    expect(error.message).toContain('no byte arrived for 0.2 s after 1000 of 1048576 bytes');
  });
});

test('a server may take long to assemble the parts', async () => {
  const store = await open({}, { ...quick, idleTimeout: 200 });
  stub.delay = (operation) => (operation === 'CompleteMultipartUpload' ? 800 : 0);
  await store.put('x', once(Buffer.alloc(3 * MIB)));
  expect(count('CompleteMultipartUpload')).toBe(1);
  // Read with more patience: a busy machine may send nothing for 200 ms.
  expect(await read(await open(), 'x')).toHaveLength(3 * MIB);
});

describe('a server that never answers', () => {
  test.each(['PutObject', 'GetObject', 'ListObjectsV2'])('%s is reported as unreachable', async (operation) => {
    const store = await open({}, { ...quick, idleTimeout: 200 });
    always(operation, 'hang');
    const calls: Record<string, () => Promise<unknown>> = {
      PutObject: () => store.put('x', once('x')),
      GetObject: () => store.get('x'),
      ListObjectsV2: () => keysOf(store, ''),
    };
    const error = await failure(calls[operation]!());
    expect(error).toMatchObject({ exitCode: ExitCode.storeUnreachable });
    expect(error.message).toContain('no answer in time');
    expect(count(operation)).toBe(2);
  });

  test.each<[string, (store: Store, options: CallOptions) => Promise<unknown>]>([
    ['PutObject', (store, options) => store.put('x', once('x'), options)],
    ['GetObject', (store, options) => store.get('x', options)],
    ['ListObjectsV2', (store, options) => keysOf(store, '', options)],
    ['HeadObject', (store, options) => store.stat('x', options)],
    ['DeleteObject', (store, options) => store.delete('x', options)],
    ['ListMultipartUploads', (store, options) => store.sweep('', 0, options)],
  ])('an abort of %s does not wait for it', async (operation, call) => {
    const store = await open();
    always(operation, 'hang');
    const reason = new Error('stop');
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    await expect(call(store, { signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('a listing', () => {
  const page = (content: string) => ({ status: 200, body: `<ListBucketResult>${content}</ListBucketResult>` });
  const object = (key: string) =>
    `<Contents><Key>${key}</Key><Size>1</Size><LastModified>2026-11-21T02:38:07Z</LastModified></Contents>`;

  test.each<[string, StubAnswer]>([
    ['a truncated page without a token', page(`<IsTruncated>true</IsTruncated>${object('a')}`)],
    [
      'a page with fewer keys than it counts',
      page(`<IsTruncated>false</IsTruncated><KeyCount>2</KeyCount>${object('a')}`),
    ],
    ['a page that does not say whether it is the last', page(object('a'))],
    ['a page of something else', { status: 200, body: '<html>Please log in</html>' }],
    ['no page at all', { status: 200 }],
    ['an object without a date', page('<IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents>')],
  ])('%s is an error', async (_, reply) => {
    const store = await open();
    always('ListObjectsV2', reply);
    const error = await failure(keysOf(store, ''));
    expect(error).toMatchObject({ exitCode: ExitCode.storeUnreachable });
    expect(error.message).toContain('ListObjectsV2');
  });

  test('a repeated token is an error', async () => {
    const store = await open();
    always(
      'ListObjectsV2',
      page(`<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>${object('a')}`),
    );
    expect(await failure(keysOf(store, ''))).toMatchObject({ exitCode: ExitCode.storeUnreachable });
  });

  test('of uploads that is truncated without a marker is an error', async () => {
    const store = await open();
    const body = '<ListMultipartUploadsResult><IsTruncated>true</IsTruncated></ListMultipartUploadsResult>';
    always('ListMultipartUploads', { status: 200, body });
    expect(await failure(store.sweep('', 0))).toMatchObject({ exitCode: ExitCode.storeUnreachable });
  });
});

describe('the clock', () => {
  const day = 86_400_000;

  test("is the server's, even if it is a day ahead", async () => {
    const store = await open();
    stub.ahead = day;
    const ahead = (await store.now())!.getTime() - Date.now();
    expect(Math.abs(ahead - day)).toBeLessThan(5_000);
  });

  test('of the server decides about age, not the local one', async () => {
    const store = await open();
    stub.uploads.set('one', { key: 'c/old', initiated: new Date(Date.now() - 2 * day), parts: new Map() });
    stub.uploads.set('two', { key: 'c/young', initiated: new Date(Date.now() - 60_000), parts: new Map() });
    stub.uploads.set('three', { key: 'other/old', initiated: new Date(Date.now() - 2 * day), parts: new Map() });
    stub.ahead = -1.5 * day;
    expect(await store.sweep('c/', day)).toBe(0);
    stub.ahead = 0;
    expect(await store.sweep('c/', day)).toBe(1);
    expect([...stub.uploads.keys()]).toEqual(['two', 'three']);
    const left: string[] = [];
    for await (const { key } of store.unfinished!('c/')) left.push(key);
    expect(left).toEqual(['c/young']);
  });

  test('is known to credentials that may not list the whole bucket', async () => {
    const store = await open();
    stub.ahead = day;
    const code = 'AccessDenied';
    stub.intercept = () => ({ status: 403, code, message: code });
    const ahead = (await store.now())!.getTime() - Date.now();
    expect(Math.abs(ahead - day)).toBeLessThan(5_000);
    stub.intercept = () => ({ status: 403, code, message: code, headers: { date: '' } });
    await expect(store.now()).rejects.toMatchObject({ exitCode: ExitCode.storeRefused });
  });

  test('is unknown if the server does not send its time', async () => {
    const store = await open();
    stub.intercept = () => ({ status: 200, body: '<ListBucketResult/>', headers: { date: '' } });
    expect(await store.now()).toBeUndefined();
  });
});

describe('deleting', () => {
  test.each([
    [403, 'AccessDenied', 'forbidden by object lock'],
    [403, 'AccessDenied', 'Access Denied because object protected by object lock.'],
    [403, 'AccessDenied', 'User: arn:aws:iam::1:user/a is not authorized to perform: s3:BypassGovernanceRetention'],
    [400, 'InvalidRequest', 'Object is WORM protected and cannot be overwritten'],
    [403, 'ObjectLockedByBucketPolicy', 'locked'],
    [409, 'FileImmutable', 'The object is immutable'],
  ])('%i %s: %s means retained', async (status, code, message) => {
    const store = await open();
    always('DeleteObject', { status, code, message });
    expect(await store.delete('x')).toBe('retained');
  });

  test.each([
    [403, 'AccessDenied', 'User: arn:aws:iam::1:user/object-lock is not authorized to perform: s3:DeleteObject'],
    [403, 'AccessDenied', 'Access Denied'],
    [400, 'InvalidRequest', 'Bad'],
  ])('%i %s: %s is an error', async (status, code, message) => {
    const store = await open();
    always('DeleteObject', { status, code, message });
    expect(await failure(store.delete('x'))).toMatchObject({ exitCode: ExitCode.storeRefused });
  });
});

describe('deleting in a bucket with object lock, where the server would only hide the object', () => {
  const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();
  const yesterday = () => new Date(Date.now() - 86_400_000).toISOString();

  test.each<[string, () => Record<string, string>]>([
    ['held', () => ({ 'x-amz-object-lock-legal-hold': 'ON' })],
    ['locked', () => ({ 'x-amz-object-lock-mode': 'COMPLIANCE', 'x-amz-object-lock-retain-until-date': tomorrow() })],
  ])('%s means retained, and nothing is deleted', async (_, headers) => {
    const store = await open();
    always('HeadObject', { status: 200, headers: headers() });
    expect(await store.delete('x')).toBe('retained');
    expect(count('DeleteObject')).toBe(0);
  });

  test.each<[string, StubAnswer]>([
    ['a lock that has ended', { status: 200, headers: { 'x-amz-object-lock-retain-until-date': yesterday() } }],
    ['a hold that was lifted', { status: 200, headers: { 'x-amz-object-lock-legal-hold': 'OFF' } }],
    ['no right to ask', { status: 403 }],
  ])('%s does not protect it', async (_, head) => {
    const store = await open();
    always('HeadObject', head);
    expect(await store.delete('x')).toBe('deleted');
    expect(count('DeleteObject')).toBe(1);
  });

  test('nothing is deleted while the server cannot answer', async () => {
    const store = await open();
    always('HeadObject', { status: 503 });
    expect(await failure(store.delete('x'))).toMatchObject({ exitCode: ExitCode.storeUnreachable });
    expect(count('DeleteObject')).toBe(0);
  });

  test.each<[string, StubAnswer, boolean]>([
    ['a locked object', { status: 200, headers: { 'x-amz-object-lock-retain-until-date': tomorrow() } }, true],
    ['an object without a lock', { status: 200 }, false],
    ['an object that may not be asked about', { status: 403 }, false],
  ])('whether %s is retained is known without a change', async (_, head, isRetained) => {
    const store = await open();
    always('HeadObject', head);
    expect(await store.isRetained!('x')).toBe(isRetained);
    expect(stub.log.every((entry) => entry.startsWith('HeadObject'))).toBe(true);
  });
});

describe('an answer to HEAD that lacks the size or the time, as a proxy may leave them out', () => {
  const LACKS = { status: 200, lacks: ['content-length', 'last-modified'] };

  test('the listing has them', async () => {
    const store = await open();
    await store.put('orders/a', once('four'));
    await store.put('orders/ab', once('a longer one'));
    always('HeadObject', LACKS);
    const found = await store.stat('orders/a');
    expect(found).toMatchObject({ key: 'orders/a', size: 4 });
    expect(found!.modified.getTime()).toBeGreaterThan(Date.now() - 60_000);
  });

  test('without the listing, neither is guessed', async () => {
    const store = await open();
    await store.put('orders/ab', once('a longer one'));
    always('HeadObject', LACKS);
    expect(await failure(store.stat('orders/a'))).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: expect.stringContaining('without its size or time'),
    });
  });
});
