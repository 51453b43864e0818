import { BackupStore } from '../../src';
import { Etcd } from './support/etcd';
import { runAgent, runNow } from './support/jobs';
import { claim } from './support/manifests';
import { Namespace } from './support/namespace';
import { newYear, schedule, synthesize } from './support/synthesis';

let namespace: Namespace;
beforeAll(async () => {
  namespace = await Namespace.create('restore');
});
afterAll(() => namespace?.delete());

test('an etcd that lost everything serves every key again, from the volume with its backup', async () => {
  await namespace.apply([claim('backups'), claim('etcd-data')]);
  const yaml = synthesize((chart) => {
    schedule(chart, 'nightly', {
      cluster: 'orders',
      endpoints: ['etcd-0.etcd:2379'],
      schedule: newYear,
      store: BackupStore.filesystem({ claimName: 'backups' }),
    });
  });
  await namespace.kubectl(['apply', '-f', '-'], yaml);
  const lost = await Etcd.start(namespace, { size: 1 });
  await lost.fill('orders', 10);
  const [digest, revision] = [await lost.digest(), await lost.revision()];
  const { succeeded, pods } = await runNow(namespace, 'nightly', 'backup');
  expect([succeeded, pods]).toEqual([true, [expect.objectContaining({ exitCode: 0 })]]);
  const { snapshot } = JSON.parse(pods[0]!.terminationMessage);
  await lost.fill('after-the-backup', 1);
  await namespace.kubectl(['delete', 'statefulset', 'etcd', '--cascade=foreground']);

  const dataVolume = { persistentVolumeClaim: { claimName: 'etcd-data' } };
  const peerUrl = `http://etcd-0.etcd.${namespace.name}.svc:2380`;
  const restore = {
    store: 0,
    args: [
      ...['restore', 'data-dir', '--data-dir=/data/data-dir', '--server-version=3.6'],
      ...['--name=etcd-0', `--initial-advertise-peer-urls=${peerUrl}`],
    ],
    volumes: [{ name: 'data', ...dataVolume }],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  expect(await runAgent(namespace, 'nightly', 'restore', restore)).toMatchObject({
    ok: true,
    id: snapshot.id,
    clusterId: expect.stringMatching(/^[0-9a-f]+$/),
  });
  expect(await runAgent(namespace, 'nightly', 'again', restore)).toMatchObject({ ok: true, alreadyRestored: true });

  const restored = await Etcd.start(namespace, { size: 1, dataVolume });
  expect(await restored.digest()).toBe(digest);
  // So that earlier watchers notice.
  expect(await restored.revision()).toBeGreaterThanOrEqual(revision + 1_000_000_000);
});
