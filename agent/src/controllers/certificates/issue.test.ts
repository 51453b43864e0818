import { X509Certificate } from 'node:crypto';
import { connect, createServer, type SecureVersion, type TLSSocket } from 'node:tls';
import * as x509 from '@peculiar/x509';
import { issueIntermediate, issueLeaf, issueRoot, type Keyed } from './issue.ts';
import { lifetimes } from './lifetimes.ts';
import { wanted } from './secrets.fixture.ts';

const hour = 3_600_000;
const now = Math.floor(Date.now() / 1000) * 1000;
const { shapes } = wanted({ serverNames: ['Etcd.example.com', '*.etcd.example.com', '10.1.2.3', '2001:DB8::5'] });

let root: Keyed;
let intermediate: Keyed;
beforeAll(async () => {
  root = await issueRoot('orders clients root', now);
  intermediate = await issueIntermediate('orders clients CA', root, now);
});

const parsed = ({ cert }: Keyed) => new x509.X509Certificate(cert);
const extension = (of: Keyed, type: string) => parsed(of).extensions.find((each) => each.type === type);

test('a root, an intermediate and leaves have the extensions that they should', async () => {
  const peer = await issueLeaf(shapes.peer, intermediate, now);
  const basic = (of: Keyed) => {
    const found = parsed(of).getExtension(x509.BasicConstraintsExtension)!;
    return [found.ca, found.pathLength, found.critical];
  };
  expect([basic(root), basic(intermediate), basic(peer)]).toEqual([
    [true, 2, true],
    [true, 0, true],
    [false, undefined, true],
  ]);
  const usages = (of: Keyed) => parsed(of).getExtension(x509.KeyUsagesExtension)!;
  const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;
  expect([usages(root), usages(intermediate), usages(peer)].map(({ usages, critical }) => [usages, critical])).toEqual([
    [keyCertSign | cRLSign, true],
    [keyCertSign | cRLSign, true],
    [digitalSignature, true],
  ]);
  const subjectId = (of: Keyed) => parsed(of).getExtension(x509.SubjectKeyIdentifierExtension)!.keyId;
  const issuerId = (of: Keyed) => parsed(of).getExtension(x509.AuthorityKeyIdentifierExtension)!.keyId;
  expect([issuerId(root), issuerId(intermediate), issuerId(peer)]).toEqual([
    subjectId(root),
    subjectId(root),
    subjectId(intermediate),
  ]);
});

test('a leaf has the wanted names and usages, and a critical list of names only without a subject', async () => {
  const [peer, server, client] = await Promise.all(
    [shapes.peer, shapes.server, shapes.client].map((shape) => issueLeaf(shape, intermediate, now)),
  );
  const read = (of: Keyed) => new X509Certificate(of.cert);
  expect(read(peer!).subject).toBeUndefined();
  expect(read(peer!).subjectAltName!.split(', ')).toEqual(
    [0, 1, 2, 3, 4, 5, 6].map((i) => `DNS:orders-${i}.orders-peers.shop.svc.cluster.local`),
  );
  expect(read(server!).subject).toBeUndefined();
  expect(read(server!).subjectAltName!.split(', ')).toEqual(
    expect.arrayContaining([
      ...['localhost', 'orders', 'orders.shop.svc.cluster.local', 'orders-6-client.shop'].map((name) => `DNS:${name}`),
      ...['DNS:orders-3.orders-peers.shop.svc.cluster.local', 'DNS:etcd.example.com', 'DNS:*.etcd.example.com'],
      ...['IP Address:127.0.0.1', 'IP Address:0:0:0:0:0:0:0:1', 'IP Address:10.1.2.3'],
      'IP Address:2001:DB8:0:0:0:0:0:5',
    ]),
  );
  expect(read(client!).subject).toBe('CN=orders-client');
  expect(read(client!).subjectAltName).toBeUndefined();
  const [serverAuth, clientAuth] = [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth];
  expect([peer!, server!, client!].map((of) => read(of).keyUsage)).toEqual([
    [serverAuth, clientAuth],
    [serverAuth, clientAuth],
    [clientAuth],
  ]);
  const names = '2.5.29.17';
  expect([peer!, server!].map((of) => extension(of, names)!.critical)).toEqual([true, true]);
});

test('begins an hour ago, and never outlives its issuer', async () => {
  const leaf = await issueLeaf(shapes.client, intermediate, now);
  const lives = ({ cert }: Keyed) => {
    const { validFromDate, validToDate } = new X509Certificate(cert);
    return [validFromDate.getTime() - now, validToDate.getTime() - now];
  };
  expect([root, intermediate, leaf].map(lives)).toEqual([
    [-hour, lifetimes.root],
    [-hour, lifetimes.intermediate],
    [-hour, lifetimes.leaf],
  ]);
  const late = now + lifetimes.intermediate - hour;
  const short = await issueLeaf(shapes.client, intermediate, late);
  expect(new X509Certificate(short.cert).validTo).toBe(new X509Certificate(intermediate.cert).validTo);
});

test('serial numbers are positive, of 16 bytes, and never the same', async () => {
  const leaves = await Promise.all(Array.from({ length: 50 }, () => issueLeaf(shapes.client, intermediate, now)));
  const serials = leaves.map((leaf) => new X509Certificate(leaf.cert).serialNumber);
  expect(new Set(serials).size).toBe(50);
  for (const serial of serials) expect(serial).toMatch(/^[4-7][0-9A-F]{31}$/);
});

test('keys are PKCS#8 of P-256', () => {
  expect(root.key).toMatch(/^-----BEGIN PRIVATE KEY-----\n[A-Za-z0-9+/=\n]+-----END PRIVATE KEY-----\n$/);
});

describe('a chain is accepted', () => {
  test.each(['TLSv1.2', 'TLSv1.3'] as const)('by Node as server and as client, %s', async (version) => {
    const server = await issueLeaf(shapes.server, intermediate, now);
    const client = await issueLeaf(shapes.client, intermediate, now);
    const authorized = await handshake(version, server, client, 'orders-2-client.shop.svc');
    expect(authorized).toEqual([true, true]);
    await expect(handshake(version, server, client, 'elsewhere')).rejects.toThrow('does not match');
  });

  /** Whether each side accepts the other, which trusts the root alone. */
  async function handshake(version: SecureVersion, server: Keyed, client: Keyed, servername: string) {
    const of = ({ cert, key }: Keyed) => ({ ca: root.cert, cert: cert + intermediate.cert, key });
    const { promise, resolve, reject } = Promise.withResolvers<boolean[]>();
    const listener = createServer({ ...of(server), requestCert: true, minVersion: version, maxVersion: version });
    const accepted = new Promise<boolean>((done) =>
      listener.on('secureConnection', (socket: TLSSocket) => done(socket.authorized)),
    );
    listener.listen(0, '127.0.0.1', () => {
      const { port } = listener.address() as { port: number };
      const socket = connect({ port, host: '127.0.0.1', servername, ...of(client) }, () =>
        accepted.then((is) => resolve([is, socket.authorized])).finally(() => socket.destroy()),
      );
      socket.on('error', reject);
    });
    return promise.finally(() => listener.close());
  }
});
