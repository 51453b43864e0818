// Volumes that are deleted with their pods: every planned restart is a replacement, and the loss of all of them is
// final.
import { LocalCluster } from '../local/cluster.ts';
import { memberIds, seedPermits } from './checks/facts.ts';
import { verifiedSnapshot } from './support/backups.ts';
import { scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

const ephemeral = { spec: { ephemeral: true } };
const changed = { 'max-txn-ops': 200 };

scenario(
  'the template of three ephemeral members changes; a pod is deleted',
  { size: 3, tls: true, ...ephemeral },
  async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const before = memberIds(cluster);
    await play.converges('rolled', () => cluster.apply({ etcd: changed }));
    await writer.more(20);
    const rolled = memberIds(cluster);
    for (const i of [0, 1, 2]) expect(rolled[i]).not.toBe(before[i]);
    await play.converges('deleted pod replaced', async () => {
      await cluster.deletePod(1);
      await cluster.until(() => cluster.record()?.members[1]?.memberId !== rolled[1], 'the member is removed');
    });
    await writer.more(20);
    expect(memberIds(cluster)).toMatchObject({ 0: rolled[0], 2: rolled[2] });
    expect(seedPermits(cluster)).toBe(1);
  },
);

if (!smoke) {
  scenario(
    'a single ephemeral member rolls by way of a backup',
    { size: 1, tls: false, spec: { ephemeral: true, schedule: 'hourly' } },
    async (play) => {
      const { cluster, writer } = play;
      await play.formed();
      const { clusterId, epoch } = cluster.record()!;
      await play.converges('rolled', async () => {
        await cluster.apply({ etcd: changed });
        const { revision } = await verifiedSnapshot(cluster);
        play.gaveUp({ clusterId: clusterId!, revision });
        await cluster.until(() => cluster.record()!.epoch > epoch, 'a new epoch');
      });
      await writer.more(20);
      expect(cluster.record()?.lastRestoreId).toMatch(/^roll:/);
      expect(seedPermits(cluster)).toBe(1);
    },
  );

  scenario(
    'a single ephemeral member without a backup schedule is left alone',
    { size: 1, tls: true, ...ephemeral },
    async (play) => {
      const { cluster, writer } = play;
      await play.formed();
      const before = memberIds(cluster);
      await cluster.apply({ etcd: changed });
      await cluster.until(
        () => cluster.condition('Stalled')?.reason === 'EphemeralSingle',
        'Stalled says EphemeralSingle',
      );
      await writer.more(50);
      expect(memberIds(cluster)).toEqual(before);
    },
  );

  test('all ephemeral volumes lost: the cluster is held, and no second one begins', async () => {
    await using cluster = await LocalCluster.start({ size: 3, ...ephemeral });
    await cluster.settled();
    const { epoch, token } = cluster.record()!;
    await Promise.all([0, 1, 2].map((i) => cluster.deletePod(i, { graceful: false })));
    await cluster.until(() => cluster.condition('Stalled')?.reason === 'AllVolumesLost', 'Stalled says AllVolumesLost');
    expect(cluster.record()).toMatchObject({ epoch, token });
    expect(seedPermits(cluster)).toBe(1);
  });
}
