import type { Namespace } from '../e2e/support/namespace';
import { slowTest } from '../e2e/support/settings';
import { applyCrds, Play } from '../e2e/watch/play';
import type { Manifest } from '../synth';
import { leaderOf } from './support/member-versions';
import { previousRelease } from './support/previous-release';
import { type RenderWays, rendered } from './support/rendered';

const now: RenderWays = {};
let before: RenderWays;
let play: Play;
beforeAll(async () => {
  let namespace: Namespace | undefined;
  play = await Play.begin('library-upgrade', {
    prepare: async (made) => {
      namespace = made;
      before = await previousRelease(made);
    },
    manifests: async () => manifestsOf(before, namespace!),
  });
});
afterAll(() => play?.end());

const orders = {
  apiVersion: 'cdk8s-etcd.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'orders' },
  spec: { size: 3, version: '3.6.16', storage: { size: '2Gi' } },
};
const manifestsOf = (release: RenderWays, { name }: Namespace) =>
  rendered([orders], { ...release, args: [`--namespace=${name}`] }).yaml;

const uids = async (): Promise<string[]> => (await play.cluster.pods()).map(({ metadata }) => metadata.uid);
const agentImages = async (): Promise<string[]> => [
  ...new Set(
    (await play.cluster.pods()).map(
      ({ spec }) => spec.initContainers.find(({ name }: Manifest) => name === 'gate').image,
    ),
  ),
];

/** Applies the reconciler of that release, and keeps the members. */
async function reconcilerOf(release: RenderWays): Promise<void> {
  const only = '--selector=app.kubernetes.io/name=etcd-reconciler';
  await play.namespace.kubectl(['apply', '--server-side', only, '-f', '-'], manifestsOf(release, play.namespace));
  await play.namespace.ready('deployment', 'etcd-reconciler');
}

/** Applies everything of that release: members restart one after the other, the leader last. */
async function upgradedTo(release: RenderWays, what: string): Promise<void> {
  const [leader, had] = [await leaderOf(play.cluster), await agentImages()];
  play.cluster.comesFrom(async () => manifestsOf(release, play.namespace));
  await play.converges(what, 3, async () => {
    await play.cluster.apply();
    // The EtcdCluster is unchanged, and ready before the first member restarts.
    await play.namespace.until('no agent of before', 480, async () =>
      (await agentImages()).some((image) => had.includes(image)) ? undefined : true,
    );
  });
  const images = await agentImages();
  expect(images).toHaveLength(1);
  expect(had).not.toContain(images[0]);
  const madeAt = ({ metadata }: Manifest): number => Date.parse(metadata.creationTimestamp);
  const inOrder = (await play.cluster.pods()).sort((a, b) => madeAt(a) - madeAt(b));
  expect(new Set(inOrder.map(madeAt)).size).toBe(3);
  expect(inOrder.at(-1).metadata.name).toBe(leader);
}

/** A pod that restarts. */
const restart = (what: string): Promise<unknown> =>
  play.converges(`${what}: a pod lost`, 3, () => play.namespace.kubectl(['delete', 'pod', 'orders-1']));

/** A volume that needs a permit. */
async function join(what: string): Promise<void> {
  const lost = await play.cluster.memberId(2);
  await play.converges(`${what}: a volume lost`, 3, async () => {
    await play.cluster.loseVolumes(2);
    await play.cluster.replaced(2, lost);
  });
}

/** A record like that of a later release: with unknown fields everywhere. */
async function laterRecord(): Promise<void> {
  await play.namespace.until('no change in between', 60, async () => {
    const { data, ...object } = await play.namespace.get('configmap', 'orders-record');
    const doc = JSON.parse(data['record.json']);
    const members = Object.entries<object>(doc.members).map(([ordinal, member]) => [ordinal, { ...member, later }]);
    const changed = { ...doc, rev: doc.rev + 1, later, versions: { ...doc.versions, later } };
    const record = JSON.stringify({ ...changed, members: Object.fromEntries(members) });
    const input = JSON.stringify({ ...object, data: { 'record.json': record } });
    return play.namespace.kubectl(['replace', '-f', '-'], input).catch(() => undefined);
  });
}
const later = { of: 'a later release' };

slowTest('the CRDs are the first: nothing restarts', async () => {
  const had = await uids();
  await play.converges('the CRDs', 3, applyCrds);
  expect(await uids()).toEqual(had);
});

slowTest('then the reconciler: it looks after members of before', async () => {
  const had = await uids();
  await play.converges('the reconciler', 3, () => reconcilerOf(now));
  expect(await uids()).toEqual(had);
  await restart('a gate of before, a reconciler of now');
  await join('a gate of before, a reconciler of now');
});

slowTest('then the members, one by one', () => upgradedTo(now, 'the members'));

slowTest('back again: a reconciler of before, members of now, then all of before', async () => {
  await play.converges('back: the reconciler', 3, () => reconcilerOf(before));
  await restart('a gate of now, a reconciler of before');
  await upgradedTo(before, 'back: the members');
});

slowTest('what a later release left in the record hinders nobody of before, and stays', async () => {
  await laterRecord();
  await restart('a record of later');
  await join('a record of later');
  const record = await play.cluster.record();
  expect(record).toMatchObject({ later, versions: { later }, members: { 0: { later }, 1: { later } } });
  expect(record.members[2].later).toBeUndefined();
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
