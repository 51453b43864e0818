import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { fnv1a } from '../../../test/mutations/mutate.ts';
import { backendState, backendValues, isBlank } from './backend-state.ts';
import { Damage } from './bolt-check.ts';

const PAGE = 4096;
let directory: string;
let database: Buffer;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'backend-'));
  // A small database of etcd 3.6.
  const packed = join(import.meta.dirname, '../../../test/fuzz/corpus/bolt/etcd-3.6.packed.gz');
  database = gunzipSync(await readFile(packed)).subarray(0, -32);
});
afterAll(() => rm(directory, { recursive: true }));

const root = () => Number(database.readBigUInt64LE(32));

async function changed(change: (bytes: Buffer) => void): Promise<string> {
  const copy = Buffer.from(database);
  change(copy);
  const file = join(directory, 'db');
  await writeFile(file, copy);
  return file;
}

test('an untouched database', async () => {
  const file = await changed(() => {});
  expect((await backendState(file)).revision).toBeGreaterThan(3);
  expect(await backendValues(file, 'members')).toHaveLength(1);
});

test.each<[string, (bytes: Buffer) => Buffer, boolean]>([
  ['a database in use', (bytes) => bytes, false],
  ['one that has no bucket yet', (bytes) => bytes.fill(0, root() * PAGE + 10, root() * PAGE + 12), true],
  ['a file that has nothing yet', () => Buffer.alloc(0), true],
])('whether an etcd has just begun, by %s', async (_, change, expected) => {
  const file = join(directory, 'blank');
  await writeFile(file, change(Buffer.from(database)));
  expect(await isBlank(file)).toBe(expected);
});

test.each<[string, (bytes: Buffer) => void, RegExp]>([
  [
    'a page that claims terabytes, which are not asked of the memory',
    (bytes) => bytes.writeUInt32LE(0xffff_ffff, root() * PAGE + 12),
    /ends before byte 17592/,
  ],
  [
    'a page below itself',
    (bytes) => {
      const at = root() * PAGE;
      bytes.fill(0, at + 8, at + PAGE);
      bytes.writeUInt16LE(1, at + 8);
      bytes.writeUInt16LE(1, at + 10);
      bytes.writeUInt32LE(16, at + 16);
      bytes.writeUInt32LE(1, at + 20);
      bytes.writeBigUInt64LE(BigInt(root()), at + 24);
      bytes.write('a', at + 32);
    },
    /below itself/,
  ],
  [
    'pages of one byte',
    (bytes) => {
      for (const meta of [16, PAGE + 16]) {
        bytes.writeUInt32LE(1, meta + 8);
        bytes.writeBigUInt64LE(fnv1a(bytes.subarray(meta, meta + 56)), meta + 56);
      }
    },
    /no valid meta page/,
  ],
])('%s is damage', async (_, change, message) => {
  const file = await changed(change);
  const failure = await backendState(file).catch((error) => error);
  expect(failure).toBeInstanceOf(Damage);
  expect(failure.message).toMatch(message);
  await expect(backendValues(file, 'members')).rejects.toThrow(Damage);
});
