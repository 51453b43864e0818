// A backup replaces the data of a cluster, and starts a new cluster next to it.
import { copyFile, mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LocalCluster } from '../local/cluster.ts';
import { type StatefulSetObject, statefulSetOf } from '../local/objects.ts';
import { asides } from './checks/facts.ts';
import {
  backupsOf,
  encryptBackups,
  folderIn,
  jobOf,
  killJob,
  logsWith,
  takeBackup,
  tokenOf,
  verifiedSnapshot,
} from './support/backups.ts';
import { type Play, scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

const spec = { schedule: 'nightly' };
/** A machine that is busy with two clusters may delay a write, which does not mean that it is lost. */
const patient = { retryFor: 10_000 };

const reason = ({ cluster }: Play, name: string): string | undefined => cluster.restoreNamed(name)?.report?.reason;

const upSince = (cluster: LocalCluster) =>
  Promise.all([0, 1, 2].map(async (ordinal) => (await cluster.agent(ordinal)).etcd?.upSince));

/** Requests a restore, does the work meanwhile, and waits for its end. */
async function restored(
  play: Play,
  name: string,
  source: object,
  {
    meanwhile,
    seconds,
    ...request
  }: {
    seconds?: number;
    meanwhile?: () => Promise<unknown>;
    identitySecret?: string;
  } = {},
): Promise<void> {
  const { cluster, writer } = play;
  const clusterId = writer.history.clusterIds.at(-1)!;
  let token = '';
  await play.converges(`restored as ${name}`, async () => {
    await cluster.restore({ name, source: source as Record<string, unknown>, ...request });
    const { revision } = await verifiedSnapshot(cluster, seconds);
    play.gaveUp({ clusterId, revision });
    token = tokenOf(cluster);
    await meanwhile?.();
    await cluster.until(() => cluster.restoreNamed(name)?.phase !== undefined, `${name} is over`, seconds);
  });
  expect(cluster.restoreNamed(name)).toMatchObject({ phase: 'Completed' });
  expect(logsWith(cluster, token)).toEqual([]);
  expect(cluster.record()?.clusterId).not.toBe(clusterId);
  await writer.more(20);
}

/** Deletes and recreates the resource, as Argo CD may. */
async function madeAgain(play: Play, name: string, source: object): Promise<string | undefined> {
  const { cluster } = play;
  cluster.store.remove(`restores/${name}`);
  await cluster.restore({ name, source: source as Record<string, unknown> });
  await cluster.until(() => cluster.restoreNamed(name)?.phase !== undefined, `${name} is over again`);
  return reason(play, name);
}

scenario('restored in place from an encrypted backup, once per name', { size: 3, tls: true, spec }, async (play) => {
  const { cluster, writer, watcher } = play;
  await play.formed();
  const recipient = await encryptBackups(cluster, 'nightly', 'keys');
  const { id, revision } = await takeBackup(cluster, `--age-recipient=${recipient}`);
  await writer.more(100);
  const source = { snapshotId: id };
  await restored(play, 'monday', source, { identitySecret: 'keys' });
  expect(watcher.compacted.length).toBeGreaterThan(0);
  expect(cluster.record()).toMatchObject({ epoch: 2, minEpoch: 2, restores: [{ id: 'monday' }] });
  // The previous data are kept, by the members and in the store.
  for (const ordinal of [0, 1, 2]) expect(asides(cluster.volume(ordinal))).toHaveLength(1);
  const folder = folderIn(backupsOf(cluster), cluster);
  const manifests = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  // Retention and lineage of later backups depend on it.
  const notes = manifests.filter((name) => name.includes('.restored-'));
  expect(notes).toEqual([`${id}.restored-${cluster.record()?.clusterId}.json`]);
  expect(manifests.filter((name) => !notes.includes(name))).toHaveLength(2);
  // A later restore of the same snapshot goes beyond the revisions of this one.
  const note = JSON.parse(await readFile(join(folder, notes[0]!), 'utf8'));
  expect(note.bump).toBeGreaterThan(0);
  // The backup queried etcd before the snapshot began, and the writer continued.
  expect(note.revision - note.bump).toBeGreaterThanOrEqual(revision);
  await cluster.until(() => jobOf(cluster, 'restore') === undefined, 'the Job is gone');

  expect(await madeAgain(play, 'monday', source)).toBe('AlreadyRestored');
  expect(await madeAgain(play, 'monday', { key: 'another' })).toBe('NameUsed');
  expect(cluster.record()).toMatchObject({ epoch: 2, restores: [{ id: 'monday' }] });
});

if (!smoke) {
  scenario(
    'after a restore in place, retention takes the snapshots of before it as it takes its own',
    { size: 1, tls: false, spec },
    async (play) => {
      const { cluster, writer } = play;
      await play.formed();
      const folder = folderIn(backupsOf(cluster), cluster);
      const snapshots = async () => {
        const manifests = (await readdir(folder)).filter(
          (file) => file.endsWith('.json') && !file.includes('.restored-'),
        );
        const read = async (file: string) => JSON.parse(await readFile(join(folder, file), 'utf8'));
        const found = await Promise.all(manifests.map(read));
        return found.map(({ id, source, cluster: of }) => ({ id, clusterId: source.clusterId, lineage: of.lineage }));
      };
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) {
        ids.push((await takeBackup(cluster)).id);
        await writer.more(10);
      }
      const [{ clusterId: before } = { clusterId: '' }] = await snapshots();
      await restored(play, 'monday', { snapshotId: ids.at(-1) });
      const safety = (await snapshots()).find(({ id }) => !ids.includes(id));
      expect(safety?.clusterId).toBe(before);

      const first = await takeBackup(cluster, '--retention=last=1,minKeep=1');
      const second = await takeBackup(cluster, '--retention=last=1,minKeep=1');
      const left = await snapshots();
      // Of the previous history only the newest: the safety backup.
      expect(left.map(({ id }) => id).sort()).toEqual([safety?.id, second.id].sort());
      expect(first.id).not.toBe(second.id);
      expect(left.find(({ id }) => id === second.id)).toMatchObject({
        clusterId: cluster.record()?.clusterId,
        lineage: [before],
      });
    },
  );

  scenario(
    'a snapshot that is cut, damaged, or another one: nothing happens',
    { size: 3, tls: false, spec, writer: patient },
    async (play) => {
      const { cluster, writer } = play;
      await play.formed();
      const { id } = await takeBackup(cluster);
      const before = cluster.record();
      const since = writer.now;
      const good = folderIn(backupsOf(cluster), cluster);
      const damaged = async (name: string, change: (file: string) => Promise<unknown>): Promise<object> => {
        const path = join(cluster.dir, name);
        await mkdir(folderIn(path, cluster), { recursive: true });
        for (const file of await readdir(good)) {
          await copyFile(join(good, file), join(folderIn(path, cluster), file));
          if (file.includes('.db')) await change(join(folderIn(path, cluster), file));
        }
        return { store: { filesystem: { path } }, snapshotId: id };
      };
      const cut = await damaged('cut', async (file) => truncate(file, (await readFile(file)).length - 9));
      const flipped = await damaged('flipped', async (file) => {
        const bytes = await readFile(file);
        bytes[bytes.length >> 1]! ^= 1;
        await writeFile(file, bytes);
      });
      const whole = { snapshotId: id };
      for (const [name, source, more] of [
        ['cut', cut, {}],
        ['flipped', flipped, {}],
        ['wrong-sha256', whole, { sha256: '0'.repeat(64) }],
        ['wrong-revision', whole, { expectedRevision: 1 }],
        ['not-there', { snapshotId: 'etcd-snapshot-20200101-000000-000000' }, {}],
      ] as const) {
        await cluster.restore({ name, source: source as Record<string, unknown>, ...more });
        await cluster.until(() => cluster.restoreNamed(name)?.phase !== undefined, `${name} is over`);
        expect([name, cluster.restoreNamed(name)?.phase, reason(play, name)]).toEqual([
          name,
          'Failed',
          'SnapshotRefused',
        ]);
      }
      await cluster.settled();
      expect(play.missed(since)).toEqual([]);
      expect(cluster.record()).toMatchObject({ epoch: 1, restores: [], members: before!.members });
      for (const ordinal of [0, 1, 2]) expect(asides(cluster.volume(ordinal))).toEqual([]);
    },
  );

  scenario(
    'the pod of the Job is killed before, at and after the fence',
    { size: 3, tls: true, spec },
    async (play) => {
      const { cluster, writer } = play;
      await play.formed();
      const { id } = await takeBackup(cluster);
      await writer.more(50);
      const killed: string[] = [];
      const at = async (step: string) => {
        await cluster.until(() => {
          const op = cluster.record()?.op;
          return op?.kind !== 'Restore' || op.step === step;
        }, step);
        if (killJob(cluster, 'restore')) killed.push(step);
      };
      await restored(
        play,
        'monday',
        { snapshotId: id },
        {
          meanwhile: async () => {
            for (const step of ['safety', 'drain', 'seed']) await at(step);
          },
        },
      );
      expect(killed).toEqual(expect.arrayContaining(['drain']));
      expect(cluster.record()).toMatchObject({ epoch: 2, restores: [{ id: 'monday' }] });
    },
  );

  scenario('a new cluster from a backup, beside the living source', { size: 3, tls: false, spec }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    await cluster.client().etcdctl('put', 'kept', 'value');
    const { id } = await takeBackup(cluster);
    const before = cluster.record();
    const ran = await upSince(cluster);
    const source = { store: { filesystem: { path: backupsOf(cluster) } }, snapshotId: id };
    await using copy = await LocalCluster.start({ size: 3, tls: true, spec: { origin: { source } } });
    // It asked for a former cluster of this name, and is still in Git.
    await copy.restore({ name: 'former', source });
    await copy.settled();
    const refused = async () => {
      await copy.until(() => copy.restoreNamed('former')?.phase !== undefined, 'it is refused');
      expect(copy.restoreNamed('former')).toMatchObject({ phase: 'Failed', report: { reason: 'OlderThanCluster' } });
      copy.store.remove('restores/former');
    };
    await refused();
    await copy.restore({ name: 'former', source });
    await refused();
    expect(await copy.client().etcdctl('get', '--print-value-only', 'kept')).toContain('value');
    expect(copy.record()?.clusterId).not.toBe(cluster.record()?.clusterId);
    expect(copy.record()).toMatchObject({
      epoch: 1,
      seeded: true,
      restores: [{ id: `origin:${copy.record()!.clusterUid}` }],
    });
    // The source was neither changed nor stopped.
    expect(cluster.record()).toEqual(before);
    expect(await upSince(cluster)).toEqual(ran);
    await writer.more(20);
  });

  scenario('reconciler and gate are killed at every step of a restore', { size: 3, tls: false, spec }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const { id } = await takeBackup(cluster);
    await writer.more(50);
    cluster.reconcilerCrashesAt('each');
    cluster.gateCrashesAt('each');
    await restored(play, 'monday', { snapshotId: id }, { seconds: 300 });
    const rows = [
      'Restore',
      'Restore.verified',
      'Safety.done',
      'Fence',
      'Drain',
      'Drained',
      'RestorePermit',
      'ReportRestore',
    ];
    for (const row of rows) {
      expect(cluster.crashed).toEqual(expect.arrayContaining([`before ${row}`, `after ${row}`]));
    }
    expect(cluster.crashed).toEqual(expect.arrayContaining(['gate restore.fetched', 'gate restore.renamed']));
    expect(cluster.record()).toMatchObject({ epoch: 2, restores: [{ id: 'monday' }] });
  });

  scenario(
    'a node that was off, and volumes that return while the API is away',
    { size: 3, tls: true, spec },
    async (play) => {
      const { cluster, writer } = play;
      await play.formed();
      const { id } = await takeBackup(cluster);
      await writer.more(50);
      await cluster.stopKubelet(2);
      const clusterId = writer.history.clusterIds.at(-1)!;
      cluster.reconcilerCrashesAt(['before GrowPod']);
      await cluster.restore({ name: 'monday', source: { snapshotId: id }, ignoreUnreachablePods: true });
      const { revision } = await verifiedSnapshot(cluster);
      play.gaveUp({ clusterId, revision });
      await cluster.until(() => cluster.crashed.includes('before GrowPod'), 'the seed is restored');
      await cluster.stopReconciler();
      // The pods are created from the new template, and then the record is unreadable.
      cluster.store.update<StatefulSetObject>('stateful-set', undefined, (old) => ({ ...old, replicas: 3 }));
      cluster.startKubelet(2);
      await cluster.until(() => cluster.store.list('pods').length === 3, 'all pods are made again');
      cluster.blockApi();
      await cluster.until(async () => {
        const states = await Promise.all([1, 2].map((ordinal) => cluster.agent(ordinal).catch(() => undefined)));
        return states.every((status) => status?.state === 'WaitPermit' && !status.volume.walPresent);
      }, 'the old volumes wait for a permit');
      expect([1, 2].map((ordinal) => asides(cluster.volume(ordinal)).length)).toEqual([1, 1]);
      cluster.unblockApi();
      await play.converges('regrown', async () => cluster.startReconciler());
      await writer.more(20);
      expect(statefulSetOf(cluster.store)?.template.epoch).toBe(2);
    },
  );

  test('a backup that does not verify: the new cluster waits, and never starts empty', async () => {
    await using cluster = await LocalCluster.start({ size: 3, spec: { origin: { source: { snapshotId: 'none' } } } });
    await cluster.until(() => cluster.condition('Stalled')?.reason === 'RestoreBlocked', 'it is held');
    expect(cluster.record()).toMatchObject({ epoch: 0, members: {}, permits: {} });
    expect(cluster.condition('Available')?.status).not.toBe('True');
  });
}
