import { readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as http } from 'node:http';
import { request as https } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { type Certificates, createCertificates, type KeyPair, mountPair } from '../../test/harness/certificates.ts';
import { sha256 } from '../lib/http/bearer.ts';
import type { AgentStatus } from '../protocol/agent-status.ts';
import { StatusServer } from './status-server.ts';

const lines: string[] = [];
const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).msg) });
const status = {
  ...{ v: 1, pod: 'db-0', state: 'Running', agentVersion: '1', etcdBinary: '3.6.1', minEpoch: 0 },
  volume: { freeBytes: 5, totalBytes: 9, quarantineCount: 0 },
} as AgentStatus;

let directory: string;
let certificates: Certificates;
let server: StatusServer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'status-'));
  certificates = await createCertificates(join(directory, 'made'));
});
beforeEach(() => lines.splice(0));
afterEach(() => server.close());
afterAll(() => rm(directory, { recursive: true }));

const listen = async (serverTlsDir?: string, peerTlsDir?: string) => {
  const listen = { host: '127.0.0.1', port: 0 };
  server = await StatusServer.listen({
    listen,
    serverTlsDir,
    peerTlsDir,
    dataDir: directory,
    log,
    status: () => status,
  });
};

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
  /** Serial number of the server's certificate. */
  readonly serial?: string;
}

interface AskOptions {
  readonly method?: string;
  readonly token?: string;
  readonly tls?: boolean;
  readonly client?: KeyPair;
}

async function ask(path: string, options: AskOptions = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const send = options.tls ? https : http;
  const url = `${options.tls ? 'https' : 'http'}://127.0.0.1:${server.port}${path}`;
  const headers = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  const { method, client } = options;
  const pair = client && { cert: readFileSync(client.cert), key: readFileSync(client.key) };
  send(url, { method, headers, ...pair, rejectUnauthorized: false, agent: false }, (response) => {
    const serial = options.tls ? (response.socket as TLSSocket).getPeerCertificate().serialNumber : undefined;
    const type = response.headers['content-type'];
    text(response).then((body) => resolve({ status: response.statusCode!, body, type, serial }), reject);
  })
    .on('error', reject)
    .end();
  return promise;
}

test('serves status, liveness, readiness and metrics', async () => {
  await listen();
  expect(JSON.parse((await ask('/status')).body)).toEqual(status);
  expect(await ask('/livez')).toMatchObject({ status: 200 });
  expect(await ask('/readyz')).toMatchObject({ status: 503, body: 'etcd is not running yet\n' });
  server.ready = async () => ({ ready: true, why: 'ok' });
  expect(await ask('/readyz?verbose')).toMatchObject({ status: 200, body: 'ok\n' });
  const { body, type } = await ask('/metrics');
  expect(type).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(body).toMatch(/^etcd_agent_state\{state="Running"\} 1$/m);
  expect(body).toMatch(/^etcd_agent_volume_free_bytes 5$/m);
  expect(await ask('/')).toMatchObject({ status: 404 });
});

test.each(['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])('%s is refused, on every path', async (method) => {
  await listen();
  for (const path of ['/status', '/salvage', '/nowhere'])
    expect(await ask(path, { method })).toMatchObject({ status: 405 });
});

test('a failing handler answers with an error and does not stop the server', async () => {
  await listen();
  server.status = () => Promise.reject(new Error('the volume is gone'));
  expect(await ask('/status')).toMatchObject({ status: 500, body: 'the volume is gone\n' });
  expect(await ask('/livez')).toMatchObject({ status: 200 });
  expect(lines).toEqual(['GET /status: the volume is gone']);
});

test('the salvaged snapshot is served only with the token', async () => {
  await listen();
  expect(await ask('/salvage', { token: 'secret' })).toMatchObject({ status: 404 });
  const file = join(directory, 'salvage.db');
  await writeFile(file, 'database');
  server.salvage = { file, tokenSha256: sha256('secret') };
  expect(await ask('/salvage', { token: 'secret' })).toMatchObject({ status: 200, body: 'database' });
  for (const token of [undefined, '', 'other', 'secretsecret', sha256('secret')])
    expect(await ask('/salvage', { token })).toMatchObject({ status: 401 });
  await rm(file);
  expect(await ask('/salvage', { token: 'secret' })).toMatchObject({ status: 500 });
});

test('with TLS, a certificate of the members is required and the token does not help', async () => {
  const [serverTls, peerTls, file] = ['of-server', 'of-peers', 'salvage.db'].map((name) => join(directory, name));
  await install(serverTls!, certificates.server);
  await mkdir(peerTls!);
  await copyFile(certificates.ca, join(peerTls!, 'ca.crt'));
  await writeFile(file!, 'database');
  await listen(serverTls, peerTls);
  server.salvage = { file: file!, tokenSha256: sha256('secret') };
  const { client, otherClient, expiredClient } = certificates;
  expect(await ask('/salvage', { tls: true, client })).toMatchObject({ status: 200, body: 'database' });
  for (const other of [undefined, otherClient, expiredClient])
    expect(await ask('/salvage', { tls: true, token: 'secret', client: other })).toMatchObject({
      status: 401,
      body: 'a client certificate of its authority is required\n',
    });
  // Probes have no certificate.
  expect(await ask('/livez', { tls: true })).toMatchObject({ status: 200 });
});

test('a certificate of the members that is revoked reads no snapshot, nor does anybody without the list', async () => {
  const peerTls = await mountPair(join(directory, 'revoking'), certificates.ca, certificates.server);
  const [list, file] = [join(peerTls, 'ca.crl'), join(directory, 'salvage.db')];
  await writeFile(file, 'database');
  await listen(peerTls, peerTls);
  server.salvage = { file, tokenSha256: sha256('secret') };
  const { intermediate, client } = await certificates.clientBelow('db-0');
  const salvage = () => ask('/salvage', { tls: true, client });
  await writeFile(list, await certificates.revoking(certificates.server));
  expect(await salvage()).toMatchObject({ status: 200 });
  for (const revoked of [client, intermediate, { cert: certificates.ca, key: '' }]) {
    await writeFile(list, await certificates.revoking(revoked));
    expect(await salvage()).toMatchObject({ status: 401, body: 'the certificate is revoked\n' });
  }
  await writeFile(list, 'no list');
  expect(await salvage()).toMatchObject({
    status: 401,
    body: expect.stringMatching(/ca\.crl is not a revocation list/),
  });
  // etcd's configuration names the list.
  await rm(list);
  await writeFile(join(directory, 'etcd.yaml'), `peer-transport-security: {crl-file: ${list}}`);
  expect(await salvage()).toMatchObject({ status: 401, body: expect.stringMatching(/ca\.crl is missing/) });
  await rm(join(directory, 'etcd.yaml'));
  expect(await salvage()).toMatchObject({ status: 200 });
});

async function install(place: string, pair: KeyPair): Promise<void> {
  await mkdir(place, { recursive: true });
  await copyFile(pair.cert, join(place, 'tls.crt'));
  await copyFile(pair.key, join(place, 'tls.key'));
}

test('a replaced certificate is used from the next connection on; an incomplete pair is not', async () => {
  const place = join(directory, 'server-tls');
  await install(place, certificates.server);
  await listen(place);
  const first = await ask('/livez', { tls: true });
  expect(first).toMatchObject({ status: 200, serial: expect.any(String) });

  await copyFile(certificates.expiredServer.cert, join(place, 'tls.crt'));
  expect(await ask('/livez', { tls: true })).toMatchObject({ serial: first.serial });
  expect(await ask('/livez', { tls: true })).toMatchObject({ serial: first.serial });
  // A connection of another test may end late, which is logged too.
  const said = lines.filter((line) => line.includes('server-tls'));
  expect(said).toEqual([expect.stringMatching(/cannot use the certificate/)]);

  await copyFile(certificates.expiredServer.key, join(place, 'tls.key'));
  const second = await ask('/livez', { tls: true });
  expect(second.status).toBe(200);
  expect(second.serial).not.toBe(first.serial);
});

test('without a certificate it waits for one', async () => {
  const place = join(directory, 'late-tls');
  await mkdir(place);
  await listen(place);
  await expect(ask('/livez', { tls: true })).rejects.toThrow();
  await install(place, certificates.server);
  expect(await ask('/livez', { tls: true })).toMatchObject({ status: 200 });
});

test('a port that is taken is an error at once', async () => {
  await listen();
  const { port } = server;
  const taken = StatusServer.listen({
    listen: { host: '127.0.0.1', port },
    dataDir: directory,
    log,
    status: () => status,
  });
  await expect(taken).rejects.toThrow(/EADDRINUSE/);
});
