// Upgrades from minor to minor under writes. A version that is not allowed does not start, and an upgrade that is half
// done can continue or go back.
import { etcdOf, type Minor } from '../harness/etcd-binaries.ts';
import { LocalCluster } from '../local/cluster.ts';
import type { StatefulSetObject } from '../local/objects.ts';
import { recordLog } from './checks/checks.ts';
import { etcdLogOf, leaderOf, memberIds, stoppedLeaders } from './checks/facts.ts';
import { type Play, scenario } from './support/scenario.ts';
import { smoke } from './support/smoke.ts';

const three = [0, 1, 2];
/** Restarting three members takes long on a busy machine, and Settle writes some thousand raft entries. */
const patience = 300;
const versionOf = (minor: Minor): string => etcdOf(minor).version;

/** Returns the members by the version of their etcd. */
async function running(cluster: LocalCluster, minor: Minor): Promise<number[]> {
  const agents = await Promise.all(three.map((i) => cluster.agent(i).catch(() => undefined)));
  return three.filter((i) => agents[i]?.etcd?.up && agents[i].etcd.version === versionOf(minor));
}

async function isOn(cluster: LocalCluster, minor: Minor): Promise<void> {
  await cluster.until(async () => (await running(cluster, minor)).length === 3, `everybody runs ${minor}`);
  const clusterVersions = () => Promise.all(three.map(async (i) => (await cluster.agent(i)).etcd?.clusterVersion));
  // A member that joined by a snapshot does not say it in its metrics until its etcd is restarted.
  await cluster.until(async () => {
    const known = (await clusterVersions().catch(() => [])).filter((version) => version !== undefined);
    return known.length > 0 && known.every((version) => version === minor);
  }, `nobody knows another cluster version than ${minor}`);
  expect(cluster.record()?.versions).toMatchObject({ current: minor, allowedMinors: [minor] });
}

async function upgraded(cluster: LocalCluster, minor: Minor): Promise<void> {
  await cluster.apply({ version: versionOf(minor) });
  const current = () => cluster.record()?.versions.current;
  await cluster.until(() => current() === minor, `the cluster version is ${minor}`, patience);
}

async function rolled(play: Play, minor: Minor): Promise<void> {
  await play.converges(`on ${minor} in`, () => upgraded(play.cluster, minor));
  await isOn(play.cluster, minor);
  await play.writer.more(20);
}

const pathTo37: readonly Minor[] = ['3.6', '3.7'];

scenario('3.5 → 3.6 → 3.7, Settle included', { size: 3, minor: '3.5', tls: true }, async (play) => {
  const { cluster, writer } = play;
  await play.formed();
  const before = memberIds(cluster);
  const since = writer.now;
  for (const minor of pathTo37) await rolled(play, minor);
  expect(play.untaken(since)).toEqual([]);
  expect(memberIds(cluster)).toEqual(before);
  expect(stoppedLeaders(cluster)).toEqual([]);
});

if (!smoke) {
  test('five writes in all, a restart and a join on 3.5 in between, and 3.7 starts on every member', async () => {
    await using cluster = await LocalCluster.start({ size: 3, minor: '3.5' });
    await cluster.settled();
    let writes = 0;
    const write = () => cluster.client().etcdctl('put', `key-${writes}`, `value-${writes++}`);
    await write();
    await cluster.restartPod(2);
    await cluster.until(async () => (await running(cluster, '3.5')).length === 3, 'the restarted member is back');
    await cluster.settled();
    await write();
    const before = memberIds(cluster)[1];
    await cluster.loseVolume(1);
    await cluster.until(() => cluster.record()?.members[1]?.memberId !== before, 'the member is replaced');
    await cluster.settled();
    await write();
    for (const minor of pathTo37) {
      await upgraded(cluster, minor);
      await cluster.settled();
      await isOn(cluster, minor);
      await write();
    }
    expect(writes).toBe(5);
    const read = await cluster.client().etcdctl('get', 'key-', '--prefix');
    for (let n = 0; n < writes; n++) expect(read).toContain(`key-${n}\nvalue-${n}\n`);
    for (const i of three) {
      expect(etcdLogOf(cluster, i)).not.toContain('unmarshal should never fail');
    }
  });

  scenario('stopped half way from 3.6 to 3.7, and back', { size: 3, minor: '3.6', tls: true }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const since = writer.now;
    await cluster.apply({ version: versionOf('3.7') });
    await cluster.until(async () => (await running(cluster, '3.7')).length > 0, 'one member runs 3.7');
    expect(cluster.record()?.versions.allowedMinors).toEqual(['3.6', '3.7']);
    await play.converges('back on 3.6 in', async () => {
      await cluster.apply({ version: versionOf('3.6') });
      await cluster.until(
        () => cluster.record()?.versions.allowedMinors.length === 1,
        'one minor is allowed',
        patience,
      );
    });
    await isOn(cluster, '3.6');
    expect(play.untaken(since)).toEqual([]);
    expect(stoppedLeaders(cluster)).toEqual([]);
    await rolled(play, '3.7');
  });

  scenario('pods evicted onto images that are not allowed', { size: 3, minor: '3.5', tls: false }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const before = memberIds(cluster);
    const since = writer.now;
    const evicted = three.find((i) => i !== leaderOf(cluster))!;
    const refused = async () => {
      const { state, reason } = await cluster.agent(evicted);
      return state === 'Refused' && reason === 'VersionRefused';
    };

    await cluster.apply({ version: versionOf('3.7') });
    await cluster.until(() => cluster.condition('Stalled')?.status === 'True', 'a skipped minor is held');
    expect(cluster.condition('Stalled')).toMatchObject({
      reason: 'UpgradeRefused',
      message: expect.stringMatching(/one minor at a time/),
    });
    await cluster.deletePod(evicted);
    await cluster.until(async () => refused().catch(() => false), 'the gate refuses 3.7 on data of 3.5');
    await writer.more(50);
    expect(cluster.record()?.versions).toMatchObject({ current: '3.5', allowedMinors: ['3.5'] });
    expect(await running(cluster, '3.5')).toHaveLength(2);
    await play.converges('back on 3.5 in', async () => cluster.apply({ version: versionOf('3.5') }));
    await isOn(cluster, '3.5');

    // The next minor, on a pod that starts before the reconciler allows it.
    await cluster.stopReconciler();
    await cluster.apply({ version: versionOf('3.6') });
    await cluster.deletePod(evicted);
    await cluster.until(async () => refused().catch(() => false), 'the gate refuses 3.6, which nobody allowed');
    await play.converges('on 3.6 in', async () => {
      cluster.startReconciler();
      await cluster.until(() => cluster.record()?.versions.current === '3.6', 'the cluster version is 3.6', patience);
    });
    await isOn(cluster, '3.6');
    expect(play.untaken(since)).toEqual([]);
    expect(memberIds(cluster)).toEqual(before);
  });

  scenario('the image of another minor by hand, and put back', { size: 3, minor: '3.6', tls: false }, async (play) => {
    const { cluster } = play;
    await play.formed();
    const image = (minor: Minor | undefined) =>
      cluster.store.update<StatefulSetObject>('stateful-set', undefined, (old) => ({
        ...old,
        template: { ...old.template, image: minor && versionOf(minor) },
      }));
    image('3.7');
    await cluster.until(() => cluster.condition('Stalled')?.reason === 'VersionMismatch', 'another minor is held');
    expect(await running(cluster, '3.6')).toHaveLength(2);
    await play.converges('back in', async () => {
      image(undefined);
      await cluster.until(() => cluster.condition('Stalled')?.status === 'False', 'nothing is held');
      await cluster.until(() => cluster.condition('Ready')?.status === 'True', 'the cluster is ready', patience);
    });
    expect(await running(cluster, '3.6')).toHaveLength(3);
  });

  scenario('3.4 → 3.5', { size: 3, minor: '3.4', tls: false }, async (play) => {
    const { cluster, writer } = play;
    await play.formed();
    const since = writer.now;
    await rolled(play, '3.5');
    expect(play.untaken(since)).toEqual([]);
    expect(stoppedLeaders(cluster)).toEqual([]);
  });

  scenario('a drain in the middle of an upgrade', { size: 3, minor: '3.6', tls: true }, async (play) => {
    const { cluster } = play;
    await play.formed();
    await play.converges('on 3.7 in', async () => {
      await cluster.apply({ version: versionOf('3.7') });
      await cluster.until(async () => (await running(cluster, '3.7')).length > 0, 'one member runs 3.7');
      await cluster.stopReconciler();
      const minors = () => Promise.all([running(cluster, '3.6'), running(cluster, '3.7')]);
      await cluster.until(async () => (await minors()).flat().length === 3, 'everybody runs');
      const [old] = await minors();
      expect(old.length).toBeGreaterThan(0);
      await cluster.deletePod(old.find((i) => i !== leaderOf(cluster)) ?? old[0]!);
      cluster.startReconciler();
      await cluster.until(() => cluster.record()?.versions.current === '3.7', 'the cluster version is 3.7', patience);
    });
    await isOn(cluster, '3.7');
  });

  scenario(
    'with a schedule the backup comes before the first restart',
    { size: 3, minor: '3.6', tls: true },
    async (play) => {
      const { cluster } = play;
      await cluster.apply({ spec: { requiredForUpgrade: true } });
      await play.formed();
      await cluster.apply({ version: versionOf('3.7') });
      await cluster.until(
        () => cluster.condition('Stalled')?.status === 'True',
        'an upgrade without a schedule is held',
      );
      expect(cluster.condition('Stalled')?.message).toMatch(/needs a backup schedule/);
      await cluster.apply({ spec: { schedule: 'hourly' } });
      await rolled(play, '3.7');
      const log = recordLog(cluster).flatMap((entry) => ('doc' in entry ? [entry.doc] : []));
      const backup = log.findIndex(({ lastBackup }) => lastBackup !== undefined);
      const restart = log.findIndex(({ op }) => op?.kind === 'DeletePod');
      expect(backup).toBeGreaterThan(0);
      expect(restart).toBeGreaterThan(backup);
      expect(log[backup]?.versions.allowedMinors).toEqual(['3.6', '3.7']);
      expect(cluster.record()?.versions.withoutBackup).toBeUndefined();
    },
  );
}
