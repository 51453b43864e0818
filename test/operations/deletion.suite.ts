import { slowTest } from '../e2e/support/settings';
import { Play } from '../e2e/watch/play';
import { objectsOf, onlyLeft } from './support/objects';

let play: Play;
let bare: readonly string[];
beforeAll(async () => {
  play = await Play.begin('deletion', {
    prepare: async (namespace) => {
      bare = (await objectsOf(namespace)).names;
    },
  });
});
afterAll(() => play?.end());

const client = ['ConfigMap/orders-client', 'Pod/orders-client'];
const kept = [0, 1, 2]
  .map((ordinal) => `PersistentVolumeClaim/data-orders-${ordinal}`)
  .concat('ConfigMap/orders-record');
const readyPods = async (count: number) =>
  play.namespace.until(`${count} ready pods`, 120, async () => {
    const { status } = await play.namespace.get('statefulset', 'orders');
    return status.readyReplicas === count ? count : undefined;
  });

/** After any deletion the same members continue with the same data. */
async function comesBack(what: string, work: () => Promise<unknown>): Promise<void> {
  const [{ clusterUid, clusterId, members }, memberIds] = [await play.cluster.record(), await play.cluster.memberIds()];
  await play.converges(what, 3, async () => {
    await work();
    await play.cluster.apply();
  });
  expect(await play.cluster.record()).toMatchObject({ clusterUid, clusterId, members, epoch: 1 });
  expect(await play.cluster.memberIds()).toEqual(memberIds);
  expect((await objectsOf(play.namespace)).terminating).toEqual([]);
}

slowTest('the EtcdCluster alone is deleted: etcd serves on, and a pod that is lost comes back without it', () =>
  comesBack('the EtcdCluster alone deleted, a pod lost, applied again', async () => {
    await play.namespace.kubectl(['delete', 'etcdcluster', 'orders', '--timeout=20s']);
    await play.writesOn();
    await play.namespace.kubectl(['delete', 'pod', 'orders-1']);
    await readyPods(3);
    await play.writesOn();
    expect((await objectsOf(play.namespace)).terminating).toEqual([]);
  }),
);

slowTest('all manifests are deleted: claims and record stay, and applied again they are the same cluster', () =>
  comesBack('everything deleted, applied again', async () => {
    await play.cluster.delete('--timeout=120s');
    await onlyLeft(play.namespace, [...bare, ...client, ...kept]);
  }),
);

slowTest('deleted and applied again at once, while the pods still end', () =>
  comesBack('everything deleted and applied again at once', () => play.cluster.delete('--wait=false')),
);

slowTest('deleted while it grows: it goes on growing', async () => {
  await play.converges('deleted while it grows to 5', 5, async () => {
    await play.cluster.apply({ size: 5 });
    await play.namespace.until('the first step', 60, async () => (await play.cluster.record()).op);
    await play.cluster.delete('--timeout=120s');
    await play.cluster.apply();
  });
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(5));
