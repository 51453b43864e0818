// Foreign content: refused with the reason in /status; nothing is moved or deleted.
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentStatus } from '../../src/protocol/agent-status.ts';
import { etcdOf } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { freePorts } from '../harness/free-ports.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { get } from '../local/get.ts';
import { type StatefulSetObject, statefulSetOf } from '../local/objects.ts';
import { LocalPod } from '../local/pods/pod.ts';
import { memberIds } from './checks/facts.ts';
import { fullScenario, type Play, scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

/** Names and bytes of all files below. */
function digestOf(directory: string): string {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const hash = createHash('sha256');
  for (const path of files.map((file) => join(file.parentPath, file.name)).sort()) {
    hash.update(path).update(readFileSync(path));
  }
  return hash.digest('hex');
}

const says = (cluster: LocalCluster, ordinal: number, what: Partial<AgentStatus>) =>
  cluster.until(
    async () => {
      const status: Partial<AgentStatus> = await cluster.agent(ordinal).catch(() => ({}));
      return Object.entries(what).every(([key, value]) => status[key as keyof AgentStatus] === value);
    },
    `/status of ordinal ${ordinal} has ${JSON.stringify(what)}`,
  );

/**
 * Replaces a member's volume by something else: it is refused and left untouched. When the volume is put back, the
 * member continues.
 */
async function refused(play: Play, ordinal: number, change: (volume: string, kept: string) => void): Promise<void> {
  const { cluster, writer } = play;
  const kept = join(cluster.dir, 'kept');
  await cluster.stopKubelet(ordinal);
  const volume = cluster.volume(ordinal);
  renameSync(volume, kept);
  mkdirSync(volume);
  change(volume, kept);
  const before = digestOf(join(volume, 'etcd'));
  cluster.lostVolumes.push(volume);
  cluster.startKubelet(ordinal);
  await says(cluster, ordinal, { state: 'Refused', reason: 'ForeignData' });
  await cluster.until(() => cluster.condition('Degraded')?.status === 'True', 'Degraded is true');
  await writer.more(30);
  expect(digestOf(join(volume, 'etcd'))).toBe(before);
  expect(readdirSync(volume)).not.toContain('quarantine');
  await cluster.stopKubelet(ordinal);
  rmSync(volume, { recursive: true });
  renameSync(kept, volume);
  cluster.startKubelet(ordinal);
  await says(cluster, ordinal, { state: 'Running' });
}

function editIdentity(volume: string, change: object): void {
  const file = join(volume, 'identity.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }));
}

scenario('volumes that are not this member’s', { size: 3, tls: true }, async (play) => {
  const { cluster } = play;
  await play.formed();
  const before = memberIds(cluster);
  await using foreign = await EtcdCluster.start({ minor: '3.6' });
  await foreign.put(10);
  await foreign.member(0).kill();
  await refused(play, 2, (volume) => cpSync(foreign.member(0).dataDir, join(volume, 'etcd'), { recursive: true }));
  await refused(play, 0, (volume, kept) => {
    cpSync(kept, volume, { recursive: true });
    editIdentity(volume, { clusterUid: 'another' });
  });
  if (!smoke) {
    await refused(play, 1, (volume, kept) => {
      cpSync(kept, volume, { recursive: true });
      editIdentity(volume, { ordinal: 2 });
    });
    await refused(play, 1, (volume, kept) => {
      cpSync(kept, volume, { recursive: true });
      writeFileSync(join(volume, 'identity.json'), '{"v":1,');
    });
  }
  await play.converges('whole again', async () => undefined);
  expect(memberIds(cluster)).toEqual(before);
});

fullScenario('etcd.yaml edited by hand is ours again at the next start', { size: 3, tls: false }, async (play) => {
  const { cluster } = play;
  await play.formed();
  const before = memberIds(cluster);
  const file = join(cluster.volume(1), 'etcd.yaml');
  const sealed = readFileSync(file, 'utf8');
  await cluster.stopKubelet(1);
  writeFileSync(file, sealed.replace(/"?initial-cluster-state"?: "?existing"?/, '"initial-cluster-state": "new"'));
  expect(readFileSync(file, 'utf8')).not.toBe(sealed);
  cluster.startKubelet(1);
  await says(cluster, 1, { state: 'Running' });
  expect(readFileSync(file, 'utf8')).toBe(sealed);
  await play.converges('whole again', async () => undefined);
  expect(memberIds(cluster)).toEqual(before);
});

fullScenario('a binary of a minor that was not allowed', { size: 3, minor: '3.5', tls: true }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const before = memberIds(cluster);
  const skipped = etcdOf('3.7').version;
  await cluster.apply({ version: skipped });
  await cluster.until(() => cluster.condition('Stalled')?.reason === 'UpgradeRefused', 'Stalled says UpgradeRefused');
  const untouched = digestOf(join(cluster.volume(2), 'etcd/member/wal')) !== '';
  await cluster.deletePod(2);
  await says(cluster, 2, { state: 'Refused', reason: 'VersionRefused', etcdBinary: skipped });
  await writer.more(50);
  expect(untouched).toBe(true);
  expect(readdirSync(cluster.volume(2))).not.toContain('quarantine');
  await play.converges('turned back', () => cluster.apply({ version: etcdOf('3.5').version }));
  expect(memberIds(cluster)).toEqual(before);
});

scenario('a record that this version does not understand', { size: 3, tls: false }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const before = memberIds(cluster);
  await cluster.stopReconciler();
  const file = cluster.store.file('record.json');
  const understood = readFileSync(file, 'utf8');
  const record = JSON.parse(understood);
  for (const strange of [
    { ...record, rev: record.rev + 1, op: { kind: 'Later' } },
    { ...record, rev: record.rev + 1, v: 2 },
    // If agents followed it, they would quarantine every volume.
    { ...record, rev: record.rev + 1, epoch: 9, v: 2 },
  ]) {
    writeFileSync(file, JSON.stringify(strange));
    // A member with data starts with the record that it knows; without data it waits.
    await cluster.restartPod(1);
    await says(cluster, 1, { state: 'Running' });
    expect(readdirSync(cluster.volume(1))).not.toContain('quarantine');
    await cluster.loseVolume(2);
    await says(cluster, 2, { state: 'WaitPermit', reason: 'RecordNotUnderstood' });
    await writer.more(30);
  }
  writeFileSync(file, understood);
  await play.converges('whole again', async () => cluster.startReconciler());
  expect(memberIds(cluster)).toMatchObject({ 0: before[0], 1: before[1] });
});

fullScenario('two pods on one volume: the second waits', { size: 3, tls: false }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const { dir, world, store } = cluster;
  const [peer, client, metrics, agent] = await freePorts(4);
  const ports = world.ports.map((own, i) =>
    i === 1 ? { peer: peer!, client: client!, metrics: metrics!, agent: agent! } : own,
  );
  const { template } = statefulSetOf(store) as StatefulSetObject;
  const volume = cluster.volume(1);
  const second = new LocalPod({ dir, world: { ...world, ports }, ordinal: 1, uid: 'second', template, volume });
  second.start();
  try {
    const status = async () => JSON.parse((await get(`http://127.0.0.1:${agent}/status`, undefined, 2_000)).body);
    await cluster.until(async () => (await status().catch(() => ({}))).reason === 'VolumeBusy', 'the second waits');
    await writer.more(100);
    expect(await status()).toMatchObject({ state: 'Init', reason: 'VolumeBusy', podUid: 'second' });
    expect(second.etcdPid).toBeUndefined();
  } finally {
    await second.stop(false);
  }
  await play.converges('whole', async () => undefined);
});
