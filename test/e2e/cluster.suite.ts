import type { Manifest } from '../synth';
import { MemberCluster } from './support/member-cluster';
import { Namespace } from './support/namespace';
import { slowTest } from './support/settings';
import { Play } from './watch/play';

let play: Play;
beforeAll(async () => {
  play = await Play.begin('cluster');
});
afterAll(() => play?.end());

const uidOf = async (pod: string): Promise<string> => (await play.namespace.get('pod', pod)).metadata.uid;

test('three members form, by a seed and two learners', async () => {
  const { cluster, namespace } = play;
  const { status } = await cluster.resource();
  expect(status).toMatchObject({ phase: 'Ready', epoch: 1, size: 3, voters: 3, readyVoters: 3, version: '3.6.16' });
  expect(status.clusterId).toMatch(/^[0-9a-f]+$/);
  const { permits } = await cluster.record();
  expect(Object.values<Manifest>(permits).filter(({ mode }) => mode === 'new').length).toBeLessThan(2);
  const { items } = await namespace.get('events', '--field-selector=involvedObject.kind=EtcdCluster');
  const reasons = items.map(({ reason }: Manifest) => reason);
  expect(reasons).toEqual(expect.arrayContaining(['LearnerAdded', 'MemberPromoted', 'UpToDate']));
  // No event asks for a person unnecessarily.
  expect(items.filter(({ type }: Manifest) => type === 'Warning')).toEqual([]);
  const list = JSON.parse(await cluster.etcdctl(['member', 'list', '-w', 'json']));
  expect(list.members.map(({ name }: Manifest) => name).sort()).toEqual(['orders-0', 'orders-1', 'orders-2']);
});

test('kubectl get etcd shows it', async () => {
  const { stdout } = await play.namespace.kubectl(['get', 'etcd']);
  expect(stdout).toMatch(/^NAME +SIZE +VOTERS +READY +VERSION +LEADER +PHASE/);
  expect(stdout).toMatch(/\norders +3 +3 +3 +3\.6\.16 +orders-\d +Ready /);
});

test('a second apply changes nothing', async () => {
  // A status may change at any time, which does not change the generation.
  const versions = async () => {
    const { items } = await play.namespace.get('statefulset,deployment,etcdcluster,poddisruptionbudget,role,service');
    return items.map(({ kind, metadata }: Manifest) => [
      ...[kind, metadata.name, metadata.uid],
      metadata.generation ?? metadata.resourceVersion,
    ]);
  };
  const before = await versions();
  await play.cluster.apply();
  expect(await versions()).toEqual(before);
});

slowTest('nor does one of client-side apply, and kubectl says so', async () => {
  const namespace = await Namespace.create('plain');
  try {
    const cluster = await MemberCluster.create(namespace);
    await cluster.apply({ size: 1 }, []);
    await cluster.ready(1);
    const changed = (await cluster.apply({}, []))
      .trim()
      .split('\n')
      .filter((line) => !line.endsWith(' unchanged'));
    // kubectl always sends a budget's selector, and then says "configured".
    expect(changed).toEqual(['poddisruptionbudget.policy/orders configured']);
  } finally {
    await namespace.delete();
  }
});

test('a pod that is deleted comes back as the same member', async () => {
  const { cluster, namespace } = play;
  const [member, uid] = [await cluster.memberId(1), await uidOf('orders-1')];
  await play.converges('a pod deleted', 3, async () => {
    await cluster.deletePods(1);
    await namespace.until('another pod', 120, async () => {
      const now = await uidOf('orders-1').catch(() => uid);
      return now === uid ? undefined : now;
    });
  });
  expect(await cluster.memberId(1)).toBe(member);
});

test('a volume that is lost makes another member of its pod', async () => {
  const { cluster } = play;
  const before = await cluster.memberId(2);
  await play.converges('a volume lost', 3, async () => {
    await cluster.loseVolumes(2);
    await cluster.replaced(2, before);
  });
  expect((await cluster.record()).tombstones).toContainEqual(expect.objectContaining({ memberId: before }));
});

test('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
