import { setTimeout as sleep } from 'node:timers/promises';
import { Draw } from '../../../test/chaos/draw.ts';
import { sample } from '../backup/extent.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import {
  backup,
  CLUSTER,
  command,
  expectFailure,
  expectOnly,
  payloadsAlone,
  STOPPED,
  start,
  succeed,
  wholeSnapshots,
} from './commands.ts';
import { DirectoryPlace } from './directory-place.ts';
import { forEach } from './for-each.ts';
import { copyAll } from './place.ts';
import { nameOf, type Point, pointsOf, runTo } from './steps.ts';

const MIB = 1024 * 1024;
const DEAD = 'etcd-snapshot-20260101-000000-dead00';

let etcd: EtcdCluster;
/** Three snapshots of a small database. */
let past: DirectoryPlace;
/** Their ids, newest first. */
let ids: string[];

beforeAll(async () => {
  [etcd, past] = await Promise.all([EtcdCluster.start(), DirectoryPlace.make()]);
  await etcd.put(50);
  for (let n = 0; n < 3; n++) await succeed(backup(etcd, past.store));
  ids = await wholeSnapshots(past);
});
afterAll(async () => {
  await past?.[Symbol.asyncDispose]();
  await etcd?.stop();
});

async function prepared(): Promise<DirectoryPlace> {
  const place = await DirectoryPlace.make();
  await copyAll(past, place);
  await place.put(`${CLUSTER}/${DEAD}.db.zst`, Buffer.from('the rest of a dead run'));
  // Retention was deleting it.
  await place.put(`${CLUSTER}/${DEAD}.deleting`, Buffer.alloc(0));
  await place.put(`${CLUSTER}/${DEAD}.db.0123abcd.part`, Buffer.from('the rest of another'));
  return place;
}

const argsOf = {
  backup: (store: string) => backup(etcd, store, '--retention', 'last=3', '--sweep-age', '1ms'),
  prune: (store: string) => command('prune', store, '--retention', 'last=1', '--sweep-age', '1ms'),
  verify: (store: string) => command('verify', store),
};

/** Expects that all listed snapshots are complete, and that only those are missing that retention had deleted. */
async function expectWhole(place: DirectoryPlace, { done }: Point): Promise<string[]> {
  const listed = await wholeSnapshots(place);
  const left = ids.filter((id) => !done.some((step) => /^unlink .*\.json/.test(step) && step.includes(`${id}.json`)));
  expect(listed.filter((id) => ids.includes(id))).toEqual(left);
  const committed = done.some((step) => /^rename .*\.json\./.test(step) && !/\.verify\./.test(step));
  expect(listed.filter((id) => !ids.includes(id))).toHaveLength(committed ? 1 : 0);
  return listed;
}

async function expectSwept(place: DirectoryPlace, listed: readonly string[]): Promise<void> {
  const { snapshot } = await succeed(backup(etcd, place.store, '--retention', 'last=2', '--sweep-age', '1ms'));
  await expectOnly(place, [snapshot.id, ...listed.slice(0, 1)]);
}

describe.each(['backup', 'prune', 'verify'] as const)('%s to a file system, before each step', (name) => {
  let points: Point[];
  beforeAll(async () => {
    await using place = await prepared();
    points = await pointsOf(argsOf[name](place.store));
  });

  test('the healthy run goes through all phases', () => {
    const phases = {
      backup: ['sweep', 'connect', 'compare', 'stream', 'read-back', 'manifest', 'retention'],
      // It reads the newest snapshot before it deletes older ones.
      prune: ['retention', 'verify', 'sweep'],
      verify: ['verify', 'verify', 'verify'],
    };
    const seen = points.filter(({ next }) => next.startsWith('phase ')).map(({ next }) => next.slice(6));
    expect(seen).toEqual(phases[name]);
  });

  test('kill -9', () =>
    forEach(sample(points), nameOf, async (point) => {
      await using place = await prepared();
      expect((await runTo(point, 'SIGKILL', argsOf[name](place.store))).signal).toBe('SIGKILL');
      await expectSwept(place, await expectWhole(place, point));
    }));

  test('SIGTERM', () =>
    forEach(sample(points), nameOf, async (point) => {
      await using place = await prepared();
      const result = await runTo(point, 'SIGTERM', argsOf[name](place.store));
      // The signal may come too late to stop anything.
      if (result.code !== 0) expectFailure(result, 143, STOPPED);
      const listed = await wholeSnapshots(place);
      if (name === 'backup') {
        const stored =
          result.code === 0 ? result.result.snapshot.id : /orders\/([^.]+)\./.exec(result.result.error)?.[1];
        expect(listed.filter((id) => !ids.includes(id))).toEqual(stored === undefined ? [] : [stored]);
      }
      expect(listed).toContain(ids[0]);
      expect((await place.unfinished()).filter((key) => !key.includes(DEAD))).toEqual([]);
      const alone = (await payloadsAlone(place)).filter((id) => id !== DEAD);
      // From then on it is unknown whether the commit succeeded. Retention deletes the manifest of a snapshot first.
      if (!/^phase (manifest|retention)$/m.test([...point.done, point.next].join('\n'))) expect(alone).toEqual([]);
      await expectSwept(place, listed);
    }));
});

test('backup to a file system, kill -9 and SIGTERM at random moments of a larger database', async () => {
  const draw = new Draw(1);
  await using large = await EtcdCluster.start();
  await large.put(12, { valueSize: MIB });
  await using healthy = await DirectoryPlace.make();
  await succeed(backup(large, healthy.store));
  const since = performance.now();
  await succeed(backup(large, healthy.store));
  const milliseconds = performance.now() - since;

  const moments = Array.from({ length: 20 }, (_, n) => ({
    signal: n % 2 ? ('SIGTERM' as const) : ('SIGKILL' as const),
    after: Math.round((draw.below(1_000) / 1_000) * milliseconds),
  }));
  await forEach(
    sample(moments),
    ({ signal, after }) => `${signal} after ${after} of ${Math.round(milliseconds)} ms`,
    async ({ signal, after }) => {
      await using place = await DirectoryPlace.make();
      await copyAll(healthy, place);
      const before = await wholeSnapshots(place);
      const agent = start(backup(large, place.store, '--retention', 'last=2'));
      await sleep(after);
      const { code, result } = await agent.kill(signal);
      const listed = await wholeSnapshots(place);
      expect(listed).toContain(before[0]);
      if (code === 0) expect(listed).toContain(result.snapshot.id);
      // Retention deletes the oldest, and only once the new one is committed.
      const kept = listed.filter((id) => before.includes(id));
      if (kept.length === listed.length) expect(kept).toEqual(before);
      if (signal === 'SIGTERM') expect(await place.unfinished()).toEqual([]);
      const { snapshot } = await succeed(backup(large, place.store, '--retention', 'last=2', '--sweep-age', '1ms'));
      await expectOnly(place, [snapshot.id, ...listed.slice(0, 1)]);
    },
    2,
  );
});
