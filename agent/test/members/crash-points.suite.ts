// Kills the reconciler before and after the first occurrence of each of its effects, and gates, sidecars and etcd after
// the first occurrence of each of their steps. The lives of these clusters reach all of them.

import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MaintenanceKind } from '../../src/protocol/record.ts';
import { etcdOf } from '../harness/etcd-binaries.ts';
import { LocalCluster } from '../local/cluster.ts';
import { type ClusterObject, clusterOf, podOf, type StatefulSetObject, statefulSetOf } from '../local/objects.ts';
import { memberIds } from './checks/facts.ts';
import { backupsOf, takeBackup, verifiedSnapshot } from './support/backups.ts';
import { untried } from './support/crash-points.ts';
import { overwrite } from './support/fill.ts';
import { asked } from './support/maintenance.ts';
import { type Play, scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

const killed = new Set<string>();

function killEverywhere(cluster: LocalCluster): void {
  cluster.reconcilerCrashesAt('each');
  cluster.gateCrashesAt('each');
  cluster.serveCrashesAt('each');
  cluster.etcdCrashesAt('each');
}

/** Points that were reached in all lives. */
function count({ cluster, notes }: Play): void {
  for (const point of cluster.crashed) killed.add(point);
  notes.push(`${cluster.crashed.length} kills`);
}

const replacedAt =
  ({ cluster }: Play, ordinal: number, work: () => Promise<unknown>) =>
  async () => {
    const before = memberIds(cluster)[ordinal];
    await work();
    await cluster.until(() => memberIds(cluster)[ordinal] !== before, `ordinal ${ordinal} is replaced`, patience);
  };

const schedule = 'hourly';
const quota = 32 * 1024 ** 2;
/** s */
const patience = 240;

scenario(
  'a long life: grown, replaced, rolled, shrunk, its record lost',
  {
    size: 1,
    tls: true,
    reconciler: false,
    etcd: { 'quota-backend-bytes': quota },
    settings: { keepRevisions: 10 },
    spec: { schedule, onShrink: 'Delete' },
  },
  async (play) => {
    const { cluster, writer } = play;
    killEverywhere(cluster);
    cluster.startReconciler();
    await play.formed();

    await play.converges('grown', async () => {
      await cluster.apply({ spec: { size: 3 } });
      // A learner that loses its volume can never become a voter.
      await cluster.until(() => cluster.record()?.permits[1] !== undefined, 'ordinal 1 is permitted', patience);
      await cluster.loseVolume(1);
    });
    await play.converges(
      'volume lost',
      replacedAt(play, 1, () => cluster.loseVolume(1)),
    );
    await play.converges('rolled', () => cluster.apply({ etcd: { 'max-txn-ops': 200 } }));
    if (!smoke) await rest(play);
    await writer.more(20);
    count(play);
  },
);

/** etcd refuses for five seconds after a member was down. */
function removedByHand(cluster: LocalCluster, memberId: string): Promise<void> {
  const remove = () => cluster.client().etcdctl('member', 'remove', memberId);
  return cluster.until(
    () =>
      remove().then(
        () => true,
        () => false,
      ),
    'etcd removes the member',
    patience,
  );
}

async function rest(play: Play): Promise<void> {
  const { cluster, writer } = play;
  await play.converges(
    'forced',
    replacedAt(play, 2, () =>
      cluster.apply({
        spec: {
          replace: {
            policy: 'OnVolumeLoss',
            force: [{ ordinal: 2, memberId: memberIds(cluster)[2]!, discardVolume: true }],
          },
        },
      }),
    ),
  );
  await play.converges(
    'removed by hand',
    replacedAt(play, 1, () => removedByHand(cluster, memberIds(cluster)[1]!)),
  );
  await play.converges('scaled by hand', async () => {
    cluster.store.update<StatefulSetObject>('stateful-set', undefined, (set) => ({
      ...set,
      replicas: 1,
    }));
    await cluster.until(() => statefulSetOf(cluster.store)?.replicas === 3, 'it is scaled back', patience);
  });
  await play.converges('record rebuilt', async () => {
    await cluster.stopReconciler();
    await cluster.deleteRecord();
    cluster.store.update<StatefulSetObject>('stateful-set', undefined, (set) => ({ ...set, replicas: 1 }));
    cluster.startReconciler();
    await cluster.until(() => cluster.record() !== undefined, 'the record is rebuilt', patience);
  });
  await writer.more(20);
  await play.converges('shrunk', () => cluster.apply({ spec: { size: 1 } }));
}

const recovery = { id: 'r1', acceptDataLoss: true };

const failed = (cluster: LocalCluster, of: RegExp) =>
  cluster.until(() => of.test(cluster.record()?.failure?.of ?? ''), `${of} fails`, patience);

/** Does the work while the schedule's store cannot be written to. */
async function withoutStore(cluster: LocalCluster, work: () => Promise<void>): Promise<void> {
  const file = join(cluster.dir, 'schedules.json');
  writeFileSync(file, JSON.stringify({ [schedule]: { stores: ['file:///dev/null/nowhere'] } }));
  await work();
  rmSync(file);
}

/** Runs restores that end before the fence. */
async function restoresInVain(cluster: LocalCluster, snapshotId: string): Promise<void> {
  const over = (name: string) =>
    cluster.until(() => cluster.restoreNamed(name)?.phase === 'Failed', `${name} fails`, patience);
  await cluster.restore({ name: 'damaged', source: { snapshotId }, sha256: '0'.repeat(64) });
  await over('damaged');
  await cluster.apply({ spec: { schedule: undefined } });
  await cluster.restore({ name: 'unsafe', source: { snapshotId } });
  await over('unsafe');
  await cluster.apply({ spec: { schedule } });
  await cluster.restore({ name: 'withdrawn', source: { snapshotId } });
  const begun = () => {
    const op = cluster.record()?.op;
    return op?.kind === 'Restore' && op.args.id === 'withdrawn';
  };
  await cluster.until(begun, 'it begins', patience);
  cluster.store.remove('restores/withdrawn');
  await cluster.until(() => cluster.record()?.op === undefined, 'it ends', patience);
}

const lastPoints: Record<MaintenanceKind, readonly string[]> = {
  defragment: ['after Defragment.moveLeader', 'after Defragment.done'],
  moveLeader: ['after MoveLeader.call', 'after MoveLeader.done'],
};

/** Asks again after each kill, as a person would, because no call is repeated. */
async function untilCompleted({ cluster }: Play, kind: MaintenanceKind): Promise<void> {
  for (let tries = 0; tries < 12; tries++) {
    const { phase } = await asked(cluster, kind, kind === 'moveLeader' ? { ordinal: tries % 3 } : {});
    const isTried = lastPoints[kind].every((point) => cluster.crashed.includes(point));
    if (phase === 'Completed' && isTried) return;
  }
  throw new Error(`${kind} is not completed`);
}

if (!smoke) {
  scenario(
    'ephemeral members: rolled, shrunk to one, rolled again',
    { size: 3, tls: false, reconciler: false, spec: { ephemeral: true, schedule } },
    async (play) => {
      const { cluster, writer } = play;
      killEverywhere(cluster);
      cluster.startReconciler();
      await play.formed();
      await play.converges('rolled', () => cluster.apply({ etcd: { 'max-txn-ops': 200 } }));
      await play.converges('shrunk', () => cluster.apply({ spec: { size: 1 } }));
      await writer.more(20);
      const { clusterId, epoch } = cluster.record()!;
      await play.converges('rolled alone', async () => {
        await withoutStore(cluster, async () => {
          await cluster.apply({ etcd: { 'max-txn-ops': 300 } });
          await failed(cluster, /^Restore roll:/);
        });
        const { revision } = await verifiedSnapshot(cluster);
        play.gaveUp({ clusterId: clusterId!, revision });
        await cluster.until(() => cluster.record()!.epoch > epoch, 'a new epoch', patience);
      });
      await writer.more(20);
      count(play);
    },
  );

  scenario(
    'upgraded from 3.5 to 3.6 to 3.7',
    { size: 3, minor: '3.5', tls: false, reconciler: false, spec: { schedule } },
    async (play) => {
      const { cluster, writer } = play;
      killEverywhere(cluster);
      cluster.startReconciler();
      await play.formed();
      await play.converges('rolled', () => cluster.apply({ etcd: { 'max-txn-ops': 200 } }));
      const version = etcdOf('3.6').version;
      await play.converges('a backup that fails', () =>
        withoutStore(cluster, async () => {
          await cluster.apply({ version });
          await failed(cluster, /^Upgrade/);
          await cluster.apply({ version: etcdOf('3.5').version });
        }),
      );
      await play.converges('turned back half way', async () => {
        await cluster.apply({ version });
        const all = [0, 1, 2];
        const runs = (i: number) => cluster.agent(i).then(({ etcd }) => etcd?.version === version);
        const started = async () => (await Promise.all(all.map((i) => runs(i).catch(() => false)))).some(Boolean);
        // The agent, which is killed too, may not answer before the second kill. After the third step there is no way
        // back.
        const isNext = () => all.filter((i) => podOf(cluster.store, i)?.template.version === version).length > 1;
        const begun = async () => isNext() || started();
        await cluster.until(begun, 'the first member is upgraded', patience);
        await cluster.apply({ version: etcdOf('3.5').version });
      });
      for (const minor of ['3.6', '3.7'] as const) {
        await play.converges(`to ${minor}`, () => cluster.apply({ version: etcdOf(minor).version }));
        await writer.more(20);
      }
      count(play);
    },
  );

  scenario(
    'out of space, restored, and copied',
    {
      size: 3,
      tls: true,
      reconciler: false,
      etcd: { 'quota-backend-bytes': quota },
      settings: { keepRevisions: 10 },
      spec: { schedule },
    },
    async (play) => {
      const { cluster, writer } = play;
      killEverywhere(cluster);
      cluster.startReconciler();
      await play.formed();
      await overwrite(cluster, 100);
      await play.converges('space cleared', () =>
        cluster.until(() => cluster.record()?.op?.kind === 'ClearNoSpace', 'the alarm is seen', patience),
      );
      await writer.more(20);
      const { id } = await takeBackup(cluster);
      await writer.more(20);
      const clusterId = cluster.record()!.clusterId!;
      await play.converges('not restored', () => restoresInVain(cluster, id));
      await play.converges('restored', async () => {
        await cluster.restore({ name: 'monday', source: { snapshotId: id } });
        const { revision } = await verifiedSnapshot(cluster);
        play.gaveUp({ clusterId, revision });
        await cluster.until(() => cluster.restoreNamed('monday')?.phase === 'Completed', 'it is restored', patience);
      });
      await writer.more(20);

      const source = { store: { filesystem: { path: backupsOf(cluster) } }, snapshotId: id };
      const spec = { origin: { source } };
      await using copy = await LocalCluster.start({ size: 1, tls: false, spec, reconciler: false });
      killEverywhere(copy);
      copy.startReconciler();
      await copy.settled(patience);
      for (const point of copy.crashed) killed.add(point);
      count(play);
    },
  );

  scenario('defragmented, and the leader moved', { size: 3, tls: false, reconciler: false }, async (play) => {
    const { cluster, writer } = play;
    killEverywhere(cluster);
    cluster.startReconciler();
    await play.formed();
    await play.converges('defragmented', () => untilCompleted(play, 'defragment'));
    await play.converges('leader moved', () => untilCompleted(play, 'moveLeader'));
    await writer.more(20);
    count(play);
  });

  scenario(
    'quorum lost, and recovered from a survivor that was restarted',
    { size: 3, tls: false, reconciler: false, spec: { schedule } },
    async (play) => {
      const { cluster, writer } = play;
      killEverywhere(cluster);
      cluster.startReconciler();
      await play.formed();
      const clusterId = cluster.record()!.clusterId!;
      await play.converges('not needed', async () => {
        await cluster.apply({ spec: { recovery: { ...recovery, id: 'early' } } });
        await cluster.until(() => cluster.record()?.lastRecoveryId === 'early', 'it is not needed', patience);
      });
      await play.converges('quorum back', async () => {
        // A node that is off may have newer data: then nothing begins.
        for (const i of [1, 2]) cluster.killEtcd(i, 'SIGSTOP');
        await cluster.apply({ spec: { recovery: { ...recovery, id: 'hasty' } } });
        await cluster.until(() => cluster.record()?.op?.kind === 'Recover', 'it begins', patience);
        for (const i of [1, 2]) cluster.killEtcd(i, 'SIGCONT');
      });
      await Promise.all([1, 2].map((i) => cluster.loseVolume(i)));
      await cluster.restartPod(0);
      await play.converges('recovered', async () => {
        await cluster.apply({ spec: { recovery } });
        const { revision } = await verifiedSnapshot(cluster);
        play.gaveUp({ clusterId, revision });
        await cluster.until(() => cluster.record()?.lastRecoveryId === 'r1', 'it is recovered', patience);
      });
      await writer.more(20);
      count(play);
    },
  );

  test('deleted with its claims, after a last backup', async () => {
    const spec = { schedule, onDelete: 'Delete', finalBackupRequired: true } as const;
    await using cluster = await LocalCluster.start({ size: 1, tls: true, reconciler: false, spec });
    killEverywhere(cluster);
    cluster.startReconciler();
    await cluster.settled(patience);
    await cluster.apply({ spec: { onDelete: 'Retain', finalBackupRequired: false } });
    await cluster.until(() => clusterOf(cluster.store)?.finalizer === false, 'the finalizer goes', patience);
    await cluster.apply({ spec });
    await cluster.until(() => clusterOf(cluster.store)?.finalizer === true, 'the finalizer is back', patience);
    cluster.store.update<ClusterObject>('cluster', undefined, (old) => ({ ...old, deleting: true }));
    // The kill after the last effect comes after it.
    const isGone = () => cluster.crashed.includes('after Delete.releaseWithoutRecord');
    await cluster.until(isGone, 'the finalizer is released', patience);
    expect(clusterOf(cluster.store)?.finalizer).not.toBe(true);
    expect(cluster.record()).toBeUndefined();
    expect(cluster.store.list('claims')).toEqual([]);
    for (const point of cluster.crashed) killed.add(point);
  });

  test('created again while it is deleted, then deleted without its claims', async () => {
    const spec = { schedule, finalBackupRequired: true } as const;
    await using cluster = await LocalCluster.start({ size: 1, tls: false, reconciler: false, spec });
    killEverywhere(cluster);
    cluster.startReconciler();
    await cluster.settled(patience);
    const deleting = (deleting: boolean) =>
      cluster.store.update<ClusterObject>('cluster', undefined, (old) => ({ ...old, deleting }));
    await withoutStore(cluster, async () => {
      deleting(true);
      await cluster.until(() => cluster.record()?.op?.kind === 'Delete', 'its deletion begins', patience);
      deleting(false);
      await cluster.until(() => cluster.record()?.op === undefined, 'its deletion is given up', patience);
    });
    deleting(true);
    await cluster.until(() => clusterOf(cluster.store)?.finalizer !== true, 'the finalizer is released', patience);
    const stored = readdirSync(backupsOf(cluster), { recursive: true }).map(String);
    expect(stored.filter((name) => name.endsWith('.json'))).toHaveLength(1);
    expect(cluster.store.list('claims')).toHaveLength(1);
    for (const point of cluster.crashed) killed.add(point);
  });

  test('every point was tried', () => expect(untried(killed)).toEqual([]));
}
