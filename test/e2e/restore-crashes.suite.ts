import { EtcdRestore, RestoreSource } from '../../src';
import { crashedAt, crashes, crashing } from './support/crash-points';
import { addNightly, backUp, playWithNightly } from './support/orders-backups';
import type { S3 } from './support/s3';
import { slowTest } from './support/settings';
import { type Play, tell } from './watch/play';

let play: Play;
let s3: S3;
beforeAll(async () => {
  ({ play, s3 } = await playWithNightly('restore-crashes', { size: 1 }));
});
afterAll(() => play?.end());

slowTest('it is restored, with the reconciler killed before and after each of its steps', async () => {
  const snapshot = await backUp(play.namespace, 'orders', 'monday');
  await play.writesOn();
  await play.converges('restored with kills', 1, async () => {
    play.cluster.reshape((parts) => {
      crashing()(parts);
      const { chart, cluster } = parts;
      addNightly(cluster, s3.store());
      const source = RestoreSource.snapshot(s3.store(), snapshot);
      new EtcdRestore(chart, 'monday', { cluster, name: 'monday', source });
    });
    await play.cluster.apply();
    await play.givesUp();
    await play.namespace.kubectl(['wait', '--for=condition=Completed', '--timeout=300s', 'etcdrestore/monday']);
  });
  await crashedAt(play.namespace, 'Restore.verified', 'Safety.done', 'Fence', 'Drain', 'Drained', 'RestorePermit');
  expect(await play.cluster.record()).toMatchObject({ epoch: 2, restores: [{ id: 'monday' }] });
  tell(`restore-crashes: ${(await crashes(play.namespace)).length} kills`);
});

slowTest('nothing that was acknowledged is lost but to the restore, and each epoch is one cluster', () => play.ends(1));
