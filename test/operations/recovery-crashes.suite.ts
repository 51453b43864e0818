import { anotherReconciler, crashedAt, crashes, crashFromNowOn } from '../e2e/support/crash-points';
import { addNightly, playWithNightly } from '../e2e/support/orders-backups';
import type { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import { type Play, tell } from '../e2e/watch/play';
import { majorityLossTold, recover } from './support/survivor-recovery';

let play: Play;
let s3: S3;
beforeAll(async () => {
  ({ play, s3 } = await playWithNightly('recovery-crashes', { users: true }));
  await crashFromNowOn(play, ({ cluster }) => addNightly(cluster, s3.store()));
});
afterAll(() => play?.end());

/** From the backup of the survivor to a cluster of its own, and through the first of these before. */
async function recoverWithKills(what: string, id: string, ...first: string[]): Promise<void> {
  await recover(play, what, id);
  await crashedAt(play.namespace, 'Recover', ...first, 'Job.create', 'Recover.stored', 'Restore.verified');
  await crashedAt(play.namespace, 'Fence', 'Drain', 'Drained', 'SeedPod', 'RestorePermit', 'MarkSeeded');
  tell(`recovery-crashes: ${(await crashes(play.namespace)).length} kills`);
}

slowTest(
  'recovered from a survivor that runs, with the reconciler killed before and after each of its steps',
  async () => {
    await play.cluster.loseVolumes(0, 1);
    await majorityLossTold(play);
    await recoverWithKills('recovered from a running survivor with kills', 'first');
  },
);

slowTest('from the volume of one that was restarted, under a reconciler that was not killed yet', async () => {
  await anotherReconciler(play.namespace);
  await play.cluster.loseVolumes(1, 2);
  await play.cluster.deletePods(0);
  await majorityLossTold(play);
  await recoverWithKills(
    'recovered from a restarted survivor with kills',
    'second',
    'Salvage.permit',
    'Salvage.restart',
  );
});

slowTest('nothing is lost but what was given up, and each epoch was one cluster', () => play.ends(3));
