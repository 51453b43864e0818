import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { type Certificates, createCertificates, type KeyPair } from '../../../../test/harness/certificates.ts';
import { FakeEtcd, reply } from '../../../../test/support/fake-tls-etcd.ts';
import { frame } from '../../../etcd/grpc.ts';
import { encodeBytes, encodeInt, fieldsOf, text } from '../../../etcd/protobuf.ts';
import { BackupPort } from './backup-port.ts';
import type { Limits } from './limits.ts';

const lines: string[] = [];
const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).msg) });

let directory: string;
let certificates: Certificates;
let backupPair: KeyPair;
let rootPair: KeyPair;
let etcd: FakeEtcd;
let port: BackupPort;
const sessions: ClientHttp2Session[] = [];

const serverTlsDir = () => join(directory, 'server');
const rootTlsDir = () => join(directory, 'root');
const list = () => join(serverTlsDir(), 'ca.crl');

function install(target: string, pair: KeyPair): void {
  copyFileSync(pair.cert, join(target, 'tls.crt'));
  copyFileSync(pair.key, join(target, 'tls.key'));
  copyFileSync(certificates.ca, join(target, 'ca.crt'));
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backup-port-'));
  certificates = await createCertificates(join(directory, 'made'));
  backupPair = await certificates.clientNamed('db-backup');
  rootPair = await certificates.clientNamed('root');
  await mkdir(serverTlsDir());
  await mkdir(rootTlsDir());
});
beforeEach(async () => {
  install(serverTlsDir(), certificates.server);
  install(rootTlsDir(), rootPair);
  etcd = await FakeEtcd.listen(certificates);
  lines.splice(0);
});
afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy();
  await port.close();
  await etcd[Symbol.asyncDispose]();
  rmSync(list(), { force: true });
  rmSync(join(directory, 'etcd.yaml'), { force: true });
});
afterAll(() => rm(directory, { recursive: true }));

async function listen(limits: Partial<Limits> = {}, url = etcd.url): Promise<void> {
  const backup = { listen: { host: '127.0.0.1', port: 0 }, user: 'db-backup', rootTlsDir: rootTlsDir() };
  const listenClientUrls = [url.replace('https:', 'http:'), url];
  const config = { clientUrl: url, listenClientUrls, dataDir: directory, serverTlsDir: serverTlsDir(), backup };
  port = await BackupPort.listen(config, log, limits);
}

const materialOf = (pair: KeyPair | undefined) => ({
  ca: readFileSync(certificates.ca),
  ...(pair && { cert: readFileSync(pair.cert), key: readFileSync(pair.key) }),
});

function dial(pair: KeyPair | undefined = backupPair, socket?: Socket): ClientHttp2Session {
  const through = socket && {
    createConnection: () => connectTls({ socket, ALPNProtocols: ['h2'], ...materialOf(pair) }),
  };
  const session = connect(`https://127.0.0.1:${port.port}`, { ...materialOf(pair), ...through });
  session.on('error', () => {});
  sessions.push(session);
  return session;
}

function open(session: ClientHttp2Session, method: string, headers: Record<string, string> = {}): ClientHttp2Stream {
  const stream = session.request({
    ...{ ':method': 'POST', ':path': `/etcdserverpb.${method}`, 'content-type': 'application/grpc', te: 'trailers' },
    ...headers,
  });
  stream.on('error', () => {});
  return stream;
}

interface Outcome {
  readonly code: number;
  readonly message: string;
  readonly body: Buffer;
}

async function outcome(stream: ClientHttp2Stream): Promise<Outcome> {
  let end: Record<string, unknown> = {};
  const take = (headers: Record<string, unknown>) => {
    if (headers['grpc-status'] !== undefined) end = headers;
  };
  stream.on('response', take).on('trailers', take);
  const chunks: Buffer[] = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  if (!stream.closed) await once(stream, 'close').catch(() => undefined);
  const message = decodeURIComponent(String(end['grpc-message'] ?? ''));
  return { code: Number(end['grpc-status'] ?? -1), message, body: Buffer.concat(chunks) };
}

async function ask(session: ClientHttp2Session, method: string, request: Uint8Array = Buffer.of()): Promise<Outcome> {
  const stream = open(session, method);
  stream.end(frame(request));
  return outcome(stream);
}

async function until(what: () => boolean): Promise<void> {
  const end = Date.now() + 10_000;
  while (!what()) {
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await sleep(10);
  }
}

/** Sends messages as fast as they are taken, until the call ends. */
function endless(): { sent: number; ended: number } {
  const seen = { sent: 0, ended: 0 };
  const piece = frame(Buffer.alloc(32 * 1024));
  etcd.answer = async ({ stream }) => {
    const ended = once(stream, 'close').then(() => seen.ended++);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    while (!stream.destroyed) {
      seen.sent += piece.length;
      if (stream.write(piece)) continue;
      const { promise: drained, resolve } = Promise.withResolvers<void>();
      stream.once('drain', resolve);
      await Promise.race([drained, ended]);
    }
  };
  return seen;
}

test('a call is passed on as root, and so is the answer', async () => {
  await listen();
  const { code, body } = await ask(dial(), 'Maintenance/HashKV', encodeInt(1, 5));
  expect([code, body.toString('hex')]).toEqual([0, frame(Buffer.from('ok')).toString('hex')]);
  const [{ user, path, request }] = etcd.asked as [(typeof etcd.asked)[0]];
  expect([user, path, request.toString('hex')]).toEqual([
    'root',
    '/etcdserverpb.Maintenance/HashKV',
    Buffer.from(frame(encodeInt(1, 5))).toString('hex'),
  ]);
});

test("the caller's token and other metadata are not passed on", async () => {
  await listen();
  const stream = open(dial(), 'Maintenance/Status', { token: 'stolen', authorization: 'stolen', 'x-other': 'stolen' });
  stream.end(frame(Buffer.of()));
  expect(await outcome(stream)).toMatchObject({ code: 0 });
  expect(JSON.stringify(etcd.asked[0]!.headers)).not.toContain('stolen');
});

test("etcd's own status is passed on", async () => {
  await listen();
  etcd.answer = ({ stream }) => reply(stream, [], 11, encodeURIComponent('etcdserver: mvcc: 100% a “future” revision'));
  expect(await ask(dial(), 'Maintenance/HashKV')).toMatchObject({
    code: 11,
    message: 'etcdserver: mvcc: 100% a “future” revision',
  });
});

test('a member list leads to the backup ports', async () => {
  await listen();
  etcd.answer = ({ stream }) => reply(stream, [Buffer.from(encodeBytes(2, encodeBytes(4, etcd.url)))]);
  const { body } = await ask(dial(), 'Cluster/MemberList');
  const [[, member] = []] = [...fieldsOf(body.subarray(5))];
  expect([...fieldsOf(member as Uint8Array)].map(([, url]) => text(url))).toEqual([`https://127.0.0.1:${port.port}`]);
});

test.each([
  'KV/Put',
  'KV/Range',
  'KV/Txn',
  'Auth/UserList',
  'Auth/AuthDisable',
  'Maintenance/Defragment',
  'Maintenance/Alarm',
  'Cluster/MemberRemove',
  '',
])('%s of something else is refused, and does not reach etcd', async (method) => {
  await listen();
  expect(await ask(dial(), method, encodeInt(1, 1))).toMatchObject({ code: 7 });
  expect(etcd.asked).toEqual([]);
});

test('no other certificate is served', async () => {
  await listen();
  // A certificate with two names is of neither.
  const names = { client: "'client'", root: "'root'", 'DB-BACKUP': "'DB-BACKUP'", 'x, CN=db-backup': 'nobody' };
  for (const [name, shown] of Object.entries(names))
    expect(await ask(dial(await certificates.clientNamed(name)), 'Maintenance/Status')).toMatchObject({
      code: 7,
      message: `only the certificate of backups, CN db-backup, is served here, and this one is of ${shown}`,
    });
  // A server's certificate is also a client's in etcd.
  expect(await ask(dial(certificates.server), 'Maintenance/Status')).toMatchObject({ code: 7 });
  expect(etcd.asked).toEqual([]);
  expect(lines).toContain(
    "backup port: refused: only the certificate of backups, CN db-backup, is served here, and this one is of 'client'",
  );
});

test('no, an expired and a foreign certificate are refused before a call', async () => {
  await listen();
  const { expiredClient, otherClient } = certificates;
  for (const pair of [undefined, expiredClient, otherClient]) {
    const session = pair ? dial(pair) : connect(`https://127.0.0.1:${port.port}`, materialOf(undefined));
    session.on('error', () => {});
    const stream = open(session, 'Maintenance/Status');
    stream.end(frame(Buffer.of()));
    expect(await outcome(stream)).toMatchObject({ code: -1 });
  }
  expect(etcd.asked).toEqual([]);
});

test('a certificate that is revoked is refused, on an open connection too', async () => {
  await listen();
  const session = dial();
  expect(await ask(session, 'Maintenance/Status')).toMatchObject({ code: 0 });
  writeFileSync(list(), await certificates.revoking(rootPair));
  expect(await ask(session, 'Maintenance/Status')).toMatchObject({ code: 0 });
  writeFileSync(list(), await certificates.revoking(rootPair, backupPair));
  const revoked = { code: 7, message: 'the certificate is revoked' };
  expect(await ask(session, 'Maintenance/Status')).toMatchObject(revoked);
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject(revoked);
});

test('an authority that is revoked shuts out what it has signed', async () => {
  await listen();
  const ca = { cert: certificates.ca, key: '' };
  writeFileSync(list(), await certificates.revoking(ca));
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 7, message: 'the certificate is revoked' });
});

test('an authority between the certificate and ca.crt is revoked', async () => {
  await listen();
  const { intermediate, client } = await certificates.clientBelow('db-backup');
  expect(await ask(dial(client), 'Maintenance/Status')).toMatchObject({ code: 0 });
  writeFileSync(list(), await certificates.revoking(rootPair));
  expect(await ask(dial(client), 'Maintenance/Status')).toMatchObject({ code: 0 });
  writeFileSync(list(), await certificates.revoking(intermediate));
  expect(await ask(dial(client), 'Maintenance/Status')).toMatchObject({
    code: 7,
    message: 'the certificate is revoked',
  });
});

test('a revocation list that is garbled, or missing although etcd has one, lets nobody in', async () => {
  await listen();
  for (const text of ['', 'no list', '-----BEGIN X509 CRL-----']) {
    writeFileSync(list(), text);
    expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 14 });
  }
  rmSync(list());
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 0 });
  writeFileSync(join(directory, 'etcd.yaml'), `client-transport-security: {client-crl-file: ${list()}}`);
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({
    code: 14,
    message: `${list()} is missing, so nobody is served`,
  });
  expect(etcd.asked).toHaveLength(1);
});

test('a connection is not resumed', async () => {
  await listen();
  const at = { host: '127.0.0.1', port: port.port, ALPNProtocols: ['h2'], ...materialOf(backupPair) };
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const only = { minVersion: version, maxVersion: version };
    let kept: Buffer | undefined;
    const first = connectTls({ ...at, ...only }).on('session', (session) => {
      kept = session;
    });
    await once(first, 'secureConnect');
    await sleep(100);
    first.destroy();
    const second = connectTls({ ...at, ...only, session: kept ?? first.getSession() });
    await once(second, 'secureConnect');
    expect(second.isSessionReused()).toBe(false);
    second.destroy();
  }
});

test('a renewed certificate is shown to the next caller, and a renewed one of root to etcd', async () => {
  await listen();
  const shown = async () => {
    const session = dial();
    await once(session, 'connect');
    return (session.socket as TLSSocket).getPeerCertificate().serialNumber;
  };
  const before = await shown();
  const { server } = await certificates.renew(join(directory, 'renewed'));
  install(serverTlsDir(), server);
  expect(await shown()).not.toBe(before);
  install(rootTlsDir(), await certificates.clientNamed('root-2'));
  await ask(dial(), 'Maintenance/Status');
  expect(etcd.asked.at(-1)?.user).toBe('root-2');
});

test('an empty file of authorities does not make every public authority one of the clients', async () => {
  await listen();
  writeFileSync(join(serverTlsDir(), 'ca.crt'), '');
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 0 });
  expect(lines).toEqual([expect.stringContaining('ca.crt holds no certificate')]);
});

test('etcd that is not up, or has no certificate of root yet, is unavailable', async () => {
  await using gone = await FakeEtcd.listen(certificates);
  const { url } = gone;
  await gone[Symbol.asyncDispose]().catch(() => {});
  await listen({}, url);
  const session = dial();
  expect(await ask(session, 'Maintenance/Status')).toMatchObject({
    code: 14,
    message: expect.stringContaining('the agent cannot ask its etcd: etcd at https://127.0.0.1:'),
  });
  rmSync(join(rootTlsDir(), 'tls.crt'));
  expect(await ask(session, 'Maintenance/Status')).toMatchObject({
    code: 14,
    message: expect.stringMatching(/^the agent cannot ask its etcd: cannot read \S+tls\.crt \(ENOENT\)/),
  });
});

test('etcd that accepts connections and hangs is unavailable', async () => {
  const hung = createServer(() => {}).listen(0, '127.0.0.1');
  await once(hung, 'listening');
  await listen({ short: 300 }, `https://127.0.0.1:${(hung.address() as { port: number }).port}`);
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 14 });
  hung.close();
});

test('etcd that takes the call and hangs is unavailable, and the call to it ends', async () => {
  let ended = 0;
  etcd.answer = ({ stream }) => stream.once('close', () => ended++);
  await listen({ short: 300, long: 300, stalled: 300 });
  for (const method of ['Maintenance/Status', 'Maintenance/HashKV', 'Maintenance/Snapshot'])
    expect(await ask(dial(), method)).toMatchObject({ code: 14, message: expect.stringContaining('made no progress') });
  await until(() => ended === 3 && etcd.connections === 0);
});

test('etcd that goes away in the middle of a snapshot ends it with an error', async () => {
  etcd.answer = ({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    stream.write(frame(Buffer.from('half')));
    setTimeout(() => stream.session?.destroy(), 100);
  };
  await listen();
  const { code, body } = await ask(dial(), 'Maintenance/Snapshot');
  expect([code, body.toString('hex')]).toEqual([14, Buffer.from(frame(Buffer.from('half'))).toString('hex')]);
});

test.each(['the call', 'the connection', 'the network'])(
  'a caller that ends %s in the middle of a snapshot ends it in etcd',
  async (what) => {
    const seen = endless();
    await listen();
    const socket = connectTcp(port.port, '127.0.0.1');
    const session = dial(backupPair, socket);
    const stream = open(session, 'Maintenance/Snapshot');
    stream.end(frame(Buffer.of()));
    await once(stream, 'data');
    if (what === 'the call') stream.close(8);
    else if (what === 'the connection') session.destroy();
    else socket.resetAndDestroy();
    await until(() => seen.ended === 1 && etcd.connections === 0);
    // Its place is free.
    etcd.answer = ({ stream: next }) => reply(next, [Buffer.from('ok')]);
    for (let n = 0; n < 4; n++) expect(await ask(dial(), 'Maintenance/Snapshot')).toMatchObject({ code: 0 });
  },
);

test('a caller that does not read holds the snapshot back, and not forever', async () => {
  const seen = endless();
  await listen({ stalled: 1_500 });
  const stream = open(dial(), 'Maintenance/Snapshot');
  stream.end(frame(Buffer.of()));
  stream.pause();
  await sleep(700);
  const { sent } = seen;
  await sleep(300);
  expect(seen.sent).toBe(sent);
  expect(sent).toBeLessThan(8 * 1024 * 1024);
  await until(() => seen.ended === 1);
});

test('more than two snapshots at a time are refused, and other calls are not', async () => {
  const seen = endless();
  await listen();
  const streams = [0, 1].map(() => open(dial(), 'Maintenance/Snapshot'));
  for (const stream of streams) stream.end(frame(Buffer.of()));
  await Promise.all(streams.map((stream) => once(stream, 'data')));
  expect(await ask(dial(), 'Maintenance/Snapshot')).toMatchObject({
    code: 8,
    message: 'this member already sends 2 snapshots; try again later',
  });
  expect(etcd.asked).toHaveLength(2);
  etcd.answer = ({ stream }) => reply(stream, [Buffer.from('ok')]);
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 0 });
  streams[0]!.close(8);
  await until(() => seen.ended === 1);
  expect(await ask(dial(), 'Maintenance/Snapshot')).toMatchObject({ code: 0 });
});

test('many calls at a time, of many connections, are refused', async () => {
  const waiting: (() => void)[] = [];
  etcd.answer = ({ stream }) => waiting.push(() => reply(stream, [Buffer.from('ok')]));
  await listen({ calls: 4 });
  const first = [0, 1, 2, 3].map(() => ask(dial(), 'Maintenance/Status'));
  await until(() => waiting.length === 4);
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 8, message: 'too many calls at a time' });
  for (const go of waiting) go();
  expect((await Promise.all(first)).map(({ code }) => code)).toEqual([0, 0, 0, 0]);
});

test('a request that is too large, without an end, or no message is refused', async () => {
  await listen({ requestTime: 300 });
  const session = dial();
  const large = await ask(session, 'Maintenance/Status', Buffer.alloc(1024 * 1024));
  expect([8, -1]).toContain(large.code);
  const endlessly = open(session, 'Maintenance/Status');
  endlessly.write(frame(Buffer.of()));
  expect(await outcome(endlessly)).toMatchObject({ code: 8, message: 'the request did not arrive in time' });
  for (const [bytes, code] of [
    [Buffer.of(), 7],
    [Buffer.of(0, 0, 0, 0, 9), 7],
    [Buffer.of(0, 0xff, 0xff, 0xff, 0xff), 7],
    [Buffer.concat([frame(Buffer.of()), frame(Buffer.of())]), 7],
    [Buffer.of(1, 0, 0, 0, 0), 12],
  ] as const) {
    const stream = open(session, 'Maintenance/Status');
    stream.end(bytes);
    expect(await outcome(stream)).toMatchObject({ code });
  }
  expect(etcd.asked).toEqual([]);
  expect(await ask(session, 'Maintenance/Status')).toMatchObject({ code: 0 });
});

test('a request that is not gRPC is refused', async () => {
  await listen();
  const session = dial();
  const wrong: Record<string, string>[] = [
    { ':method': 'GET' },
    { ':method': 'PUT' },
    { 'content-type': 'application/json' },
  ];
  for (const headers of wrong) {
    const stream = open(session, 'Maintenance/Status', headers);
    stream.end();
    const [response] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(response[':status']).toBe(415);
  }
  expect(etcd.asked).toEqual([]);
});

test('what is not HTTP/2 with TLS is closed', async () => {
  await listen({ handshake: 500, idle: 500 });
  const closes = async (socket: ReturnType<typeof connectTcp> | TLSSocket, text?: string | Buffer) => {
    socket.on('error', () => {});
    socket.resume();
    const end = once(socket, 'close').catch(() => {});
    if (text !== undefined) socket.write(text);
    await end;
  };
  const at = { host: '127.0.0.1', port: port.port };
  const tls = (ALPNProtocols?: string[]) => connectTls({ ...at, ...materialOf(backupPair), ALPNProtocols });
  const get = 'GET /etcdserverpb.Maintenance/Status HTTP/1.1\r\nhost: x\r\n\r\n';
  // A handshake that never begins, or never ends.
  await closes(connectTcp(at));
  await closes(connectTcp(at), Buffer.from('160301', 'hex'));
  await closes(connectTcp(at), get);
  await closes(tls(), get);
  await closes(tls(['http/1.1']), get);
  // A connection without a call.
  await closes(tls(['h2']));
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  await closes(tls(['h2']), preface);
  // A frame of 16 MiB, for which memory must not be set aside.
  await closes(
    tls(['h2']),
    Buffer.concat([preface, Buffer.from('ffffff000000000001', 'hex'), Buffer.alloc(64 * 1024)]),
  );
  expect(etcd.asked).toEqual([]);
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 0 });
});

test('more connections than it takes are closed, and it goes on', async () => {
  await listen({ connections: 3, handshake: 500 });
  const at = { host: '127.0.0.1', port: port.port };
  const idle = [0, 1, 2, 3, 4].map(() => connectTcp(at).on('error', () => {}));
  await Promise.all(idle.map((socket) => once(socket.resume(), 'close')));
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 0 });
});

test('a connection of another certificate ends at its first refusal', async () => {
  await listen();
  const session = dial(await certificates.clientNamed('api'));
  const closed = once(session, 'close');
  expect(await ask(session, 'Maintenance/Status')).toMatchObject({
    code: 7,
    message: expect.stringContaining("'api'"),
  });
  await closed;
  // One of backups goes on after a call that is refused.
  const ours = dial();
  expect(await ask(ours, 'KV/Put')).toMatchObject({ code: 7 });
  expect(await ask(ours, 'Maintenance/Status')).toMatchObject({ code: 0 });
});

test('connections of others do not keep backups out', async () => {
  await listen({ connections: 3, strangers: 3 });
  const first = dial();
  expect(await ask(first, 'Maintenance/Status')).toMatchObject({ code: 0 });
  const other = await certificates.clientNamed('api');
  const others: ClientHttp2Session[] = [];
  for (let i = 0; i < 6; i++) {
    const session = dial(other);
    await once(session, 'connect');
    others.push(session);
    connectTcp({ host: '127.0.0.1', port: port.port }).on('error', () => {});
  }
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 0 });
  expect(await ask(first, 'Maintenance/Status')).toMatchObject({ code: 0 });
  await until(() => others.filter(({ destroyed }) => !destroyed).length <= 3);
});

test('more connections of backups than it takes are closed', async () => {
  await listen({ connections: 2 });
  const both = [dial(), dial()];
  for (const session of both) expect(await ask(session, 'Maintenance/Status')).toMatchObject({ code: 0 });
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: -1 });
  both[0]!.destroy();
  await sleep(100);
  expect(await ask(dial(), 'Maintenance/Status')).toMatchObject({ code: 0 });
});

test('when it ends, its callers hear it, also those that do not read, and every call to etcd ends', async () => {
  const seen = endless();
  await listen();
  const [reading, deaf] = [dial(), dial()].map((session) => open(session, 'Maintenance/Snapshot'));
  for (const stream of [reading!, deaf!]) stream.end(frame(Buffer.of()));
  const heard = outcome(reading!);
  await once(deaf!, 'readable');
  await port.close();
  expect(await heard).toMatchObject({ code: 14, message: 'the agent stops' });
  await until(() => seen.ended === 2 && etcd.connections === 0);
  await listen();
});
