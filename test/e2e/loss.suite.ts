import { kubectl } from './support/kubectl';
import { slowTest } from './support/settings';
import { Play } from './watch/play';

let play: Play;
beforeAll(async () => {
  play = await Play.begin('loss', { tls: true });
});
afterAll(() => play?.end());

/** Waits until each of these pods has been replaced. */
async function madeAgain(work: () => Promise<unknown>): Promise<void> {
  const uids = async () => (await play.cluster.pods()).map(({ metadata }) => metadata.uid);
  const before = await uids();
  await work();
  await play.namespace.until('other pods', 120, async () => {
    const now = await uids();
    return now.length === before.length && now.every((uid) => !before.includes(uid)) ? now : undefined;
  });
}

slowTest('all pods at once: each comes back as the member that it was', async () => {
  const before = await play.cluster.memberIds();
  await play.converges('all pods deleted', 3, () => madeAgain(() => play.cluster.deletePods(0, 1, 2)));
  expect(await play.cluster.memberIds()).toEqual(before);
});

/** All pods and the volume of 1. */
async function loseAll(): Promise<void> {
  await madeAgain(async () => {
    await play.namespace.kubectl(['delete', 'pvc', 'data-orders-1', '--wait=false']);
    await play.cluster.deletePods(0, 1, 2);
  });
}

async function crash(what: string, work: () => Promise<void>): Promise<void> {
  const [first, second, third] = await play.cluster.memberIds();
  await play.converges(what, 3, async () => {
    await work();
    await play.cluster.replaced(1, second);
  });
  const now = await play.cluster.memberIds();
  expect([now[0], now[2]]).toEqual([first, third]);
}

slowTest('all pods at once, and one volume: that member is replaced', () =>
  crash('all pods deleted and a volume lost', loseAll),
);

async function madeRoom(): Promise<boolean> {
  const { items } = await play.namespace.get('events', '--field-selector=reason=VolumeClaimDeleted');
  return items.length > 0;
}

/** The scheduler must not place the new volume where the lost one was. */
async function loseAllAndNode(): Promise<void> {
  const pods = await play.cluster.pods();
  const node = pods.find(({ metadata }) => metadata.name === 'orders-1')?.spec.nodeName;
  await kubectl(['cordon', node]);
  await loseAll().finally(() => kubectl(['uncordon', node]));
}

slowTest('the same, and its new volume is made on the node of another: it makes room', async () => {
  // If the pod of 1 comes last, it waits for its node, and takes no room from another pod.
  for (let tries = 0; tries < 8 && !(await madeRoom()); tries++)
    await crash('all pods deleted, the new volume elsewhere', loseAllAndNode);
  expect(await madeRoom()).toBe(true);
});

slowTest('the volume of the first member, which began the cluster: it joins what the others go on with', async () => {
  const [before] = await play.cluster.memberIds();
  await play.converges('the first member’s volume lost', 3, async () => {
    await play.cluster.loseVolumes(0);
    await play.cluster.replaced(0, before);
  });
  expect((await play.cluster.record()).tombstones).toContainEqual(expect.objectContaining({ memberId: before }));
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
