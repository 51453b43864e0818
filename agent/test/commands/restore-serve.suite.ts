import { execFileSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ExitCode } from '../../src/lib/errors.ts';
import { BucketPlace } from '../faults/bucket-place.ts';
import { runAgent } from '../harness/agent.ts';
import { type Certificates, createCertificates, type KeyPair } from '../harness/certificates.ts';
import { enableAuth } from '../harness/etcd-auth.ts';
import { etcdutl } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { freePorts } from '../harness/free-ports.ts';
import { planMembers } from '../harness/member-plan.ts';
import { HoldProxy } from '../harness/proxies/hold-proxy.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { LocalScripts } from '../support/command-scripts.ts';
import { runHere } from '../support/in-process.ts';
import { type RunUntil, runUntil } from '../support/run-until.ts';

const token = 'a-token-that-nobody-guesses';
const hash = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

let directory: string;
let store: string;
let id: string;
let sha256: string;
let certificates: Certificates;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'restore-serve-'));
  store = join(directory, 'store');
  certificates = await createCertificates(join(directory, 'certificates'));
  await using etcd = await EtcdCluster.start({ size: 1 });
  await etcd.put(20);
  const backup = ['backup', `--endpoints=${etcd.endpoints}`, '--cluster=orders', `--store=file://${store}`];
  const { exitCode, data } = await runHere(...backup);
  expect(exitCode).toBe(0);
  ({ id, sha256 } = data.snapshot);
});
afterAll(() => rm(directory, { recursive: true }));

let scratch: string;
let port: number;
beforeEach(async () => {
  scratch = await mkdtemp(join(directory, 'scratch-'));
  [port] = (await freePorts(1)) as [number];
});

interface ServeOptions {
  readonly from?: string;
  readonly fromUrl?: string;
  readonly stopAt?: string;
}

function serve(args: readonly string[] = [], { from = store, fromUrl = `file://${from}`, stopAt }: ServeOptions = {}) {
  const fixed = ['--cluster=orders', `--scratch=${scratch}`, `--etcdutl=${etcdutl()}`, `--listen=127.0.0.1:${port}`];
  const sum = `--token-sha256=${hash(token)}`;
  return runUntil(['restore', 'serve', `--store=${fromUrl}`, ...fixed, sum, ...args], stopAt);
}

const get = (path: string, given?: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { connection: 'close', ...(given && { authorization: `Bearer ${given}` }) },
  });

async function ended(run: RunUntil): Promise<{ exitCode: number; text: string }> {
  const { exitCode, text } = await run.finished;
  expect(await readdir(scratch)).toEqual([]);
  await expect(get('/status')).rejects.toThrow();
  return { exitCode, text };
}

test('serves the verified snapshot to clients with the token, and its result to every client', async () => {
  const run = serve();
  await run.phase('serve');
  const told = await get('/status');
  const body = await told.text();
  const wanted = createHmac('sha256', Buffer.from(hash(token), 'hex'))
    .update(body)
    .digest('hex');
  expect(told.headers.get('etcd-agent-hmac-sha256')).toBe(wanted);
  const status = JSON.parse(body) as { sizeBytes: number };
  expect(status).toEqual({ v: 1, state: 'Serving', id, sha256, sizeBytes: expect.any(Number), revision: 21, keys: 20 });
  const answer = await get('/snapshot', token);
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(hash(bytes)).toBe(sha256);
  expect(bytes.length).toBe(status.sizeBytes);

  expect((await get('/snapshot')).status).toBe(401);
  expect((await get('/snapshot', 'another')).status).toBe(401);
  expect((await get('/snapshot', hash(token))).status).toBe(401);
  expect((await get('/snapshot', token, 'POST')).status).toBe(405);
  expect((await get('/other', token)).status).toBe(404);

  run.stop();
  const { data } = await run.finished;
  expect(data).toMatchObject({ snapshot: { id, sha256, revision: 21 } });
  expect(await ended(run)).toMatchObject({ exitCode: ExitCode.terminated });
  expect(run.output.join('\n')).not.toContain(token);
});

test('names the snapshots that are newer than the newest good one, and why it did not use them', async () => {
  const place = join(scratch, 'newer');
  await cp(store, place, { recursive: true });
  const newer = id.replace(/-\d{8}-/, '-20991231-');
  await writeFile(join(place, 'orders', `${newer}.json`), '{');
  const passedOver = expect.stringMatching(
    new RegExp(`^passed over: ${newer}, \\d+d .*newer: its manifest cannot be read`),
  );
  const run = serve([], { from: place });
  await run.phase('serve');
  expect(await (await get('/status')).json()).toMatchObject({ id, passedOver });
  run.stop();
  await run.finished;
  await rm(place, { recursive: true });
});

describe('the note about a restore', () => {
  const notes = async () => (await readdir(join(store, 'orders'))).filter((name) => name.includes('.restored-'));
  const fetched = (clusterId: string, given = token, more = {}) =>
    fetch(`http://127.0.0.1:${port}/snapshot`, {
      headers: { connection: 'close', authorization: `Bearer ${given}`, 'etcd-cluster-id': clusterId, ...more },
    }).then((answer) => answer.arrayBuffer());

  test('is stored next to the snapshot before that is sent, once for each cluster that is restored from it', async () => {
    const run = serve();
    await run.phase('serve');
    await fetched('c0ffee', 'another');
    await fetched('../../evil');
    expect(await notes()).toEqual([]);
    await fetched('c0ffee');
    expect(await notes()).toEqual([`${id}.restored-c0ffee.json`]);
    const note = await readFile(join(store, 'orders', `${id}.restored-c0ffee.json`), 'utf8');
    expect(JSON.parse(note)).toMatchObject({ schema: 'cdk8s-etcd/restore/v1', id, clusterId: 'c0ffee' });
    await fetched('c0ffee');
    await fetched('beef');
    expect(await notes()).toHaveLength(2);
    run.stop();
    await ended(run);
    for (const name of await notes()) await rm(join(store, 'orders', name));
  });

  test('has the first revision of the restored cluster, which the next restore of the snapshot learns from it', async () => {
    const place = join(directory, 'bumped');
    await cp(store, place, { recursive: true });
    const run = serve([], { from: place });
    await run.phase('serve');
    expect(await (await get('/status')).json()).not.toHaveProperty('highestRevision');
    await fetched('c0ffee', token, { 'etcd-bump-revision': '1000000000' });
    await fetched('beef', token, { 'etcd-bump-revision': '-1' });
    run.stop();
    await ended(run);
    const note = async (clusterId: string) =>
      JSON.parse(await readFile(join(place, 'orders', `${id}.restored-${clusterId}.json`), 'utf8'));
    expect(await note('c0ffee')).toMatchObject({ revision: 1_000_000_021, bump: 1_000_000_000 });
    expect(await note('beef')).not.toHaveProperty('revision');
    await rm(join(place, 'orders', `${id}.restored-beef.json`));

    const next = serve([], { from: place });
    await next.phase('serve');
    expect(await (await get('/status')).json()).toMatchObject({ revision: 21, highestRevision: 1_000_000_021 });
    next.stop();
    await ended(next);
  });

  test('about an earlier restore that hangs in its store does not delay the snapshot', async () => {
    await using server = await Versitygw.start();
    await using bucket = await BucketPlace.make(server);
    for (const name of await readdir(join(store, 'orders')))
      await bucket.put(`orders/${name}`, await readFile(join(store, 'orders', name)));
    await bucket.put(`orders/${id}.restored-beef.json`, Buffer.from('{}'));
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.holdBefore(({ method, path }) => method === 'GET' && path.includes('.restored-beef'));
    const run = serve([], { fromUrl: bucket.through(proxy.endpoint) });
    await run.phase('serve');
    expect(await (await get('/status')).json()).toMatchObject({ state: 'Serving', id });
    run.stop();
    await ended(run);
  }, 90_000);

  test.each([
    ['1000000000000000', { revision: 1_000_000_000_000_021, bump: 1_000_000_000_000_000 }],
    ['0', { revision: 21, bump: 0 }],
    ['9007199254740990', {}],
    ['9999999999999999', {}],
    ['10000000000000000', {}],
    ['abc', {}],
    [undefined, {}],
  ])('has what the header %p says', async (header, wanted) => {
    const place = await mkdtemp(join(directory, 'header-'));
    await cp(store, place, { recursive: true });
    const run = serve([id], { from: place });
    await run.phase('serve');
    await fetched('abba', token, header === undefined ? {} : { 'etcd-bump-revision': header });
    run.stop();
    await ended(run);
    const { revision, bump } = JSON.parse(await readFile(join(place, 'orders', `${id}.restored-abba.json`), 'utf8'));
    expect({ revision, bump }).toEqual(wanted);
  });

  test('about a snapshot that is named by its export is stored next to the snapshot itself, where later backups find it', async () => {
    const place = join(directory, 'keyed');
    const common = ['--cluster=orders', `--store=file://${place}`];
    await using etcd = await EtcdCluster.start({ size: 1 });
    const backup = async (...more: string[]) => {
      const { exitCode, data } = await runHere('backup', `--endpoints=${etcd.endpoints}`, ...common, ...more);
      expect(exitCode).toBe(0);
      return data.snapshot.id as string;
    };
    const key = '--object-key=special/orders.db';
    const older = await backup();
    const own = await backup(key);
    await backup();
    const run = serve([key], { from: place });
    await run.phase('serve');
    await fetched('c0ffee');
    run.stop();
    await ended(run);
    const restoredAs = async (id: string) => (await runHere('show', ...common, id)).data.restoredAs;
    expect([await restoredAs(own), await restoredAs(older)]).toEqual([['c0ffee'], []]);
    expect(await readdir(join(place, 'special'))).toEqual(['orders.db']);
  });

  test('about a snapshot that is named by its export, the only one of its etcd, is found by the next restore', async () => {
    const place = join(directory, 'keyed-alone');
    await using etcd = await EtcdCluster.start({ size: 1 });
    const key = '--object-key=special/orders.db';
    const { exitCode } = await runHere(
      ...['backup', `--endpoints=${etcd.endpoints}`, '--cluster=orders', `--store=file://${place}`, key],
    );
    expect(exitCode).toBe(0);
    const run = serve([key], { from: place });
    await run.phase('serve');
    await fetched('c0ffee', token, { 'etcd-bump-revision': '1000000000' });
    run.stop();
    await ended(run);
    expect(await readdir(join(place, 'orders'))).toContainEqual(expect.stringMatching(/\.restored-c0ffee\.json$/));
    const next = serve([key], { from: place });
    await next.phase('serve');
    expect(await (await get('/status')).json()).toMatchObject({ revision: 1, highestRevision: 1_000_000_001 });
    next.stop();
    await ended(next);
  });

  test('a store that refuses the note does not hold back the snapshot', async () => {
    const place = join(directory, 'read-only');
    await cp(store, place, { recursive: true });
    const run = serve([], { from: place });
    await run.phase('serve');
    await rename(place, `${place}-gone`);
    await writeFile(place, '');
    expect((await fetched('c0ffee')).byteLength).toBeGreaterThan(0);
    run.stop();
    await ended(run);
    expect(run.output.join('\n')).toContain('cannot note the restore');
  });
});

describe('which revisions were served before', () => {
  const [middle, newest] = ['-20191230-', '-20191231-'].map((day) => (name: string) => name.replace(/-\d{8}-/, day));
  /** Adds another snapshot of this revision. */
  async function addTo(place: string, named: (id: string) => string, revision: number): Promise<string> {
    const manifest = JSON.parse(await readFile(join(store, 'orders', `${id}.json`), 'utf8'));
    const other = named(id);
    const createdAt = named(manifest.createdAt.replace(/^(\d{4})-(\d\d)-(\d\d)T/, '-$1$2$3-T')).replace(
      /^-(\d{4})(\d\d)(\d\d)-/,
      '$1-$2-$3',
    );
    const { key } = manifest.object;
    const content = { ...manifest.content, revision, hashKV: undefined };
    const changed = { ...manifest, id: other, createdAt, content, object: { ...manifest.object, key: named(key) } };
    await writeFile(join(place, 'orders', `${other}.json`), JSON.stringify(changed));
    return other;
  }
  async function folder(): Promise<{ place: string; later: string; last: string }> {
    const place = await mkdtemp(join(directory, 'before-'));
    await cp(store, place, { recursive: true });
    for (const name of await readdir(join(place, 'orders')))
      if (name.includes('.restored-')) await rm(join(place, 'orders', name));
    return { place, later: await addTo(place, middle!, 3000), last: await addTo(place, newest!, 5e9) };
  }
  const told = async () => ((await (await get('/status')).json()) as { highestRevision?: number }).highestRevision;

  test('a manifest that answers 503 does not hide the others', async () => {
    const { place, later, last } = await folder();
    await using server = await Versitygw.start();
    await using bucket = await BucketPlace.make(server);
    for (const name of await readdir(join(place, 'orders')))
      await bucket.put(`orders/${name}`, await readFile(join(place, 'orders', name)));
    for (const [away, highest] of [
      [later, 5e9],
      [last, 3000],
    ] as const) {
      await using proxy = await HoldProxy.start(server.endpoint);
      proxy.answer(({ method, path }) => method === 'GET' && path.includes(`/${away}.json`), { status: 503 });
      const run = serve([id], { fromUrl: bucket.through(proxy.endpoint) });
      await run.phase('serve');
      expect(await told()).toBe(highest);
      run.stop();
      await ended(run);
    }
  }, 90_000);

  test('a snapshot of the future counts as a clock that this one is behind', async () => {
    const place = await mkdtemp(join(directory, 'future-'));
    await cp(store, place, { recursive: true });
    await addTo(place, (name) => name.replace(/-\d{8}-/, '-20991231-'), 3000);
    const run = serve([id], { from: place });
    await run.phase('serve');
    expect(await told()).toBeGreaterThanOrEqual(Date.parse('2099-12-31T00:00:00Z') * 1000);
    run.stop();
    await ended(run);
  });

  test.each(['a manifest', 'the listing'])(
    '%s that hangs does not keep a good snapshot back',
    async (what) => {
      const { place, later } = await folder();
      await writeFile(join(place, 'orders', `${id}.restored-beef.json`), JSON.stringify({ revision: 7e9 }));
      await using scripts = await LocalScripts.make();
      await cp(place, scripts.directory, { recursive: true });
      const [script, pattern] = what === 'a manifest' ? ['get', `*${later}.json`] : ['list', '*orders/'];
      const command = await scripts.hanging(script!, pattern!);
      const run = serve([id], { fromUrl: JSON.stringify({ command }) });
      await run.phase('serve');
      expect(await told()).toBe(what === 'a manifest' ? 7e9 : undefined);
      run.stop();
      await ended(run);
    },
    90_000,
  );
});

test.each(['fetch', 'try', 'serve'])('SIGTERM at %s leaves nothing', async (phase) => {
  const run = serve([], { stopAt: phase });
  expect(await ended(run)).toMatchObject({ exitCode: ExitCode.terminated });
});

test('a process that receives SIGTERM ends with 143, and leaves its result as the termination message', async () => {
  const termination = join(directory, 'termination');
  const args = ['restore', 'serve', '--cluster=orders', `--store=file://${store}`, `--scratch=${scratch}`];
  const { code, stderr } = await runAgent([...args, `--listen=127.0.0.1:${port}`, `--token-sha256=${hash(token)}`], {
    env: { ETCD_AGENT_TERMINATION_LOG: termination },
    signalAt: { phase: 'serve', signal: 'SIGTERM' },
  });
  expect([code, stderr]).toEqual([ExitCode.terminated, expect.stringContaining('serving the snapshot')]);
  const message = JSON.parse(await readFile(termination, 'utf8'));
  expect(message).toMatchObject({ exitCode: 143, snapshot: { id, sha256, revision: 21, keys: 20 } });
  expect(await readdir(scratch)).toEqual([]);
});

test('an etcd that never had a key', async () => {
  const place = join(directory, 'empty');
  await using etcd = await EtcdCluster.start({ size: 1 });
  const backup = ['backup', `--endpoints=${etcd.endpoints}`, '--cluster=orders', `--store=file://${place}`];
  expect(await runHere(...backup)).toMatchObject({ exitCode: 0 });
  const run = serve(['--expected-revision=1'], { from: place });
  await run.phase('serve');
  expect(await (await get('/status')).json()).toMatchObject({ state: 'Serving', revision: 1, keys: 0 });
  run.stop();
  await ended(run);
});

test('before it is verified it reports only the state', async () => {
  const slow = join(directory, 'slow-etcdutl');
  await writeFile(slow, `#!/bin/sh\nsleep 1\nexec ${etcdutl()} "$@"\n`, { mode: 0o755 });
  const run = serve([`--etcdutl=${slow}`]);
  await run.phase('try');
  expect(await (await get('/status')).json()).toEqual({ v: 1, state: 'Verifying' });
  expect((await get('/snapshot', token)).status).toBe(503);
  expect((await get('/snapshot', 'another')).status).toBe(401);
  run.stop();
  await ended(run);
});

test('the newest verified one from before a moment', async () => {
  const [before, after] = ['2020-01-01T00:00:00Z', new Date(Date.now() + 60_000).toISOString()];
  const run = serve([`--latest-verified-before=${after}`]);
  await run.phase('serve');
  expect(await (await get('/status')).json()).toMatchObject({ id });
  run.stop();
  await ended(run);
  expect(await ended(serve([`--latest-verified-before=${before}`]))).toMatchObject({ exitCode: ExitCode.nothingThere });
});

test('a file that another tool saved, by its key', async () => {
  const place = join(directory, 'foreign');
  await mkdir(join(place, 'old'), { recursive: true });
  const { text } = await runHere(
    ...['restore', 'fetch', '--cluster=orders', `--store=file://${store}`, `--to=${join(place, 'old/etcd.db')}`],
  );
  expect(text).toContain('verified');
  const run = serve(['--object-key=old/etcd.db', '--adopt'], { from: place });
  await run.phase('serve');
  expect(await (await get('/status')).json()).toMatchObject({ state: 'Serving', sha256 });
  run.stop();
  await ended(run);
});

test.each(['older', 'newest'])(
  'without an id, the manifest of the %s snapshot hangs',
  async (which) => {
    await using scripts = await LocalScripts.make();
    await cp(store, scripts.directory, { recursive: true });
    const silent = id.replace(/-\d{8}-/, which === 'older' ? '-20200101-' : '-20991231-');
    await writeFile(join(scripts.directory, 'orders', `${silent}.json`), '{}');
    const { source } = JSON.parse(await readFile(join(store, 'orders', `${id}.json`), 'utf8'));
    const ofCluster = `--cluster-id=${source.clusterId}`;
    const fromUrl = JSON.stringify({ command: await scripts.hanging('get', `*${silent}.json`) });
    const to = join(scratch, 'data');
    const dataDir = (...args: string[]) =>
      runHere(
        ...['restore', 'data-dir', '--cluster=orders', `--store=${fromUrl}`, `--data-dir=${to}`, '--name=m0'],
        ...['--initial-cluster=m0=http://127.0.0.1:2380', '--initial-advertise-peer-urls=http://127.0.0.1:2380'],
        ...[`--etcdutl=${etcdutl()}`, ...args],
      );
    const refused = (why: string) => ({
      exitCode: ExitCode.storeUnreachable,
      text: expect.stringMatching(new RegExp(`${silent}, which may be ${why} ${id}: .* does not answer in time`)),
    });
    if (which === 'newest') {
      const [one, other] = await Promise.all([dataDir(ofCluster), ended(serve([ofCluster], { fromUrl }))]);
      expect([one, other]).toMatchObject([refused('newer than'), refused('newer than')]);
      return;
    }
    const [one, other] = await Promise.all([dataDir(), ended(serve([], { fromUrl }))]);
    expect([one, other]).toMatchObject([
      refused('of another etcd cluster than'),
      refused('of another etcd cluster than'),
    ]);
    const run = serve([ofCluster], { fromUrl });
    await run.phase('serve');
    expect(await (await get('/status')).json()).toMatchObject({ state: 'Serving', id });
    expect(await dataDir(ofCluster)).toMatchObject({ exitCode: 0, text: expect.stringContaining(id) });
    await rm(to, { recursive: true });
    run.stop();
    await ended(run);
  },
  180_000,
);

test('a snapshot is restored by its export and noted although the manifest of an older snapshot hangs', async () => {
  await using scripts = await LocalScripts.make();
  await cp(store, scripts.directory, { recursive: true });
  const silent = id.replace(/-\d{8}-/, '-19991231-');
  await writeFile(join(scripts.directory, 'orders', `${silent}.json`), '{}');
  const fromUrl = JSON.stringify({ command: await scripts.hanging('get', `*${silent}.json`) });
  await using etcd = await EtcdCluster.start({ size: 1 });
  const of = (url: string) => ['--cluster=orders', `--store=${url}`, '--object-key=special/now.db'];
  const backup = ['backup', `--endpoints=${etcd.endpoints}`, ...of(`file://${scripts.directory}`)];
  expect(await runHere(...backup)).toMatchObject({ exitCode: 0 });
  const to = join(scratch, 'data');
  const restored = await runHere(
    ...['restore', 'data-dir', ...of(fromUrl), `--data-dir=${to}`, '--name=m0', `--etcdutl=${etcdutl()}`],
    ...['--initial-cluster=m0=http://127.0.0.1:2380', '--initial-advertise-peer-urls=http://127.0.0.1:2380'],
  );
  expect(restored).toMatchObject({ exitCode: 0 });
  expect(await readdir(join(scripts.directory, 'orders'))).toContainEqual(expect.stringContaining('.restored-'));
}, 180_000);

describe('refused, with nothing served', () => {
  async function damaged(change: (payload: string) => Promise<unknown>): Promise<string> {
    const place = await mkdtemp(join(directory, 'damaged-'));
    await mkdir(join(place, 'orders'));
    const names = await readdir(join(store, 'orders'));
    for (const name of names) await copyFile(join(store, 'orders', name), join(place, 'orders', name));
    await change(join(place, 'orders', names.find((name) => name.includes('.db'))!));
    return place;
  }

  test('a snapshot that is cut, or has a flipped bit, in the store', async () => {
    const cut = await damaged(async (file) => truncate(file, (await readFile(file)).length - 7));
    expect(await ended(serve([], { from: cut }))).toMatchObject({ exitCode: ExitCode.nothingThere });
    expect(await ended(serve([id], { from: cut }))).toMatchObject({ exitCode: ExitCode.verificationFailed });
    const flipped = await damaged(async (file) => {
      const bytes = await readFile(file);
      bytes[bytes.length >> 1]! ^= 1;
      await writeFile(file, bytes);
    });
    expect(await ended(serve([id], { from: flipped }))).toMatchObject({ exitCode: ExitCode.verificationFailed });
  });

  async function ofEtcd(change: (etcd: EtcdCluster) => Promise<unknown>): Promise<string> {
    const place = await mkdtemp(join(directory, 'changed-'));
    await using etcd = await EtcdCluster.start({ size: 1 });
    await etcd.put(20);
    await mkdir(join(place, 'orders'));
    await change(etcd);
    await etcd.etcdctl('snapshot', 'save', join(place, 'orders', 'saved.db'));
    return place;
  }
  const saved = ['--object-key=orders/saved.db', '--adopt'];

  test('a snapshot with auth enabled is served for a reconciler that has the certificate of root', async () => {
    const from = await ofEtcd(enableAuth);
    const run = serve([...saved, '--accept-authentication'], { from });
    await run.phase('serve');
    expect(await (await get('/status')).json()).toMatchObject({ state: 'Serving' });
    run.stop();
    await ended(run);
  });

  test('a snapshot with auth enabled: the reconciler could not log in', async () => {
    const { exitCode, text } = await ended(serve(saved, { from: await ofEtcd(enableAuth) }));
    expect([exitCode, text]).toEqual([
      ExitCode.refused,
      expect.stringMatching(/^saved has authentication enabled, .*auth disable/),
    ]);
  });

  test('a revision so high that no restore could exceed it', async () => {
    const from = await ofEtcd((etcd) => etcd.put(3));
    const [plan] = await planMembers(1);
    const { name, peerUrl } = plan!;
    const dataDir = join(from, 'data');
    const bump = ['--bump-revision=9007199254000000', '--mark-compacted', `--data-dir=${dataDir}`, `--name=${name}`];
    const urls = [`--initial-cluster=${name}=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`];
    execFileSync(etcdutl(), ['snapshot', 'restore', join(from, 'orders/saved.db'), ...bump, ...urls], {
      stdio: 'ignore',
    });
    await using etcd = await EtcdCluster.fromDataDirs([{ ...plan!, dataDir }]);
    await rm(join(from, 'orders/saved.db'));
    await etcd.etcdctl('snapshot', 'save', join(from, 'orders/saved.db'));
    const { exitCode, text } = await ended(serve(saved, { from }));
    expect([exitCode, text]).toEqual([
      ExitCode.refused,
      expect.stringMatching(
        /^saved is at revision 90071992540000\d\d, .* no revision is left; restore an earlier snapshot$/,
      ),
    ]);
  }, 30_000);

  test('but not a snapshot that had it earlier', async () => {
    const from = await ofEtcd(async (etcd) => {
      await enableAuth(etcd);
      await etcd.etcdctl('auth', 'disable');
    });
    const run = serve(saved, { from });
    await run.phase('serve');
    run.stop();
    await ended(run);
  });

  test('a snapshot with a CORRUPT alarm: etcd would refuse everything', async () => {
    const from = await ofEtcd(async (etcd) => {
      const answer = await fetch(`${etcd.endpoints[0]}/v3/maintenance/alarm`, {
        method: 'POST',
        body: JSON.stringify({ action: 'ACTIVATE', memberID: '1', alarm: 'CORRUPT' }),
      });
      expect(answer.status).toBe(200);
    });
    const { exitCode, text } = await ended(serve(saved, { from }));
    expect([exitCode, text]).toEqual([ExitCode.verificationFailed, expect.stringContaining('SUSPECT: Corrupt')]);
  });

  test.each([
    ['--sha256', `--sha256=${'0'.repeat(64)}`, ExitCode.verificationFailed, /not the expected 000/],
    ['--expected-revision', '--expected-revision=20', ExitCode.verificationFailed, /its revision is 21/],
    ['--server-version', '--server-version=3.4', ExitCode.refused, /which etcd 3.4 cannot read/],
    ['no sha256', '--sha256=abc', ExitCode.usage, /--sha256: 'abc' is not a valid SHA-256; pass its 64 hex digits/],
    ['no revision', '--expected-revision=new', ExitCode.usage, /whole number/],
    ['no time', '--latest-verified-before=yesterday', ExitCode.usage, /write it like/],
    ['a time without a zone', '--latest-verified-before=2026-11-21T02:30:00', ExitCode.usage, /write it like/],
    ['no address', '--listen=here', ExitCode.usage, /0\.0\.0\.0:8080/],
    ['no directory', '--scratch=/nonexistent', ExitCode.usage, /--scratch/],
    ['no certificate', '--peer-tls-dir=/nonexistent', ExitCode.usage, /--peer-tls-dir: cannot read/],
    ['no token', '--token-sha256=', ExitCode.usage, /--token-sha256/],
    [
      'a token itself',
      '--token-sha256=secret',
      ExitCode.usage,
      /^--token-sha256: a value of 6 characters is not a valid SHA-256/,
    ],
  ])('%s', async (_, flag, code, words) => {
    const { exitCode, text } = await ended(serve([flag]));
    expect({ exitCode, text }).toEqual({ exitCode: code, text: expect.stringMatching(words) });
    expect(text).not.toContain('\n');
  });

  test('an id and a moment', async () => {
    const { exitCode, text } = await ended(serve([id, '--latest-verified-before=2026-11-21T02:30:00Z']));
    expect([exitCode, text]).toEqual([ExitCode.usage, expect.stringContaining('remove one of them')]);
  });

  test('a port that is taken', async () => {
    const server = createServer().listen(port, '127.0.0.1');
    const { exitCode, text } = await serve().finished;
    expect([exitCode, text]).toEqual([ExitCode.usage, expect.stringContaining('EADDRINUSE')]);
    server.close();
  });

  test('an etcdutl that cannot restore it', async () => {
    const broken = join(directory, 'broken-etcdutl');
    const refuse = 'case "$2" in restore) echo "Error: no" >&2; exit 1;; esac';
    await writeFile(broken, `#!/bin/sh\n${refuse}\nexec ${etcdutl()} "$@"\n`, { mode: 0o755 });
    const { exitCode, text } = await ended(serve([`--etcdutl=${broken}`]));
    expect([exitCode, text]).toEqual([ExitCode.verificationFailed, expect.stringContaining('refused to restore')]);
  });

  test('no room for the trial', async () => {
    const full = join(directory, 'full-etcdutl');
    const refuse = 'case "$2" in restore) echo "Error: write db: no space left on device" >&2; exit 1;; esac';
    await writeFile(full, `#!/bin/sh\n${refuse}\nexec ${etcdutl()} "$@"\n`, { mode: 0o755 });
    const { exitCode, text } = await ended(serve([`--etcdutl=${full}`]));
    expect([exitCode, text]).toEqual([ExitCode.usage, expect.stringMatching(/^--scratch: no room/)]);
  });

  test('an etcdutl that restores something else', async () => {
    const other = join(directory, 'other-etcdutl');
    const empty =
      'case "$2$3" in restore*) shift 4; mkdir -p "$1/member/snap"; echo no > "$1/member/snap/db"; exit 0;; esac';
    await writeFile(other, `#!/bin/sh\n${empty}\nexec ${etcdutl()} "$@"\n`, { mode: 0o755 });
    const { exitCode, text } = await ended(serve([`--etcdutl=${other}`]));
    expect([exitCode, text]).toEqual([ExitCode.verificationFailed, expect.stringContaining('does not hold its data')]);
  });
});

describe('over TLS', () => {
  async function peerTls(pair: KeyPair): Promise<string> {
    const place = await mkdtemp(join(directory, 'tls-'));
    await copyFile(certificates.ca, join(place, 'ca.crt'));
    await copyFile(pair.cert, join(place, 'tls.crt'));
    await copyFile(pair.key, join(place, 'tls.key'));
    return place;
  }

  async function ask(path: string, client?: KeyPair): Promise<{ status: number | undefined; body: Buffer }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: Buffer }>();
    const shown = client && { cert: await readFile(client.cert), key: await readFile(client.key) };
    const ca = await readFile(certificates.ca);
    // Every reader of the record and the Job may know the token; a member needs none.
    const headers = client === certificates.server ? {} : { authorization: `Bearer ${token}` };
    request(`https://127.0.0.1:${port}${path}`, { ca, ...shown, headers, agent: false }, (response) => {
      buffer(response).then((body) => resolve({ status: response.statusCode, body }), reject);
    })
      .on('error', reject)
      .end();
    return promise;
  }

  test('the status is public, the snapshot is for members', async () => {
    const run = serve([`--peer-tls-dir=${await peerTls(certificates.server)}`]);
    await run.phase('serve');
    expect((await ask('/status')).status).toBe(200);
    expect((await ask('/snapshot')).status).toBe(401);
    expect((await ask('/snapshot', certificates.otherClient)).status).toBe(401);
    const { status, body } = await ask('/snapshot', certificates.server);
    expect([status, hash(body)]).toEqual([200, sha256]);
    run.stop();
    await ended(run);
  });

  test('an expired certificate is reported at once', async () => {
    const { exitCode, text } = await ended(serve([`--peer-tls-dir=${await peerTls(certificates.expiredServer)}`]));
    expect([exitCode, text]).toEqual([ExitCode.usage, expect.stringMatching(/^--peer-tls-dir: .*expired/)]);
  });
});
