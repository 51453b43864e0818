import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../src/lib/errors.ts';
import { type Certificates, createCertificates, type KeyPair } from '../harness/certificates.ts';
import { etcdutl } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { runHere } from '../support/in-process.ts';
import { runUntil } from '../support/run-until.ts';
import { saveSnapshot } from '../support/save-snapshot.ts';

const token = 'a-token-that-nobody-guesses';
const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

let directory: string;
let snapshot: Buffer;
/** Its database has a CORRUPT alarm. */
let alarmed: Buffer;
let certificates: Certificates;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'salvage-'));
  certificates = await createCertificates(join(directory, 'certificates'));
  await using etcd = await EtcdCluster.start({ size: 1 });
  await etcd.put(20);
  ({ snapshot } = await saveSnapshot(etcd));
  const body = JSON.stringify({ action: 'ACTIVATE', memberID: '1', alarm: 'CORRUPT' });
  await fetch(`${etcd.endpoints[0]}/v3/maintenance/alarm`, { method: 'POST', body });
  alarmed = (await saveSnapshot(etcd)).snapshot;
});
afterAll(() => rm(directory, { recursive: true }));

let place: string;
let gate: Server | undefined;
beforeEach(async () => {
  place = await mkdtemp(join(directory, 'place-'));
  for (const name of ['one', 'two', 'scratch']) await mkdir(join(place, name));
});
afterEach(async () => {
  gate?.closeAllConnections();
  gate?.close();
  for (const name of ['URL', 'TOKEN', 'SHA256']) delete process.env[`ETCD_AGENT_SOURCE_${name}`];
  expect(await readdir(join(place, 'scratch'))).toEqual([]);
});

const bytes = (body: Buffer): RequestListener =>
  function answer({ headers }, response) {
    const known = headers.authorization === `Bearer ${token}`;
    response.writeHead(known ? 200 : 401, { 'content-length': known ? body.length : 0 }).end(known ? body : '');
  };

async function serve(answer: RequestListener, tls?: object): Promise<void> {
  gate = tls ? (createTlsServer(tls, answer) as unknown as Server) : createServer(answer);
  gate.listen(0, '127.0.0.1');
  await once(gate, 'listening');
  const { port } = gate.address() as AddressInfo;
  source({ URL: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/salvage`, TOKEN: token, SHA256: hash(snapshot) });
}

function source(variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) process.env[`ETCD_AGENT_SOURCE_${name}`] = value;
}

const args = (...more: string[]) => [
  ...['salvage', '--cluster=orders', `--scratch=${join(place, 'scratch')}`, `--etcdutl=${etcdutl()}`],
  ...['one', 'two'].map((name) => `--store=file://${join(place, name)}`),
  ...more,
];

const stored = async () => Promise.all(['one', 'two'].map((name) => readdir(join(place, name), { recursive: true })));

test('stores what the gate serves as a verified backup, in every store', async () => {
  await serve(bytes(snapshot));
  const { exitCode, data, text } = await runHere(...args('--trigger=salvage'));
  expect([exitCode, text]).toEqual([0, expect.stringContaining('survivor')]);
  expect(data.snapshot).toMatchObject({ role: 'survivor', revision: 21, sha256: hash(snapshot) });
  for (const name of ['one', 'two']) {
    const read = ['--cluster=orders', `--store=file://${join(place, name)}`];
    const { data: shown } = await runHere('show', ...read, data.snapshot.id);
    const { source: from, content, object, verified, trigger } = shown.manifest;
    expect({ from, content, object, verified, trigger }).toMatchObject({
      from: { role: 'survivor', clusterId: 'unknown', endpoint: new URL(process.env.ETCD_AGENT_SOURCE_URL!).origin },
      content: { sha256: hash(snapshot) },
      object: { compression: 'zstd' },
      verified: { level: 'read' },
      trigger: 'salvage',
    });
    expect(content).not.toHaveProperty('hashKV');
    const file = join(place, `${name}.db`);
    expect((await runHere('restore', 'fetch', ...read, `--to=${file}`)).exitCode).toBe(0);
    expect(hash(await readFile(file))).toBe(hash(snapshot));
  }
});

test('of a database with a CORRUPT alarm is stored, and never counts as verified', async () => {
  await serve(bytes(alarmed));
  source({ SHA256: hash(alarmed) });
  const { exitCode, data } = await runHere(...args());
  expect([exitCode, data.suspect]).toEqual([ExitCode.sourceSuspect, ['Corrupt']]);
  const { data: shown } = await runHere(
    ...['show', '--cluster=orders', `--store=file://${join(place, 'one')}`, data.snapshot.id],
  );
  expect(shown.manifest).not.toHaveProperty('verified');
  expect(shown.manifest.source).toMatchObject({ alarms: ['CORRUPT'], suspect: ['Corrupt'] });
});

test("belongs to the survivor's etcd: the cluster restored from it counts the earlier backups as its history", async () => {
  await serve(bytes(snapshot));
  const { data } = await runHere(...args('--cluster-id=CDF818194E3A8C32'));
  const read = ['--cluster=orders', `--store=file://${join(place, 'one')}`];
  const { data: shown } = await runHere('show', ...read, data.snapshot.id);
  expect(shown.manifest.source).toMatchObject({ role: 'survivor', clusterId: 'cdf818194e3a8c32' });
  expect(await runHere(...args('--cluster-id=orders'))).toMatchObject({ exitCode: ExitCode.usage });
});

test('no retention runs: nothing is deleted while a cluster is down', async () => {
  await serve(bytes(snapshot));
  const retention = { last: 1, minKeep: 1 };
  const store = JSON.stringify({ filesystem: { path: join(place, 'kept') }, retention });
  for (let n = 0; n < 5; n++) expect((await runHere(...args(`--store=${store}`))).exitCode).toBe(0);
  const kept = await readdir(join(place, 'kept/orders'));
  expect(kept.filter((name) => name.endsWith('.json'))).toHaveLength(5);
});

test('the token is in no output', async () => {
  await serve(bytes(snapshot));
  const run = runUntil(args());
  expect((await run.finished).exitCode).toBe(0);
  source({ TOKEN: 'another-secret' });
  const refused = runUntil(args());
  expect(await refused.finished).toMatchObject({ exitCode: ExitCode.refused, text: expect.stringContaining('401') });
  expect([...run.output, ...refused.output].join('\n')).not.toMatch(/nobody-guesses|another-secret/);
});

test.each(['fetch', 'try', 'stream', 'read-back'])('SIGTERM at %s leaves nothing', async (phase) => {
  await serve(bytes(snapshot));
  expect(await runUntil(args(), phase).finished).toMatchObject({ exitCode: ExitCode.terminated });
  expect((await stored()).flat().filter((name) => name.includes('.'))).toEqual([]);
});

describe('fails, with nothing stored', () => {
  afterEach(async () => expect((await stored()).flat().filter((name) => name.includes('.'))).toEqual([]));

  test.each([
    ['cut', (body: Buffer) => body.subarray(0, body.length - 100)],
    ['flipped', (body: Buffer) => Buffer.from(body).fill(1, 20_000, 20_001)],
    ['empty', () => Buffer.alloc(0)],
  ])('what is %s', async (_, change) => {
    await serve(bytes(change(snapshot)));
    expect((await runHere(...args())).exitCode).toBe(ExitCode.verificationFailed);
  });

  test('another snapshot than was announced', async () => {
    await serve(bytes(snapshot));
    source({ SHA256: '0'.repeat(64) });
    const { exitCode, text } = await runHere(...args());
    expect([exitCode, text]).toEqual([ExitCode.verificationFailed, expect.stringContaining('sha256 differs')]);
  });

  test('a gate that is missing, breaks off, hangs, or has no snapshot: tried again', async () => {
    await serve((_, response) => {
      response.writeHead(200, { 'content-length': snapshot.length }).write(snapshot.subarray(0, 9_000));
      setTimeout(() => response.destroy(), 50);
    });
    expect(await runHere(...args())).toMatchObject({
      exitCode: ExitCode.etcdUnavailable,
      text: expect.stringContaining('broke off after'),
    });
    gate!.removeAllListeners('request').on('request', () => {});
    expect(await runHere(...args('--idle-timeout=200ms'))).toMatchObject({
      exitCode: ExitCode.etcdUnavailable,
      text: expect.stringContaining('no response within 0.2s'),
    });
    gate!.removeAllListeners('request').on('request', (_, response) => response.writeHead(404).end());
    expect((await runHere(...args())).exitCode).toBe(ExitCode.etcdUnavailable);
    gate!.closeAllConnections();
    await new Promise((done) => gate!.close(done));
    expect((await runHere(...args())).exitCode).toBe(ExitCode.etcdUnavailable);
  });

  test.each(['URL', 'TOKEN', 'SHA256'])('no ETCD_AGENT_SOURCE_%s', async (name) => {
    source({ URL: 'http://127.0.0.1:1/salvage', TOKEN: token, SHA256: hash(snapshot), [name]: '' });
    const { exitCode, text } = await runHere(...args());
    expect([exitCode, text]).toEqual([ExitCode.usage, expect.stringContaining(`ETCD_AGENT_SOURCE_${name}`)]);
  });
});

describe('over TLS', () => {
  /** Certificate of the gate, and how it authenticates clients. */
  async function serveTls(): Promise<void> {
    const { ca, server } = certificates;
    const [authority, cert, key] = await Promise.all([ca, server.cert, server.key].map((file) => readFile(file)));
    await serve(bytes(snapshot), { ca: authority, cert, key, requestCert: true });
  }

  async function peerTls(ca: string, pair: KeyPair): Promise<string> {
    const tls = await mkdtemp(join(place, 'tls-'));
    await copyFile(ca, join(tls, 'ca.crt'));
    await copyFile(pair.cert, join(tls, 'tls.crt'));
    await copyFile(pair.key, join(tls, 'tls.key'));
    return tls;
  }

  test('the name of a member, whatever its address, but of no other server', async () => {
    const tls = await peerTls(certificates.ca, certificates.server);
    await serveTls();
    expect((await runHere(...args(`--peer-tls-dir=${tls}`, '--server-name=localhost'))).exitCode).toBe(0);
    const stranger = await runHere(...args(`--peer-tls-dir=${tls}`, '--server-name=orders-0.orders-peers'));
    expect(stranger).toMatchObject({ exitCode: ExitCode.etcdUnavailable, text: expect.stringContaining('altnames') });
    expect((await runHere(...args())).exitCode).toBe(ExitCode.etcdUnavailable);
  });

  test('an authority of the servers that is not that of the members', async () => {
    const tls = await peerTls(certificates.otherCa, certificates.otherClient);
    await serveTls();
    expect((await runHere(...args(`--peer-tls-dir=${tls}`))).exitCode).toBe(ExitCode.etcdUnavailable);
    gate!.removeAllListeners('tlsClientError');
    (gate as unknown as { setSecureContext(context: object): void }).setSecureContext({
      cert: await readFile(certificates.server.cert),
      key: await readFile(certificates.server.key),
      ca: await readFile(certificates.otherCa),
    });
    expect((await runHere(...args(`--peer-tls-dir=${tls}`, `--cacert=${certificates.ca}`))).exitCode).toBe(0);
  });
});
