import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Stub, type StubRequest } from '../../../test/support/s3-stub.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { once, read } from '../../../test/support/store-contract.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { S3Spec } from '../spec.ts';
import type { Store } from '../store.ts';
import { readEncryption } from './encryption.ts';
import { openS3 } from './s3-store.ts';

const MIB = 1024 * 1024;
const key = randomBytes(32);
const base64 = key.toString('base64');
const md5 = createHash('md5').update(key).digest('base64');

let root: string;
let stub: S3Stub;
let spec: S3Spec;
let store: Store;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 's3-encryption-'));
  stub = await S3Stub.start();
  const files = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
  const credentialsDirectory = secretDirectory(join(root, 'secret'), files).path;
  const sseCustomerKeyFile = await file('key', key);
  spec = { bucket: stub.bucket, endpoint: stub.endpoint, credentialsDirectory, sseCustomerKeyFile };
  store = await openS3(spec, { minPartSize: MIB, maxAttempts: 1 });
});
afterAll(async () => {
  store?.close();
  await stub?.[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

async function file(name: string, content: string | Buffer): Promise<string> {
  await writeFile(join(root, name), content);
  return join(root, name);
}

const keyOf = ({ headers }: StubRequest) => [
  headers['x-amz-server-side-encryption-customer-algorithm'],
  headers['x-amz-server-side-encryption-customer-key'],
  headers['x-amz-server-side-encryption-customer-key-md5'],
];

test('only requests that need the key contain it', async () => {
  const seen = new Map<string, unknown[]>();
  stub.intercept = (request, operation) => {
    seen.set(operation, keyOf(request));
    return undefined;
  };
  await store.put('small', once('x'));
  await store.put('large', once(Buffer.alloc(3 * MIB)));
  expect(await read(store, 'large')).toHaveLength(3 * MIB);
  expect(await store.stat('small')).toMatchObject({ size: 1 });
  await store.now();
  await store.sweep('', 0);
  await store.delete('small');
  const withKey = ['AES256', base64, md5];
  const without = [undefined, undefined, undefined];
  expect(Object.fromEntries(seen)).toEqual({
    PutObject: withKey,
    CreateMultipartUpload: withKey,
    UploadPart: withKey,
    CompleteMultipartUpload: withKey,
    GetObject: withKey,
    HeadObject: withKey,
    ListObjectsV2: without,
    ListMultipartUploads: without,
    DeleteObject: without,
  });
});

test.each([
  ['raw', key],
  ['base64', base64],
  ['base64 with a newline', `${base64}\n`],
])('a key file may be %s', async (name, content) => {
  const encryption = await readEncryption({ ...spec, sseCustomerKeyFile: await file(name, content) });
  expect(encryption.content.SSECustomerKey).toBe(base64);
});

test.each<[string, string | Buffer]>([
  ['31 bytes', key.subarray(1)],
  ['33 bytes', Buffer.concat([key, Buffer.from('x')])],
  ['base64 of 16 bytes', key.subarray(16).toString('base64')],
  ['hexadecimal', key.toString('hex')],
  ['nothing', ''],
])('a key file with %s is a mistake, and not shown', async (name, content) => {
  const opening = openS3({ ...spec, sseCustomerKeyFile: await file(name, content) });
  await expect(opening).rejects.toMatchObject({
    exitCode: ExitCode.usage,
    message: expect.stringContaining('is not a key; it must contain 32 bytes, raw or in base64'),
  });
});

test.each<[string, Partial<S3Spec>, string]>([
  [
    'a missing key file',
    { sseCustomerKeyFile: '/nowhere/key' },
    'sseCustomerKeyFile /nowhere/key cannot be read (ENOENT): it does not exist; check the path',
  ],
  ['two kinds of encryption', { serverSideEncryption: 'AES256' }, 'cannot be used together'],
  [
    'a key over plain http',
    { endpoint: 'http://s3.example.com:9000' },
    'would be sent to s3.example.com:9000 in plain text',
  ],
  ['a name that only looks like loopback', { endpoint: 'http://127.example.com' }, 'in plain text'],
])('%s is a mistake', async (_, change, message) => {
  const error = { exitCode: ExitCode.usage, message: expect.stringContaining(message) };
  await expect(openS3({ ...spec, ...change })).rejects.toMatchObject(error);
});

test.each(['https://s3.example.com', 'http://localhost:9000', 'http://[::1]:9000', 'http://s3.localhost', ''])(
  'a key may go to %j',
  async (endpoint) => {
    await expect(readEncryption({ ...spec, endpoint })).resolves.toBeDefined();
  },
);

test.each([
  [400, 'InvalidArgument', 'The calculated MD5 hash of the key did not match', 'sseCustomerKeyFile must hold the key'],
  [400, 'InvalidRequest', 'The object was stored using a form of Server Side Encryption.', 'sseCustomerKeyFile must'],
  [403, 'AccessDenied', 'User: arn:aws:iam::1:user/kms is not authorized', 'grant the permission on the bucket'],
  [
    403,
    'AccessDenied',
    'not authorized to perform: kms:GenerateDataKey',
    'check kmsKeyId, and the permissions on that key',
  ],
])('%i %s: %s', async (status, code, message, remedy) => {
  stub.intercept = () => ({ status, code, message });
  const refused = { exitCode: ExitCode.storeRefused, message: expect.stringContaining(remedy) };
  await expect(store.put('x', once('x'))).rejects.toMatchObject(refused);
});

test('a key that the server quotes is hidden', async () => {
  stub.intercept = () => ({ status: 400, code: 'InvalidArgument', message: `bad: ${base64} ${md5}` });
  await expect(store.put('x', once('x'))).rejects.toThrow('it says: bad: *** ***');
});
