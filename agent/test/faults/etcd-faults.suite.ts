import { setTimeout as sleep } from 'node:timers/promises';
import { availableMinors } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { EtcdMember } from '../harness/etcd-member.ts';
import { freePorts } from '../harness/free-ports.ts';
import { backup, expectFailure, expectOnly, run, start, succeed, wholeSnapshots } from './commands.ts';
import { DirectoryPlace } from './directory-place.ts';
import { SnapshotProxy, type Spoiling } from './snapshot-proxy.ts';

const MIB = 1024 * 1024;

/** A failed backup leaves the store as it was. */
async function expectUntouched(place: DirectoryPlace, before: readonly string[]): Promise<void> {
  expect(await place.keys()).toEqual(before);
  expect(await place.unfinished()).toEqual([]);
}

describe('the snapshot stream', () => {
  let etcd: EtcdCluster;
  let proxy: SnapshotProxy;
  let place: DirectoryPlace;
  let before: string[];
  beforeAll(async () => {
    [etcd, place] = await Promise.all([EtcdCluster.start(), DirectoryPlace.make()]);
    await etcd.put(8, { valueSize: MIB });
    proxy = await SnapshotProxy.start(etcd.endpoints[0]!);
    await succeed(backup({ endpoints: [proxy.url] }, place.store));
    before = await place.keys();
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await Promise.all([etcd?.stop(), place?.[Symbol.asyncDispose]()]);
  });

  const spoiled = (by: Spoiling['by'], after: number) => {
    proxy.spoiling = { by, after };
    return run(backup({ endpoints: [proxy.url] }, place.store, '--idle-timeout', '1s'));
  };
  const half = () => Math.floor(proxy.bytes / 2);
  const places: [string, () => number][] = [
    ['at once', () => 0],
    ['at 50 %', half],
    ['in the last 16 bytes', () => proxy.bytes - 16],
  ];

  test.each(places)('cut %s', async (_, at) => {
    expectFailure(await spoiled('cut', at()), 10, /closed|ended|reset|cannot be reached/);
    await expectUntouched(place, before);
  });

  test.each(places)('stalled %s', async (_, at) => {
    expectFailure(
      await spoiled('stall', at()),
      10,
      /sent no byte of the snapshot for 1s; allow more with --idle-timeout/,
    );
    await expectUntouched(place, before);
  });

  test.each(places)('ended %s as if it were complete', async (_, at) => {
    expectFailure(await spoiled('end', at()), 10, /ended|closed/);
    await expectUntouched(place, before);
  });

  test('empty messages forever, after one half', async () => {
    // A message must be complete before an empty one can follow.
    expectFailure(await spoiled('empty messages', 0), 10, /sent no byte of the snapshot for 1s/);
    await expectUntouched(place, before);
  });

  test('a bit that flipped on the way', async () => {
    expectFailure(await spoiled('flip', half()), 30, /does not match its own sha256 trailer/);
    await expectUntouched(place, before);
  });
});

test('an etcd that is killed in the middle of the stream', async () => {
  await using etcd = await EtcdCluster.start();
  await using place = await DirectoryPlace.make();
  await etcd.put(8, { valueSize: MIB });
  await using proxy = await SnapshotProxy.start(etcd.endpoints[0]!);
  proxy.spoiling = { by: 'stall', after: 4 * MIB };
  const agent = start(backup({ endpoints: [proxy.url] }, place.store));
  await agent.phase('stream');
  await sleep(300);
  await etcd.member(0).kill();
  expectFailure(await agent.finished, 10, /closed|ended|reset|cannot be reached/);
  await expectUntouched(place, []);
});

describe.each(availableMinors())('etcd %s:', (minor) => {
  describe('three members', () => {
    let etcd: EtcdCluster;
    const quick = ['--dial-timeout', '1s'];
    beforeAll(async () => {
      etcd = await EtcdCluster.start({ minor, size: 3 });
      await etcd.put(50);
    });
    afterAll(() => etcd?.stop());

    test('one that hangs: the others are backed up', async () => {
      await using place = await DirectoryPlace.make();
      await etcd.member(0).kill('SIGSTOP');
      const { snapshot, stores } = await succeed(backup(etcd, place.store, ...quick)).finally(() =>
        etcd.member(0).kill('SIGCONT'),
      );
      expect(snapshot.endpoint).not.toBe(etcd.member(0).clientUrl);
      expect(stores[0].verified).toBe('read');
      await expectOnly(place, [snapshot.id]);
    });

    test('one that sees no quorum is not used as the source, unless it alone survived', async () => {
      await using place = await DirectoryPlace.make();
      for (const i of [0, 1]) await etcd.member(i).kill('SIGSTOP');
      try {
        const alone = { endpoints: [etcd.member(2).clientUrl] };
        expectFailure(await run(backup(alone, place.store, ...quick)), 10, /--survivor/);
        await expectUntouched(place, []);
        const { snapshot } = await succeed(backup(alone, place.store, '--survivor', alone.endpoints[0]!, ...quick));
        expect(snapshot.role).toBe('survivor');
        expect(await wholeSnapshots(place)).toEqual([snapshot.id]);
      } finally {
        for (const i of [0, 1]) await etcd.member(i).kill('SIGCONT');
        await etcd.member(2).healthy();
      }
    });

    test('no endpoint that answers', async () => {
      await using place = await DirectoryPlace.make();
      const [port] = await freePorts(1);
      const nobody = { endpoints: [`http://127.0.0.1:${port}`] };
      expectFailure(await run(backup(nobody, place.store)), 10, /cannot be reached \(ECONNREFUSED\)/);
      await expectUntouched(place, []);
    });
  });

  test('a learner alone is not used as the source', async () => {
    await using etcd = await EtcdCluster.start({ minor });
    await using place = await DirectoryPlace.make();
    const [clientPort, peerPort] = await freePorts(2);
    const [peerUrl, clientUrl] = [`http://127.0.0.1:${peerPort}`, `http://127.0.0.1:${clientPort}`];
    await etcd.etcdctl('member', 'add', 'learner', '--learner', `--peer-urls=${peerUrl}`);
    const { binaries } = etcd;
    const learner = new EtcdMember({
      ...{ binaries, name: 'learner', clientUrl, advertisedUrl: clientUrl, peerUrl },
      ...{ dataDir: `${etcd.member(0).dataDir}-learner`, log: `${etcd.member(0).dataDir}-learner.log` },
      args: [
        ...['--initial-cluster', `${etcd.member(0).name}=${etcd.member(0).peerUrl},learner=${peerUrl}`],
        ...['--initial-cluster-state', 'existing', '--unsafe-no-fsync'],
      ],
    });
    try {
      await learner.start();
      expectFailure(await run(backup({ endpoints: [clientUrl] }, place.store)), 10, /only learners answered/);
      await expectUntouched(place, []);
      const { snapshot } = await succeed(backup({ endpoints: [clientUrl, ...etcd.endpoints] }, place.store));
      expect(snapshot.endpoint).toBe(etcd.endpoints[0]);
    } finally {
      await learner.kill();
    }
  });

  test('NOSPACE: the snapshot is taken, and reported as degraded', async () => {
    await using etcd = await EtcdCluster.start({ minor, extraArgs: ['--quota-backend-bytes', String(2 * MIB)] });
    await using place = await DirectoryPlace.make();
    await etcd.fill();
    const result = await succeed(backup(etcd, place.store));
    expect(result).toMatchObject({ degraded: ['NOSPACE'], stores: [{ verified: 'read' }] });
    expect(await wholeSnapshots(place)).toEqual([result.snapshot.id]);
  });
});
