import { kubectl } from '../e2e/support/kubectl';
import { slowTest } from '../e2e/support/settings';
import { applyCrds, crds, Play } from '../e2e/watch/play';
import { typed } from './support/typed';

// CRDs belong to the whole Kubernetes cluster, so this suite runs alone.
let play: Play;
beforeAll(async () => {
  play = await Play.begin('crds-removed');
});
afterAll(async () => {
  await applyCrds();
  await play?.end();
});

const ours = async (): Promise<string[]> => {
  const { stdout } = await kubectl(['get', 'crds', '-o', 'name']);
  return stdout.split('\n').filter((name) => name.endsWith('cdk8s-etcd.dev'));
};

slowTest('the CRDs are deleted by mistake: etcd serves on, and with them the cluster goes on as it was', async () => {
  const { clusterUid, clusterId, members } = await play.cluster.record();
  const uids = async () => (await play.cluster.pods()).map(({ metadata }) => metadata.uid);
  const before = await uids();
  await play.converges('the CRDs deleted, and all applied again', 3, async () => {
    await kubectl(['delete', '--timeout=60s', '-f', crds]);
    await play.writesOn();
    await applyCrds();
    await play.cluster.apply();
  });
  expect(await play.cluster.record()).toMatchObject({ clusterUid, clusterId, members, epoch: 1 });
  expect(await uids()).toEqual(before);
  await play.cluster.apply({ size: 5 });
  await play.cluster.ready(5);
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(5));

slowTest('everything is removed: the CRDs go when nothing of theirs is left', async () => {
  await play.cluster.delete('--timeout=120s');
  const { stderr } = await typed('docs/operations/uninstall.md', 'Remove everything', { 'dist/crds.k8s.yaml': crds });
  expect(stderr).toContain('No resources found');
  expect(await ours()).toEqual([]);
});
