import type { Manifest } from '../synth';
import { MemberCluster } from './support/member-cluster';
import { Namespace } from './support/namespace';
import { applyCrds, tell } from './watch/play';

// Within a minute the status has the reason of Kubernetes why pods do not start, and no condition reports health.

let namespace: Namespace;
let cluster: MemberCluster;
const start = async (purpose: string): Promise<void> => {
  await applyCrds();
  namespace = await Namespace.create(purpose);
  cluster = await MemberCluster.create(namespace);
};
afterEach(() => namespace?.delete());

async function toldOf(words: RegExp): Promise<void> {
  const begun = Date.now();
  const { message } = await namespace.until(`${words} in Degraded`, 60, async () => {
    const degraded: Manifest | undefined = await cluster.condition('Degraded');
    return degraded?.reason === 'PodNotRunning' && words.test(degraded.message) ? degraded : undefined;
  });
  tell(`never formed: after ${Math.round((Date.now() - begun) / 1000)} s: ${message}`);
  const { status } = await cluster.resource();
  expect(status).toMatchObject({ phase: 'Bootstrapping', reason: 'PodNotRunning', message });
  const { stdout } = await namespace.kubectl(['get', 'etcd']);
  expect(stdout).toMatch(/ Bootstrapping +\d+s +\d+s +PodNotRunning/);
}

const warnings = async (): Promise<string[]> => {
  const { items } = await namespace.get('events', '--field-selector=involvedObject.kind=EtcdCluster,type=Warning');
  return items.map(({ reason }: Manifest) => reason);
};

test('an image that cannot be pulled', async () => {
  await start('no-image');
  await cluster.apply({ size: 3, image: 'registry.invalid/etcd:v3.6.16' });
  await toldOf(/orders-\d on node\d: (ErrImagePull|ImagePullBackOff): .*registry\.invalid/);
  expect(await cluster.condition('QuorumLost')).toMatchObject({ status: 'Unknown', reason: 'Bootstrapping' });
  expect(await warnings()).toEqual(['PodNotRunning']);
  await cluster.apply({ image: undefined });
  await cluster.ready(3);
  expect(await cluster.condition('Degraded')).toMatchObject({ status: 'False', reason: 'AllMembersHealthy' });
});

test('a quota that prevents the third pod', async () => {
  await start('quota');
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'small' }, spec: { hard: { pods: '3' } } };
  await namespace.apply([quota]);
  await cluster.apply({ size: 3 });
  await toldOf(/orders-\d does not exist: FailedCreate: .*exceeded quota: small/);
  await namespace.kubectl(['delete', 'resourcequota', 'small']);
  await cluster.ready(3);
  expect(await warnings()).toEqual(['PodNotRunning']);
});
