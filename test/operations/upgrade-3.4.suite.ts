import { JsonPatch } from 'cdk8s';
import type { Parts } from '../e2e/support/member-cluster';
import { addNightly } from '../e2e/support/orders-backups';
import type { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import type { Play } from '../e2e/watch/play';
import type { Manifest } from '../synth';
import { applyVersion, playOn, refused, upgrade } from './support/upgrades';

const old = '3.4.23';

/** No property allows a version as old as this, and it has no `/livez` yet. */
function ask34({ cluster }: Parts): void {
  const pod = '/spec/template/spec';
  const tcp = { tcpSocket: { port: 2380 } };
  cluster.customResource.addJsonPatch(JsonPatch.replace('/spec/version', old));
  cluster.statefulSet.addJsonPatch(
    JsonPatch.replace(`${pod}/containers/0/image`, `gcr.io/etcd-development/etcd:v${old}`),
    JsonPatch.replace(`${pod}/containers/0/startupProbe`, { ...tcp, periodSeconds: 2, failureThreshold: 900 }),
    JsonPatch.replace(`${pod}/containers/0/livenessProbe`, { ...tcp, periodSeconds: 10, failureThreshold: 6 }),
    ...[0, 1].map((agent) => JsonPatch.replace(`${pod}/initContainers/${agent}/env/5/value`, old)),
  );
}

let play: Play;
let s3: S3;
beforeAll(async () => {
  ({ play, s3 } = await playOn('3.5.35', 'upgrade-34', { shape: ask34 }));
});
afterAll(() => play?.end());

slowTest('an old version serves, and is called old', async () => {
  expect(await play.cluster.condition('Ready')).toMatchObject({ status: 'True', reason: 'VersionOutdated' });
  await play.writesOn();
});

slowTest('3.4 to 3.5', async () => {
  play.cluster.reshape(({ cluster }) => addNightly(cluster, s3.store()));
  await upgrade(play, s3, '3.5.35');
  expect(await play.cluster.condition('Ready')).toMatchObject({ reason: 'UpToDate' });
});

slowTest('data of 3.4 go to 3.6 only after a restart on 3.5', async () => {
  await applyVersion(play, '3.6.16');
  expect((await refused(play)).reason).toBe('RestartRequired');
  await applyVersion(play, '3.5.35');
  await play.unnoticed('restarted on 3.5.35', 3, async () => {
    await play.namespace.kubectl(['rollout', 'restart', 'statefulset/orders']);
    await play.namespace.until('all to be restarted', 240, async () => {
      const members: Manifest[] = Object.values((await play.cluster.record()).members);
      return members.every(({ restartedOn }) => restartedOn === '3.5.35') ? members : undefined;
    });
  });
  await upgrade(play, s3, '3.6.16');
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
