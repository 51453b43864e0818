import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { clusterIdHeader } from '../../src/backup/restore/fetch-source.ts';
import { walIdentity } from '../../src/etcd/offline/wal.ts';
import { identity, permit, volumeIdOf } from '../../src/member/gate/gate.fixture.ts';
import { writeIdentity } from '../../src/member/identity.ts';
import type { Permit } from '../../src/protocol/record.ts';
import { createCertificates } from '../harness/certificates.ts';
import { availableMinors, etcdOf, etcdutl, type Minor } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { Bench } from './support/gate-process.ts';
import { some } from './support/smoke.ts';

const execute = promisify(execFile);
const minors = availableMinors();

/** Settings that differ from etcd's defaults, so that the start-up line shows lost ones. */
const settings = {
  'snapshot-count': 12_345,
  'heartbeat-interval': 150,
  'election-timeout': 1_500,
  'quota-backend-bytes': 300_000_000,
  'max-wals': 7,
  'pre-vote': true,
  'auto-compaction-mode': 'revision',
  'auto-compaction-retention': '1234',
  InitialCorruptCheck: true,
};

/** Configuration that etcd logs. */
async function startLine(bench: Bench): Promise<Record<string, unknown>> {
  const log = await readFile(join(bench.gate.dir, 'etcd.log'), 'utf8');
  return JSON.parse(log.split('\n').findLast((line) => line.includes('"starting an etcd server"'))!);
}

/** A member that began its cluster, prepared by the gate and stopped. */
async function seed(minor: Minor): Promise<Bench> {
  const bench = await Bench.make(minor);
  await bench.gate.settings(settings);
  const volumeId = await bench.volumeId();
  await bench.permit(permit({ volumeId, initialCluster: bench.self }));
  expect(await bench.runGate()).toBe(0);
  await bench.startEtcd();
  return bench;
}

const etcdDir = ({ gate }: Bench): string => join(gate.data, 'etcd');

/** Names and sums of all files. */
async function sums(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sum = async (file: string) =>
    [
      file.slice(directory.length),
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ] as const;
  return Object.fromEntries(await Promise.all(files.map(sum)));
}

describe.each(some(minors, minors.slice(-1)))('etcd %s', (minor) => {
  test('accepts the three forms of its configuration, with every setting', async () => {
    await using first = await seed(minor);
    const meant = {
      ...{ 'snapshot-count': 12_345, 'max-wals': 7, 'quota-backend-bytes': 300_000_000, 'pre-vote': true },
      ...{ 'auto-compaction-mode': 'revision', 'heartbeat-interval': '150ms' },
      // Since 3.6 a feature gate, which the line does not show.
      ...(minor < '3.6' && { 'initial-corrupt-check': true }),
      ...{ 'auto-compaction-retention': '1.234µs', 'election-timeout': '1.5s' },
    };
    expect(await startLine(first)).toMatchObject({ ...meant, 'initial-cluster-state': 'new' });
    const { clusterId } = (await walIdentity(etcdDir(first)))!;
    await first.client.etcdctl('put', 'a', '1');

    await using second = await Bench.make(minor, 1);
    await second.gate.settings(settings);
    const volumeId = await second.volumeId();
    const added = await first.client.etcdctl('member', 'add', 'c-1', '--learner', `--peer-urls=${second.peerUrl}`);
    // etcdctl pads an id that has fewer than 16 digits with spaces.
    const [, memberId] = /Member +([0-9a-f]+) added/.exec(added)!;
    const initialCluster = `${first.self},${second.self}`;
    await second.permit(permit({ ordinal: 1, mode: 'existing', volumeId, memberId: memberId!, initialCluster }));
    expect(await second.runGate()).toBe(0);
    await second.startEtcd();
    expect(await startLine(second)).toMatchObject({ ...meant, 'initial-cluster-state': 'existing' });
    expect(await walIdentity(etcdDir(second))).toEqual({ memberId, clusterId });

    // No sidecar sealed them, and the record is not available.
    for (const bench of [first, second]) {
      await bench.stopEtcd();
      await bench.gate.record('unreadable');
      expect(await bench.runGate()).toBe(0);
      expect(JSON.parse(await bench.gate.read('identity.json'))).toMatchObject({ state: 'sealed', runs: 1 });
      expect(await bench.gate.read('etcd.yaml')).toContain(`initial-cluster: "${bench.self}"`);
      await bench.startEtcd();
    }
    expect(await first.client.etcdctl('get', 'a', '--print-value-only')).toBe('1\n');
    expect(await first.client.etcdctl('member', 'list')).toContain(memberId);
  });

  test('a sealed configuration starts no cluster on an emptied directory', async () => {
    await using bench = await seed(minor);
    await bench.stopEtcd();
    expect(await bench.runGate()).toBe(0);
    await rm(etcdDir(bench), { recursive: true });
    await expect(bench.startEtcd()).rejects.toThrow('has ended');
    // The files of that start belong to no member, but the volume belonged to one: it asks again.
    const old = (await bench.gate.read('volume-id')).trim();
    await bench.startGate();
    const { request } = await bench.until((status) => status.request !== undefined);
    expect(request!.volumeId).not.toBe(old);
  });
});

/** Serves a snapshot like the restore Job. */
async function source(file: string, token: string) {
  const askedFor: unknown[] = [];
  const server = createServer(async (request, response) => {
    askedFor.push(request.headers[clusterIdHeader]);
    if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
    const body = await readFile(file);
    return response.writeHead(200, { 'content-length': body.length }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/snapshot`, askedFor, [Symbol.dispose]: () => server.close() };
}

const sha256 = async (file: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');

describe('restore', () => {
  const minor = minors.at(-1)!;
  let origin: EtcdCluster;
  let file: string;

  beforeAll(async () => {
    origin = await EtcdCluster.start({ minor });
    await origin.etcdctl('put', 'kept', 'yes');
    file = join(origin.member(0).dataDir, '../snapshot.db');
    await origin.etcdctl('snapshot', 'save', file);
  });
  afterAll(() => origin.stop());

  const restorePermit = async (volumeId: string, url: string, change: Partial<Permit> = {}): Promise<Permit> =>
    permit({
      ...{ volumeId, mode: 'restore', epoch: 2, token: 'token-2', id: 'permit-2' },
      restore: { id: 'r1', source: { url, token: 'secret', sha256: await sha256(file) }, bumpRevision: 1_000_000 },
      ...change,
    });

  /** The volume of an old member, fenced, until its request. */
  async function fenced(): Promise<{ bench: Bench; volumeId: string; oldCluster: string }> {
    const bench = await seed(minor);
    await bench.stopEtcd();
    const { clusterId } = (await walIdentity(etcdDir(bench)))!;
    bench.gate.env.MIN_EPOCH = '2';
    return { bench, volumeId: await bench.volumeId(), oldCluster: clusterId };
  }

  async function serves({ bench, oldCluster }: { bench: Bench; oldCluster: string }): Promise<void> {
    await bench.startEtcd();
    expect(await bench.client.etcdctl('get', 'kept', '--print-value-only')).toBe('yes\n');
    const { header } = JSON.parse(await bench.client.etcdctl('get', 'kept', '-w', 'json'));
    expect(header.revision).toBeGreaterThan(1_000_000);
    const ids = await walIdentity(etcdDir(bench));
    expect(ids!.clusterId).not.toBe(oldCluster);
    expect(JSON.parse(await bench.gate.read('identity.json'))).toMatchObject({
      ...{ ...ids, state: 'sealed', mode: 'restore', epoch: 2, lastRestoreId: 'r1', token: 'token-2' },
    });
    expect(await bench.gate.read('etcd.yaml')).toContain('initial-cluster-state: "existing"');
    // The previous data are quarantined once.
    const kept = Object.keys(await sums(join(bench.gate.data, 'quarantine')));
    expect(kept.filter((name) => name.endsWith('.wal'))).toHaveLength(1);
    expect(await readdir(join(bench.gate.data, 'work'))).toEqual([]);
  }

  const steps = ['restore.fetched', 'restore.made', 'restore.renamed', 'identity.restored', 'config.sealed'];
  test.each([undefined, ...some(steps, ['restore.renamed'])])(
    'a kill after %s does not change the result',
    async (step) => {
      using snapshot = await source(file, 'secret');
      const old = await fenced();
      await using bench = old.bench;
      await bench.permit(await restorePermit(old.volumeId, snapshot.url));
      if (step !== undefined) expect(await bench.runGate(step)).toBe('SIGKILL');
      expect(await bench.runGate()).toBe(0);
      await serves(old);
    },
  );

  test('a source that is gone, refuses or sends other data is retried until the permit names a good one', async () => {
    using snapshot = await source(file, 'secret');
    using stranger = await source(file, 'other token');
    const cut = join(origin.member(0).dataDir, '../cut.db');
    await writeFile(cut, (await readFile(file)).subarray(0, -4096));
    using broken = await source(cut, 'secret');
    const old = await fenced();
    await using bench = old.bench;
    const tried: string[] = [];
    await bench.permit(await restorePermit(old.volumeId, 'http://127.0.0.1:9/snapshot'));
    await bench.startGate();
    let rev = 6;
    for (const url of [stranger.url, broken.url, snapshot.url]) {
      const { state, message, request } = await bench.until(
        (status) => status.reason === 'RestoreFailed' && !tried.includes(status.message!),
      );
      expect([state, request!.volumeId]).toEqual(['Restoring', old.volumeId]);
      tried.push(message!);
      await bench.permit(await restorePermit(old.volumeId, url), { rev: rev++ });
    }
    expect(tried).toEqual([
      expect.stringContaining('ECONNREFUSED'),
      expect.stringContaining('refuses the token'),
      expect.stringContaining('does not match'),
    ]);
    expect(await bench.gateEnd()).toBe(0);
    await serves(old);
  });

  test('with certificates, and with the scheme that the record gives to the peers', async () => {
    using snapshot = await source(file, 'secret');
    const old = await fenced();
    await using bench = old.bench;
    bench.mount(await createCertificates(join(bench.gate.dir, 'made')));
    const transport = { peers: 'http', clients: 'both', target: 'https', since: '' } as const;
    await bench.permit(await restorePermit(old.volumeId, snapshot.url), { transport });
    expect(await bench.runGate()).toBe(0);
    await serves(old);
    const { members } = JSON.parse(await bench.client.etcdctl('member', 'list', '-w', 'json'));
    expect(members).toMatchObject([{ peerURLs: [bench.peerUrl] }]);
    expect(snapshot.askedFor).toEqual([(await walIdentity(etcdDir(bench)))!.clusterId]);
  });

  test('a second gate finds the restore done', async () => {
    using snapshot = await source(file, 'secret');
    const old = await fenced();
    await using bench = old.bench;
    await bench.permit(await restorePermit(old.volumeId, snapshot.url));
    await bench.runGate();
    const after = await sums(etcdDir(bench));
    expect(await bench.runGate()).toBe(0);
    expect(await sums(etcdDir(bench))).toEqual(after);
    await serves(old);
  });
});

describe('salvage', () => {
  /** The rest of three members: the volume of one that was killed as a follower. */
  async function survivor(minor: Minor): Promise<Bench> {
    const cluster = await EtcdCluster.start({ minor, size: 3 });
    for (let i = 0; i < 20; i++) await cluster.etcdctl('put', `key-${i}`, `${i}`);
    await cluster.stop.call({ ...cluster, members: [] }).catch(() => {});
    await Promise.all(cluster.members.map((member) => member.kill()));
    const bench = await Bench.make(minor);
    await cp(cluster.member(1).dataDir, etcdDir(bench), { recursive: true });
    await bench.gate.file('volume-id', `${volumeIdOf('a')}\n`);
    const lastVersion = etcdOf(minor).version;
    await writeIdentity(bench.gate.data, identity({ ...(await walIdentity(etcdDir(bench))), lastVersion }));
    await cluster.stop();
    return bench;
  }
  const salvagePermit = permit({ mode: 'salvage', salvage: { token: 'secret' } });

  test.each(some(minors, minors.slice(-1)))(
    '%s: a snapshot of all that the member knew, and its data untouched',
    async (minor) => {
      await using bench = await survivor(minor);
      const before = await sums(etcdDir(bench));
      await bench.permit(salvagePermit);
      for (const step of ['salvage.copied', 'salvage.made']) expect(await bench.runGate(step)).toBe('SIGKILL');
      await bench.startGate();
      const { salvage, state, reason } = await bench.until((status) => status.salvage !== undefined);
      expect([state, reason]).toEqual(['Stalled', 'Salvage']);
      expect(salvage!.lastIndex).toBeGreaterThanOrEqual(salvage!.commit);
      expect(salvage!.commit).toBeGreaterThan(20);
      expect(await sums(etcdDir(bench))).toEqual(before);

      expect((await fetch(salvage!.url)).status).toBe(401);
      const answer = await fetch(salvage!.url, { headers: { authorization: 'Bearer secret' } });
      const file = join(bench.gate.dir, 'fetched.db');
      await writeFile(file, Buffer.from(await answer.arrayBuffer()));
      expect(await sha256(file)).toBe(salvage!.sha256);
      const { stdout } = await execute(etcdutl(), ['snapshot', 'status', file, '-w', 'json']);
      expect(JSON.parse(stdout)).toMatchObject({ revision: salvage!.revision });
      await execute(etcdutl(), ['snapshot', 'restore', file, '--data-dir', join(bench.gate.dir, 'restored')]);

      await rm(join(bench.gate.dir, 'record.json'));
      await sleep(1_000);
      expect(await bench.status()).toMatchObject({ state: 'Stalled', reason: 'Salvage', salvage });

      // The fence of the restore withdraws the permit.
      bench.gate.env.MIN_EPOCH = '2';
      await bench.permit({ ...salvagePermit, epoch: 2, mode: 'existing', volumeId: volumeIdOf('b') }, { rev: 6 });
      await bench.until((status) => status.request !== undefined);
      expect(await readdir(join(bench.gate.dir, 'scratch'))).toEqual([]);
    },
  );
});

/** Mounts a file system of that size. Undefined where mounting is not allowed. */
async function mounted(path: string, options: string): Promise<AsyncDisposable | undefined> {
  await mkdir(path, { recursive: true });
  try {
    await execute('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', path]);
  } catch {
    return undefined;
  }
  return { [Symbol.asyncDispose]: () => execute('umount', ['-l', path]).then(() => {}) };
}

describe('a volume that refuses writes', () => {
  test('full: the gate waits, reports it, and continues when there is space', async () => {
    await using bench = await Bench.make(minors.at(-1)!);
    await using disk = await mounted(bench.gate.data, 'size=1m');
    if (!disk) return console.warn('no full disk was tried: mounting is not allowed here');
    const filler = join(bench.gate.data, '.filler');
    await writeFile(filler, Buffer.alloc(2 ** 21)).catch(() => {});
    await bench.startGate();
    const full = await bench.until(({ reason }) => reason === 'DiskFull');
    expect(full).toMatchObject({ state: 'Failed', volume: { freeBytes: 0 } });
    expect(full.request).toBeUndefined();
    await rm(filler);
    const { request } = await bench.until((status) => status.request !== undefined);
    await writeFile(filler, Buffer.alloc(2 ** 21)).catch(() => {});
    await bench.permit(permit({ volumeId: request!.volumeId }));
    await bench.until(({ reason }) => reason === 'DiskFull');
    await rm(filler);
    expect(await bench.gateEnd()).toBe(0);
  });

  test('read-only: the same', async () => {
    await using bench = await Bench.make(minors.at(-1)!);
    await using disk = await mounted(bench.gate.data, 'size=1m,ro');
    if (!disk) return console.warn('no read-only disk was tried: mounting is not allowed here');
    await bench.startGate();
    await bench.until(({ reason }) => reason === 'VolumeReadOnly');
    await execute('mount', ['-o', 'remount,rw', bench.gate.data]);
    await bench.until((status) => status.request !== undefined);
  });
});
