// Encrypted backups of a real etcd: the agent and age each decrypt what the other has encrypted.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { compressions, type PayloadCompression } from '../../src/backup/catalog/manifest.ts';
import { decrypt, encrypt } from '../../src/backup/payload/encryption.ts';
import { ExitCode } from '../../src/lib/errors.ts';
import { age, ageKeygen } from '../harness/age.ts';
import { runAgent } from '../harness/agent.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';

let etcd: EtcdCluster;
let root: string;
let store: string;
const keys: Record<string, Awaited<ReturnType<typeof makeKey>>> = {};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'encryption-'));
  for (const name of ['first', 'second', 'other']) keys[name] = await makeKey(name);
  const postQuantum = await makeKey('post-quantum', '-pq').catch(() => undefined);
  if (postQuantum) keys['post-quantum'] = postQuantum;
  else console.warn('this age is too old for post-quantum keys: untested');
  etcd = await EtcdCluster.start();
  await etcd.put(500, { valueSize: 2_000 });
});
afterAll(async () => {
  await etcd?.stop();
  await rm(root, { recursive: true, force: true });
});
beforeEach(async () => {
  store = await mkdtemp(join(root, 'store-'));
});

async function makeKey(name: string, ...flags: string[]) {
  const file = join(root, `${name}.txt`);
  const recipient = await ageKeygen(file, ...flags);
  const identity = /^AGE-SECRET-KEY-.*$/m.exec(await readFile(file, 'utf8'))?.[0] ?? '';
  return { file, recipient, identity };
}

async function agent(...args: string[]) {
  const run = await runAgent([...args, `--store=file://${store}`, '--cluster=orders', '--output=json']);
  const said = run.stdout + run.stderr;
  expect(Object.values(keys).filter(({ identity }) => said.includes(identity.slice(20, 40)))).toEqual([]);
  return run;
}

const backup = (...flags: string[]) => agent('backup', `--endpoints=${etcd.endpoints}`, ...flags);
const to = (...names: string[]) => names.map((name) => `--age-recipient=${keys[name]!.recipient}`);
const by = (...names: string[]) => names.map((name) => `--age-identity-file=${keys[name]!.file}`);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const stored = async () => {
  const names = await readdir(join(store, 'orders'));
  return join(store, 'orders', names.find((name) => name.endsWith('.age'))!);
};

const unpack: Record<PayloadCompression, (bytes: Buffer) => Buffer> = {
  none: (bytes) => bytes,
  gzip: (bytes) => gunzipSync(bytes),
  zstd: (bytes) => zstdDecompressSync(bytes),
};

test.each(compressions)(
  'compression %s: age opens it with either key, the agent verifies and restores it',
  async (kind) => {
    expect(await backup(`--compression=${kind}`, ...to('first', 'second'))).toMatchObject({
      code: 0,
      result: { snapshot: { encrypted: true }, stores: [{ verified: 'read' }] },
    });
    expect(await agent('verify')).toMatchObject({ code: 0, result: { verified: 1 } });
    expect(await agent('verify', '--level=open', ...by('other', 'second'))).toMatchObject({
      code: 0,
      result: { verified: 1, snapshots: [{ detail: expect.stringContaining('HashKV equals that of the cluster') }] },
    });

    const file = join(store, 'fetched.db');
    const { code, result } = await agent('restore', 'fetch', `--to=${file}`, ...by('first'));
    expect(code).toBe(0);
    const payload = await readFile(await stored());
    for (const name of ['first', 'second']) {
      const opened = unpack[kind](await age(['-d', '-i', keys[name]!.file], payload));
      expect(sha256(opened)).toBe(result.sha256);
    }
    expect(sha256(await readFile(file))).toBe(result.sha256);
    expect(await agent('restore', 'data-dir', `--data-dir=${store}-data`, ...by('second'))).toMatchObject({
      code: 0,
    });
  },
);

test('a post-quantum recipient', async () => {
  if (!keys['post-quantum']) return;
  expect(await backup(...to('post-quantum'))).toMatchObject({ code: 0 });
  const opened = await age(['-d', '-i', keys['post-quantum'].file], await readFile(await stored()));
  const file = join(store, 'fetched.db');
  const { result } = await agent('restore', 'fetch', `--to=${file}`, ...by('post-quantum'));
  expect(sha256(zstdDecompressSync(opened))).toBe(result.sha256);
});

test.each([0, 1, 65_536, 1_000_000])('%d bytes from age to the agent and back', async (size) => {
  const plain = randomBytes(size);
  for (const { file, recipient, identity } of Object.values(keys)) {
    const fromAge = await age(['-r', recipient], plain);
    expect((await buffer(decrypt([identity], one(fromAge)))).equals(plain)).toBe(true);
    const fromUs = await buffer(encrypt([recipient], one(plain)));
    expect((await age(['-d', '-i', file], fromUs)).equals(plain)).toBe(true);
  }
});

test('all settings may be in a config file, and the keys in files', async () => {
  const recipients = join(root, 'recipients.txt');
  await writeFile(recipients, `# who may read backups\n${keys.first!.recipient}\n`);
  const config = join(root, 'config.json');
  const { recipient } = keys.second!;
  const settings = { ageRecipient: [recipient], ageRecipientsFile: recipients, ageIdentityFile: [keys.second!.file] };
  await writeFile(config, JSON.stringify({ ...settings, verify: 'open' }));
  expect(await backup(`--config=${config}`)).toMatchObject({ code: 0, result: { stores: [{ verified: 'open' }] } });
  const { result } = await agent('show');
  expect(result.manifest.object.encryption).toEqual({ recipients: [recipient, keys.first!.recipient] });
});

describe('one line reports the mistake', () => {
  const refused = async (run: ReturnType<typeof agent>, exitCode: ExitCode, error: RegExp) => {
    const { code, result } = await run;
    expect({ code, error: result.error }).toEqual({ code: exitCode, error: expect.stringMatching(error) });
  };
  const fetch = (...flags: string[]) => agent('restore', 'fetch', `--to=${join(store, 'fetched.db')}`, ...flags);

  test('without an identity, or with another', async () => {
    await backup(...to('first'));
    const missing = /^--age-identity-file: etcd-snapshot-\S+ is encrypted; pass a file with its age identity of age1/;
    await refused(fetch(), ExitCode.usage, missing);
    await refused(agent('verify', '--level=open'), ExitCode.usage, missing);
    await refused(agent('restore', 'data-dir', `--data-dir=${store}-data`), ExitCode.usage, missing);
    const foreign = /^--age-identity-file: etcd-snapshot-\S+ is encrypted for other identities; pass the one of age1/;
    await refused(fetch(...by('other')), ExitCode.usage, foreign);
    await refused(agent('verify', '--level=open', ...by('other')), ExitCode.usage, foreign);
    expect((await readdir(store)).sort()).toEqual(['orders']);
  });

  test('a backup with --verify open needs an identity before it begins', async () => {
    const line = /^--age-identity-file: at --verify=open the snapshot is encrypted; pass/;
    await refused(backup('--verify=open', ...to('first')), ExitCode.usage, line);
    expect(await readdir(store)).toEqual([]);
  });

  test('keys in the wrong place are not repeated', async () => {
    const { identity, recipient } = keys.first!;
    await refused(backup(`--age-recipient=${identity}`), ExitCode.usage, /^--age-recipient: the value is a secret key/);
    const swapped = join(root, 'swapped.txt');
    await writeFile(swapped, recipient);
    await refused(fetch(`--age-identity-file=${swapped}`), ExitCode.usage, /line 1 is a recipient/);
    expect(await readdir(store)).toEqual([]);
  });

  test('a payload that is cut or flipped', async () => {
    const { id } = (await backup(...to('first'))).result.snapshot;
    const fetchIt = () => agent('restore', 'fetch', id, `--to=${join(store, 'fetched.db')}`, ...by('first'));
    const path = await stored();
    const payload = await readFile(path);
    const flipped = Buffer.from(payload);
    flipped[payload.length >> 1]! ^= 1;
    await writeFile(path, flipped);
    await refused(fetchIt(), ExitCode.verificationFailed, /sha256 differs/);
    expect(await agent('verify')).toMatchObject({ code: ExitCode.verificationFailed });
    await truncate(path, payload.length - 20);
    await refused(fetchIt(), ExitCode.verificationFailed, /bytes, not/);
    expect((await readdir(store)).sort()).toEqual(['orders']);
  });
});

async function* one(bytes: Uint8Array) {
  yield bytes;
}
