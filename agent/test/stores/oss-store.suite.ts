import { webcrypto } from 'node:crypto';
import { once as happened } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { ExitCode } from '../../src/lib/errors.ts';
import { openStore, parseStore } from '../../src/store/open.ts';
import { openOss } from '../../src/store/oss/oss-store.ts';
import { openS3 } from '../../src/store/s3/s3-store.ts';
import type { Store } from '../../src/store/store.ts';
import { OssStub } from '../support/oss-stub.ts';
import { secretDirectory } from '../support/secret-directory.ts';
import { keysOf, once, read, storeContract } from '../support/store-contract.ts';

const MIB = 1024 * 1024;

let root: string;
let stub: OssStub;
let credentialsDirectory: string;
const opened: Store[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'oss-'));
  stub = await OssStub.start();
  const { accessKeyId: accessKeyID, accessKeySecret } = stub;
  credentialsDirectory = secretDirectory(join(root, 'secret'), { accessKeyID, accessKeySecret }).path;
});
afterAll(async () => {
  for (const store of opened) store.close();
  await stub[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

const spec = () => ({ bucket: 'bucket', endpoint: stub.endpoint, region: stub.region, credentialsDirectory });
const keep = (store: Store): Store => {
  opened.push(store);
  return store;
};
const failure = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => new Error('it did not fail'),
    (error) => error,
  );

describe('contract', () => {
  let store: Store;
  beforeAll(async () => {
    const { endpoint, region } = stub;
    const parameters = new URLSearchParams({ endpoint, region, credentialsDirectory });
    store = keep(await openStore(parseStore(`oss://bucket/some/prefix?${parameters}`)));
    stub.bucket.pageSize = 20;
  });
  afterAll(() => {
    expect(stub.refused).toEqual([]);
  });
  storeContract(
    () => ({ store, refusesAtOnce: 0, rests: async () => [...stub.bucket.uploads.values()].map(({ key }) => key) }),
    50,
  );

  test('its URL begins with oss, and opens the same store', async () => {
    expect(store.url).toBe(`oss://bucket/some/prefix?endpoint=${stub.endpoint}`);
    expect(parseStore(store.url)).toEqual({
      oss: { bucket: 'bucket', prefix: 'some/prefix', endpoint: stub.endpoint },
    });
  });
});

test('an upload in parts over TLS also sends whole bodies', async () => {
  const { cert, key } = await selfSigned('bucket.localhost');
  await using secure = await OssStub.start({ cert: Buffer.from(cert), key: Buffer.from(key) });
  const caFile = join(root, 'ca.crt');
  await writeFile(caFile, cert);
  const store = keep(await openOss({ ...spec(), endpoint: secure.endpoint, caFile }));
  const bytes = Buffer.alloc(11 * MIB, 'etcd');
  expect(await store.put('a/large', once(bytes))).toMatchObject({ parts: 3 });
  expect((await read(store, 'a/large')).equals(bytes)).toBe(true);
  expect(secure.refused).toEqual([]);
});

describe('the stub refuses what OSS refuses', () => {
  afterEach(() => {
    stub.refused.length = 0;
  });
  const open = async (more: object) => keep(await openS3({ ...spec(), ...more }, { maxAttempts: 1 }));

  test('the bucket in the path', async () => {
    const store = await open({ pathStyle: true });
    expect((await failure(store.put('x', once('x')))).message).toContain('SecondLevelDomainForbidden (403)');
  });

  test('a wrong secret key, a wrong region', async () => {
    const wrong = secretDirectory(join(root, 'wrong'), {
      accessKeyID: stub.accessKeyId,
      accessKeySecret: 'guessed-it',
    });
    const denied = await openOss({ ...spec(), credentialsDirectory: wrong.path });
    expect(await failure(keep(denied).put('x', once('x')))).toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringMatching(/^oss:\/\/bucket.*SignatureDoesNotMatch \(403\): the secret key does not belong/),
    });
    const elsewhere = keep(await openOss({ ...spec(), region: 'cn-hangzhou' }));
    expect(await failure(elsewhere.put('x', once('x')))).toMatchObject({ exitCode: ExitCode.storeRefused });
    expect(stub.refused).toContain('InvalidArgument PUT /x?x-id=PutObject');
  });

  test('small parts', async () => {
    const store = keep(await openOss(spec(), { minPartSize: 50 * 1024 }));
    expect((await failure(store.put('x', once(Buffer.alloc(MIB))))).message).toContain('EntityTooSmall (400)');
    expect(stub.bucket.uploads.size).toBe(0);
  });

  test.each([
    ['aws-chunked', { 'content-encoding': 'aws-chunked' }, 400],
    ['a streaming signature', { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' }, 400],
    ['a checksum', { 'x-amz-checksum-crc32': 'AAAAAA==' }, 501],
    ['a trailer', { 'x-amz-trailer': 'x-amz-checksum-crc32' }, 501],
    ['no signature', {}, 403],
  ])('%s', async (_, headers, status) => {
    const asked = request({
      port: stub.port,
      host: 'localhost',
      method: 'PUT',
      path: '/x',
      headers: { ...headers, host: 'bucket.localhost' },
    });
    asked.end('x');
    const [answer] = (await happened(asked, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(status);
  });
});

test('a missing bucket is refused, with a remedy', async () => {
  const none = keep(await openOss({ ...spec(), bucket: 'nobucket' }));
  expect(await failure(none.put('x', once('x')))).toMatchObject({
    exitCode: ExitCode.storeRefused,
    message: expect.stringContaining('the bucket does not exist'),
  });
});

test('an object that a retention policy keeps is retained', async () => {
  const store = keep(await openOss(spec()));
  await store.put('kept', once('x'));
  stub.bucket.intercept = (_, operation) =>
    operation === 'DeleteObject' ? { status: 409, code: 'FileImmutable', message: 'Not yet.' } : undefined;
  expect(await store.delete('kept')).toBe('retained');
  stub.bucket.intercept = () => undefined;
  expect((await read(store, 'kept')).toString()).toBe('x');
  await store.delete('kept');
  expect(await keysOf(store, 'kept')).toEqual([]);
});

/** Both in PEM. */
async function selfSigned(name: string): Promise<{ cert: string; key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const extensions = [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }])];
  const validity = { notBefore: new Date(Date.now() - 86_400_000), notAfter: new Date(Date.now() + 86_400_000) };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    signingAlgorithm: algorithm,
    keys: keys as x509.X509CertificateCreateSelfSignedParams['keys'] & webcrypto.CryptoKeyPair,
    extensions,
    ...validity,
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { cert: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
}
