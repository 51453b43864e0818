import { randomBytes } from 'node:crypto';
import { once as happened } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, createCertificates } from '../../../test/harness/certificates.ts';
import { S3Stub } from '../../../test/support/s3-stub.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { once } from '../../../test/support/store-contract.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { S3Spec } from '../spec.ts';
import { CredentialsFault, s3Fault } from './errors.ts';
import { openS3 } from './s3-store.ts';

let root: string;
let credentialsDirectory: string;
let certificates: Certificates;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 's3-errors-'));
  const files = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
  credentialsDirectory = secretDirectory(join(root, 'secret'), files).path;
  certificates = await createCertificates(join(root, 'tls'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function putFails(spec: Partial<S3Spec>): Promise<{ exitCode: number; message: string }> {
  const whole = { bucket: 'bucket', prefix: 'p', credentialsDirectory, ...spec };
  try {
    const store = await openS3(whole, { maxAttempts: 1, idleTimeout: 2000, keyGrace: 0 });
    await store.put('a/b', once('x')).finally(() => store.close());
  } catch (error) {
    return error as { exitCode: number; message: string };
  }
  throw new Error('it did not fail');
}

const putEach = (specs: Partial<S3Spec>[]) => Promise.all(specs.map(putFails));

const { storeRefused, storeUnreachable, usage } = ExitCode;

describe('answers of the server', () => {
  let stub: S3Stub;
  beforeAll(async () => {
    stub = await S3Stub.start();
  });
  afterAll(() => stub[Symbol.asyncDispose]());

  test.each([
    [404, 'NoSuchBucket', storeRefused, 'create it (the agent never creates buckets)'],
    [403, 'AccessDenied', storeRefused, 'these credentials do not allow this'],
    [403, 'SignatureDoesNotMatch', storeRefused, 'the secret key does not belong to the access key'],
    [403, 'InvalidAccessKeyId', storeRefused, 'does not know the access key'],
    [400, 'ExpiredToken', storeRefused, 'renew'],
    [401, 'Unauthorized', storeRefused, 'these credentials do not allow this'],
    [403, 'QuotaExceeded', storeRefused, 'full'],
    [507, 'XMinioStorageFull', storeRefused, 'full'],
    [400, 'InvalidArgument', storeRefused, 'it says: the words of the server'],
    [400, 'AuthorizationHeaderMalformed', storeRefused, 'the bucket is in eu-right-1; set region=eu-right-1'],
    [301, 'PermanentRedirect', storeRefused, 'the bucket is in eu-right-1; set region=eu-right-1'],
    [503, 'SlowDown', storeUnreachable, 'try again later'],
    [429, 'TooManyRequests', storeUnreachable, 'try again later'],
    [500, 'InternalError', storeUnreachable, 'try again later'],
  ])('%i %s', async (status, code, exitCode, remedy) => {
    const headers: Record<string, string> = remedy.includes('eu-right-1')
      ? { 'x-amz-bucket-region': 'eu-right-1' }
      : {};
    stub.intercept = () => ({ status, code, message: 'the words\n of the server', headers });
    const error = await putFails({ endpoint: stub.endpoint });
    expect(error.exitCode).toBe(exitCode);
    expect(error.message).toMatch(`s3://bucket/p?endpoint=${stub.endpoint}: PutObject p/a/b: ${code} (${status}): `);
    expect(error.message).toContain(remedy);
    expect(error.message).not.toMatch(/\n|stub-access|stub-secret/);
  });

  test('a page of a proxy instead of an answer', async () => {
    stub.intercept = () => ({ status: 502, body: '<html><body>Bad gateway</body></html>' });
    const error = await putFails({ endpoint: stub.endpoint });
    expect(error).toMatchObject({ exitCode: storeUnreachable, message: expect.stringContaining('(502)') });
    expect(error.message).not.toMatch(/\n|\$response/);
  });

  const page = (server: string, more = {}) => ({ 'content-type': 'text/html; charset=utf-8', server, ...more });
  const elsewhere = { location: 'https://s3.example.com/bucket' };

  test.each([
    ['an ingress that wants https', 308, {}, elsewhere, storeRefused, 'set endpoint=https://s3.example.com'],
    ['the same with a page', 301, {}, page('nginx', elsewhere), storeRefused, 'set endpoint=https://s3.example.com'],
    ['a redirect to nowhere', 302, {}, {}, storeRefused, 'does not say where'],
    [
      'a region in an address',
      307,
      {},
      { location: 'https://bucket.s3.eu-west-1.amazonaws.com/p' },
      storeRefused,
      'set region=eu-west-1',
    ],
    ['a load balancer', 504, {}, { server: 'awselb/2.0' }, storeUnreachable, 'an answer of awselb/2.0 instead of'],
    ['a suspended account', 403, { code: 'UserDisable' }, {}, storeRefused, 'the provider has suspended the account'],
    [
      'a policy on the way',
      403,
      { code: 'AccessDenied', message: 'because no VPC endpoint policy allows the action' },
      {},
      storeRefused,
      'the policy of the VPC endpoint refuses this',
    ],
    [
      'the one endpoint of a bucket',
      403,
      { body: '<Error><Code>AccessDenied</Code><Endpoint>oss-x.example.com</Endpoint></Error>' },
      {},
      storeRefused,
      'the bucket is reached by oss-x.example.com alone',
    ],
    ['buckets in host names', 403, { code: 'SecondLevelDomainForbidden' }, {}, storeRefused, 'set pathStyle=false'],
    ['the same in words', 400, { code: 'X', message: 'use Virtual Hosted style' }, {}, storeRefused, 'pathStyle=false'],
    ['a firewall', 403, {}, page('cloudflare'), storeRefused, 'a web page of cloudflare instead'],
    ['a limit of a proxy', 413, {}, page('nginx'), storeRefused, 'a proxy refuses requests of this size'],
    ['a failing proxy', 502, {}, page('nginx'), storeUnreachable, 'a web page of nginx'],
    ['a quota of the bucket', 400, { code: 'XMinioAdminBucketQuotaExceeded' }, {}, storeRefused, 'the store is full'],
    ['a cap of the account', 403, { code: 'storage_cap_exceeded' }, {}, storeRefused, 'the store is full'],
    ['a quota of requests', 429, { code: 'QuotaExceeded' }, {}, storeUnreachable, 'try again later'],
    ['clocks that differ', 403, { code: 'RequestExpired' }, {}, storeRefused, 'set the clock'],
  ])('%s', async (_, status, answer, headers, exitCode, remedy) => {
    stub.intercept = () => ({ status, ...('code' in answer ? {} : { body: '' }), ...answer, headers: { ...headers } });
    expect(await putFails({ endpoint: stub.endpoint })).toMatchObject({
      exitCode,
      message: expect.stringContaining(remedy),
    });
  });

  test('a console instead of an API', async () => {
    stub.intercept = () => ({ status: 200, body: '<!doctype html><br>', headers: page('MinIO Console') });
    const store = await openS3({ bucket: 'bucket', endpoint: stub.endpoint, credentialsDirectory });
    await expect(store.list('')[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      exitCode: storeRefused,
      message: expect.stringContaining('perhaps of its console'),
    });
    store.close();
  });

  test('an access key in its message is hidden', async () => {
    const message = 'no AKIAIOSFODNN7EXAMPLE here, and stub-access neither';
    stub.intercept = () => ({ status: 400, code: 'InvalidArgument', message });
    const error = await putFails({ endpoint: stub.endpoint });
    expect(error.message).toContain('it says: no *** here, and *** neither');
  });

  test('a missing bucket is not mistaken for a missing object', async () => {
    stub.intercept = () => ({ status: 404, code: 'NoSuchBucket' });
    const store = await openS3({ bucket: 'bucket', endpoint: stub.endpoint, credentialsDirectory });
    await expect(store.stat('x')).rejects.toMatchObject({ exitCode: storeRefused });
    await expect(store.get('x')).rejects.toMatchObject({ exitCode: storeRefused });
    store.close();
  });
});

describe('TLS', () => {
  let stub: S3Stub;
  beforeAll(async () => {
    const { cert, key } = certificates.server;
    stub = await S3Stub.start({ cert: await readFile(cert), key: await readFile(key) });
  });
  afterAll(() => stub[Symbol.asyncDispose]());

  test('an endpoint without a scheme means https; caFile makes its authority known', async () => {
    const store = await openS3({
      bucket: 'bucket',
      endpoint: `127.0.0.1:${stub.port}`,
      caFile: certificates.ca,
      credentialsDirectory,
    });
    // Large enough to be sent in slices. The stub compares the hash.
    const body = randomBytes(3 * 1024 * 1024 + 1);
    expect(await store.put('x', once(body))).toMatchObject({ parts: 1 });
    expect(stub.objects.get('x')!.body.equals(body)).toBe(true);
    store.close();
  });

  test('a caFile may have the label that OpenSSL gives a certificate', async () => {
    const caFile = join(root, 'x509.pem');
    const pem = await readFile(certificates.ca, 'utf8');
    await writeFile(caFile, pem.replaceAll(/(BEGIN|END) CERTIFICATE/g, '$1 X509 CERTIFICATE'));
    const store = await openS3({
      ...{ bucket: 'bucket', endpoint: `127.0.0.1:${stub.port}` },
      ...{ caFile, credentialsDirectory },
    });
    await store.put('labelled', once('x'));
    store.close();
  });

  test('a problem with a certificate is explained', async () => {
    const { cert, key } = certificates.expiredServer;
    await using expired = await S3Stub.start({ cert: await readFile(cert), key: await readFile(key) });
    await using plain = await S3Stub.start();
    const [unknown, another, past, none] = await putEach([
      { endpoint: `127.0.0.1:${stub.port}` },
      { endpoint: `127.0.0.1:${stub.port}`, caFile: certificates.otherCa },
      { endpoint: `127.0.0.1:${expired.port}`, caFile: certificates.ca },
      { endpoint: `https://127.0.0.1:${plain.port}` },
    ]);
    expect(unknown).toMatchObject({ exitCode: usage, message: expect.stringContaining('set caFile') });
    expect(another).toMatchObject({ exitCode: usage, message: expect.stringContaining('set caFile') });
    expect(past).toMatchObject({ exitCode: storeRefused, message: expect.stringContaining('has expired') });
    expect(none).toMatchObject({ exitCode: usage, message: expect.stringContaining('does not use TLS') });
  });

  test('a caFile that is missing or invalid', async () => {
    const missing = await putFails({ caFile: join(root, 'none.pem') });
    expect(missing).toMatchObject({
      exitCode: usage,
      message: expect.stringContaining('none.pem cannot be read (ENOENT): it does not exist; check the path'),
    });
    const wrong = await putFails({ caFile: join(credentialsDirectory, 'AWS_ACCESS_KEY_ID') });
    expect(wrong).toMatchObject({
      exitCode: usage,
      message: expect.stringContaining('does not contain a PEM certificate'),
    });
  });
});

test('a problem with the network is explained', async () => {
  const listen = async (onSocket: (socket: Socket) => void) => {
    const server = createServer(onSocket).listen(0, '127.0.0.1');
    await happened(server, 'listening');
    return server;
  };
  const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const resetting = await listen((socket) => socket.resetAndDestroy());
  const ssh = await listen((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  const [nobody, reset, other] = await putEach([
    { endpoint: 'http://127.0.0.1:1' },
    { endpoint: urlOf(resetting) },
    { endpoint: urlOf(ssh) },
  ]);
  resetting.close();
  ssh.close();
  expect(nobody!.exitCode).toBe(storeUnreachable);
  expect(nobody!.message).toContain(
    'cannot reach http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; check endpoint',
  );
  expect(reset).toMatchObject({ exitCode: storeUnreachable, message: expect.stringContaining('ECONNRESET') });
  expect(other).toMatchObject({ exitCode: usage, message: expect.stringContaining('does not speak HTTP') });
});

describe('endpoint and region', () => {
  test.each([
    ['http://user:secret-word@host', 'credentials do not belong in a URL'],
    ['http://host/bucket', 'has a path'],
    ['ftp://host', 'is not a URL'],
    ['https://', 'is not a URL'],
  ])('%s is a mistake', async (endpoint, why) => {
    const error = await putFails({ endpoint });
    expect(error).toMatchObject({ exitCode: usage, message: expect.stringContaining(why) });
    expect(error.message).not.toContain('secret-word');
  });

  test('AWS without a region is a mistake', async () => {
    const saved = { ...process.env };
    Object.assign(process.env, {
      AWS_CONFIG_FILE: join(root, 'none'),
      AWS_SHARED_CREDENTIALS_FILE: join(root, 'none'),
    });
    delete process.env.AWS_REGION;
    delete process.env.AWS_DEFAULT_REGION;
    try {
      expect(await putFails({ endpoint: '' })).toMatchObject({
        exitCode: usage,
        message: expect.stringContaining('no region'),
      });
    } finally {
      process.env = saved;
    }
  });
});

test.each([
  [
    'is a directory',
    { code: 'EISDIR', syscall: 'read' },
    2,
    /the file in AWS_WEB_IDENTITY_TOKEN_FILE cannot be read \(EISDIR\)/,
  ],
  ['is missing', { code: 'ENOENT', path: '/token' }, 2, /\/token cannot be read \(ENOENT\)/],
  ['leads to no STS', { code: 'ECONNRESET', syscall: 'read' }, 20, /cannot reach STS/],
])('a token file that %s', (_what, fields, exitCode, message) => {
  const fault = new CredentialsFault(Object.assign(new Error('failed'), fields));
  const failed = { url: 's3://b', endpoint: 'http://b', operation: 'ListObjectsV2 p/', secrets: [] };
  expect(s3Fault(fault, failed)).toMatchObject({ exitCode, message: expect.stringMatching(message) });
});
