import { anotherReconciler, crashedAt, crashes, crashFromNowOn } from '../e2e/support/crash-points';
import { addNightly } from '../e2e/support/orders-backups';
import type { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import { type Play, tell } from '../e2e/watch/play';
import { playOn, upgrade } from './support/upgrades';

/** From the request for another minor version to its end. */
const steps = ['Upgrade', 'Job.create', 'Upgrade.allow', 'VerifyHash', 'Upgrade.finalize'];
const restarts = ['RestartPod', 'RestartPod.moveLeader', 'RestartPod.call', 'RestartPod.finish'];

let play: Play;
let s3: S3;
beforeAll(async () => {
  ({ play, s3 } = await playOn('3.5.35', 'upgrade-crashes'));
  await crashFromNowOn(play, ({ cluster }) => addNightly(cluster, s3.store()));
});
afterAll(() => play?.end());

async function upgradeWithKills(version: string, ...more: string[]): Promise<void> {
  await upgrade(play, s3, version);
  await play.namespace.until('nothing to be left to do', 300, async () => {
    const progressing = await play.cluster.condition('Progressing');
    return progressing?.status === 'False' ? progressing : undefined;
  });
  await crashedAt(play.namespace, ...steps, ...restarts, ...more);
  tell(`upgrade-crashes: ${(await crashes(play.namespace)).length} kills`);
}

slowTest('3.5 to 3.6, and settled, with the reconciler killed before and after each of its steps', () =>
  upgradeWithKills('3.6.16', 'Settle.churn'),
);

slowTest('3.6 to 3.7, under a reconciler that was not killed yet', async () => {
  await anotherReconciler(play.namespace);
  await upgradeWithKills('3.7.3');
});

slowTest('nothing that was acknowledged is lost, and it is one cluster', () => play.ends(3));
