import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EtcdNode } from '../../control-plane/node/node.ts';
import { JOURNAL_SCHEMA, Journal, type JournalContent } from '../../control-plane/restore/journal.ts';
import { tokenOf } from '../../control-plane/restore/prepare.ts';
import type { CommandContext } from '../cli/command.ts';
import type { Settings } from '../cli/settings.ts';
import { begun, endedBefore, endOf, isOf, markServed, noteInStore } from './control-plane-execute.ts';

let place: string;
let folder: string;
const warnings: string[] = [];
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'noted-'));
  folder = join(place, 'store', 'orders');
  await mkdir(folder, { recursive: true });
  warnings.length = 0;
});
afterEach(() => rm(place, { recursive: true }));

const context = () =>
  ({
    settings: { store: () => ({ filesystem: { path: join(place, 'store') } }) },
    signal: new AbortController().signal,
    log: { warn: (message: string) => warnings.push(message) },
  }) as unknown as CommandContext;

/** Journal of a restore on a node that has stopped its etcd. */
function node(name: string, changed: Partial<JournalContent> = {}): Promise<Journal> {
  const content = {
    ...{ schema: JOURNAL_SCHEMA, state: 'stopped', startedAt: new Date().toISOString() },
    ...{ id: 'a', clusterId: 'c1', revision: 9, bump: 2, token: 't', sha256: 'f' },
    initialCluster: 'cp1=http://a:2380,cp2=http://b:2380',
    note: { key: `orders/${changed.id ?? 'a'}.restored-c1.json`, from: 'c0' },
    ...changed,
  };
  return Journal.begin(join(place, name), content as unknown as JournalContent);
}

test('the run that continues a restore writes a note that could not be written before', async () => {
  await rm(folder, { recursive: true });
  await writeFile(folder, 'no folder');
  const journal = await node('cp1');
  const { note } = journal.content;
  await noteInStore(journal, context());
  expect(warnings).toEqual([expect.stringMatching(/^cannot note the restore/)]);
  expect((await Journal.newest(join(place, 'cp1')))?.content.note).toEqual(note);
  await rm(folder);
  await noteInStore(journal, context());
  expect(await readdir(folder)).toEqual(['a.restored-c1.json']);
  expect((await Journal.newest(join(place, 'cp1')))?.content.note).toEqual({ ...note, isWritten: true });
  await rm(join(folder, 'a.restored-c1.json'));
  await noteInStore(journal, context());
  expect(await readdir(folder)).toEqual([]);
  expect(warnings).toHaveLength(1);
});

test('each of several nodes marks that the restored cluster has served; a store that takes no mark is a warning', async () => {
  const member = { name: 'cp1' };
  const of = (more: Partial<JournalContent>) =>
    node('cp1', { node: { member } as EtcdNode, memberId: 'a1', state: 'served', ...more });
  const journal = await of({});
  await noteInStore(journal, context());
  await markServed(journal, context());
  await markServed(await of({ initialCluster: 'cp1=http://a:2380', clusterId: 'c2' }), context());
  expect((await readdir(folder)).sort()).toEqual(['a.restored-c1-a1.json', 'a.restored-c1.json']);
  const marked = JSON.parse(await readFile(join(folder, 'a.restored-c1-a1.json'), 'utf8'));
  expect(marked).toMatchObject({ id: 'a', clusterId: 'c1', name: 'cp1', peerUrls: 'http://a:2380', bump: 2 });
  expect(warnings).toEqual([]);
  await rm(folder, { recursive: true });
  await writeFile(folder, 'no folder');
  await markServed(journal, context());
  expect(warnings).toEqual([expect.stringMatching(/has served \(.*\); take a backup of it$/)]);
});

test('a store that takes no note: the warning says what to pass to the other nodes', async () => {
  await rm(folder, { recursive: true });
  await writeFile(folder, 'no folder');
  await noteInStore(await node('cp1'), context());
  await noteInStore(await node('cp2', { initialCluster: 'cp1=http://a:2380', id: 'b' }), context());
  expect(warnings).toEqual([
    expect.stringMatching(/; pass --restored-from c0 to the next backup; pass --bump-revision=2 to the other nodes$/),
    expect.stringMatching(/; pass --restored-from c0 to the next backup$/),
  ]);
});

test('a node whose number was overwritten by another one is refused', async () => {
  const agreed = 'orders/a.restored-ab.json';
  const note = { key: 'orders/a.restored-c1.json', from: 'c0', agreed };
  await writeFile(join(place, 'store', agreed), JSON.stringify({ id: 'a', bump: 3 }));
  await expect(noteInStore(await node('cp1', { note }), context())).rejects.toMatchObject({
    exitCode: 40,
    message: expect.stringMatching(/^another node has restored a with --bump-revision=3/),
  });
  await noteInStore(await node('cp2', { note, bump: 3 }), context());
});

describe('a node that prepared before another one wrote its note', () => {
  beforeEach(async () => noteInStore(await node('cp1'), context()));

  test.each([
    ['of another snapshot', { id: 'b' }],
    ['with another number', { bump: 3 }],
  ])('is refused, %s under the same cluster id, and may correct it', async (_what, changed) => {
    await expect(noteInStore(await node('cp2', changed), context())).rejects.toMatchObject({
      exitCode: 40,
      message: expect.stringMatching(
        /^another node has restored a with --bump-revision=2 as the same cluster c1, .* --undo/,
      ),
    });
    expect(await readdir(folder)).toEqual(['a.restored-c1.json']);
    await noteInStore(await node('cp3'), context());
    expect(warnings).toEqual([]);
  });

  test('is only warned after etcd was started', async () => {
    await noteInStore(await node('cp2', { id: 'b', state: 'starting' }), context());
    expect(warnings).toEqual([expect.stringMatching(/^another node has restored a/)]);
  });

  test('continues with the same data under another name, or alone', async () => {
    const token = tokenOf({ content: { sha256: 'f' } }, 2);
    await noteInStore(await node('cp2', { id: 'b', token }), context());
    await noteInStore(await node('lone', { id: 'd', initialCluster: 'cp1=http://a:2380' }), context());
    expect(await readdir(folder)).toHaveLength(3);
  });
});

test('of two at the same time at least one is refused', async () => {
  const nodes = [await node('cp1'), await node('cp2', { id: 'b' })];
  const ended = await Promise.allSettled(nodes.map((each) => noteInStore(each, context())));
  expect(ended.map(({ status }) => status)).toContain('rejected');
});

test('the result names the old data, if there is any', async () => {
  const [dataDir, walDir] = [join(place, 'data'), join(place, 'log')];
  const replacedDir = join(dataDir, 'member.replaced-1');
  const content = {
    ...{ schema: JOURNAL_SCHEMA, id: 'a', state: 'done', startedAt: new Date().toISOString(), replacedDir },
    ...{ node: { member: { name: 'cp1', dataDir, walDir } }, manifestsDir: '/manifests' },
  };
  const end = async () => endOf(await Journal.begin(place, content as unknown as JournalContent));
  const { text, data } = await end();
  expect(text).toMatch(/data\/member has the restored data; there were no old data$/m);
  expect([text, JSON.stringify(data)].join()).not.toContain('replaced-');
  await mkdir(replacedDir, { recursive: true });
  expect((await end()).text).toMatch(/; the old data are in \S+\/data\/member\.replaced-1$/m);
  expect((await end()).data).toMatchObject({ aside: replacedDir });
  await mkdir(join(walDir, 'replaced-1'), { recursive: true });
  expect((await end()).text).toMatch(/\/data\/member\.replaced-1 and \S+\/log\/replaced-1$/m);
});

describe('a request by a key', () => {
  const asked = (values: Record<string, string>) =>
    ({
      args: [],
      text: (name: string) => values[name],
      flag: () => false,
      isSet: (name: string) => name === 'config',
    }) as unknown as Settings;
  const places = () => ({ manifestsDir: place, journalDir: join(place, 'cp1') });
  const sha256 = 'a'.repeat(64);

  test('is not carried out by the restore of another snapshot', async () => {
    await node('cp1', { state: 'done', sha256 });
    const found = (values: Record<string, string>, id?: string) =>
      endedBefore(asked(values), places(), id === undefined ? undefined : { id });
    expect(await found({ objectKey: 'b.db' })).toBeUndefined();
    expect(await found({ objectKey: 'b.db' }, 'b')).toBeUndefined();
    expect(await found({ objectKey: 'b.db', sha256: 'b'.repeat(64) })).toBeUndefined();
    expect(await found({ objectKey: 'a.db' }, 'a')).toBeDefined();
    expect(await found({ objectKey: 'a.db', sha256 })).toBeDefined();
    await node('cp1', { state: 'done', objectKey: 'c.db' });
    expect(await found({ objectKey: 'c.db' })).toBeDefined();
  });

  test('does not continue the restore of another object', async () => {
    await node('cp1', { objectKey: '' });
    await expect(begun(asked({ objectKey: 'b.db' }), places())).rejects.toThrow(/has not ended/);
    await node('cp1', { objectKey: 'b.db' });
    expect(await begun(asked({ objectKey: 'b.db' }), places())).toBeDefined();
    // An earlier agent did not record it.
    await node('cp1');
    expect(await begun(asked({ objectKey: 'b.db' }), places())).toBeDefined();
  });
});

test('data whose log cannot be read may still be those of the restore', async () => {
  const dataDir = join(place, 'data');
  const member = { dataDir, name: 'cp1', peerUrls: 'http://a:2380' };
  const made = { id: 'a', token: 't', bump: 2, clusterId: 'c1' };
  const isIt = () => isOf(made, { member } as EtcdNode);
  expect(await isIt()).toBe(false);
  await mkdir(join(dataDir, 'member/wal'), { recursive: true });
  await writeFile(join(dataDir, 'member/wal/0.wal'), Buffer.alloc(100));
  await expect(isIt()).rejects.toMatchObject({
    exitCode: 40,
    message: expect.stringMatching(/wal cannot be read .*restored from a.*larger --bump-revision/),
  });
});
