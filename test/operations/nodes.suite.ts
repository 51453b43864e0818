import { setTimeout as sleep } from 'node:timers/promises';
import { kubectl } from '../e2e/support/kubectl';
import { drive, nodeTest } from '../e2e/support/node-driver';
import { slowTest } from '../e2e/support/settings';
import { Play } from '../e2e/watch/play';
import { workerMember } from './support/worker-member';

let play: Play;
let node: string;
let ordinal: number;
let ids: (string | undefined)[];

beforeAll(async () => {
  play = await Play.begin('nodes', { tls: 'secrets' });
  ({ node, ordinal } = await workerMember(play));
  ids = await play.cluster.memberIds();
});
afterAll(async () => {
  if (node) await kubectl(['uncordon', node]);
  await play?.end();
});

async function leads(at: number): Promise<boolean> {
  const [{ Status }] = JSON.parse(await play.cluster.etcdctl(['endpoint', 'status', '-w', 'json'], at));
  return Status.leader === Status.header.member_id;
}

async function makeLead(at: number): Promise<void> {
  const leader = (await Promise.all([0, 1, 2].map(leads))).indexOf(true);
  const id = await play.cluster.memberId(at);
  if (leader !== at) await play.cluster.etcdctl(['move-leader', id!], leader);
}

slowTest('a node is drained: only when all others are well', async () => {
  const selector = '--pod-selector=app.kubernetes.io/instance=orders,app.kubernetes.io/component=member';
  const drain = (name: string, timeout: string) =>
    kubectl(['drain', name, selector, '--delete-emptydir-data', `--timeout=${timeout}`]);
  const other = (await play.cluster.pods()).find(({ spec }) => spec.nodeName !== node)!.spec.nodeName;
  await play.converges('a node drained', 3, async () => {
    await drain(node, '120s');
    try {
      await expect(drain(other, '8s')).rejects.toThrow(/disruption budget|timeout/);
    } finally {
      await kubectl(['uncordon', node, other]);
    }
  });
  expect(await play.cluster.memberIds()).toEqual(ids);
});

/** Expects the same members after the node has returned. */
async function without(what: string, away: 'off' | 'cut', back: 'on' | 'mend', seconds: number): Promise<void> {
  await play.converges(`${what} for ${seconds} s`, 3, async () => {
    await drive(away, node);
    try {
      await sleep(seconds * 1_000);
    } finally {
      await drive(back, node);
    }
    await kubectl(['wait', '--for=condition=Ready', '--timeout=180s', `node/${node}`]);
  });
  expect(await play.cluster.memberIds()).toEqual(ids);
}

nodeTest('a node is off for two minutes', () => without('a node off', 'off', 'on', 120));

nodeTest('the leader’s node is off the network for half a minute', async () => {
  await makeLead(ordinal);
  await without('the leader off the network', 'cut', 'mend', 30);
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
