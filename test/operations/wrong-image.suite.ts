import { setTimeout as sleep } from 'node:timers/promises';
import { container, podSpec } from '../e2e/support/manifests';
import { runPod } from '../e2e/support/pods';
import { slowTest } from '../e2e/support/settings';
import { Play } from '../e2e/watch/play';
import { StatusWatch } from '../e2e/watch/status-watch';
import type { Manifest } from '../synth';
import { evictFollower } from './support/drain';
import { versionsOf } from './support/member-versions';

// `kubectl set image` puts etcd of another minor into the StatefulSet; then the manifests are applied again.

const automatic = 'False NoActionRequired';
const heldAndBack = [automatic, 'True VersionMismatch', automatic];
const etcd = 'gcr.io/etcd-development/etcd';
const own = '3.6.16';

let play: Play;
let ids: (string | undefined)[];
beforeAll(async () => {
  play = await Play.begin('wrong-image', { users: true });
  ids = await play.cluster.memberIds();
});
afterAll(() => play?.end());

const setImage = (image: string) =>
  play.namespace.kubectl(['set', 'image', `statefulset/${play.cluster.name}`, `etcd=${image}`]);

/** With a tag that does not show the version. */
async function digestOf(version: string): Promise<string> {
  const name = `etcd-${version.replaceAll('.', '-')}`;
  const command = ['/usr/local/bin/etcd', '--version'];
  await runPod(play.namespace, name, podSpec({ containers: [container('etcd', `${etcd}:v${version}`, { command })] }));
  return (await play.namespace.get('pod', name)).status.containerStatuses[0].imageID;
}

const uids = async (): Promise<string[]> => (await play.cluster.pods()).map(({ metadata }) => metadata.uid);

async function nobodyIsRestarted(): Promise<void> {
  const before = await uids();
  await sleep(15_000);
  expect(await uids()).toEqual(before);
}

const becomes = (type: string, reason: string): Promise<Manifest> =>
  play.namespace.until(`${type} ${reason}`, 240, async () => {
    const condition = await play.cluster.condition(type);
    return condition?.reason === reason ? condition : undefined;
  });

/** Query each member in its own pod: one that is not ready has no client name. */
const versionIn = async (ordinal: number): Promise<string> => {
  const [found] = JSON.parse(await play.cluster.etcdctl(['endpoint', 'status', '-w', 'json'], ordinal));
  return found.Status.version;
};

/** One pod runs the other etcd, kept from clients; the others stay as they are, and the status says so. */
async function oneRuns(version: string): Promise<void> {
  expect((await becomes('Stalled', 'VersionMismatch')).status).toBe('True');
  await nobodyIsRestarted();
  const versions = await Promise.all([0, 1, 2].map(versionIn));
  expect([...versions].sort()).toEqual([own, own, version]);
  const strange = versions.indexOf(version);
  const message = `pod ${play.cluster.name}-${strange}: etcd ${version} runs, but the pod template names ${own}; set image and version to the same release`;
  expect(await play.cluster.condition('Degraded')).toMatchObject({
    status: 'True',
    reason: 'VersionMismatch',
    message,
  });
  expect(await play.cluster.condition('Stalled')).toMatchObject({ status: 'True', reason: 'VersionMismatch' });
  expect(await play.cluster.condition('Ready')).toMatchObject({ status: 'False' });
  const { subsets } = await play.namespace.get('endpoints', play.cluster.clientName(strange));
  expect(subsets?.[0]?.addresses).toBeUndefined();
}

/** Does everything that a person would do. kubectl names the fields that another manager owns by now. */
async function manifestsAppliedAgain(): Promise<void> {
  await expect(play.cluster.apply()).rejects.toThrow(/conflict with "kubectl-set"/);
  await play.cluster.apply({}, ['--server-side', '--force-conflicts']);
}

/** Does the work while the client must not notice anything, and checks that the status is never wrong. */
async function mishap(what: string, held: readonly string[], work: () => Promise<unknown>): Promise<void> {
  using watch = new StatusWatch(play.namespace, play.cluster.name);
  await play.unnoticed(what, 3, work);
  expect(watch.of('Available')).toEqual(['True Serving']);
  expect(watch.of('QuorumLost')).toEqual(['False QuorumAvailable']);
  expect(watch.of('Stalled')).toEqual(held);
  expect(watch.of('Degraded').at(-1)).toBe('False AllMembersHealthy');
  expect(watch.of('Accepted').at(-1)).toBe('True SpecAccepted');
  expect(
    watch.seen
      .at(-1)!
      .map(({ message }) => message)
      .join(),
  ).not.toMatch(/\d\.\d/);
  expect(await versionsOf(play.cluster)).toEqual([own, own, own]);
  expect((await play.cluster.record()).versions).toMatchObject({ current: '3.6', allowedMinors: ['3.6'] });
  expect(await play.cluster.memberIds()).toEqual(ids);
}

slowTest('by its tag, and a pod is evicted onto it: nobody follows, and it goes back', () =>
  mishap('3.7.3 by its tag, and back', heldAndBack, async () => {
    await setImage(`${etcd}:v3.7.3`);
    expect((await becomes('Accepted', 'TemplateMismatch')).message).toContain('3.7.3');
    await nobodyIsRestarted();
    await evictFollower(play);
    await oneRuns('3.7.3');
    await manifestsAppliedAgain();
  }),
);

slowTest('by its digest: the first pod that is restarted on it is the only one, and it goes back', () =>
  mishap('3.7.3 by its digest, and back', heldAndBack, async () => {
    await setImage(await digestOf('3.7.3'));
    await oneRuns('3.7.3');
    await manifestsAppliedAgain();
  }),
);

slowTest('of an older minor, which does not start on the data: told of one pod, and it goes back', () =>
  mishap('3.5.35 by its digest, and back', [automatic], async () => {
    await setImage(await digestOf('3.5.35'));
    await becomes('Degraded', 'MemberDown');
    await nobodyIsRestarted();
    await manifestsAppliedAgain();
  }),
);

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
