import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { etcdutl, newestEtcd } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { fnv1a } from '../../../test/mutations/mutate.ts';
import { saveSnapshot } from '../../../test/support/save-snapshot.ts';
import { readDatabase } from './database-check.ts';
import { Etcdutl } from './etcdutl.ts';

const PAGE = 4096;
let directory: string;
let database: Buffer;
/** Pages that nothing refers to. */
let free: number[];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bolt-'));
  await using etcd = await EtcdCluster.start({ minor: newestEtcd().minor });
  await etcd.put(800, { valueSize: 300 });
  await etcd.etcdctl('del', 'key-0005', '--prefix');
  await etcd.etcdctl('put', 'large', 'x'.repeat(20_000));
  await etcd.etcdctl('lease', 'grant', '600');
  const { header } = JSON.parse(await etcd.etcdctl('get', 'large', '-w', 'json'));
  await etcd.etcdctl('compact', String(header.revision), '--physical');
  database = (await saveSnapshot(etcd)).snapshot.subarray(0, -32);
  free = await freePages();
});
afterAll(() => rm(directory, { recursive: true }));

const read64 = (at: number, bytes = database) => Number(bytes.readBigUInt64LE(at));
const root = () => read64(32);

async function damage(bytes: Buffer): Promise<string | undefined> {
  const file = join(directory, 'database');
  await writeFile(file, bytes);
  return (await readDatabase(file, bytes.length)).damage;
}

function changed(change: (bytes: Buffer) => void): Promise<string | undefined> {
  const copy = Buffer.from(database);
  change(copy);
  return damage(copy);
}

/** Where a bucket's name lies, and its value after it. */
function bucket(name: string): { element: number; key: number; value: number } {
  const page = root() * PAGE;
  for (let element = page + 16; ; element += 16) {
    const key = element + database.readUInt32LE(element + 4);
    const value = key + database.readUInt32LE(element + 8);
    if (database.toString('latin1', key, value) === name) return { element, key, value };
  }
}

async function freePages(): Promise<number[]> {
  const found: number[] = [];
  for (let page = 2; page < database.length / PAGE; page++) {
    if (!(await changed((bytes) => bytes.fill(0xff, page * PAGE, (page + 1) * PAGE)))) found.push(page);
  }
  // The later pages of a large value may contain anything too, but they belong to its first page.
  const isText = (page: number) => database.toString('latin1', page * PAGE, page * PAGE + 100) === 'x'.repeat(100);
  const first = (page: number): number => (isText(page) ? first(page - 1) : page);
  return found.filter((page) => found.includes(first(page)));
}

/** Keeps the list of free pages in the last of them, as etcd does on other systems than Linux. */
function withFreelist(bytes: Buffer, pages: readonly number[]): void {
  const list = free.at(-1)!;
  const at = list * PAGE;
  bytes.fill(0, at, at + PAGE);
  bytes.writeBigUInt64LE(BigInt(list), at);
  bytes.writeUInt16LE(0x10, at + 8);
  bytes.writeUInt16LE(pages.length, at + 10);
  for (const [index, page] of pages.entries()) bytes.writeBigUInt64LE(BigInt(page), at + 16 + index * 8);
  for (const meta of [16, PAGE + 16]) {
    bytes.writeBigUInt64LE(BigInt(list), meta + 32);
    bytes.writeBigUInt64LE(fnv1a(bytes.subarray(meta, meta + 56)), meta + 56);
  }
}

test('a database of etcd is intact, whatever its free pages contain', async () => {
  expect(await damage(database)).toBeUndefined();
  expect(free.length).toBeGreaterThan(2);
  expect(free.length).toBeLessThan(database.length / PAGE / 2);
});

test.each([
  ['a page too few', () => damage(database.subarray(0, -PAGE)), /bytes, not \d+ pages/],
  ['a page too many', () => damage(Buffer.concat([database, Buffer.alloc(PAGE)])), /bytes, not \d+ pages/],
  ['nothing', () => damage(Buffer.alloc(0)), /it ends before byte/],
  ['a first page alone', () => damage(database.subarray(0, PAGE)), /it ends before byte/],
  ['no database', () => damage(Buffer.alloc(database.length, 'x')), /not a meta page/],
  ['two meta pages that differ', () => changed((bytes) => reroot(bytes, PAGE + 16, 3)), /two meta pages differ/],
  [
    'a bucket whose pages lie far beyond the end, on which etcdutl takes all memory',
    () => changed((bytes) => bytes.writeBigUInt64LE(1n << 40n, bucket('alarm').value)),
    /refers to page \d+, which does not exist/,
  ],
  [
    'a bucket in the pages of another',
    () => changed((bytes) => bytes.writeBigUInt64LE(bytes.readBigUInt64LE(bucket('key').value), bucket('auth').value)),
    /page \d+ is used twice/,
  ],
  [
    'a cycle',
    () => changed((bytes) => bytes.writeBigUInt64LE(BigInt(root()), bucket('key').value)),
    /page \d+ is used twice/,
  ],
  [
    'keys out of order',
    () => changed((bytes) => bytes.write('zzzzz', bucket('alarm').key, 'latin1')),
    /keys out of order/,
  ],
  [
    'a value that is longer than it was',
    () => changed((bytes) => bytes.writeUInt32LE(1 << 30, bucket('lease').element + 12)),
    /more content than room|does not fit/,
  ],
  [
    'no bucket where there was one',
    () => changed((bytes) => bytes.writeUInt32LE(0, bucket('lease').element)),
    /a bucket of page \d+ is not a bucket/,
  ],
  [
    'no leases',
    () => changed((bytes) => bytes.write('leasf', bucket('lease').key, 'latin1')),
    /lacks the buckets lease/,
  ],
  [
    'a lease under the number of another',
    () => changed((bytes) => flip(bytes, bucket('lease').value + 16 + 16 + 16 + 7)),
    /cannot read the contents of its bucket lease/,
  ],
])('%s is reported', async (_name, found, message) => {
  const before = process.memoryUsage().rss;
  expect(await found()).toMatch(message);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});

test('a value of several pages is read whole', async () => {
  const [page] = Array.from({ length: database.length / PAGE }, (_, id) => id)
    .filter((id) => !free.includes(id) && read64(id * PAGE) === id)
    .filter((id) => database.toString('latin1', id * PAGE + PAGE, id * PAGE + 2 * PAGE) === 'x'.repeat(PAGE));
  expect(database.readUInt32LE(page! * PAGE + 12)).toBeGreaterThan(3);
  expect(await changed((bytes) => bytes.writeUInt32LE(1, page! * PAGE + 12))).toMatch(/more content than room/);
});

describe('a list of free pages', () => {
  test('is one of the pages, as etcdutl says too', async () => {
    const listing = Buffer.from(database);
    withFreelist(listing, free.slice(0, -1));
    expect(await damage(listing)).toBeUndefined();
    const file = join(directory, 'listing');
    await writeFile(file, listing);
    expect(await new Etcdutl(etcdutl()).snapshotStatus(file, {})).toMatchObject({ outcome: 'found' });
  });

  test('that names a page in use is damage: etcd would write over it', async () => {
    expect(await changed((bytes) => withFreelist(bytes, [root()]))).toMatch(/page \d+ is used twice/);
  });

  test('that names a page twice, or a page that does not exist, is damage', async () => {
    expect(await changed((bytes) => withFreelist(bytes, [free[0]!, free[0]!]))).toMatch(/page \d+ is used twice/);
    expect(await changed((bytes) => withFreelist(bytes, [1 << 30]))).toMatch(/which does not exist/);
  });
});

function reroot(bytes: Buffer, meta: number, page: number): void {
  bytes.writeBigUInt64LE(BigInt(page), meta + 16);
  bytes.writeBigUInt64LE(fnv1a(bytes.subarray(meta, meta + 56)), meta + 56);
}

function flip(bytes: Buffer, at: number): void {
  bytes[at]! ^= 1;
}
