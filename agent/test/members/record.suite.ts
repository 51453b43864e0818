// The record is lost while some pods run; the EtcdCluster is deleted and created again on retained claims.
import { isDeepStrictEqual } from 'node:util';
import type { ClusterObject } from '../local/objects.ts';
import { memberIds, seedPermits } from './checks/facts.ts';
import { scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

scenario('the record is deleted while all pods are up', { size: 3, tls: true }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const before = memberIds(cluster);
  const { clusterId, clusterUid, versions } = cluster.record()!;
  await play.converges('record rebuilt', async () => {
    await cluster.deleteRecord();
    await cluster.until(() => cluster.record() !== undefined, 'the record is rebuilt');
  });
  await writer.more(20);
  // A cluster that began on 3.6 or later has no entries of 3.5 to flush.
  expect(cluster.record()).toMatchObject({ clusterId, clusterUid, versions });
  expect(memberIds(cluster)).toEqual(before);
  expect(seedPermits(cluster)).toBe(1);
});

if (!smoke) {
  scenario('the record is deleted while one pod, and then no pod, is up', { size: 3, tls: false }, async (play) => {
    const { cluster } = play;
    await play.formed();
    const before = memberIds(cluster);
    const { clusterId } = cluster.record()!;
    for (const up of [1, 0]) {
      const down = [0, 1, 2].slice(up);
      await Promise.all(down.map((i) => cluster.stopKubelet(i)));
      await cluster.deleteRecord();
      await cluster.until(() => cluster.condition('Stalled')?.status === 'True', 'it is held without a quorum');
      expect(cluster.record()).toBeUndefined();
      await play.converges(`record rebuilt after ${up} up`, async () => {
        for (const i of down) cluster.startKubelet(i);
        await cluster.until(() => cluster.record() !== undefined, 'the record is rebuilt');
      });
    }
    expect(cluster.record()).toMatchObject({ clusterId });
    // A member enters the record once its agent reports its volume.
    await cluster.until(() => isDeepStrictEqual(memberIds(cluster), before), 'the record names all members');
    expect(seedPermits(cluster)).toBe(1);
  });

  scenario('the EtcdCluster is deleted and made again', { size: 3, tls: false }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const before = memberIds(cluster);
    const { uid: _, rv: __, ...old } = cluster.store.read<ClusterObject>('cluster')!;
    cluster.store.remove('cluster');
    await writer.more(50);
    await play.converges('adopted', async () => {
      cluster.store.create<ClusterObject>('cluster', { ...old, status: {} });
    });
    expect(memberIds(cluster)).toEqual(before);
    expect(seedPermits(cluster)).toBe(1);
  });
}
