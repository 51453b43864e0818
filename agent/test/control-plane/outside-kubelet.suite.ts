// etcd that no kubelet runs: three plain processes, and one that is started by an environment file, a config file or a unit.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, expectFailure, run, start, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { newestEtcd } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import type { EtcdMember } from '../harness/etcd-member.ts';

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

async function prepare(size: 1 | 3): Promise<void> {
  cluster = await EtcdCluster.start({ size });
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

/** Runs the restore of one member, and does by hand what it asks for, as an operator with systemctl would. */
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

test('three plain processes, destroyed, restored by the same command', async () => {
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
  expectFailure(result, 40, /etcd \(pid \d+\) still runs on .*; all was put back/);
  expect(cluster.member(0).pid).toBe(pid);
  expect(await readdir(cluster.member(0).dataDir)).toEqual(['member']);
});

test.each(['environment file', 'config file', 'unit'])('dead, with its flags in a %s', async (kind) => {
  await prepare(1);
  const member = cluster.member(0);
  await member.kill();
  const settings = {
    name: member.name,
    'data-dir': member.dataDir,
    'listen-peer-urls': member.peerUrl,
    'initial-advertise-peer-urls': member.peerUrl,
    'listen-client-urls': member.clientUrl,
    'advertise-client-urls': member.clientUrl,
  };
  const variables = Object.entries(settings).map(
    ([name, value]) => `ETCD_${name.toUpperCase().replaceAll('-', '_')}="${value}"`,
  );
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
