// Kills copy and adopt at every step: an incomplete snapshot is never listed, and the next run completes the work.

import { sample } from '../backup/extent.ts';
import {
  backup,
  CLUSTER,
  command,
  expectFailure,
  expectOnly,
  payloadsAlone,
  succeed,
  wholeSnapshots,
} from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { forEach } from '../faults/for-each.ts';
import { copyAll } from '../faults/place.ts';
import { nameOf, type Point, pointsOf, runTo } from '../faults/steps.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';

let etcd: EtcdCluster;
let source: DirectoryPlace;
/** Newest first. */
let ids: string[];

beforeAll(async () => {
  [etcd, source] = await Promise.all([EtcdCluster.start(), DirectoryPlace.make()]);
  await etcd.put(50);
  for (let n = 0; n < 3; n++) await succeed(backup(etcd, source.store));
  ids = await wholeSnapshots(source);
});
afterAll(async () => {
  await source?.[Symbol.asyncDispose]();
  await etcd?.stop();
});

const copy = (to: DirectoryPlace) => command('copy', source.store, '--to', to.store);

describe('copy, before each step', () => {
  let points: Point[];
  beforeAll(async () => {
    await using to = await DirectoryPlace.make();
    points = await pointsOf(copy(to));
  });

  test('the healthy run goes through all phases, once for each snapshot', () => {
    const seen = points.filter(({ next }) => next.startsWith('phase ')).map(({ next }) => next.slice(6));
    expect(seen).toEqual(Array.from({ length: 3 }, () => ['copy', 'read-back', 'manifest']).flat());
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('%s', (signal) =>
    forEach(sample(points), nameOf, async (point) => {
      await using to = await DirectoryPlace.make();
      const result = await runTo(point, signal, copy(to));
      if (signal === 'SIGKILL') expect(result.signal).toBe('SIGKILL');
      else if (result.code !== 0) expectFailure(result, 143, /^stopped by SIGTERM$/);
      // The existing snapshots are the newest ones, and complete.
      const there = await wholeSnapshots(to);
      expect(there).toEqual(ids.slice(0, there.length));
      if (signal === 'SIGTERM') {
        expect(await to.unfinished()).toEqual([]);
        if (!point.next.startsWith('phase manifest') && !/^phase manifest$/m.test(point.done.join('\n'))) {
          expect(await payloadsAlone(to)).toEqual([]);
        }
      }
      await succeed(copy(to));
      expect(await wholeSnapshots(to)).toEqual(ids);
      await succeed(command('prune', to.store, '--retention', 'last=9', '--sweep-age', '1ms'));
      await expectOnly(to, ids);
    }),
  );
});

test('adopt, kill -9 before each step', async () => {
  await using foreign = await DirectoryPlace.make();
  for (const name of ['a.db', 'b.db']) {
    await succeed(command('restore fetch', source.store, '--to', `${foreign.path}/${CLUSTER}/${name}`));
  }
  const adopt = (place: DirectoryPlace) => command('adopt', place.store);
  await using first = await DirectoryPlace.make();
  await copyAll(foreign, first);
  await forEach(sample(await pointsOf(adopt(first))), nameOf, async (point) => {
    await using place = await DirectoryPlace.make();
    await copyAll(foreign, place);
    await runTo(point, 'SIGKILL', adopt(place));
    await wholeSnapshots(place);
    await succeed(adopt(place));
    expect((await wholeSnapshots(place)).sort()).toEqual(['a', 'b']);
    expect(await place.get(`${CLUSTER}/a.db`)).toEqual(await foreign.get(`${CLUSTER}/a.db`));
  });
});
