// Members of a real cluster: equal data, different data, data that cannot be compared, and learners.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdMember as Member } from '../../src/etcd/etcd-member.ts';
import { ExitCode } from '../../src/lib/errors.ts';
import { type AgentResult, runAgent } from '../harness/agent.ts';
import { availableMinors, missingMinors } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { EtcdMember } from '../harness/etcd-member.ts';
import { freePorts } from '../harness/free-ports.ts';

let root: string;
beforeAll(() => {
  for (const minor of missingMinors()) console.warn(`etcd ${minor} is not at hand: untested`);
});
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'members-'));
});
afterEach(() => rm(root, { recursive: true }));

const agent = (command: string, ...flags: string[]): Promise<AgentResult> =>
  runAgent([command, `--store=file://${root}/store`, '--cluster=orders', '--output=json', ...flags]);
const backup = ({ endpoints }: { endpoints: readonly string[] }, ...flags: string[]) =>
  agent('backup', `--endpoints=${endpoints}`, ...flags);
const snapshots = async () => (await agent('list')).result.snapshots;
const manifestOf = async ({ result }: AgentResult) => {
  const { id } = result.snapshot;
  return JSON.parse(await readFile(join(root, `store/orders/${id}.json`), 'utf8'));
};

const VALUE = 'a value that is known';

/** Changes the data of a stopped member, as a faulty disk would. */
async function tamper(member: EtcdMember): Promise<void> {
  await member.stop();
  const file = join(member.dataDir, 'member/snap/db');
  const database = await readFile(file);
  let at = database.indexOf(VALUE);
  expect(at).toBeGreaterThan(0);
  for (; at >= 0; at = database.indexOf(VALUE, at)) database.write(VALUE.toUpperCase(), at);
  await writeFile(file, database);
  await member.start();
}

async function revisionOf(cluster: EtcdCluster): Promise<number> {
  return JSON.parse(await cluster.etcdctl('get', 'known', '-w', 'json')).header.revision;
}

describe.each(availableMinors())('etcd %s', (minor) => {
  test('a member with other data: the snapshot is taken, reported as suspect, and does not count', async () => {
    await using cluster = await EtcdCluster.start({ minor, size: 3 });
    await cluster.put(50);
    await cluster.etcdctl('put', 'known', VALUE);
    const good = await backup(cluster);
    expect(good.code).toBe(0);
    expect(good.result.comparison).toMatch(/^2 other members agree at revision \d+$/);
    expect((await manifestOf(good)).content.hashKV.membersAgreeing).toBe(2);

    await tamper(cluster.member(1));
    await cluster.etcdctl('put', 'later', 'x');
    const bad = await backup(cluster, '--retention=last=1,minKeep=1');
    expect(bad).toMatchObject({ code: ExitCode.sourceSuspect, result: { suspect: ['MembersInconsistent'] } });
    expect(bad.result.comparison).toMatch(
      /^MembersInconsistent: at revision \d+, the data of http.* differ from those of http/,
    );
    expect(bad.result.comparison).toContain(cluster.member(1).clientUrl);
    expect(bad.result.stores).toMatchObject([{ deleted: [] }]);
    const manifest = await manifestOf(bad);
    expect(manifest.source.suspect).toEqual(['MembersInconsistent']);
    expect(manifest.verified).toBeUndefined();

    const suspectAlways = [
      { id: bad.result.snapshot.id, verified: false, suspect: ['MembersInconsistent'] },
      { id: good.result.snapshot.id, verified: true },
    ];
    expect(await snapshots()).toMatchObject(suspectAlways);
    expect(await agent('verify')).toMatchObject({ code: 0 });
    expect(await snapshots()).toMatchObject(suspectAlways);
  });

  test('a compaction at the current revision leaves nothing to compare, and does not fail', async () => {
    await using cluster = await EtcdCluster.start({ minor, size: 3 });
    await cluster.etcdctl('put', 'known', VALUE);
    await cluster.etcdctl('compact', String(await revisionOf(cluster)));
    const taken = await backup(cluster);
    expect(taken).toMatchObject({ code: 0, result: { stores: [{ verified: 'read' }] } });
    expect(taken.result.comparison).toMatch(
      /is the compact revision; there are no newer keys to hash|has been compacted/,
    );
    expect((await manifestOf(taken)).content.hashKV).toBeUndefined();
    const { result } = await agent('verify', '--level=open');
    expect(result.snapshots[0].detail).toMatch(/its manifest has no HashKV/);

    await cluster.etcdctl('put', 'known', VALUE);
    expect((await backup(cluster)).result.comparison).toMatch(/^2 other members agree/);
  });

  test('if a member is down, the two others are compared', async () => {
    await using cluster = await EtcdCluster.start({ minor, size: 3 });
    await cluster.etcdctl('put', 'known', VALUE);
    await cluster.member(2).kill();
    const taken = await backup(cluster);
    expect(taken.code).toBe(0);
    expect(taken.result.comparison).toMatch(/^1 of 2 other members agrees at/);
    expect((await manifestOf(taken)).content.hashKV.membersAgreeing).toBe(1);
  });

  test('a learner is neither the source nor compared', async () => {
    await using cluster = await EtcdCluster.start({ minor, size: 1 });
    await cluster.etcdctl('put', 'known', VALUE);
    const learner = await addLearner(cluster);
    try {
      const both = [...cluster.endpoints, learner.clientUrl];
      const taken = await backup({ endpoints: both });
      expect(taken).toMatchObject({ code: 0, result: { snapshot: { endpoint: cluster.endpoints[0] } } });
      expect(taken.result.comparison).toMatch(/^no other member to compare with/);

      const alone = await backup({ endpoints: [learner.clientUrl] });
      expect(alone).toMatchObject({ code: ExitCode.etcdUnavailable });
      expect(alone.result.error).toMatch(/only learners answered/);
    } finally {
      await learner.kill();
    }
  });
});

async function addLearner(cluster: EtcdCluster): Promise<EtcdMember> {
  const [client, peer] = (await freePorts(2)).map((port) => `http://127.0.0.1:${port}`);
  await cluster.etcdctl('member', 'add', 'learner', '--learner', `--peer-urls=${peer}`);
  const [voter] = cluster.members;
  const learner = new EtcdMember({
    binaries: cluster.binaries,
    name: 'learner',
    dataDir: join(root, 'learner'),
    clientUrl: client!,
    advertisedUrl: client!,
    peerUrl: peer!,
    log: join(root, 'learner.log'),
    args: [
      ...['--initial-cluster', `${voter!.name}=${voter!.peerUrl},learner=${peer}`],
      ...['--initial-cluster-state', 'existing'],
    ],
  });
  await learner.spawn();
  await caughtUp(learner.clientUrl);
  return learner;
}

/** A learner answers no health check: it is up to date once it has joined and knows the key. */
async function caughtUp(endpoint: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const status = await statusOf(endpoint).catch(() => undefined);
    if (status?.isLearner && status.revision > 1) return;
    await sleep(50);
  }
  throw new Error('the learner does not catch up');
}

async function statusOf(endpoint: string) {
  const member = await Member.connect(endpoint, { endpoints: [], dialTimeout: 1_000 });
  try {
    return await member.status();
  } finally {
    member.close();
  }
}
