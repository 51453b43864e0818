import { once as happened } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, createCertificates } from '../../../test/harness/certificates.ts';
import { S3Stub } from '../../../test/support/s3-stub.ts';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { keysOf, once } from '../../../test/support/store-contract.ts';
import { ExitCode } from '../../lib/errors.ts';
import { proxiesFor, proxyName, proxyOf } from '../../lib/http/proxy.ts';
import { s3Fault } from './errors.ts';
import { openS3 } from './s3-store.ts';

const proxy = 'http://proxy.example.com:3128/';

describe('the variables', () => {
  const all = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
  const of = (endpoint: string | undefined, NO_PROXY?: string) =>
    proxiesFor(endpoint === undefined ? undefined : new URL(endpoint), { ...all, NO_PROXY });

  test('no variables, no proxies', () => {
    expect(proxiesFor(new URL('https://s3.example.com'), {})).toBeUndefined();
    expect(proxiesFor(undefined, { HTTPS_PROXY: ' ' })).toBeUndefined();
  });

  test.each(['fd00::7', 'FD00:0::7', '[fd00::7]', '[fd00::7]:9000'])('an IPv6 address may be excepted: %s', (name) => {
    const env = { HTTPS_PROXY: proxy, NO_PROXY: name };
    expect(proxyOf(new URL('https://[fd00::7]:9000'), env)).toBeUndefined();
    expect(proxyOf(new URL('https://[fd00::8]:9000'), env)).toBe(proxy);
  });

  test('lower-case names come first, and the scheme may be omitted', () => {
    const env = { HTTPS_PROXY: 'http://other:1', https_proxy: 'user:p%40ss@proxy.example.com:3128' };
    expect(proxiesFor(undefined, env)?.HTTPS_PROXY).toBe('http://user:p%40ss@proxy.example.com:3128/');
  });

  test.each([
    ['http://127.0.0.1:7070', ''],
    ['http://bucket.localhost:7070', ''],
    ['https://[::1]:7070', ''],
    ['https://10.1.2.3:9000', '192.168.0.0/16,10.0.0.0/8'],
    ['https://[fd00::7]:9000', 'fd00::/8'],
  ])('do not hold for %s with NO_PROXY=%s', (endpoint, names) => {
    expect(of(endpoint, names)).toBeUndefined();
  });

  test('names include their subdomains', () => {
    expect(of('https://s3.example.com', 'example.com, .svc *.cluster.local 10.0.0.0/8')).toEqual({
      ...all,
      NO_PROXY: 'example.com,.example.com,.svc,*.cluster.local,10.0.0.0/8',
    });
  });

  test('a value that is not a URL is a mistake, and is not shown', () => {
    const error = (() => {
      try {
        return proxiesFor(undefined, { HTTPS_PROXY: 'socks5://user:secret@proxy' });
      } catch (thrown) {
        return thrown as Error;
      }
    })();
    expect(error).toMatchObject({ exitCode: ExitCode.usage, message: expect.stringMatching(/^HTTPS_PROXY: /) });
    expect(JSON.stringify(error)).not.toContain('secret');
  });
});

describe('a proxy', () => {
  let root: string;
  let certificates: Certificates;
  let credentialsDirectory: string;
  let server: Server;
  let passed: string[];
  let target: S3Stub;
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const;
  const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 's3-proxy-'));
    certificates = await createCertificates(join(root, 'tls'));
    const keys = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
    credentialsDirectory = secretDirectory(join(root, 'secret'), keys).path;
    // The stub answers for every name.
    server = createServer((incoming, response) => {
      passed.push(`${incoming.method} ${new URL(incoming.url!).host}`);
      const { pathname, search } = new URL(incoming.url!);
      const { method, headers } = incoming;
      const onward = request({ port: target.port, path: `${pathname}${search}`, method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      incoming.pipe(onward);
    }).on('connect', (incoming, socket) => {
      passed.push(`CONNECT ${incoming.url} ${incoming.headers['proxy-authorization'] ?? ''}`.trim());
      const onward = connect(target.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      for (const end of [onward, socket]) end.on('error', () => end.destroy());
    });
    server.listen(0, '127.0.0.1');
    await happened(server, 'listening');
  });
  beforeEach(() => {
    passed = [];
    const { port } = server.address() as AddressInfo;
    process.env.HTTP_PROXY = process.env.HTTPS_PROXY = `http://user:word@127.0.0.1:${port}`;
  });
  afterEach(async () => {
    for (const name of names) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    await target?.[Symbol.asyncDispose]();
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await rm(root, { recursive: true, force: true });
  });

  const roundTrip = async (endpoint: string, caFile?: string) => {
    const store = await openS3({ bucket: 'bucket', endpoint, caFile, credentialsDirectory }, { maxAttempts: 1 });
    try {
      await store.put('x', once(Buffer.alloc(1_000_000)));
      return await keysOf(store, '');
    } finally {
      store.close();
    }
  };

  test('is used for https, through a tunnel', async () => {
    const { cert, key, ca } = { ...certificates.server, ca: certificates.ca };
    target = await S3Stub.start({ cert: await readFile(cert), key: await readFile(key) });
    expect(await roundTrip('https://store.example.com', ca)).toEqual(['x']);
    const authorization = `Basic ${Buffer.from('user:word').toString('base64')}`;
    expect(new Set(passed)).toEqual(new Set([`CONNECT store.example.com:443 ${authorization}`]));
  });

  test('is used for http', async () => {
    target = await S3Stub.start();
    expect(await roundTrip('http://store.example.com')).toEqual(['x']);
    expect(passed).toEqual(['PUT store.example.com', 'GET store.example.com']);
  });

  test('is not used for this machine', async () => {
    target = await S3Stub.start();
    expect(await roundTrip(target.endpoint)).toEqual(['x']);
    expect(passed).toEqual([]);
  });

  test('is not used for names in NO_PROXY', async () => {
    target = await S3Stub.start();
    process.env.NO_PROXY = 'example.com';
    await expect(roundTrip('http://store.example.com')).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
    expect(passed).toEqual([]);
  });

  test('that does not answer is named, without its password', () => {
    const name = proxyName(
      new URL('https://a'),
      proxiesFor(new URL('https://a'), { HTTPS_PROXY: 'http://u:p@proxy:1' }),
    );
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    const place = { url: 's3://b', endpoint: 'https://a', operation: 'PutObject x', secrets: [] };
    const { message } = s3Fault(refused, { ...place, proxy: name });
    expect(message).toMatch(
      /cannot reach https:\/\/a through the proxy proxy:1: connect ECONNREFUSED; check HTTPS_PROXY/,
    );
  });
});
