import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer, connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import ssh2 from 'ssh2';
import { GrpcChannel } from '../../src/etcd/grpc.ts';
import { boltDamage } from '../../src/etcd/offline/bolt-check.ts';
import { encodeInt, fieldsOf } from '../../src/etcd/protobuf.ts';
import { age, ageKeygen } from '../harness/age.ts';
import { createCertificates } from '../harness/certificates.ts';
import { availableMinors } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { saveSnapshot } from '../support/save-snapshot.ts';
import { secretWords } from './secrets.ts';

// node agent/test/fuzz/make-corpus.mts: regenerates the parts of corpus/ that come from real servers and from libraries
// that write keys. The rest was written by hand. `npm run suite -- fuzz` finds the servers.

const corpus = join(import.meta.dirname, 'corpus');
const scratch = await mkdtemp(join(tmpdir(), 'corpus-'));
const begun = new Set<string>();

function keep(path: string, bytes: Uint8Array | string): void {
  const [folder = ''] = path.split('/');
  if (!begun.has(folder)) rmSync(join(corpus, folder), { recursive: true, force: true });
  begun.add(folder);
  mkdirSync(join(corpus, folder), { recursive: true });
  writeFileSync(join(corpus, path), bytes);
}

const packed = (path: string, bytes: Uint8Array) => keep(`${path}.packed.gz`, gzipSync(bytes, { level: 9 }));

for (const minor of availableMinors()) {
  await using etcd = await EtcdCluster.start({ minor });
  await etcd.put(3, { valueSize: 20 });
  await etcd.etcdctl('del', 'key-00001');
  const lease = /lease (\w+) granted/.exec(await etcd.etcdctl('lease', 'grant', '36000'))?.[1];
  await etcd.etcdctl('put', `--lease=${lease}`, 'leased', 'value');
  await etcd.etcdctl('role', 'add', 'reader');
  await etcd.etcdctl('role', 'grant-permission', 'reader', 'read', 'key', '--prefix');
  await etcd.etcdctl('user', 'add', 'somebody:password');
  await etcd.etcdctl('user', 'grant-role', 'somebody', 'reader');
  const { snapshot } = await saveSnapshot(etcd);
  packed(`bolt/etcd-${minor}`, snapshot);
  // Messages and logs hardly differ between the minors.
  if (minor !== '3.4' && minor !== availableMinors().at(-1)) continue;
  await messages(etcd, minor, snapshot);
  await log(etcd, minor);
  const metrics = await (await fetch(`${etcd.endpoints[0]}/metrics`)).text();
  keep(
    `etcd-metrics/etcd-${minor}`,
    metrics.replaceAll(/^(?!etcd_(server|cluster|mvcc_db)|process_start).*\n|^\S*_(bucket|sum|count)\b.*\n/gm, ''),
  );
}

async function messages(etcd: EtcdCluster, minor: string, snapshot: Buffer): Promise<void> {
  const channel = await GrpcChannel.connect(etcd.endpoints[0]!, { dialTimeout: 5_000 });
  const status = await channel.unary('Maintenance/Status', new Uint8Array());
  keep(`etcd-status/etcd-${minor}`, status);
  const [[, header] = []] = [...fieldsOf(status)];
  keep(`etcd-header/etcd-${minor}`, header as Uint8Array);
  keep(`etcd-hash-kv/etcd-${minor}`, await channel.unary('Maintenance/HashKV', encodeInt(1, 2)));
  keep(`etcd-members/list-of-etcd-${minor}`, await channel.unary('Cluster/MemberList', new Uint8Array()));
  keep(`etcd-members/lease-of-etcd-${minor}`, await channel.unary('Lease/LeaseGrant', encodeInt(1, 60)));
  const stream: Buffer[] = [];
  for await (const message of channel.stream('Maintenance/Snapshot', new Uint8Array())) {
    stream.push(Buffer.from([0, ...new Uint8Array(4)]), Buffer.from(message));
    stream.at(-2)!.writeUInt32BE(message.length, 1);
  }
  channel.close();
  packed(`etcd-snapshot/etcd-${minor}`, Buffer.concat(stream));
  keep(`http2/status-of-etcd-${minor}`, await recorded(etcd.endpoints[0]!));
  const file = join(scratch, minor);
  writeFileSync(file, snapshot.subarray(0, -32));
  let count = 0;
  await boltDamage(file, snapshot.length - 32, (bucket) => (key, value) => {
    if (bucket === 'key' && count++ < 4) keep(`key-entry/etcd-${minor}-${count}`, Buffer.concat([key, value]));
  });
}

/** The written part of the log, and the zeros after it. */
async function log(etcd: EtcdCluster, minor: string): Promise<void> {
  const directory = join(etcd.member(0).dataDir, 'member/wal');
  const [name] = (await readdir(directory)).filter((each) => each.endsWith('.wal')).sort();
  const bytes = await readFile(join(directory, name!));
  const end = bytes.findLastIndex((byte) => byte !== 0);
  packed(`wal/etcd-${minor}`, bytes.subarray(0, Math.min(end + 64, 20_000)));
}

/** Bytes that an etcd sends on a connection with one call. */
async function recorded(endpoint: string): Promise<Buffer> {
  const sent: Buffer[] = [];
  const { hostname, port } = new URL(endpoint);
  const proxy = createServer((client) => {
    const server = dial(Number(port), hostname);
    client.pipe(server);
    server.on('data', (chunk) => {
      sent.push(chunk);
      client.write(chunk);
    });
    for (const socket of [client, server]) socket.on('error', () => {});
    client.on('close', () => server.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const channel = await GrpcChannel.connect(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, {
    dialTimeout: 5_000,
  });
  await channel.unary('Maintenance/Status', new Uint8Array());
  channel.close();
  proxy.close();
  return Buffer.concat(sent);
}

// Payloads: two frames, one of them skippable, with and without a checksum.
const text = Buffer.from('orders '.repeat(300));
const skippable = Buffer.concat([Buffer.from([0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0]), Buffer.from('abc')]);
const checksum = { params: { 201: 1 } };
keep('zstd/one', zstdCompressSync(text));
keep(
  'zstd/many',
  Buffer.concat([
    zstdCompressSync(text, checksum),
    skippable,
    zstdCompressSync(Buffer.alloc(0)),
    zstdCompressSync(text),
  ]),
);
keep('gzip/one', gzipSync(text));
keep('gzip/two', Buffer.concat([gzipSync(text), gzipSync(text)]));
const identity = join(scratch, 'identity');
const recipient = await ageKeygen(identity);
keep('age/one', await age(['-r', recipient], Buffer.from('snapshot')));
keep('age/two', await age(['-r', recipient, '-r', await ageKeygen(join(scratch, 'other'))], text));
keep('age-identity/one', await readFile(identity));
keep('age-recipients/one', `# orders\n${recipient}\n`);

// Keys and certificates.
const { generateKeyPairSync } = ssh2.utils;
const plain = [
  generateKeyPairSync('ed25519'),
  generateKeyPairSync('ecdsa', { bits: 256 }),
  generateKeyPairSync('rsa', { bits: 1024 }),
];
const locked = generateKeyPairSync('ed25519', { passphrase: secretWords.passphrase, cipher: 'aes256-ctr', rounds: 1 });
for (const [n, { private: key }] of [...plain, locked].entries()) keep(`ssh-key/key-${n}`, key);
const publicKeys = plain.map((each) => each.public.trim());
for (const [n, key] of publicKeys.entries()) keep(`host-key/key-${n}`, Buffer.from(key.split(' ')[1]!, 'base64'));
const salt = Buffer.alloc(20, 7);
const hashed = `|1|${salt.toString('base64')}|${createHash('sha1').update(salt).digest('base64')}`;
keep(
  'known-hosts/many',
  [
    `store.example.com,192.0.2.1 ${publicKeys[0]}`,
    `[store.example.com]:2222 ${publicKeys[1]} a comment`,
    `*.example.com,!bad.example.com ${publicKeys[2]}`,
    `${hashed} ${publicKeys[0]}`,
    `@revoked * ${publicKeys[1]}`,
    `@cert-authority *.example.com ${publicKeys[0]}`,
    '# a comment',
    '',
  ].join('\n'),
);
keep('known-hosts/one', `store.example.com ${publicKeys[0]}\n`);
const made = await createCertificates(join(scratch, 'certificates'));
const pem = async (...files: string[]) => (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n');
keep('certificate/server', await pem(made.server.cert));
keep('certificate/client', await pem(made.client.cert));
keep('certificate/two', await pem(made.server.cert, made.ca));
// The chain must begin with the certificate of the key.
const broken = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
writeFileSync(join(corpus, 'regressions/certificate/a-broken-second-one'), `${await pem(made.server.cert)}\n${broken}`);
keep('private-key/server', await pem(made.server.key));
keep('private-key/client', await pem(made.client.key));

await rm(scratch, { recursive: true });
process.exit();
