import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { HoldProxy } from '../harness/proxies/hold-proxy.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { BucketPlace } from './bucket-place.ts';
import { backup, command, expectOnly, start, succeed, wholeSnapshots } from './commands.ts';
import { DirectoryPlace } from './directory-place.ts';
import { copyAll, type Place } from './place.ts';

const MIB = 1024 * 1024;

let etcd: EtcdCluster;
let server: Versitygw;
/** Three snapshots, and their ids, newest first. */
let past: DirectoryPlace;
let old: string[];
beforeAll(async () => {
  [etcd, server, past] = await Promise.all([EtcdCluster.start(), Versitygw.start(), DirectoryPlace.make()]);
  await etcd.put(50);
  for (let n = 0; n < 3; n++) await succeed(backup(etcd, past.store));
  old = await wholeSnapshots(past);
  await etcd.put(9, { prefix: 'large-', valueSize: MIB });
});
afterAll(async () => {
  await Promise.all([etcd?.stop(), server?.stop(), past?.[Symbol.asyncDispose]()]);
});

const stores: [string, () => Promise<Place & AsyncDisposable>][] = [
  ['a file system', () => DirectoryPlace.make()],
  ['S3', () => BucketPlace.make(server)],
];

describe.each(stores)('two Jobs at once, to %s', (_, make) => {
  test.each([1, 2, 3])('both succeed, and neither harms the other (%i)', async () => {
    await using place = await make();
    await copyAll(past, place);
    const flags = ['--retention', 'last=2', '--compression', 'none'];
    const both = await Promise.all([1, 2].map(() => succeed(backup(etcd, place.store, ...flags))));
    const ids = both.map(({ snapshot }) => snapshot.id);
    expect(new Set(ids).size).toBe(2);
    const listed = await wholeSnapshots(place);
    expect(listed).toEqual(expect.arrayContaining(ids));
    // Each keeps two: if neither saw the other's snapshot, one of them is an old one.
    expect(listed.filter((id) => !ids.includes(id) && id !== old[0])).toEqual([]);
    await succeed(command('prune', place.store, '--retention', 'last=2'));
    await expectOnly(place, ids);
  });
});

describe('a Job that waits while another runs from its beginning to its end', () => {
  test.each([
    ['before its upload is complete', ({ path }: { path: string }) => path.includes('?uploadId=')],
    ['before its read-back', ({ method }: { method: string }) => method === 'HEAD'],
    ['before it deletes what the other deletes', ({ method }: { method: string }) => method === 'DELETE'],
  ])('%s', async (_, matches) => {
    await using place = await BucketPlace.make(server);
    await copyAll(past, place);
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.holdBefore(matches);
    const flags = ['--retention', 'last=2', '--compression', 'none'];
    const first = start(backup(etcd, place.through(proxy.endpoint), ...flags));
    await proxy.held;
    const second = await succeed(backup(etcd, place.store, ...flags));
    await proxy.release();
    const { code, result } = await first.finished;
    expect(code).toBe(0);
    const ids = [result.snapshot.id, second.snapshot.id];
    expect(await wholeSnapshots(place)).toEqual(expect.arrayContaining(ids));
    await succeed(command('prune', place.store, '--retention', 'last=2'));
    await expectOnly(place, ids);
  });
});

test('two clusters in one store: work for one never touches the other', async () => {
  await using place = await DirectoryPlace.make();
  await using other = await EtcdCluster.start();
  const of = (cluster: string, args: string[]) => args.with(args.indexOf('--cluster') + 1, cluster);
  for (let n = 0; n < 3; n++) {
    await succeed(of('a', backup(etcd, place.store)));
    await succeed(of('ab', backup(other, place.store)));
  }
  const rest = (cluster: string) => `${cluster}/etcd-snapshot-20260101-000000-dead00`;
  for (const cluster of ['a', 'ab']) {
    await place.put(`${rest(cluster)}.db`, Buffer.from('of a dead run of retention'));
    await place.put(`${rest(cluster)}.deleting`, Buffer.of());
  }
  const keysOf = async (cluster: string) => (await place.keys()).filter((key) => key.startsWith(`${cluster}/`));
  const before = await keysOf('ab');
  const { deleted } = await succeed(
    of('a', command('prune', place.store, '--retention', 'last=1', '--force', '--sweep-age', '1ms')),
  );
  expect(deleted).toHaveLength(2);
  expect(await keysOf('a')).toHaveLength(2);
  expect(await keysOf('ab')).toEqual(before);
});
