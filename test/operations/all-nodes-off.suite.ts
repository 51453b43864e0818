import { setTimeout as sleep } from 'node:timers/promises';
import { kubectl } from '../e2e/support/kubectl';
import { drive, nodes, nodeTest, onNode } from '../e2e/support/node-driver';
import { Play, tell } from '../e2e/watch/play';
import type { Manifest } from '../synth';

let play: Play;
/** Nodes that are off. */
let dark: readonly string[] = [];
beforeAll(async () => {
  play = await Play.begin('all-nodes-off', { users: true, clientOutlivesNode: true });
});
afterAll(async () => {
  await allOn();
  await play?.end();
});

async function allOff(): Promise<void> {
  dark = await nodes();
  // A node may share its kernel with others. Its closed connections then outlive it while they wait for nodes that are off too,
  // and it cannot be switched on again before they end.
  const briefly = ['sysctl', '-q', '-w', 'net.ipv4.tcp_orphan_retries=1'];
  await Promise.all(dark.map((node) => onNode(node, ...briefly)));
  await Promise.all(dark.map((node) => drive('off', node)));
}

async function allOn(): Promise<void> {
  // A driver need not support several calls at once.
  for (const node of dark) await drive('on', node);
  dark = [];
}

const startedSince = ({ status }: Manifest, time: number): boolean =>
  status.containerStatuses.every(({ state }: Manifest) => Date.parse(state.running?.startedAt) >= time);

/** The API server shows the old state of a pod until its kubelet is back. */
async function podsBack(since: number): Promise<void> {
  const deadline = Date.now() + 300_000;
  const areBack = async () => {
    const client = await play.namespace.get('pod', 'orders-client');
    return [client, ...(await play.cluster.pods())].every((pod) => startedSince(pod, since));
  };
  while (!(await areBack().catch(() => false))) {
    if (Date.now() > deadline) throw new Error((await kubectl(['get', 'nodes,pods', '--all-namespaces'])).stdout);
    await sleep(1_000);
  }
  await play.namespace.until('the client', 60, () => play.client.facts().catch(() => undefined));
}

async function clientRestarts(): Promise<number> {
  const { status } = await play.namespace.get('pod', 'orders-client');
  return status.containerStatuses[0].restartCount;
}

nodeTest('all nodes lose power at once, the API server’s too: the same members come back by themselves', async () => {
  const [ids, { clusterId, epoch, members }] = [await play.cluster.memberIds(), await play.cluster.record()];
  await play.writesOn();
  await play.converges('all nodes off for 20 s or more', 3, async () => {
    const begun = Date.now();
    await allOff();
    await sleep(20_000);
    const since = Math.floor(Date.now() / 1_000) * 1_000;
    await allOn();
    tell(`all-nodes-off: the last is on again after ${((Date.now() - begun) / 1_000).toFixed(1)} s`);
    await podsBack(since);
  });
  expect(await play.cluster.memberIds()).toEqual(ids);
  expect(await play.cluster.record()).toMatchObject({ clusterId, epoch, members });
  expect(await clientRestarts()).toBeGreaterThan(0);
});

nodeTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
