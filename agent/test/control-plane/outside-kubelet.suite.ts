// etcd without a kubelet: three plain processes, and one that is started by an environment file, a config file or a
// unit.
import { chown, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, expectFailure, run, start, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { availableMinors, newestEtcd } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { EtcdMember } from '../harness/etcd-member.ts';

let root: string;
let place: DirectoryPlace;
let cluster: EtcdCluster;
let id: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'outside-'));
  place = await DirectoryPlace.make();
});
afterEach(async () => {
  await cluster?.stop();
  await place[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

async function prepare(size: 1 | 3, extraArgs: readonly string[] = [], minor = newestEtcd().minor): Promise<void> {
  cluster = await EtcdCluster.start({ size, extraArgs, minor });
  await cluster.etcdctl('put', 'before', 'yes');
  const { snapshot } = await succeed(command('backup', place.store, `--endpoints=${cluster.endpoints}`));
  id = snapshot.id;
  await cluster.etcdctl('put', 'after', 'yes');
}

const args = (member: EtcdMember, ...more: string[]) =>
  command(
    'restore control-plane',
    place.store,
    ...[id, `--manifests-dir=${join(root, member.name, 'manifests')}`, `--data-dir=${member.dataDir}`, '--wait=60s'],
    ...more,
  );

/** Runs the restore of one member, and follows its instructions as an operator with systemctl would. */
async function restore(member: EtcdMember, ...more: string[]) {
  const agent = start(args(member, ...more));
  await agent.phase('stop');
  await sleep(500);
  await member.stop();
  await agent.phase('start');
  await member.spawn();
  return agent.finished;
}

async function expectRestored(): Promise<void> {
  for (const member of cluster.members) await member.healthy();
  const get = async (key: string) => (await cluster.etcdctl('get', key, '--print-value-only')).trim();
  expect([await get('before'), await get('after')]).toEqual(['yes', '']);
}

test('three plain processes with destroyed data are restored by the same command', async () => {
  await prepare(3);
  await rm(join(cluster.member(0).dataDir, 'member'), { recursive: true });
  await rm(join(cluster.member(1).dataDir, 'member'), { recursive: true });
  const ended = await Promise.all(cluster.members.map((member) => restore(member)));
  expect(ended.map(({ code, result }) => [code, result.state])).toEqual([
    [0, 'done'],
    [0, 'done'],
    [0, 'done'],
  ]);
  expect(ended[0]!.stderr).toMatch(/stop etcd now.*systemctl stop etcd/);
  await expectRestored();
  const statuses = JSON.parse(await cluster.etcdctl('endpoint', 'hashkv', '-w', 'json'));
  expect(new Set(statuses.map((each: { HashKV: { hash: number } }) => each.HashKV.hash)).size).toBe(1);
  for (const { dataDir } of cluster.members) expect(await readdir(dataDir)).toContain('member');
});

test('a process that is not stopped: nothing changes', async () => {
  await prepare(1);
  const { pid } = cluster.member(0);
  const result = await run(args(cluster.member(0), '--wait=2s'));
  expectFailure(result, 40, /etcd \(pid \d+\) still runs on .*; everything was put back/);
  expect(cluster.member(0).pid).toBe(pid);
  expect(await readdir(cluster.member(0).dataDir)).toEqual(['member']);
});

const settingsOf = (member: EtcdMember) => ({
  name: member.name,
  'data-dir': member.dataDir,
  'listen-peer-urls': member.peerUrl,
  'initial-advertise-peer-urls': member.peerUrl,
  'listen-client-urls': member.clientUrl,
  'advertise-client-urls': member.clientUrl,
});
const variablesOf = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).map(([name, value]) => `ETCD_${name.toUpperCase().replaceAll('-', '_')}="${value}"`);

/** A unit with the location of the data, or an outdated one that a drop-in replaces. */
async function writeUnit(settings: Readonly<Record<string, string>>, dropIn?: string): Promise<string> {
  const unit = join(root, 'etcd.service');
  const lines = variablesOf(settings).map((variable) => `Environment=${variable}`);
  await writeFile(unit, ['[Service]', ...lines, `ExecStart=${newestEtcd().etcd}`].join('\n'));
  if (dropIn !== undefined) {
    await mkdir(`${unit}.d`);
    await writeFile(join(`${unit}.d`, 'override.conf'), `[Service]\nEnvironment=ETCD_DATA_DIR=${dropIn}\n`);
  }
  return unit;
}

/** Flags come only from the unit. */
const unitArgs = (unit: string, ...more: string[]) =>
  command(
    'restore control-plane',
    place.store,
    ...[id, `--etcd-unit=${unit}`, `--manifests-dir=${join(root, 'none', 'manifests')}`, '--wait=30s', ...more],
  );

test('a drop-in sets the location of the data', async () => {
  await prepare(1);
  const member = cluster.member(0);
  const unit = await writeUnit({ ...settingsOf(member), 'data-dir': join(root, 'elsewhere') }, member.dataDir);
  const agent = start(unitArgs(unit));
  await agent.phase('stop');
  await sleep(500);
  await member.stop();
  await agent.phase('start');
  await member.spawn();
  const { code, stderr } = await agent.finished;
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  await expectRestored();
});

test.each(['where its flags say', 'elsewhere'])(
  'an etcd on other data than the flags say is not taken for the restored one: its peers reach it %s',
  async (where) => {
    await prepare(1);
    const member = cluster.member(0);
    const { 'listen-peer-urls': peers, ...settings } = settingsOf(member);
    const listening: Record<string, string> = where === 'elsewhere' ? {} : { 'listen-peer-urls': peers };
    const unit = await writeUnit({ ...settings, ...listening, 'data-dir': join(root, 'elsewhere') });
    const result = await run(unitArgs(unit, '--wait=2s'));
    expectFailure(result, 40, /a process still listens at http:\S+, which etcd needs; everything was put back/);

    // Stopped for a moment, and restarted on the old data.
    const agent = start(unitArgs(unit, '--wait=5s'));
    await agent.phase('stop');
    await member.stop();
    await agent.phase('start');
    await member.spawn();
    expectFailure(
      await agent.finished,
      50,
      /etcd serves the cluster \w+, not the restored cluster \w+: .* data other than/,
    );
    const live = /etcd serves the cluster|a process still listens/;
    expectFailure(await run(unitArgs(unit, '--undo', '--wait=2s')), 40, live);
    expectFailure(await run(unitArgs(unit, '--wait=2s')), 50, live);
    expect((await cluster.etcdctl('get', 'after', '--print-value-only')).trim()).toBe('yes');
    await member.stop();
    await succeed(unitArgs(unit, '--undo'));
  },
);

test('a separate write-ahead log is moved away and put back with the data', async () => {
  const wal = join(root, 'wal');
  await prepare(1, [`--wal-dir=${wal}`]);
  const member = cluster.member(0);
  const undone = start(args(member, '--stop'));
  await undone.phase('stop');
  await sleep(500);
  await member.stop();
  expect((await undone.finished).code).toBe(0);
  await succeed(args(member, '--undo'));
  await member.spawn();
  await member.healthy();
  expect((await cluster.etcdctl('get', 'after', '--print-value-only')).trim()).toBe('yes');

  const { code, result } = await restore(member);
  expect([code, result.state]).toEqual([0, 'done']);
  await expectRestored();
  const names = await readdir(wal);
  expect(names.filter((name) => name.startsWith('replaced-'))).toHaveLength(1);
  expect(names).not.toContain('restored.partial');
  expect(await readdir(join(member.dataDir, 'member'))).not.toContain('wal');
});

test('a separate log is put back, too, if the restored member has not served', async () => {
  const wal = join(root, 'wal');
  await prepare(1, [`--wal-dir=${wal}`]);
  const member = cluster.member(0);
  const agent = start(args(member, '--wait=3s'));
  await agent.phase('stop');
  await sleep(500);
  await member.stop();
  expect((await agent.finished).code).toBe(50);
  await succeed(args(member, '--undo'));
  // The guide says so.
  expect((await readdir(wal)).filter((name) => name.startsWith('undone-'))).toHaveLength(1);
  await member.spawn();
  await member.healthy();
  expect((await cluster.etcdctl('get', 'after', '--print-value-only')).trim()).toBe('yes');
});

test('the restored data of a lost member get the owner of their folder', async () => {
  await prepare(1);
  const member = cluster.member(0);
  await member.kill();
  await rm(join(member.dataDir, 'member'), { recursive: true });
  await chown(member.dataDir, 4711, 4712);
  const unit = await writeUnit(settingsOf(member));
  const agent = start(unitArgs(unit));
  await agent.phase('start');
  await member.spawn();
  expect((await agent.finished).code).toBe(0);
  const { uid, gid } = await stat(join(member.dataDir, 'member', 'snap', 'db'));
  expect([uid, gid]).toEqual([4711, 4712]);
});

test.each(['environment file', 'config file', 'unit'])('stopped, with its flags in a %s', async (kind) => {
  await prepare(1);
  const member = cluster.member(0);
  await member.kill();
  const settings = settingsOf(member);
  const variables = variablesOf(settings);
  const environment = join(root, 'etcd.env');
  await writeFile(environment, variables.join('\n'));
  const config = join(root, 'etcd.yaml');
  await writeFile(config, JSON.stringify(settings));
  const unit = join(root, 'etcd.service');
  await writeFile(unit, `[Service]\nEnvironmentFile=${environment}\nExecStart=${newestEtcd().etcd}\n`);
  const flags = {
    'environment file': [`--etcd-environment-file=${environment}`, `--server-version=${newestEtcd().minor}`],
    'config file': [`--etcd-config-file=${config}`, `--server-version=${newestEtcd().minor}`],
    unit: [`--etcd-unit=${unit}`],
  }[kind]!;
  const agent = start(args(member, ...flags));
  await agent.phase('start');
  await member.spawn();
  const { code, stderr } = await agent.finished;
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  await expectRestored();
});

test('a snapshot of an older minor is restored for the etcd that runs here today', async () => {
  const [older] = availableMinors();
  const newest = newestEtcd();
  if (older === newest.minor) return;
  await prepare(1, [], older);
  const member = cluster.member(0);
  await member.kill();
  const environment = join(root, 'etcd.env');
  await writeFile(environment, variablesOf(settingsOf(member)).join('\n'));
  const agent = start(args(member, `--etcd-environment-file=${environment}`, `--server-version=${newest.minor}`));
  await agent.phase('start');
  const { name, dataDir, clientUrl, peerUrl } = member;
  const upgraded = new EtcdMember({
    ...{
      binaries: newest,
      name,
      dataDir,
      clientUrl,
      advertisedUrl: clientUrl,
      peerUrl,
      log: join(root, 'log'),
      args: [],
    },
  });
  await upgraded.spawn();
  const { code, stderr } = await agent.finished;
  const get = async (key: string) => (await cluster.etcdctl('get', key, '--print-value-only')).trim();
  try {
    expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    expect([await get('before'), await get('after')]).toEqual(['yes', '']);
  } finally {
    await upgraded.stop();
  }
});
