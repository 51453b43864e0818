import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { dataIsThere, registersLinearize, revisionsRise, watchedAll } from './checks/data-checks.ts';
import { acknowledged, elections, type History, longestGap } from './checks/history.ts';
import { Watcher } from './support/watcher.ts';
import { Writer } from './support/writer.ts';

const judge = async (cluster: EtcdCluster, history: History, watcher: Watcher) => [
  ...(await dataIsThere(cluster, 'w/', history, [], 1)),
  ...revisionsRise(history),
  ...registersLinearize(history),
  ...watchedAll(history, watcher),
];

test('a member that is killed under writes: nothing is missing, and a loss would be reported', async () => {
  await using cluster = await EtcdCluster.start();
  const writer = Writer.start({ target: cluster, pause: 5 });
  await using watcher = Watcher.start({ target: cluster, idle: 500 });
  await writer.more(100);
  await cluster.member(0).kill();
  // What was on its way ends unknown within a second, what begins after it fails within another.
  await sleep(3_000);
  await cluster.member(0).start();
  await writer.more(100);
  const history = await writer.stop();
  const acks = acknowledged(history.writes);
  expect(await watcher.reached(Math.max(...acks.map(({ revision }) => revision)))).toBe(true);

  expect(await judge(cluster, history, watcher)).toEqual([]);
  expect(history.writes.map(({ outcome }) => outcome)).toContain('failed');
  expect(longestGap(history)).toBeGreaterThan(1_000);
  expect(elections(history)).toBe(1);
  expect(new Set(history.registers.map(({ kind }) => kind)).size).toBe(3);

  const lost = acks[150]!;
  await cluster.etcdctl('del', lost.key);
  expect(await dataIsThere(cluster, 'w/', history, [], 1)).toEqual([
    expect.stringContaining(`linearizable read at ${cluster.endpoints[0]}: ${lost.key} of revision ${lost.revision}`),
    expect.stringContaining(`serializable read at ${cluster.endpoints[0]}: ${lost.key} of revision ${lost.revision}`),
  ]);
  const changed = { ...history, writes: history.writes.map((one) => ({ ...one, value: `${one.value}x` })) };
  expect((await dataIsThere(cluster, 'w/', changed, [], 1)).join()).toMatch(/ is 0-0, not 0-0x.*… and \d+ more/);
  expect((await dataIsThere(cluster, 'w/', history, [{ clusterId: lost.clusterId, revision: 5 }], 1)).join()).toMatch(
    'is there, though the snapshot is older',
  );
  expect(await dataIsThere(cluster, 'w/', history, [], 3)).toEqual(['AcknowledgedWritesKept: 1 voters answer, not 3']);
});

test('writes go on by another member when the leader is killed; all members hold the same', async () => {
  await using cluster = await EtcdCluster.start({ size: 3, tls: true });
  const writer = Writer.start({ target: cluster, pause: 5, retryFor: 10_000 });
  await using watcher = Watcher.start({ target: cluster, idle: 1_000 });
  await writer.more(50);
  for (const member of cluster.members) {
    await member.kill();
    await writer.more(50);
    await member.start();
  }
  const history = await writer.stop();
  expect(await watcher.reached(Math.max(...acknowledged(history.writes).map(({ revision }) => revision)))).toBe(true);
  expect(await dataIsThere(cluster, 'w/', history, [], 3)).toEqual([]);
  expect([...revisionsRise(history), ...registersLinearize(history), ...watchedAll(history, watcher)]).toEqual([]);
  expect(elections(history)).toBeGreaterThan(0);
  expect(acknowledged(history.writes)).toHaveLength(history.writes.length);
});

test('a watch from a revision that is compacted away gets an error, and continues where it can', async () => {
  await using cluster = await EtcdCluster.start();
  const writer = Writer.start({ target: cluster, pause: 1 });
  await writer.more(50);
  await cluster.etcdctl('compact', '40');
  await using watcher = Watcher.start({ target: cluster });
  await writer.more(20);
  const history = await writer.stop();
  const acks = acknowledged(history.writes);
  expect(await watcher.reached(Math.max(...acks.map(({ revision }) => revision)))).toBe(true);
  expect(watcher.compacted).toEqual([{ asked: 1, compactRevision: 40, clusterId: history.clusterIds[0] }]);
  expect(watchedAll(history, watcher)).toEqual([]);

  const [unseen] = watcher.events.splice(5, 1);
  const ofKey = `${unseen!.key}=${unseen!.value}`;
  expect(watchedAll(history, watcher)).toEqual([`the watcher saw nothing at ${unseen!.modRevision}, not ${ofKey}`]);
  watcher.events.push({ ...unseen!, value: 'other' });
  expect(watchedAll(history, watcher)).toEqual([
    `the watcher saw ${unseen!.key}=other at ${unseen!.modRevision}, not ${ofKey}`,
    `the watcher saw ${unseen!.key}=other at ${unseen!.modRevision}, which nobody wrote`,
  ]);
});
