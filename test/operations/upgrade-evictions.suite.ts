import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdVersion } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import { slowTest } from '../e2e/support/settings';
import type { Play } from '../e2e/watch/play';
import { drain, evictFollower } from './support/drain';
import { leaderOf, versionsOf } from './support/member-versions';
import { applyVersion, begun, playOn, refused } from './support/upgrades';

let play: Play;
let ids: (string | undefined)[];
/** Each is on one of its own. */
let nodes: string[] = [];

beforeAll(async () => {
  // A drain selects pods by the name of their cluster, in every namespace.
  ({ play } = await playOn('3.5.35', 'upgrade-evictions', { name: 'stock' }));
  ids = await play.cluster.memberIds();
  nodes = (await play.cluster.pods()).map(({ spec }) => spec.nodeName);
});
afterAll(async () => {
  if (nodes.length > 0) await kubectl(['uncordon', ...nodes]);
  await play?.end();
});

/** Its gate does not let this version start, and the others serve as before. */
async function heldByGate(name: string): Promise<void> {
  await play.namespace.until(`the gate of ${name} to refuse`, 120, async () => {
    const { status } = await play.cluster.resource();
    const member = status.members.find(({ pod }: { pod: string }) => pod === name);
    return member?.reason === 'VersionRefused' ? member : undefined;
  });
  await sleep(10_000);
  const { status } = await play.namespace.get('pod', name);
  expect(status.containerStatuses.find((one: { name: string }) => one.name === 'etcd').state).toHaveProperty('waiting');
  expect((await play.cluster.record()).versions).toMatchObject({ current: '3.5', allowedMinors: ['3.5'] });
  expect((await play.cluster.condition('Available'))?.status).toBe('True');
  await play.writesOn();
}

slowTest('evicted onto a version that skips a minor: its gate waits until that is taken back', async () => {
  await play.unnoticed('evicted onto 3.7.3, and back', 3, async () => {
    await applyVersion(play, '3.7.3');
    expect((await refused(play)).reason).toBe('MinorSkipped');
    await heldByGate(await evictFollower(play));
    await applyVersion(play, '3.5.35');
  });
  expect(await versionsOf(play.cluster)).toEqual(['3.5.35', '3.5.35', '3.5.35']);
});

slowTest('evicted onto the next minor before that is allowed: its gate waits for the backup', async () => {
  await play.unnoticed('evicted onto 3.6.16 early, and all of them there', 3, async () => {
    await play.cluster.apply({ version: EtcdVersion.of('3.6.16'), paused: true });
    await heldByGate(await evictFollower(play));
    await play.cluster.apply({ paused: false });
  });
  expect(await versionsOf(play.cluster)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
});

slowTest('a node is drained in the middle, with the leader: nobody else is restarted until it is back', async () => {
  await play.unnoticed('to 3.7.3 with a node drained', 3, async () => {
    await applyVersion(play, '3.7.3');
    await begun(play, '3.7');
    const leader = await leaderOf(play.cluster);
    const { spec } = await play.namespace.get('pod', leader);
    const others = async () => {
      const found = await play.cluster.pods();
      return found.filter(({ metadata }) => metadata.name !== leader).map(({ metadata }) => metadata.uid);
    };
    try {
      await drain(spec.nodeName, play.cluster.name, 180);
      const before = await others();
      await sleep(20_000);
      expect(await others()).toEqual(before);
    } finally {
      await kubectl(['uncordon', spec.nodeName]);
    }
  });
  expect(await versionsOf(play.cluster)).toEqual(['3.7.3', '3.7.3', '3.7.3']);
  expect(await play.cluster.memberIds()).toEqual(ids);
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
