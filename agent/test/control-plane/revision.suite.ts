// The revision never decreases, whatever was restored before and whatever can still be read of it, and nobody is asked for a number.
import { cp, mkdir, readdir, rm, truncate, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expectFailure, run, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { LocalScripts } from '../support/command-scripts.ts';
import { nextBump, restoreArgs, takeSnapshot } from './commands.ts';
import { FakeControlPlane, type FakeNode } from './node-fixture.ts';

let place: DirectoryPlace;
let plane: FakeControlPlane;
let node: FakeNode;
beforeEach(async () => {
  [place, plane] = await Promise.all([DirectoryPlace.make(), FakeControlPlane.start()]);
  [node] = plane.nodes as [FakeNode];
});
afterEach(async () => {
  await plane?.[Symbol.asyncDispose]();
  await place?.[Symbol.asyncDispose]();
});

const revision = async (): Promise<number> =>
  JSON.parse(await plane.client.etcdctl('get', 'key', '-w', 'json')).header.revision;
const backup = async (value: string): Promise<string> => {
  await plane.put('key', value);
  return takeSnapshot(plane, place);
};
const keyOf = async (id: string, ending: RegExp): Promise<string> => {
  const key = (await place.keys()).find((name) => name.includes(id) && ending.test(name))!;
  return join(place.path, key);
};
/** A lost disk: the kubelet starts another etcd on the empty directory. */
const loseData = async () => {
  await emptyData(node);
  await plane.healthy();
};
const emptyData = async ({ dataDir, kubelet }: FakeNode) => {
  await rm(dataDir, { recursive: true });
  await mkdir(dataDir, { mode: 0o700 });
  process.kill(kubelet.pid('etcd.yaml')!, 'SIGKILL');
};
const loseJournals = async ({ root } = node) => {
  const parent = join(root, 'kubernetes');
  const names = (await readdir(parent)).filter((name) => name.startsWith('etcd-restore-'));
  await Promise.all(names.map((name) => rm(join(parent, name), { recursive: true })));
};

test('an older snapshot after a newer one, with no backup in between', async () => {
  const older = await backup('older');
  const newer = await backup('mistake');
  await succeed(restoreArgs(node, place, newer, '--bump-revision=9000000000'));
  await plane.healthy();
  await plane.put('key', 'after');
  const before = await revision();
  expect(before).toBeGreaterThan(9_000_000_000);

  const files = await node.files();
  for (const mode of [[], ['--plan']]) {
    expectFailure(
      await run(restoreArgs(node, place, older, '--bump-revision=5000000000', ...mode)),
      40,
      new RegExp(`--bump-revision: 5000000000 moves .* to 50000000\\d+, but .*${before}.*for example \\d{16}`),
    );
  }
  expect(await node.files()).toEqual(files);

  await succeed(restoreArgs(node, place, older));
  await plane.healthy();
  expect(await plane.get('key')).toBe('older');
  expect(await revision()).toBeGreaterThan(before);
});

test('the same one again, with neither journals, notes nor data', async () => {
  const id = await backup('one');
  await succeed(restoreArgs(node, place, id));
  await plane.healthy();
  await plane.put('key', 'two');
  const before = await revision();
  for (const key of (await place.keys()).filter((name) => name.includes('.restored-'))) {
    await rm(join(place.path, key));
  }
  await loseJournals();
  await loseData();
  await succeed(restoreArgs(node, place, id));
  await plane.healthy();
  expect(await plane.get('key')).toBe('one');
  expect(await revision()).toBeGreaterThan(before);
});

test('etcd has just begun on an empty directory, and its database has nothing yet', async () => {
  const id = await backup('one');
  await emptyData(node);
  await succeed(restoreArgs(node, place, id));
  await plane.healthy();
  expect(await plane.get('key')).toBe('one');
});

test.each<[string, (id: string) => Promise<void>]>([
  ['cut', async (id) => truncate(await keyOf(id, /\.json$/), 300)],
  [
    'deleted',
    async (id) => {
      await rm(await keyOf(id, /\.json$/));
      await age(await keyOf(id, /\.db/));
    },
  ],
])('the same one again, when the manifest of the backup since is %s', async (_, harm) => {
  const first = await backup('one');
  await succeed(restoreArgs(node, place, first));
  await plane.healthy();
  const second = await backup('two');
  const before = await revision();
  await harm(second);
  await loseData();
  await succeed(restoreArgs(node, place, first));
  await plane.healthy();
  expect(await plane.get('key')).toBe('one');
  expect(await revision()).toBeGreaterThan(before);
});

test('the manifest of a later backup hangs', async () => {
  const older = await backup('older');
  const newer = await backup('newer');
  await using scripts = await LocalScripts.make();
  await cp(place.path, scripts.directory, { recursive: true });
  const command = await scripts.hanging('get', `*${newer}.json`);
  const before = await revision();
  await succeed(restoreArgs(node, { store: JSON.stringify({ command }) }, older));
  await plane.healthy();
  expect(await plane.get('key')).toBe('older');
  expect(await revision()).toBeGreaterThan(before);
}, 180_000);

const planOf = async (...args: string[]): Promise<{ text: string; steps: { commands: string[] }[] }> => {
  const { stdout } = await run(restoreArgs(node, place, ...args, '--plan', '--output=text'));
  const { steps } = await succeed(restoreArgs(node, place, ...args, '--plan'));
  return { text: stdout, steps };
};

/** A backup of the last hour may still be running. */
const age = async (file: string) => utimes(file, new Date(), new Date(Date.now() - 2 * 3_600_000));

test.each<[string, (id: string) => Promise<void>]>([
  ['its payload', async (id) => rm(await keyOf(id, /\.db/))],
  ['the end of its manifest', async (id) => truncate(await keyOf(id, /\.json$/), 300)],
  [
    'its manifest',
    async (id) => {
      await rm(await keyOf(id, /\.json$/));
      await age(await keyOf(id, /\.db/));
    },
  ],
])('a newest backup without %s is not passed over in silence', async (_, harm) => {
  const first = await backup('one');
  const second = await backup('two');
  await harm(second);
  const files = await node.files();
  expectFailure(
    await run(restoreArgs(node, place)),
    40,
    new RegExp(`${second} is passed over: it(s payload|s manifest| has no manifest).*name ${first} to confirm`),
  );
  expect(await node.files()).toEqual(files);
  const { text } = await planOf();
  expect(text).toMatch(new RegExp(`${second} is passed over: it(s payload|s manifest| has no manifest)`));
  expect(text).toMatch(`restore control-plane ${first} `);
  await succeed(restoreArgs(node, place, first));
  await plane.healthy();
  expect(await plane.get('key')).toBe('one');
});

test('a backup of another restore of the same snapshot belongs to this cluster', async () => {
  const first = await backup('one');
  await succeed(restoreArgs(node, place, first));
  await plane.healthy();
  const sibling = await backup('two');
  await succeed(restoreArgs(node, place, first, await nextBump(plane)));
  await plane.healthy();
  await succeed(restoreArgs(node, place, sibling));
  await plane.healthy();
  expect(await plane.get('key')).toBe('two');
});

test('the restore of an export is noted beside its snapshot, where later restores find it', async () => {
  await backup('one');
  await plane.put('key', 'two');
  const own = await takeSnapshot(plane, place, '--object-key=elsewhere/latest.db');
  const byKey = ['--object-key=elsewhere/latest.db'];
  await succeed(restoreArgs(node, place, ...byKey));
  await plane.healthy();
  const before = await revision();
  expect((await place.keys()).filter((key) => key.includes('.restored-'))).toEqual([expect.stringContaining(own)]);
  await loseJournals();
  await loseData();
  await succeed(restoreArgs(node, place, ...byKey));
  await plane.healthy();
  expect(await plane.get('key')).toBe('two');
  expect(await revision()).toBeGreaterThan(before);
});

test('the newest backup is of an etcd that was emptied under its cluster id: it is not restored unasked', async () => {
  for (let n = 0; n < 40; n++) await plane.put('key', String(n));
  const full = await backup('full');
  await loseData();
  const emptied = await takeSnapshot(plane, place);
  const higher = `${full} is passed over: it has revision \\d+ of the same etcd .*; name it to restore it`;
  expectFailure(await run(restoreArgs(node, place)), 40, new RegExp(`${higher}; name ${emptied} to confirm`));
  expect((await planOf()).text).toMatch(new RegExp(higher));
  await succeed(restoreArgs(node, place, full));
  await plane.healthy();
  expect(await plane.get('key')).toBe('full');
});

test.each([
  ['a', true],
  ['no', false],
])(
  'three nodes that lost a restore that had served, with %s backup since, do not serve its revisions again',
  async (_, isBackedUp) => {
    await using three = await FakeControlPlane.start({ size: 3 });
    const restored = async (id: string) => {
      const results = await Promise.all(three.nodes.map((each) => succeed(restoreArgs(each, place, id, '--wait=60s'))));
      await three.healthy();
      return new Set(results.map(({ clusterId }) => clusterId));
    };
    const came = async (): Promise<number> =>
      JSON.parse(await three.client.etcdctl('get', 'key', '-w', 'json')).header.revision;
    await three.put('key', 'old');
    const first = await takeSnapshot(three, place);
    const before = await restored(first);
    for (let n = 0; n < 5; n++) await three.put('key', `served ${n}`);
    if (isBackedUp) await takeSnapshot(three, place);
    const highest = await came();
    for (const each of three.nodes) await loseJournals(each);
    for (const each of three.nodes) await emptyData(each);

    const again = await restored(first);
    expect(again.size).toBe(1);
    expect(before).not.toEqual(again);
    expect(await came()).toBeGreaterThan(highest);
  },
);
