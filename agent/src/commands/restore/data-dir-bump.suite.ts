import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { entryOf } from '../../../test/support/entry-of.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import type { WholeEntry } from '../../backup/catalog/catalog.ts';
import { type DataDirRequest, MARKER } from '../../backup/restore/restore-marker.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { Budget } from '../../lib/limits/budget.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { bumpFor } from './data-dir-bump.ts';

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'bump-'));
  await mkdir(join(place, 'orders'));
});
afterEach(() => rm(place, { recursive: true }));

const entry = (id: string, revision = 7): WholeEntry =>
  entryOf(manifestOf(Buffer.from(id), undefined, { id, createdAt: '2026-01-01T00:00:00.000Z', content: { revision } }));
const restored = entry('a');
const one = { initialCluster: 'a=http://a:1' };
const two = { initialCluster: 'a=http://a:1,b=http://b:1', initialClusterToken: 't' };

interface Asked extends Partial<DataDirRequest> {
  readonly readAnswering?: () => Promise<unknown>;
  readonly agree?: (bump: number) => Promise<number>;
  readonly store?: FilesystemStore;
}

function bump({
  readAnswering = async () => [restored],
  agree,
  store = new FilesystemStore({ path: place }),
  ...asked
}: Asked = {}): Promise<number> {
  const opened = { store, cluster: 'orders', readAnswering };
  const request = {
    ...{ dataDir: join(place, 'data'), name: 'a', initialAdvertisePeerUrls: 'http://a:1' },
    ...{ named: true, repeat: 'refuse', ...one, ...asked },
  } as DataDirRequest;
  return bumpFor({
    opened: opened as unknown as OpenedStore,
    entry: restored,
    request,
    several: request.initialClusterToken !== undefined,
    agree,
    context: { budget: new Budget(), log: {} as never },
  });
}

/** The first revision is that of this moment. */
const isNow = (bump: number) => Math.abs((bump + 7) / 1000 - Date.now()) < 60_000;

test('a restore begins at the time, whatever can be read', async () => {
  expect(isNow(await bump())).toBe(true);
  expect(isNow(await bump({ readAnswering: () => Promise.reject(new Error('503')) }))).toBe(true);
  await writeFile(join(place, 'orders/a.restored-c1.json'), '{"id');
  expect(isNow(await bump())).toBe(true);
});

test('a restore within the same moment begins beyond the one that a note or a backup knows', async () => {
  const highest = Date.now() * 1000 + 5e9;
  expect(await bump({ readAnswering: async () => [entry('b', highest)] })).toBe(highest + 1e9 - 7);
  await writeFile(join(place, 'orders/a.restored-c1.json'), JSON.stringify({ revision: highest }));
  expect(await bump()).toBe(highest + 1e9 - 7);
});

test('members of which none has a number yet agree on one', async () => {
  const asked: number[] = [];
  const agree = async (own: number) => {
    asked.push(own);
    return 5;
  };
  expect(await bump({ ...two, agree })).toBe(5);
  expect(asked.map(isNow)).toEqual([true]);
  expect(await bump({ ...two, agree, bumpRevision: 9 })).toBe(9);
  await bump({ agree });
  expect(asked).toHaveLength(1);
});

test('of several members none takes a number that may be old, because a note was not read', async () => {
  await writeFile(join(place, 'orders/b.restored-c1.json'), '{}');
  const store = new FilesystemStore({ path: place });
  store.get = () => Promise.reject(new AgentError(ExitCode.storeUnreachable, '503'));
  await expect(bump({ ...two, store })).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(
      /^the notes of restores .* \(503\), .* --sha256=[0-9a-f]+ and --bump-revision=\d{16} to all members$/,
    ),
  });
  expect(await bump({ ...two, store, bumpRevision: 9 })).toBe(9);
  expect(isNow(await bump({ store }))).toBe(true);
});

test('a restore that another one of the same token has begun, with other members, is not joined', async () => {
  const begun = { bump: 5, token: 't', clusterId: 'c1', revision: 12, at: new Date().toISOString() };
  await writeFile(join(place, 'orders/a.restored-c1.json'), JSON.stringify(begun));
  expect(isNow(await bump(two))).toBe(true);
});

test('data that are here are a floor for a given number too', async () => {
  await using etcd = await EtcdCluster.start({ size: 1 });
  await etcd.put(20);
  const member = etcd.member(0);
  await member.stop();
  const { dataDir } = member;
  expect(isNow(await bump({ dataDir }))).toBe(true);
  await expect(bump({ dataDir, bumpRevision: 1 })).rejects.toMatchObject({
    exitCode: ExitCode.refused,
    message: expect.stringMatching(/^1 moves the revision of a from 7 to 8, but the data in .* reached/),
    at: 'bumpRevision',
  });
  expect(await bump({ dataDir, bumpRevision: 1e9 })).toBe(1e9);
});

test('data that cannot be read, and a directory that was restored before, need no number', async () => {
  await mkdir(join(place, 'data/member/snap'), { recursive: true });
  await writeFile(join(place, 'data/member/snap/db'), 'damaged');
  expect(isNow(await bump())).toBe(true);
  const marker = { id: 'z', clusterId: 'c5', revision: 5, bumpRevision: 1, name: 'a', initialAdvertisePeerUrls: 'x' };
  await writeFile(join(place, 'data', MARKER), JSON.stringify({ ...marker, ...one, sha256: '', at: '' }));
  expect(isNow(await bump())).toBe(true);
});
