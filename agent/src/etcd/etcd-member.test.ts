import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, createCertificates } from '../../test/harness/certificates.ts';
import { FakeEtcd, reply } from '../../test/support/fake-tls-etcd.ts';
import { issueIntermediate, issueLeaf, issueRevocationList, issueRoot } from '../controllers/certificates/issue.ts';
import { readRevocationList } from '../lib/revocation-lists.ts';
import { EtcdMember } from './etcd-member.ts';
import { encodeBytes } from './protobuf.ts';

let directory: string;
let made: Certificates;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'member-'));
  made = await createCertificates(directory);
});
afterAll(() => rm(directory, { recursive: true }));

const clientOf = async ({ client }: Certificates) => ({
  cert: await readFile(client.cert),
  key: await readFile(client.key),
});

const token = (value: string) => encodeBytes(2, value);

test('a password is sent only to a server that was judged, whoever takes a second connection', async () => {
  const now = Date.now();
  const root = await issueRoot('orders clients root', now);
  const [stolen, present] = [await issueIntermediate('CA', root, now), await issueIntermediate('CA', root, now)];
  const shape = { commonName: 'db-0', dnsNames: [], ipAddresses: ['127.0.0.1'], isServer: true };
  const file = async (name: string, text: string) => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };
  const serve = async (name: string, issuer: typeof stolen) => {
    const { cert, key } = await issueLeaf(shape, issuer, now);
    const server = { cert: await file(`${name}.crt`, cert + issuer.cert), key: await file(`${name}.key`, key) };
    return FakeEtcd.listen({ ...made, server });
  };
  await using thief = await serve('thief', stolen);
  await using etcd = await serve('etcd', present);
  for (const each of [thief, etcd])
    each.answer = ({ stream, path }) =>
      reply(stream, [path.endsWith('Authenticate') ? Buffer.from(token('t')) : Buffer.alloc(0)]);
  // On the way to etcd, somebody lets the first connection pass.
  let passed = 0;
  const way = createServer((socket) => {
    const { port } = new URL(passed++ === 0 ? etcd.url : thief.url);
    const onward = connect(Number(port), '127.0.0.1');
    for (const each of [socket, onward]) each.on('error', () => {});
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
  const revoked = readRevocationList(
    await issueRevocationList([new X509Certificate(stolen.cert).serialNumber], present, now),
  )!;
  const endpoint = `https://127.0.0.1:${(way.address() as AddressInfo).port}`;
  const tls = { ...(await clientOf(made)), ca: Buffer.from(root.cert), revoked };
  const access = { endpoints: [endpoint], tls, user: 'root', password: 'secret-password', dialTimeout: 5_000 };
  const member = await EtcdMember.connect(endpoint, access);
  await member.confirmQuorum();
  await member.members();
  member.close();
  way.close();
  expect(thief.asked).toEqual([]);
  const asked = ['/etcdserverpb.Auth/Authenticate', '/etcdserverpb.KV/Range', '/etcdserverpb.Cluster/MemberList'];
  expect(etcd.asked.map(({ path }) => path)).toEqual(asked);
});

test('a token that etcd has forgotten is replaced, once for each call', async () => {
  await using etcd = await FakeEtcd.listen(made);
  let logins = 0;
  etcd.answer = ({ stream, path, headers }) => {
    if (path.endsWith('Authenticate')) return reply(stream, [Buffer.from(token(`token-${++logins}`))]);
    if (headers.token === 'token-2') return reply(stream, [Buffer.from('')]);
    return reply(stream, [], 16, 'etcdserver: invalid auth token');
  };
  const tls = { ...(await clientOf(made)), ca: await readFile(made.ca) };
  const access = { endpoints: [etcd.url], tls, user: 'root', password: 'x', dialTimeout: 5_000 };
  const member = await EtcdMember.connect(etcd.url, access);
  await member.confirmQuorum();
  expect(logins).toBe(2);
  etcd.answer = ({ stream, path }) =>
    path.endsWith('Authenticate')
      ? reply(stream, [Buffer.from(token(`token-${++logins}`))])
      : reply(stream, [], 16, 'etcdserver: invalid auth token');
  await expect(member.confirmQuorum()).rejects.toThrow(/no longer accepts the auth token/);
  expect(logins).toBe(3);
  member.close();
});
