// The reconciler's port to etcd, on real processes of every minor: what etcd refuses, and which refusals mean "done".
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdPort } from '../../src/controllers/etcd/etcd-port.ts';
import { loadTls } from '../../src/etcd/tls.ts';
import { createCertificates } from '../harness/certificates.ts';
import { availableMinors, etcdOf, type Minor, missingMinors } from '../harness/etcd-binaries.ts';
import { EtcdCluster, type EtcdClusterOptions } from '../harness/etcd-cluster.ts';
import { EtcdMember } from '../harness/etcd-member.ts';
import { freePorts } from '../harness/free-ports.ts';
import { planMembers } from '../harness/member-plan.ts';
import { TcpProxy } from '../harness/proxies/tcp-proxy.ts';
import { some } from './support/smoke.ts';

const settings = { rpc: 5_000, memberRpc: 10_000, observeRpc: 2_000 };

let root: string;
let close: (() => unknown)[];
beforeAll(() => {
  for (const minor of missingMinors()) console.warn(`etcd ${minor} is not at hand: untested`);
});
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'etcd-port-'));
  close = [];
});
afterEach(async () => {
  for (const last of close.toReversed()) await last();
  await rm(root, { recursive: true });
});

async function startCluster(options: EtcdClusterOptions & { size?: 1 | 3 }): Promise<EtcdCluster> {
  const cluster = await EtcdCluster.start(options);
  close.push(() => cluster.stop());
  return cluster;
}

async function fiveMembers(minor: Minor): Promise<EtcdCluster> {
  const plans = (await planMembers(5)).map((plan) => ({ ...plan, dataDir: join(root, plan.name) }));
  const cluster = await EtcdCluster.fromDataDirs(plans, { minor });
  close.push(() => cluster.stop());
  return cluster;
}

function portOf(endpoints: readonly string[], tls?: ConstructorParameters<typeof EtcdPort>[0]['tls']): EtcdPort {
  const port = new EtcdPort({ endpoints: () => endpoints, settings, ...(tls && { tls }) });
  close.push(() => port.close());
  return port;
}

/** A future member, with its own ports. */
async function newcomer(minor: Minor, cluster: EtcdCluster, name = 'newcomer'): Promise<EtcdMember> {
  const [client, peer] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`);
  const list = [...cluster.members.map((m) => `${m.name}=${m.peerUrl}`), `${name}=${peer}`];
  const member = new EtcdMember({
    ...{ binaries: etcdOf(minor), name, dataDir: join(root, name), log: join(root, `${name}.log`) },
    ...{ clientUrl: client!, advertisedUrl: client!, peerUrl: peer! },
    args: ['--initial-cluster', list.join(), '--initial-cluster-state', 'existing', '--unsafe-no-fsync'],
  });
  close.push(() => member.kill());
  return member;
}

/** Retries while etcd returns this error. */
async function whileRefused(refusal: RegExp, change: () => Promise<void>): Promise<number> {
  for (let refused = 0; ; refused++) {
    try {
      await change();
      return refused;
    } catch (error) {
      if (!refusal.test(String(error)) || refused > 150) throw error;
      await sleep(100);
    }
  }
}

async function idsOf(port: EtcdPort, cluster: EtcdCluster): Promise<string[]> {
  const { members } = await port.members();
  return cluster.members.map(({ name }) => members.find((member) => member.name === name)!.id);
}

async function leaderOf(port: EtcdPort, ids: readonly string[]): Promise<string> {
  const { leader } = await port.status(ids[0]!);
  return leader;
}

const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe.each(some(availableMinors(), availableMinors().slice(-1)))('etcd %s', (minor) => {
  test('one voter: a learner is added, promoted and removed; impossible changes are refused, and repeated ones succeed', async () => {
    const cluster = await startCluster({ minor });
    const learner = await newcomer(minor, cluster);
    const port = portOf([cluster.endpoints[0]!, learner.clientUrl]);
    const { clusterId, members } = await port.members();
    const first = { name: 'etcd-0', peerUrls: [cluster.member(0).peerUrl], isLearner: false };
    expect(members).toEqual([{ id: expect.stringMatching(/^[0-9a-f]{1,16}$/), ...first }]);
    const voter = members[0]!.id;
    expect(await port.status(voter)).toMatchObject({ clusterId, leader: voter, version: cluster.binaries.version });

    // etcd never removes its only voter.
    await expect(port.remove(voter)).rejects.toThrow(/not enough started members/);

    // Within one second the same request creates the same member id. Later only the URL is the same.
    await port.addLearner([learner.peerUrl]);
    await expect(port.addLearner([learner.peerUrl])).rejects.toThrow(
      /member ID already exist|Peer URLs already exists/,
    );
    await sleep(1_100);
    await expect(port.addLearner([learner.peerUrl])).rejects.toThrow(/Peer URLs already exists/);
    // One learner at a time.
    await expect(port.addLearner(['http://127.0.0.1:1'])).rejects.toThrow(/too many learner members/);
    const listed = await port.members();
    expect(listed.members).toHaveLength(2);
    const unstarted = listed.members.find(({ name }) => name === '')!;
    expect(unstarted).toMatchObject({ peerUrls: [learner.peerUrl], isLearner: true });
    // A learner that is not in sync stays a learner, and the port must not treat the refusal as "done".
    await expect(port.promote(unstarted.id)).rejects.toThrow(/in sync with leader/);
    await expect(port.status(unstarted.id)).rejects.toThrow(/does not answer/);

    // "member not found" means that the removal is done.
    await port.remove(unstarted.id);
    await port.remove(unstarted.id);
    await port.remove('123456789abcdef0');
    await expect(port.promote(unstarted.id)).rejects.toThrow(/member not found/);
    expect((await port.members()).members).toHaveLength(1);

    // The same URL again is another member.
    await sleep(1_100);
    await port.addLearner([learner.peerUrl]);
    await learner.spawn();
    const id = (await port.members()).members.find(({ isLearner }) => isLearner)!.id;
    expect(id).not.toBe(unstarted.id);
    await whileRefused(/in sync with leader/, () => port.promote(id));
    // "can only promote a learner member" means that the promotion is done.
    await port.promote(id);
    expect((await port.members()).members.map(({ isLearner }) => isLearner)).toEqual([false, false]);

    // For some seconds after a promotion etcd considers the cluster unhealthy.
    const refused = await whileRefused(/unhealthy cluster/, () => port.addLearner(['http://127.0.0.1:1']));
    expect(refused).toBeLessThan(150);
  });

  test('peer URLs: a member gets a second one and loses it; the same request again changes nothing', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    const urlsOf = async (id: string) => (await port.members()).members.find((m) => m.id === id)!.peerUrls;
    const [http] = await urlsOf(ids[1]!);
    const both = [http!, http!.replace('http:', 'https:')];
    await port.updatePeerUrls(ids[1]!, both);
    await port.updatePeerUrls(ids[1]!, both);
    expect(await urlsOf(ids[1]!)).toEqual(both);
    // Both are taken: a member that joins may have neither.
    await whileRefused(/unhealthy cluster/, () =>
      port.addLearner([both[1]!]).catch((error: Error) => {
        if (!error.message.includes('Peer URLs already exists')) throw error;
      }),
    );
    expect((await port.members()).members).toHaveLength(3);
    await port.updatePeerUrls(ids[1]!, [http!]);
    expect(await urlsOf(ids[1]!)).toEqual([http]);
    await expect(port.updatePeerUrls('123456789abcdef0', both)).rejects.toThrow(/member not found/);
  });

  test('a learner neither leads nor answers: it is never asked for the members, and never becomes the leader', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const learner = await newcomer(minor, cluster);
    const endpoints = [learner.clientUrl, ...cluster.endpoints];
    const port = portOf(endpoints);
    await port.members();
    await whileRefused(/unhealthy cluster/, () => port.addLearner([learner.peerUrl]));
    await learner.spawn();
    await until(async () => (await port.members()).members.some((m) => m.isLearner && m.name !== ''));
    const { members } = await port.members();
    const id = members.find(({ isLearner }) => isLearner)!.id;
    await until(async () => (await port.status(id)).leader !== '');

    // A learner answers no linearizable read, such as the member list.
    await expect(portOf([learner.clientUrl]).members()).rejects.toThrow(/is a learner/);
    const ids = await idsOf(port, cluster);
    const leader = await leaderOf(port, ids);
    const follower = ids.find((other) => other !== leader)!;
    // Only the leader can move leadership, and only to a voter.
    await expect(port.moveLeader(leader, id)).rejects.toThrow(/bad leader transferee/);
    await expect(port.moveLeader(follower, id)).rejects.toThrow(/not leader/);
    await port.moveLeader(leader, follower);
    expect(await leaderOf(port, ids)).toBe(follower);
    await port.moveLeader(follower, follower);
    expect(await port.alarms()).toEqual([]);
  });

  test('with one of three down nothing is added and no healthy voter is removed; the dead one is', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    // By etcd's rule a new cluster is unhealthy in its first seconds, even if all members are up.
    await sleep(6_000);
    await cluster.member(2).kill();
    // With a voter down etcd refuses to add a member and to remove a healthy one.
    await until(() => refusedAs(/unhealthy cluster/, port.addLearner(['http://127.0.0.1:1'])));
    await until(() => refusedAs(/unhealthy cluster/, port.remove(ids[0]!)));
    // The killed member may have been the leader.
    await until(async () => (await port.members()).members.length === 3);
    await whileRefused(/request timed out|no leader|leader changed|did not answer/, () => port.remove(ids[2]!));
    await until(async () => (await port.members()).members.length === 2);
    expect((await port.members()).members.map(({ id }) => id).toSorted()).toEqual(ids.slice(0, 2).toSorted());
  });

  test('two of five down: one is removed and writes go on; a leader that is removed learns this from another member', async () => {
    const cluster = await fiveMembers(minor);
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    await sleep(6_000);
    await Promise.all([cluster.member(3).kill(), cluster.member(4).kill()]);
    // A dead one of five can be removed.
    await whileRefused(/request timed out|no leader|did not answer/, () => port.remove(ids[3]!));
    await until(async () => (await port.members()).members.length === 4);
    await cluster.member(4).start();
    const leader = await leaderOf(port, ids);
    await whileRefused(/unhealthy cluster/, () => port.remove(leader));
    await until(async () => (await port.members()).members.every(({ id }) => id !== leader));
  });

  test('without a quorum the members are unknown and nothing changes, but a survivor reports its status', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    await Promise.all([cluster.member(1).kill(), cluster.member(2).kill()]);
    // Without a quorum a member still answers Status.
    await until(async () => (await port.status(ids[0]!)).leader === '');
    const begun = Date.now();
    await expect(port.members()).rejects.toThrow(/has no leader/);
    expect(Date.now() - begun).toBeLessThan(2 * settings.observeRpc);
    await expect(port.remove(ids[1]!)).rejects.toThrow(/no voter with a leader/);
    await expect(port.alarms()).rejects.toThrow(/has no leader/);
    await expect(port.status(ids[1]!)).rejects.toThrow(/does not answer.*ECONNREFUSED/);
    await cluster.member(1).start();
    expect((await port.members()).members).toHaveLength(3);
  });

  test('a member without connection to the others returns no stale list: the first call after the loss waits for a quorum', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    const leader = ids.indexOf(await leaderOf(port, ids));
    const others = [0, 1, 2].filter((i) => i !== leader);
    // It still considers itself the leader, for one election time-out.
    await Promise.all(others.map((i) => cluster.member(i).kill('SIGSTOP')));
    await expect(portOf([cluster.endpoints[leader]!]).members()).rejects.toThrow(
      /did not answer|has no leader|timed out|leader changed/,
    );
    await Promise.all(others.map((i) => cluster.member(i).kill('SIGCONT')));
  });

  test('a member that hangs delays no call', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    const leader = ids.indexOf(await leaderOf(port, ids));
    // The endpoint that answered last is queried first, so each of them must hang once.
    for (const hanging of [0, 1, 2].filter((i) => i !== leader)) {
      await cluster.member(hanging).kill('SIGSTOP');
      for (let again = 0; again < 3; again++) {
        const begun = Date.now();
        expect((await port.members()).members).toHaveLength(3);
        expect(Date.now() - begun).toBeLessThan(settings.observeRpc);
      }
      await expect(port.status(ids[hanging]!)).rejects.toThrow(/does not answer/);
      await cluster.member(hanging).kill('SIGCONT');
      await until(async () => (await port.status(ids[hanging]!)).leader !== '');
    }
    // A call without an answer is an error, not "done": it may or may not have arrived.
    await using proxy = await TcpProxy.start(cluster.endpoints[leader]!);
    const deaf = new EtcdPort({ endpoints: () => [proxy.url], settings: { ...settings, memberRpc: 500 } });
    close.push(() => deaf.close());
    await deaf.members();
    const others = [0, 1, 2].filter((i) => i !== leader);
    for (const i of others) await cluster.member(i).kill('SIGSTOP');
    await expect(deaf.remove(ids[others[0]!]!)).rejects.toThrow(/did not answer|timed out|no leader|unhealthy/);
    for (const i of others) await cluster.member(i).kill('SIGCONT');
  });

  test('NOSPACE: compacted, defragmented, and disarmed member by member', async () => {
    const cluster = await startCluster({ minor, size: 3, extraArgs: [`--quota-backend-bytes=${16 * 1024 * 1024}`] });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    await cluster.fill();
    const alarms = async () => (await port.alarms()).toSorted((a, b) => a.memberId.localeCompare(b.memberId));
    const raised = await alarms();
    expect(raised.length).toBeGreaterThan(0);
    for (const { memberId, type } of raised) {
      expect(ids).toContain(memberId);
      expect(type).toBe('NoSpace');
    }
    // Under NOSPACE etcd still accepts the calls of a repair.
    const { revision, dbSize } = await port.status(ids[0]!);
    await cluster.etcdctl('del', '', '--prefix');
    await port.compact(revision + 1);
    await port.compact(revision + 1);
    await port.compact(0);
    await expect(port.compact(revision + 1_000)).rejects.toThrow(/future revision/);
    for (const id of ids) await port.defrag(id);
    for (const id of ids) expect((await port.status(id)).dbSize).toBeLessThan(dbSize / 2);
    expect(await alarms()).toEqual(raised);
    // Without the id of a member, disarming succeeds without an effect.
    await port.disarm('0', 'NoSpace');
    expect(await alarms()).toEqual(raised);
    for (const { memberId, type } of raised) await port.disarm(memberId, type);
    expect(await port.alarms()).toEqual([]);
    await port.disarm(raised[0]!.memberId, 'NoSpace');
    await cluster.etcdctl('put', 'again', 'x');
  });

  test('HashKV: equal under writes and compactions, and the member that differs is named', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    expect(await port.hashKV(ids)).toEqual({ equal: true, minority: [] });
    await cluster.etcdctl('put', 'known', value);
    let writing = true;
    const writes = (async () => {
      while (writing) await cluster.put(50);
    })();
    for (const _ of range(0, 5)) {
      await port.compact((await port.status(ids[0]!)).revision - 1);
      expect(await port.hashKV(ids)).toEqual({ equal: true, minority: [] });
    }
    writing = false;
    await writes;

    await tamper(cluster.member(1));
    await cluster.etcdctl('put', 'later', 'x');
    expect(await port.hashKV(ids)).toEqual({ equal: false, minority: [ids[1]] });
    expect(await port.hashKV([ids[0]!, ids[1]!])).toEqual({ equal: false, minority: [] });
    expect(await port.hashKV([ids[0]!, ids[2]!])).toEqual({ equal: true, minority: [] });
    // A member that does not answer is still listed.
    await cluster.member(2).kill();
    await expect(port.hashKV(ids)).rejects.toThrow(/does not answer/);
  });

  test('HashKV of an idle cluster that is compacted at its newest revision: no false difference', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    await cluster.put(20);
    await port.compact((await port.status(ids[0]!)).revision - 3);
    await port.compact((await port.status(ids[0]!)).revision);
    expect(await port.hashKV(ids)).toMatchObject({ equal: true, minority: [] });
    // A restart empties the cache from which the others still answer.
    await cluster.member(1).stop();
    await cluster.member(1).start();
    expect(await port.hashKV(ids)).toMatchObject({ equal: true, minority: [], inconclusive: expect.any(String) });
    await cluster.put(1);
    expect(await port.hashKV(ids)).toEqual({ equal: true, minority: [] });
  });

  test('leaseChurn raises the raft index and nothing else', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const [id] = await idsOf(port, cluster);
    const before = await port.status(id!);
    await port.leaseChurn(300);
    await until(async () => (await port.status(id!)).appliedIndex >= before.appliedIndex + 600);
    expect((await port.status(id!)).revision).toBe(before.revision);
    expect(JSON.parse(await cluster.etcdctl('lease', 'list', '-w', 'json')).leases ?? []).toEqual([]);
  });

  test('a cluster with auth enabled is reported in clear words', async () => {
    const cluster = await startCluster({ minor, auth: true });
    await expect(portOf(cluster.endpoints).members()).rejects.toThrow(
      /requires authentication, for which the reconciler needs the certificate of root in spec.tls.rootSecret \(.*user name is empty\)/,
    );
  });

  test('a member is promoted by the leader or not at all', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    const leader = ids.indexOf(await leaderOf(port, ids));
    const followers = cluster.endpoints.filter((_, i) => i !== leader);
    const withoutLeader = portOf(followers);
    await withoutLeader.members();
    await expect(withoutLeader.promote(ids[leader]!)).rejects.toThrow(/no leader answers/);
    await port.promote(ids[leader]!);
  });

  test('connections are kept, renewed after a restart, and closed at the end', async () => {
    const cluster = await startCluster({ minor, size: 3 });
    await until(async () => sockets() === 0);
    let endpoints = cluster.endpoints;
    const port = new EtcdPort({ endpoints: async () => endpoints, settings });
    const ids = await idsOf(port, cluster);
    for (const _ of range(0, 20)) {
      await Promise.all([port.members(), port.alarms(), ...ids.map((id) => port.status(id))]);
    }
    expect(sockets()).toBe(3);
    for (const i of [0, 1, 2]) {
      await cluster.member(i).kill();
      await cluster.member(i).start();
      expect(await port.status(ids[i]!)).toMatchObject({ version: cluster.binaries.version });
    }
    expect(sockets()).toBe(3);
    endpoints = endpoints.slice(0, 2);
    await port.members();
    await until(async () => sockets() === 2);
    const running = port.leaseChurn(100_000);
    running.catch(() => undefined);
    await sleep(100);
    port.close();
    await expect(running).rejects.toThrow(/closed/);
    await expect(port.members()).rejects.toThrow(/closed/);
    await until(async () => sockets() === 0);
  });

  test('TLS with client certificates: replaced files are read again, and mistakes are reported', async () => {
    const files = await createCertificates(join(root, 'tls'));
    const cluster = await startCluster({ minor, tls: files });
    let client = files.client;
    let cacert = files.ca;
    const tls = () => loadTls({ cacert, cert: client.cert, key: client.key });
    const port = portOf(cluster.endpoints, tls);
    const [id] = await idsOf(port, cluster);
    expect(await port.status(id!)).toMatchObject({ leader: id });
    await cluster.member(0).kill();
    client = files.otherClient;
    await cluster.member(0).start();
    await expect(port.members()).rejects.toThrow(/refused the TLS handshake|bad certificate|unknown/);
    client = files.expiredClient;
    await expect(port.members()).rejects.toThrow(/expired/);
    client = files.client;
    cacert = files.otherCa;
    await expect(port.members()).rejects.toThrow(/unknown authority/);
    cacert = files.ca;
    expect((await port.members()).members).toHaveLength(1);
    await until(async () => sockets() === 1);
  });
});

const before36: readonly Minor[] = ['3.4', '3.5'];

test.each(availableMinors().filter((minor) => !before36.includes(minor)))(
  'a downgrade that is enabled on %s is seen',
  async (minor) => {
    const cluster = await startCluster({ minor, size: 3 });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    const enabled = async () => (await Promise.all(ids.map((id) => port.status(id)))).map((s) => s.downgradeEnabled);
    expect(await enabled()).toEqual([false, false, false]);
    expect(await port.status(ids[0]!)).toMatchObject({ quota: expect.any(Number) });
    const lower = availableMinors()[availableMinors().indexOf(minor) - 1]!;
    await cluster.etcdctl('downgrade', 'enable', lower);
    await until(async () => (await enabled()).every(Boolean));
    await cluster.etcdctl('downgrade', 'cancel');
    await until(async () => !(await enabled()).some(Boolean));
  },
);

const upgrades = availableMinors()
  .slice(1)
  .map((to, i): [Minor, Minor] => [availableMinors()[i]!, to]);

test.each(some(upgrades, upgrades.slice(-1)))(
  '%s and %s mixed: hashes are equal, a learner of either binary joins',
  async (from, to) => {
    const cluster = await startCluster({ minor: from, size: 3, extraArgs: ['--snapshot-count=10'] });
    const port = portOf(cluster.endpoints);
    const ids = await idsOf(port, cluster);
    await cluster.put(100);
    await port.compact(50);
    await restartOn(cluster.member(2), to);
    await until(async () => (await port.status(ids[2]!)).version === etcdOf(to).version);
    // All minors compute the same hash for the same data, and a mixed cluster accepts learners of either binary.
    expect(await port.hashKV(ids)).toEqual({ equal: true, minority: [] });
    for (const minor of [from, to]) {
      const learner = await newcomer(minor, cluster, `learner-${minor}`);
      const wide = portOf([...cluster.endpoints, learner.clientUrl]);
      await wide.members();
      await whileRefused(/unhealthy cluster/, () => wide.addLearner([learner.peerUrl]));
      await learner.spawn();
      const { id } = (await wide.members()).members.find(({ isLearner }) => isLearner)!;
      await whileRefused(/in sync with leader/, () => wide.promote(id));
      await until(async () => (await wide.status(id)).version === etcdOf(minor).version);
      expect(await wide.hashKV([...ids, id])).toEqual({ equal: true, minority: [] });
      await whileRefused(/unhealthy cluster/, () => wide.remove(id));
    }
  },
);

/** Uses the member's data and addresses with another binary. */
async function restartOn(member: EtcdMember, minor: Minor): Promise<void> {
  await member.stop();
  const { name, dataDir, clientUrl, advertisedUrl, peerUrl } = member;
  const again = new EtcdMember({
    ...{ name, dataDir, clientUrl, advertisedUrl, peerUrl },
    binaries: etcdOf(minor),
    log: join(root, `${name}-${minor}.log`),
    args: ['--initial-cluster', `${name}=${peerUrl}`, '--initial-cluster-state', 'existing', '--unsafe-no-fsync'],
  });
  close.push(() => again.kill());
  await again.start();
}

const value = 'a value that is known';

/** Changes the data of a stopped member, as a faulty disk would. */
async function tamper(member: EtcdMember): Promise<void> {
  await member.stop();
  const file = join(member.dataDir, 'member/snap/db');
  const database = await readFile(file);
  let at = database.indexOf(value);
  expect(at).toBeGreaterThan(0);
  for (; at >= 0; at = database.indexOf(value, at)) database.write(value.toUpperCase(), at);
  await writeFile(file, database);
  await member.start();
}

async function until(what: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await what().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`did not come about: ${what}`);
    await sleep(50);
  }
}

const refusedAs = (text: RegExp, change: Promise<void>): Promise<boolean> =>
  change.then(
    () => {
      throw new Error('was not refused');
    },
    (error) => text.test(String(error)),
  );
