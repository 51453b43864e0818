// Members that joined after the snapshot was taken: a restore must not let them continue the old cluster.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { command, expectFailure, run, start, succeed } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { newestEtcd } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { EtcdMember } from '../harness/etcd-member.ts';
import { freePorts } from '../harness/free-ports.ts';
import { planMembers } from '../harness/member-plan.ts';

let root: string;
let place: DirectoryPlace;
let cluster: EtcdCluster;
let id: string;
const joined: EtcdMember[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'left-out-'));
  place = await DirectoryPlace.make();
  cluster = await EtcdCluster.start({ size: 1 });
  await cluster.etcdctl('put', 'before', 'yes');
  const { snapshot } = await succeed(command('backup', place.store, `--endpoints=${cluster.endpoints}`));
  id = snapshot.id;
  const { name, dataDir, peerUrl, clientUrl } = cluster.member(0);
  const lines = [
    ...[`ETCD_NAME=${name}`, `ETCD_DATA_DIR=${dataDir}`],
    ...[`ETCD_LISTEN_PEER_URLS=${peerUrl}`, `ETCD_INITIAL_ADVERTISE_PEER_URLS=${peerUrl}`],
    ...[`ETCD_LISTEN_CLIENT_URLS=${clientUrl}`, `ETCD_ADVERTISE_CLIENT_URLS=${clientUrl}`],
  ];
  await writeFile(join(root, 'etcd.env'), lines.join('\n'));
  for (const late of ['late-1', 'late-2']) joined.push(await joinAs(late));
});
afterEach(async () => {
  await Promise.all(joined.splice(0).map((member) => member.kill()));
  await cluster?.stop();
  await place[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});

async function joinAs(name: string): Promise<EtcdMember> {
  const [{ peerUrl }, [port]] = [(await planMembers(1))[0]!, await freePorts(1)];
  // etcd accepts another member only after the previous one has been connected for some seconds.
  for (let tries = 60; ; tries--) {
    const failure = await cluster
      .etcdctl('member', 'add', name, `--peer-urls=${peerUrl}`)
      .then(() => undefined, String);
    if (failure === undefined) break;
    if (tries === 0 || !/unhealthy cluster/.test(failure)) throw new Error(failure);
    await sleep(500);
  }
  const all = [...cluster.members, ...joined, { name, peerUrl }].map((each) => `${each.name}=${each.peerUrl}`);
  const clientUrl = `http://127.0.0.1:${port}`;
  const member = new EtcdMember({
    ...{ binaries: newestEtcd(), name, dataDir: join(root, name), clientUrl, advertisedUrl: clientUrl, peerUrl },
    log: join(root, `${name}.log`),
    args: ['--initial-cluster', all.join(), '--initial-cluster-state', 'existing', '--unsafe-no-fsync'],
  });
  await member.start();
  return member;
}

const args = (...more: string[]) => {
  const flags = [`--manifests-dir=${join(root, 'node', 'manifests')}`, '--wait=20s'];
  const how = [`--etcd-environment-file=${join(root, 'etcd.env')}`, `--server-version=${newestEtcd().minor}`];
  return command('restore control-plane', place.store, id, ...flags, ...how, ...more);
};

test('while they serve, nothing is restored, and the plan says where to stop them', async () => {
  const { notes, steps } = await succeed(args('--plan'));
  const late = /^late-\d \(127\.0\.0\.1\) is not a member of the restored cluster, and serves the old one/;
  expect(notes.filter((note: string) => late.test(note))).toHaveLength(2);
  expect(steps[0].why).toMatch(
    /^On late-1 \(127\.0\.0\.1\), which is not a member of the restored cluster: stop etcd permanently/,
  );

  const refused =
    /^late-1 \(127\.0\.0\.1\), late-2 \(127\.0\.0\.1\) are not members .* and still serve the old one; stop/;
  const { pid, dataDir } = cluster.member(0);
  expectFailure(await run(args()), 40, refused);
  expect([cluster.member(0).pid, await readdir(dataDir)]).toEqual([pid, ['member']]);

  // The same if etcd on this node is down.
  await cluster.member(0).kill();
  expectFailure(await run(args()), 40, refused);
});

test('while they are down, they are named, and the restore waits for one that comes back', async () => {
  const member = cluster.member(0);
  for (const each of joined) await each.kill();
  const { notes } = await succeed(args('--plan'));
  expect(
    notes.filter((note: string) => /^late-\d .* does not answer: remove .* before it comes back/.test(note)),
  ).toHaveLength(2);
  const agent = start(args());
  await agent.phase('stop');
  await joined[0]!.spawn();
  await sleep(500);
  await member.stop();
  expectFailure(
    await agent.finished,
    50,
    /^late-1 \(127\.0\.0\.1\), which is not a member .* stop the API server and etcd there/,
  );
  await joined[0]!.kill();
  const again = start(args('--output=text'));
  await again.phase('start');
  await member.spawn();
  const { code, stdout } = await again.finished;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ {2}late-1 .*remove the manifests and data of its etcd before it comes back$/m);
});
