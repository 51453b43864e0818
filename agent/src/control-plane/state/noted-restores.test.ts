import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { notedIn, notesBeside } from './noted-restores.ts';

const { signal } = new AbortController();
let path: string;
let store: FilesystemStore;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'noted-'));
  await mkdir(join(path, 'orders'));
  store = new FilesystemStore({ path });
});
afterEach(() => rm(path, { recursive: true }));

const write = async (name: string, document: unknown) => {
  const key = `orders/${name}`;
  await writeFile(join(path, key), typeof document === 'string' ? document : JSON.stringify(document));
  return key;
};
const noted = (limit = signal) => notedIn(store, ['orders/'], limit);
const notes = async () => (await noted()).notes;

test('the note of a snapshot outside any folder is stored next to another snapshot, under its own id', async () => {
  await write('beside.restored-c1.json', {
    id: 'elsewhere',
    revision: 1e9 + 7,
    bump: 1e9,
    token: 't',
    marksServing: true,
  });
  await write('beside.restored-c1-8e9e05c52164694d.json', {});
  expect((await noted()).noteKeys).toHaveLength(2);
  expect(await notes()).toEqual([
    { id: 'elsewhere', clusterId: 'c1', revision: 1e9 + 7, bump: 1e9, token: 't', marksServing: true },
  ]);
});

test.each([-5, 0, 2 ** 52 + 2, Number.MAX_SAFE_INTEGER, 1.5, 'x'])(
  'the revision %p is not believed',
  async (revision) => {
    await write('a.restored-c1.json', { revision });
    expect((await notes()).map((note) => note.revision)).toEqual([undefined]);
  },
);

test('the highest revision that is believed of a store', async () => {
  await write('a.restored-c1.json', { revision: 2 ** 52 });
  expect(await notes()).toMatchObject([{ revision: 2 ** 52 }]);
});

test.each([ExitCode.storeRefused, ExitCode.nothingThere])(
  'a note that is not given out (%i) counts by its name, and so does one that was cut',
  async (exitCode) => {
    await write('a.restored-c1.json', '{"id');
    expect(await notes()).toMatchObject([{ id: 'a', clusterId: 'c1' }]);
    store.get = () => Promise.reject(new AgentError(exitCode, 'not for us'));
    expect(await notes()).toMatchObject([{ id: 'a', clusterId: 'c1' }]);
  },
);

test('a note that hangs leaves the others, and a listing that hangs ends', async () => {
  await write('a.restored-c1.json', { revision: 5e9 });
  await write('a.restored-c2.json', {});
  const { get } = store;
  store.get = (key: string) => (key.includes('c2') ? new Promise<never>(() => {}) : get.call(store, key));
  expect(await noted(AbortSignal.timeout(200))).toMatchObject({
    notes: [{ revision: 5e9 }],
    unread: expect.stringMatching(/./),
  });
  store.list = async function* () {
    await new Promise<never>(() => {});
  };
  expect(await noted(AbortSignal.timeout(50))).toEqual({
    ...{ noteKeys: [], notes: [] },
    unread: expect.stringMatching(/./),
  });
});

test('who compares notes needs all of them', async () => {
  const key = await write('a.restored-c1.json', {});
  await write('b.restored-c1.json', {});
  await write('b.restored-c1-a1.json', { id: 'c', bump: 5 });
  await write('b.restored-c2.json', {});
  await write('b.agreed-c1.json', {});
  expect((await notesBeside(store, key, signal)).map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']);
  store.get = () => Promise.reject(new AgentError(ExitCode.storeUnreachable, '503'));
  await expect(notesBeside(store, key, signal)).rejects.toThrow('503');
});
