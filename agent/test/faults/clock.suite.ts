import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { BucketPlace } from './bucket-place.ts';
import { backup, command, expectOnly, succeed, wholeSnapshots } from './commands.ts';
import { DirectoryPlace } from './directory-place.ts';
import type { Place } from './place.ts';

const day = 86_400_000;
const shifts: [string, number][] = [
  ['a day behind', -day],
  ['a day ahead', day],
  ['ten years ahead', 3_652 * day],
];
const withClock = (shift: number) => ({
  env: { NODE_OPTIONS: `--import ${import.meta.resolve('./shifted-clock.ts')}`, CLOCK_SHIFT: String(shift) },
});

let etcd: EtcdCluster;
let server: Versitygw;
beforeAll(async () => {
  [etcd, server] = await Promise.all([EtcdCluster.start(), Versitygw.start()]);
  await etcd.put(50);
});
afterAll(async () => {
  await Promise.all([etcd?.stop(), server?.stop()]);
});

const stores: [string, () => Promise<Place & AsyncDisposable>][] = [
  ['a file system', () => DirectoryPlace.make()],
  ['S3', () => BucketPlace.make(server)],
];

describe.each(stores)('%s, and our clock is', (_, make) => {
  test.each(shifts)('%s: it is backed up, nothing is pruned, and the log says why', async (_, shift) => {
    await using place = await make();
    const old: string[] = [];
    for (let n = 0; n < 3; n++) old.push((await succeed(backup(etcd, place.store))).snapshot.id);

    const off = await succeed(backup(etcd, place.store, '--retention', 'last=1'), withClock(shift));
    const why = expect.stringMatching(/^the store's clock is .* (ahead of|behind) ours$/);
    expect(off.stores).toMatchObject([{ verified: 'read', deleted: [], deferred: 0, veto: why }]);
    expect(Math.abs(Date.parse(off.snapshot.createdAt) - Date.now() - shift)).toBeLessThan(60_000);

    const pruned = await succeed(command('prune', place.store, '--retention', 'last=1'), withClock(shift));
    expect(pruned.deleted).toEqual([]);
    const reasons = pruned.snapshots.flatMap((each: { reasons: string[] }) => each.reasons);
    expect(reasons.join()).toMatch(shift > 0 ? /nothing is deleted: the store's clock is/ : /dated in the future/);
    expect((await wholeSnapshots(place)).sort()).toEqual([...old, off.snapshot.id].sort());
    // Nor does a wrong clock make leftovers of a running backup look old enough to be swept.
    expect(pruned.swept).toEqual([]);

    // A backup taken under the wrong clock deletes nothing, and one that lies in the future is left alone.
    const { snapshot } = await succeed(backup(etcd, place.store, '--retention', 'last=1'));
    await expectOnly(place, [snapshot.id, ...(shift > 0 ? [off.snapshot.id] : [])]);
  });
});
