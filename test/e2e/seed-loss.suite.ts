import { crashes, crashing } from './support/crash-points';
import { MemberCluster } from './support/member-cluster';
import { Namespace } from './support/namespace';
import { addressesOf } from './support/pods';
import { slowTest } from './support/settings';
import { applyCrds, tell } from './watch/play';

let namespace: Namespace;
beforeAll(async () => {
  await applyCrds();
  namespace = await Namespace.create('seed');
});
afterAll(() => namespace?.delete());

slowTest(
  'the first member’s volume lost before anybody joined it: the cluster begins anew, as the next epoch',
  async () => {
    const last = 'before MarkSeeded';
    const cluster = await MemberCluster.create(namespace, { shape: crashing(last) });
    await cluster.apply({ size: 3 });
    await namespace.until('the seed', 180, async () => {
      const all = await crashes(namespace).catch((): string[] => []);
      return all.includes(last) ? all : undefined;
    });
    const before = await cluster.record();
    expect(before).toMatchObject({ epoch: 1, seeded: false });
    // It serves, but would lose what clients write: so it has the name for its peers, and none for clients.
    const [peer, client] = [`${cluster.pod(0)}.${cluster.name}-peers`, cluster.clientName(0)];
    expect(await addressesOf(namespace, peer)).toHaveLength(1);
    expect(await addressesOf(namespace, client)).toEqual([]);
    const { uid } = (await cluster.pods()).find(({ metadata }) => metadata.name === cluster.pod(0)).metadata;
    await cluster.loseVolumes(0);
    await namespace.until('another first pod', 120, async () => {
      const pod = (await cluster.pods()).find(({ metadata }) => metadata.name === cluster.pod(0));
      return pod && pod.metadata.uid !== uid ? pod : undefined;
    });
    cluster.reshape(() => {});
    const begun = Date.now();
    await cluster.apply();
    await cluster.ready(3);
    tell(`seed: formed without its first volume ${((Date.now() - begun) / 1000).toFixed(1)} s`);
    const after = await cluster.record();
    for (const ordinal of [0, 1, 2]) {
      await namespace.until(`a name for clients of member ${ordinal}`, 60, async () => {
        const [address] = await addressesOf(namespace, cluster.clientName(ordinal));
        return address;
      });
    }
    expect(after.epoch).toBe(2);
    expect(after.token).not.toBe(before.token);
  },
);
