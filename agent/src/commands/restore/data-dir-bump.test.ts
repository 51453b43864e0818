import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { entryOf, silentEntry } from '../../../test/support/entry-of.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import type { WholeEntry } from '../../backup/catalog/catalog.ts';
import { type DataDirRequest, MARKER } from '../../backup/restore/restore-marker.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { bumpFor } from './data-dir-bump.ts';

const none = async () => [];
const lists = { cluster: 'orders', readNoted: none, readLost: none, readUnfinished: none };

test('if the notes cannot be read, a single member uses the data here, and several members are refused', async () => {
  const place = await mkdtemp(join(tmpdir(), 'bump-'));
  const manifest = manifestOf(Buffer.from('x'));
  const entry: WholeEntry = entryOf(manifest);
  const readAnswering = () => Promise.reject(new Error('the network is down'));
  const opened = { store: new FilesystemStore({ path: place }), readAnswering, ...lists } as unknown as OpenedStore;
  const warnings: string[] = [];
  const log = { warn: (message: string) => warnings.push(message) } as unknown as Log;
  const bump = (several: boolean, given?: number) => {
    const members = { name: 'a', initialCluster: 'a=http://a:1,b=http://b:1', initialAdvertisePeerUrls: 'http://a:1' };
    const asked = { initialClusterToken: 't', named: true, repeat: 'refuse' as const };
    const request = { dataDir: join(place, 'data'), ...members, ...asked, ...(given && { bumpRevision: given }) };
    return bumpFor({ opened, entry, request, several, context: { signal: new AbortController().signal, log } });
  };
  expect(await bump(false)).toBe(2e9);
  expect(warnings).toEqual([
    'the highest revision that was served is a guess: earlier restores and backups are unknown (the network is down); after the restore, restart clients that keep a cache',
  ]);
  await expect(bump(true)).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(
      /^earlier restores .*\(the network is down\); pass the same --bump-revision to all members/,
    ),
  });
  expect(await bump(true, 5)).toBe(5);
  await rm(place, { recursive: true });
});

test('if the notes cannot be read and data is here, the number is asked for, even if the data is ahead of the snapshot', async () => {
  await using etcd = await EtcdCluster.start({ size: 1 });
  await etcd.put(20);
  const member = etcd.member(0);
  await member.stop();
  const manifest = manifestOf(Buffer.from('x'), undefined, {
    createdAt: new Date().toISOString(),
    content: { revision: 10 },
  });
  const entry: WholeEntry = entryOf(manifest);
  const highest = {
    ...entry,
    id: 'b',
    manifest: { ...manifest, id: 'b', content: { ...manifest.content, revision: 5e9 } },
  };
  const warnings: string[] = [];
  const log = { warn: (message: string) => warnings.push(message) } as unknown as Log;
  const bump = (readAnswering: () => Promise<unknown>, given?: number) => {
    const members = { name: 'a', initialCluster: 'a=http://a:1', initialAdvertisePeerUrls: 'http://a:1' };
    const request = { dataDir: member.dataDir, ...members, named: true, repeat: 'refuse' as const };
    const store = new FilesystemStore({ path: member.dataDir });
    const context = { signal: new AbortController().signal, log };
    const asked = { ...request, ...(given && { bumpRevision: given }) };
    const opened = { store, readAnswering, ...lists } as unknown as OpenedStore;
    return bumpFor({ opened, entry, request: asked, several: false, context });
  };
  expect(await bump(async () => [entry, highest])).toBe(6e9);
  const away = () => Promise.reject(new Error('503'));
  await expect(bump(away)).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(
      /is unknown: earlier restores and backups are unknown \(503\); pass --bump-revision/,
    ),
  });
  expect(warnings).toEqual([]);
  expect(await bump(away, 7e9)).toBe(7e9);
  expect(warnings).toEqual([expect.stringMatching(/\(503\); checking --bump-revision only against the data here/)]);
});

describe('one object that the store does not give out', () => {
  const entry = (id: string, createdAt: string, more: object = {}): WholeEntry =>
    entryOf(manifestOf(Buffer.from(id), undefined, { id, createdAt }), more);
  const early = entry('a', '2026-01-01T00:00:00.000Z');
  const bump = async (entries: readonly object[], request: Partial<DataDirRequest> = {}, several = false) => {
    const place = await mkdtemp(join(tmpdir(), 'bump-'));
    const store = new FilesystemStore({ path: place });
    const opened = { store, readAnswering: async () => entries, ...lists } as unknown as OpenedStore;
    const members = { name: 'a', initialCluster: 'a=http://a:1,b=http://b:1', initialAdvertisePeerUrls: 'http://a:1' };
    const asked = { dataDir: join(place, 'data'), ...members, named: true, repeat: 'refuse' as const, ...request };
    const context = { signal: new AbortController().signal, log: { warn() {} } as unknown as Log };
    await mkdir(join(place, 'data'));
    // This directory was restored from another snapshot.
    const marker = { id: 'z', clusterId: 'c5', revision: 5, bumpRevision: 1, ...members };
    await writeFile(join(place, 'data', MARKER), JSON.stringify({ ...marker, sha256: '', at: '' }));
    return bumpFor({ opened, entry: early, request: asked, several, context }).finally(() =>
      rm(place, { recursive: true }),
    );
  };
  const away = {
    ...entry('b', '2026-01-02T00:00:00.000Z'),
    manifest: undefined,
    unread: 'unreachable',
    problem: '503',
  };

  test('is asked about if it was taken later', async () => {
    expect(await bump([early])).toBe(1e9);
    await expect(bump([early, { ...away, id: 'etcd-snapshot-20260102-000000-aaaaaa' }])).rejects.toThrow(
      /etcd-snapshot-20260102.* was taken later, and 503; pass/,
    );
    expect(await bump([early, { ...away, id: 'etcd-snapshot-20250102-000000-aaaaaa' }])).toBe(1e9);
    await expect(bump([early, { ...away, id: 'etcd-snapshot-20250102-000000-aaaaaa' }], {}, true)).rejects.toThrow(
      /^earlier restores .*503\); pass the same --bump-revision to all members/,
    );
  });

  test('that names a revision that no etcd reaches is asked about too', async () => {
    const lie = entry('b', '2026-01-02T00:00:00.000Z');
    Object.assign(lie.manifest.content, { revision: Number.MAX_SAFE_INTEGER });
    await expect(bump([early, lie])).rejects.toThrow(
      /b was taken later, and its manifest names revision 9007199254740991/,
    );
    expect(await bump([early, lie], { bumpRevision: 7e9 })).toBe(7e9);
    await expect(bump([early, lie], { bumpRevision: Number.MAX_SAFE_INTEGER })).resolves.toBe(Number.MAX_SAFE_INTEGER);
  });
});

test('a note that hangs leaves what the other notes know', async () => {
  const place = await mkdtemp(join(tmpdir(), 'bump-'));
  const note = (name: string) => ({ key: `orders/${name}.json`, size: 2, modified: new Date() });
  const manifest = manifestOf(Buffer.from('x'), undefined, { content: { revision: 10 } });
  const objects = [note('a.restored-c1'), note('a.restored-c2')];
  const entry: WholeEntry = entryOf(manifest, { manifestKey: 'a', objects });
  await mkdir(join(place, 'orders'));
  await writeFile(join(place, objects[0]!.key), JSON.stringify({ revision: 5e9 }));
  const store = new FilesystemStore({ path: place });
  const { get } = store;
  store.get = (key: string) => (key.includes('c2') ? new Promise<never>(() => {}) : get.call(store, key));
  const readAnswering = async () => [entry];
  const opened = { store, readAnswering, ...lists } as unknown as OpenedStore;
  const { timeout } = AbortSignal;
  AbortSignal.timeout = () => timeout.call(AbortSignal, 300);
  await mkdir(join(place, 'data'));
  const members = { name: 'a', initialCluster: 'a=http://a:1', initialAdvertisePeerUrls: 'http://a:1' };
  const marker = { id: 'z', clusterId: 'c5', revision: 5, bumpRevision: 1, ...members, sha256: '', at: '' };
  await writeFile(join(place, 'data', MARKER), JSON.stringify(marker));
  const request = { dataDir: join(place, 'data'), ...members, named: true, repeat: 'refuse' as const };
  const context = { signal: new AbortController().signal, log: {} as Log };
  try {
    await expect(bumpFor({ opened, entry, request, several: false, context })).rejects.toThrow(
      /is unknown: the note orders\/a.restored-c2.json cannot be read: .*for example 6000000000$/,
    );
  } finally {
    AbortSignal.timeout = timeout;
    await rm(place, { recursive: true });
  }
});

describe('into an empty directory, what is unknown counts as a step, and a warning names it', () => {
  let place: string;
  beforeEach(async () => {
    place = await mkdtemp(join(tmpdir(), 'bump-'));
    await mkdir(join(place, 'orders'));
  });
  afterEach(() => rm(place, { recursive: true }));
  const guess = (what: string) =>
    `the highest revision that was served is a guess: ${what}; after the restore, restart clients that keep a cache`;
  const manifest = manifestOf(Buffer.from('x'), undefined, { content: { revision: 7 } });
  const restored: WholeEntry = entryOf(manifest, { manifestKey: 'a' });
  const later = silentEntry('etcd-snapshot-20261122-023807-3f9c2a', '503');
  const one = { initialCluster: 'a=http://a:1' };
  const two = { initialCluster: 'a=http://a:1,b=http://b:1', initialClusterToken: 't' };
  const bump = async (entries: readonly object[], members: Partial<DataDirRequest> = one, more: object = {}) => {
    const opened = {
      store: new FilesystemStore({ path: place }),
      readAnswering: async () => entries,
      ...lists,
      ...more,
    };
    const warnings: string[] = [];
    const context = {
      signal: new AbortController().signal,
      log: { warn: (line: string) => warnings.push(line) } as unknown as Log,
    };
    const request = {
      ...{ dataDir: join(place, 'data'), name: 'a', initialAdvertisePeerUrls: 'http://a:1' },
      ...{ named: true, repeat: 'refuse', ...members },
    } as DataDirRequest;
    const several = members !== one;
    const given = await bumpFor({
      opened: opened as unknown as OpenedStore,
      entry: restored,
      request,
      several,
      context,
    });
    return [given, warnings];
  };
  const noted = async (text: string) => {
    const key = `orders/${manifest.id}.restored-c1.json`;
    await writeFile(join(place, key), text);
    return { ...restored, objects: [{ key, size: text.length, modified: new Date() }] };
  };

  test.each([
    ['one member', one],
    ['several members', two],
  ])('a note that was cut: %s', async (_, members) => {
    expect(await bump([await noted(JSON.stringify({ revision: 1e9 + 7 }))], members)).toEqual([2e9, []]);
    expect(await bump([await noted('{"id')], members)).toEqual([
      2e9,
      [guess(`${manifest.id} was restored as the cluster c1, which has no backup, and its note names no revision`)],
    ]);
  });

  test('a later snapshot that has lost its manifest', async () => {
    const lost = { ...later, unread: undefined, problem: 'it has no manifest' };
    for (const members of [one, two]) {
      expect(await bump([restored], members, { readLost: async () => [lost] })).toEqual([
        2e9,
        [guess(`${later.id} was taken later, and it has no manifest`)],
      ]);
    }
  });

  test('a later manifest that the store does not give out', async () => {
    expect(await bump([later, restored])).toEqual([2e9, [guess(`${later.id} was taken later, and 503`)]]);
    expect(await bump([later, await noted('{"id')])).toMatchObject([3e9, [expect.stringContaining('; ')]]);
    await expect(bump([later, restored], two)).rejects.toThrow(/^earlier restores and backups are unknown/);
  });
});
