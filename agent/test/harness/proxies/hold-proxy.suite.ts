import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Versitygw } from '../versitygw.ts';
import { HoldProxy } from './hold-proxy.ts';

let server: Versitygw;
let proxy: HoldProxy;
let s3: S3Client;
let bucket = '';
let n = 0;

beforeAll(async () => {
  server = await Versitygw.start();
});
afterAll(() => server.stop());

beforeEach(async () => {
  bucket = `bucket-${++n}`;
  await mkdir(join(server.directory, bucket));
  proxy = await HoldProxy.start(server.endpoint);
  s3 = new S3Client({
    endpoint: proxy.endpoint,
    region: server.region,
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    credentials: server,
  });
});
afterEach(async () => {
  s3.destroy();
  await proxy.stop();
});

const put = (Body: Uint8Array | string = 'value') =>
  s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'key', Body }));
const fetched = async () => {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }));
  return Body!.transformToString();
};
const stored = () => existsSync(join(server.directory, bucket, 'key'));

/** Another process that puts `key`, so that it can be killed. */
function putElsewhere() {
  const script = `import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
    const [endpoint, Bucket, accessKeyId, secretAccessKey] = process.argv.slice(1);
    const credentials = { accessKeyId, secretAccessKey };
    const s3 = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
    await s3.send(new PutObjectCommand({ Bucket, Key: 'key', Body: 'value' }));`;
  const args = [proxy.endpoint, bucket, server.accessKeyId, server.secretAccessKey];
  return spawn(process.execPath, ['--input-type=module', '-e', script, ...args], { cwd: import.meta.dirname });
}

test('forwards signed requests completely, and records them', async () => {
  await put(Buffer.alloc(20 * 1024 * 1024, 'x'));
  expect((await stat(join(server.directory, bucket, 'key'))).size).toBe(20 * 1024 * 1024);
  expect((await fetched()).length).toBe(20 * 1024 * 1024);
  expect(proxy.requests).toEqual([
    { n: 1, method: 'PUT', path: `/${bucket}/key?x-id=PutObject` },
    { n: 2, method: 'GET', path: `/${bucket}/key?x-id=GetObject` },
  ]);
});

test('held before: the object exists only after the release', async () => {
  proxy.holdBefore(1);
  const done = put();
  expect(await proxy.held).toMatchObject({ n: 1, method: 'PUT' });
  await sleep(300);
  expect(stored()).toBe(false);
  await proxy.release();
  await done;
  expect(await fetched()).toBe('value');
});

test('held after: the object exists and the client waits', async () => {
  proxy.holdAfter(({ method }) => method === 'PUT');
  let answered = false;
  const done = put().then(() => {
    answered = true;
  });
  await proxy.held;
  expect(stored()).toBe(true);
  await sleep(300);
  expect(answered).toBe(false);
  await proxy.release();
  await done;
  expect(answered).toBe(true);
});

test.each([
  ['before', false],
  ['after', true],
] as const)('a client killed while it is held %s: whether the object is there in the end: %s', async (when, there) => {
  if (when === 'before') proxy.holdBefore(1);
  else proxy.holdAfter(1);
  const client = putElsewhere();
  await proxy.held;
  client.kill('SIGKILL');
  await once(client, 'exit');
  await proxy.release();
  await sleep(500);
  expect(stored()).toBe(there);
  expect(proxy.requests).toHaveLength(1);
});

test('answers in the server’s place', async () => {
  proxy.answer(1, { status: 503, body: '<Error><Code>SlowDown</Code></Error>' });
  await expect(put()).rejects.toMatchObject({ name: 'SlowDown', $metadata: { httpStatusCode: 503 } });
  expect(stored()).toBe(false);
  await put();
  expect(stored()).toBe(true);
});

test('cuts a request: the server keeps nothing', async () => {
  proxy.cutRequest(1, 1_000_000);
  await expect(put(Buffer.alloc(8_000_000, 'x'))).rejects.toThrow();
  await sleep(200);
  expect(stored()).toBe(false);
});

test('cuts a response after exactly so many bytes', async () => {
  await put(Buffer.alloc(8_000_000, 'x'));
  proxy.cutResponse(2, 1_234_567);
  const { Body, ContentLength } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }));
  expect(ContentLength).toBe(8_000_000);
  let bytes = 0;
  const read = async () => {
    for await (const chunk of Body as AsyncIterable<Buffer>) bytes += chunk.length;
  };
  await expect(read()).rejects.toThrow('aborted');
  expect(bytes).toBe(1_234_567);
});
