import { setTimeout as sleep } from 'node:timers/promises';
import { ReplacePolicy } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import { drive, nodeTest } from '../e2e/support/node-driver';
import { Play, tell } from '../e2e/watch/play';
import type { Manifest } from '../synth';
import { workerMember } from './support/worker-member';

let play: Play;
let node: string;
let ordinal: number;
/** Pod on the node before the node was lost. */
let labels: Record<string, string> | undefined;

beforeAll(async () => {
  play = await Play.begin('node-lost', { users: true });
  ({ node, ordinal } = await workerMember(play));
});
afterAll(async () => {
  if (labels) await bringBack();
  if (node) await kubectl(['uncordon', node]);
  await play?.end();
});

/** Otherwise it would be missing for five minutes, until Kubernetes evicts it. */
async function withoutReconciler(): Promise<void> {
  await kubectl(['cordon', node]);
  await play.namespace.kubectl(['rollout', 'restart', 'deployment/etcd-reconciler']);
  await play.namespace.ready('deployment', 'etcd-reconciler');
  await kubectl(['uncordon', node]);
}

async function bringBack(): Promise<void> {
  await drive('on', node);
  await play.namespace.until(`node ${node}`, 120, async () => {
    const { stdout } = await kubectl(['get', 'nodes', '-o', 'name']);
    return stdout.split('\n').includes(`node/${node}`) ? node : undefined;
  });
  const told = Object.entries(labels!).map(([name, value]) => `${name}=${value}`);
  await kubectl(['label', '--overwrite', 'node', node, ...told]);
  await kubectl(['wait', '--for=condition=Ready', '--timeout=180s', `node/${node}`]);
  labels = undefined;
}

const pod = (): Promise<Manifest> => play.namespace.get('pod', play.cluster.pod(ordinal));

const memberDown = () =>
  play.namespace.until('MemberDown', 180, async () => {
    const condition = await play.cluster.condition('Degraded');
    return condition?.status === 'True' && condition.reason === 'MemberDown' ? condition : undefined;
  });

/** The recreated pod has its volume on a node that no longer exists. */
const placeless = (before: string) =>
  play.namespace.until('a pod that finds no node', 180, async () => {
    const { metadata, status } = await pod();
    const scheduled = status.conditions?.find(({ type }: Manifest) => type === 'PodScheduled');
    return metadata.uid !== before && scheduled?.reason === 'Unschedulable' ? scheduled.message : undefined;
  });

nodeTest('a node is lost for good, with its volume: told, and left to a person', async () => {
  await withoutReconciler();
  const { uid } = (await pod()).metadata;
  const { members, tombstones } = await play.cluster.record();
  const { now } = await play.client.facts();
  ({ labels } = JSON.parse((await kubectl(['get', 'node', node, '-o', 'json'])).stdout).metadata);
  const begun = Date.now();
  await drive('off', node);
  await memberDown();
  tell(`node-lost: told after ${((Date.now() - begun) / 1_000).toFixed(1)} s`);
  await kubectl(['delete', 'node', node]);
  tell(`node-lost: ${await placeless(uid)}`);
  await sleep(10_000);
  expect(await memberDown()).toMatchObject({ reason: 'MemberDown' });
  expect(await play.cluster.record()).toMatchObject({ members, tombstones });
  const { longestGap } = await play.client.facts(now);
  tell(`node-lost: until it is asked for, longest write gap ${(longestGap / 1_000).toFixed(1)} s`);
});

/** Replaces it by applying the manifests, with another volume. */
async function replace(what: string): Promise<void> {
  const before = await play.cluster.memberIds();
  const memberId = before[ordinal]!;
  await play.converges(what, 3, async () => {
    await play.cluster.apply({ replace: ReplacePolicy.onVolumeLoss({ ordinal, memberId, discardVolume: true }) });
    await play.cluster.replaced(ordinal, memberId);
  });
  const others = (ids: readonly (string | undefined)[]) => ids.filter((_, at) => at !== ordinal);
  expect(others(await play.cluster.memberIds())).toEqual(others(before));
}

nodeTest('its member is replaced on request, on a node that is left', async () => {
  await replace('the member of a lost node replaced');
  expect((await pod()).spec.nodeName).not.toBe(node);
});

nodeTest('the machine comes back as a new node: nothing is left of what was there', async () => {
  const before = await play.cluster.memberIds();
  await bringBack();
  await play.cluster.ready(3);
  const { items } = await play.namespace.get('pods');
  expect(items.filter(({ metadata }: Manifest) => metadata.deletionTimestamp !== undefined)).toEqual([]);
  expect(await play.cluster.memberIds()).toEqual(before);
});

nodeTest('there is one node for each member again: one of the two that share one moves there on request', async () => {
  await replace('a member moved to the new node');
  expect((await pod()).spec.nodeName).toBe(node);
});

nodeTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
