import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueRoot } from '../controllers/certificates/issue.ts';
import { certificatesIn, idOf, shortId } from '../lib/certificates.ts';
import { RootMemory } from './trusted-roots.ts';

let dir: string;
let config: { dataDir: string; peerTlsDir: string; serverTlsDir: string };
let a: string;
let b: string;
const id = (pem: string) => shortId(idOf(certificatesIn(pem)![0]!));

beforeAll(async () => {
  [a, b] = (await Promise.all(['a', 'b'].map(async (name) => (await issueRoot(name, Date.now())).cert))) as [
    string,
    string,
  ];
});
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'roots-'));
  config = { dataDir: dir, peerTlsDir: join(dir, 'peer'), serverTlsDir: join(dir, 'server') };
  await Promise.all([config.peerTlsDir, config.serverTlsDir].map((each) => mkdir(each)));
  await put('peer', a);
  await put('server', b);
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const put = (of: 'peer' | 'server', text: string) => writeFile(join(dir, of, 'ca.crt'), text);
/** Start time relative to now, in ms. */
const at = (ms = 0) => new Date(Date.now() + ms).toISOString();
const later = (upSince: string, ms: number) => new Date(Date.parse(upSince) + ms).toISOString();
const serving = (upSince: string) => ({ upSince, isServing: true });
/** Times are in whole milliseconds. */
const look = async (memory: RootMemory) => {
  await memory.look();
  await sleep(2);
};

/** A process that starts after one observation and is observed again. */
async function started(memory: RootMemory): Promise<string> {
  await look(memory);
  const start = at();
  await memory.look(serving(start));
  return start;
}

test('content that is there before the start and after etcd has read it counts as loaded', async () => {
  const memory = await RootMemory.open(config);
  const start = await started(memory);
  expect(await memory.status(start)).toEqual({
    peer: { onDisk: id(a), loaded: id(a) },
    client: { onDisk: id(b), loaded: id(b) },
  });
  // Both before and after it is replaced.
  await put('peer', b);
  await memory.look(serving(start));
  expect((await memory.status(start))?.peer).toEqual({ onDisk: id(b), loaded: id(a) });
  // The kernel rounds. A hundredth of a second more is another process.
  for (const change of [-1_000, 1_000, 1])
    expect((await memory.status(later(start, change)))?.peer?.loaded).toBe(id(a));
  for (const change of [-2_000, 10, 990, 2_000])
    expect((await memory.status(later(start, change)))?.peer?.loaded).toBeUndefined();
});

test('nothing is known without a process, or before it serves', async () => {
  const memory = await RootMemory.open(config);
  await look(memory);
  const start = at();
  await memory.look({ upSince: start, isServing: false });
  expect(memory.knows(start)).toBe(false);
  expect((await memory.status(start))?.peer).toEqual({ onDisk: id(a) });
  expect((await memory.status(undefined))?.peer).toEqual({ onDisk: id(a) });
});

test('a process that started before the first observation may have read anything', async () => {
  const memory = await RootMemory.open(config);
  const start = at(-10);
  await memory.look(serving(start));
  await memory.look(serving(start));
  expect(await memory.status(start)).toEqual({ peer: { onDisk: id(a) }, client: { onDisk: id(b) } });
});

test('content that changed between the start and the first answer is unknown; the other is known', async () => {
  const memory = await RootMemory.open(config);
  await look(memory);
  const start = at();
  await sleep(2);
  await put('peer', b);
  await memory.look(serving(start));
  expect(await memory.status(start)).toEqual({
    peer: { onDisk: id(b) },
    client: { onDisk: id(b), loaded: id(b) },
  });
  await put('peer', a);
  await memory.look(serving(start));
  expect((await memory.status(start))?.peer).toEqual({ onDisk: id(a) });
});

test('the next process reads the current content; until it serves, nothing is known of it', async () => {
  const memory = await RootMemory.open(config);
  const first = await started(memory);
  await put('peer', b);
  await memory.look();
  const next = later(first, 10_000);
  expect((await memory.status(next))?.peer).toEqual({ onDisk: id(b) });
  await memory.look(serving(next));
  expect((await memory.status(next))?.peer).toEqual({ onDisk: id(b), loaded: id(b) });
  expect((await memory.status(first))?.peer).toEqual({ onDisk: id(b) });
});

test('the volume remembers it, for this boot of the machine', async () => {
  const start = await started(await RootMemory.open(config));
  await put('peer', b);
  const again = await RootMemory.open(config);
  expect((await again.status(start))?.peer).toEqual({ onDisk: id(b), loaded: id(a) });
  await again.look(serving(start));
  expect((await again.status(start))?.peer).toEqual({ onDisk: id(b), loaded: id(a) });
  const file = join(dir, 'roots.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const { boot, ...rest } = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ boot: `${boot}0`, ...rest }));
  expect((await (await RootMemory.open(config)).status(start))?.peer).toEqual({ onDisk: id(b) });
  for (const damaged of ['', '{', '{"boot":1}']) {
    await writeFile(file, damaged);
    expect((await (await RootMemory.open(config)).status(start))?.peer).toEqual({ onDisk: id(b) });
  }
});

test('content that cannot be written to the volume is remembered in this process', async () => {
  await mkdir(join(dir, 'roots.json.tmp'));
  const memory = await RootMemory.open(config);
  await expect(memory.look()).rejects.toThrow('EISDIR');
  await sleep(2);
  const start = at();
  await expect(memory.look(serving(start))).rejects.toThrow('EISDIR');
  expect((await memory.status(start))?.peer?.loaded).toBe(id(a));
  await rm(join(dir, 'roots.json.tmp'), { recursive: true });
  await memory.look();
  expect((await (await RootMemory.open(config)).status(start))?.peer?.loaded).toBe(id(a));
});

test('each of several roots is named, in any order of the file; unparsable content is unknown', async () => {
  const memory = await RootMemory.open(config);
  const both = [id(a), id(b)].sort().join('+');
  for (const text of [a + b, b + a]) {
    await put('peer', text);
    expect((await memory.status(undefined))?.peer).toEqual({ onDisk: both });
  }
  for (const text of ['', a.replace(/M/, '!'), a.repeat(9)]) {
    await put('peer', text);
    expect((await memory.status(undefined))?.peer).toEqual({});
  }
  await rm(config.peerTlsDir, { recursive: true });
  expect((await memory.status(undefined))?.peer).toEqual({});
});

test('a member without TLS has none, and no file', async () => {
  const memory = await RootMemory.open({ dataDir: dir });
  await memory.look(serving(at()));
  expect(await memory.status(at())).toBeUndefined();
  await expect(stat(join(dir, 'roots.json'))).rejects.toThrow('ENOENT');
});
