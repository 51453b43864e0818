import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sample } from '../backup/extent.ts';
import type { AgentResult } from '../harness/agent.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { TcpProxy } from '../harness/proxies/tcp-proxy.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { BucketPlace } from './bucket-place.ts';
import { backup, CLUSTER, command, expectFailure, start, succeed, wholeSnapshots } from './commands.ts';
import { DirectoryPlace } from './directory-place.ts';
import { forEach } from './for-each.ts';
import { copyAll } from './place.ts';
import { nameOf, type Point, pointsOf, runTo } from './steps.ts';

const MIB = 1024 * 1024;
const signals = ['SIGKILL', 'SIGTERM'] as const;

let etcd: EtcdCluster;
let past: DirectoryPlace;
/** SHA-256 of the plain snapshot. */
let sha256: string;
let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'restores-'));
  [etcd, past] = await Promise.all([EtcdCluster.start(), DirectoryPlace.make()]);
  await etcd.put(50);
  const { snapshot } = await succeed(backup(etcd, past.store));
  const manifest = JSON.parse((await past.get(`${CLUSTER}/${snapshot.id}.json`)).toString());
  sha256 = manifest.content.sha256;
});
afterAll(async () => {
  await Promise.all([etcd?.stop(), past?.[Symbol.asyncDispose](), rm(root, { recursive: true, force: true })]);
});

const hashOf = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');

/** A store and a directory to restore into, for one run only. */
async function prepared(): Promise<DirectoryPlace & { readonly into: string }> {
  const place = await DirectoryPlace.make();
  await copyAll(past, place);
  return Object.assign(place, { into: await mkdtemp(join(root, 'into-')) });
}

function expectEnd({ code, signal, ...result }: AgentResult, raised: NodeJS.Signals): void {
  if (raised === 'SIGKILL') expect(signal).toBe('SIGKILL');
  // The signal may come too late to stop anything.
  else if (code !== 0) expectFailure({ code, signal, ...result }, 143, /^stopped by SIGTERM$/);
}

describe('restore fetch, before each step', () => {
  const args = (store: string, into: string) => command('restore fetch', store, '--to', join(into, 'new', 'x.db'));
  let points: Point[];
  beforeAll(async () => {
    await using place = await prepared();
    points = await pointsOf(args(place.store, place.into));
  });

  test.each(signals)('%s', (signal) =>
    forEach(sample(points), nameOf, async (point) => {
      await using place = await prepared();
      const { store, into } = place;
      const result = await runTo(point, signal, args(store, into));
      expectEnd(result, signal);
      const files = await readdir(join(into, 'new')).catch((): string[] => []);
      const there = files.includes('x.db');
      expect(there).toBe(point.done.some((step) => step.startsWith('rename')) || result.code === 0);
      if (there) expect(await hashOf(join(into, 'new', 'x.db'))).toBe(sha256);
      if (signal === 'SIGTERM') expect(files.filter((name) => name !== 'x.db')).toEqual([]);
      if (!there) await succeed(args(store, into));
      // A run that was killed after it had written its file leaves its empty lock, which no process holds.
      const lock = there && signal === 'SIGKILL' ? 'x.db.lock' : '';
      expect((await readdir(join(into, 'new'))).filter((name) => name !== lock)).toEqual(['x.db']);
      expect(await hashOf(join(into, 'new', 'x.db'))).toBe(sha256);
      expect(await wholeSnapshots(place)).toHaveLength(1);
    }),
  );
});

/** Leftovers of a restore to `name` after kill -9. */
const leftOf = (name: string) => [`${name}.lock`, expect.stringMatching(/\.partial-[0-9a-f]{8}$/)];
const leftIn = async (directory: string, name: string) =>
  (await readdir(directory))
    .filter((each) => each.startsWith(`${name}.lock`) || each.startsWith(`${name}.partial`))
    .sort();

describe('restore data-dir, before each step', () => {
  // The old data cannot be read, so nothing else says which revisions were served, and of which cluster they are.
  const args = (store: string, into: string) =>
    command(
      'restore data-dir',
      store,
      ...['--data-dir', join(into, 'etcd'), '--bump-revision=1000000000', '--force-foreign'],
    );
  const oldFiles = async (directory: string) => {
    const files = await readdir(directory, { recursive: true });
    return [files.sort(), await readFile(join(directory, 'member', 'snap', 'db'), 'utf8').catch(() => 'no db')];
  };
  const old = [['member', 'member/snap', 'member/snap/db', 'member/wal'], 'the old data'];
  const prepare = async () => {
    const place = await prepared();
    const member = join(place.into, 'etcd', 'member');
    await mkdir(join(member, 'snap'), { recursive: true });
    await mkdir(join(member, 'wal'));
    await writeFile(join(member, 'snap', 'db'), 'the old data');
    return place;
  };
  const asideIn = async (into: string) => (await readdir(into)).filter((name) => name.startsWith('etcd.replaced-'));
  let points: Point[];
  beforeAll(async () => {
    await using place = await prepare();
    points = await pointsOf(args(place.store, place.into));
  });

  test.each(signals)('%s', (signal) =>
    forEach(sample(points), nameOf, async (point) => {
      await using place = await prepare();
      const { store, into } = place;
      const dataDir = join(into, 'etcd');
      expectEnd(await runTo(point, signal, args(store, into)), signal);

      const aside = await asideIn(into);
      if (aside.length === 0) expect(await oldFiles(dataDir)).toEqual(old);
      else expect(await oldFiles(join(into, aside[0]!))).toEqual(old);
      const made = existsSync(join(dataDir, 'etcd-agent-restore.json'));
      if (existsSync(dataDir)) expect(made).toBe(aside.length > 0);

      const { alreadyRestored, clusterId } = await succeed(args(store, into));
      expect(alreadyRestored).toBe(made);
      expect((await readdir(into)).sort()).toEqual(['etcd', ...(await asideIn(into))]);
      expect(await asideIn(into)).toHaveLength(1);
      expect(existsSync(join(dataDir, 'etcd-agent-restore.json'))).toBe(true);
      expect((await readdir(join(dataDir, 'member'))).sort()).toEqual(['snap', 'wal']);
      // Without the note, later backups would attribute the earlier snapshots to another cluster.
      expect((await place.keys()).filter((key) => key.endsWith(`.restored-${clusterId}.json`))).toHaveLength(1);
      expect(await wholeSnapshots(place)).toHaveLength(1);
    }),
  );

  test.each(signals)('%s while etcdutl runs', async (signal) => {
    await using place = await prepare();
    const { store, into } = place;
    const etcdutl = join(into, 'etcdutl');
    await writeFile(etcdutl, `#!/bin/sh\ntouch ${into}/runs\nexec sleep 60\n`, { mode: 0o755 });
    const agent = start([...args(store, into), '--etcdutl', etcdutl]);
    while (!existsSync(join(into, 'runs'))) await sleep(20);
    expectEnd(await agent.kill(signal), signal);
    expect(await oldFiles(join(into, 'etcd'))).toEqual(old);
    expect(await leftIn(into, 'etcd')).toEqual(signal === 'SIGKILL' ? leftOf('etcd') : []);
    await succeed(args(store, into));
    expect(await leftIn(into, 'etcd')).toEqual([]);
    expect(await asideIn(into)).toHaveLength(1);
  });
});

describe('in the middle of a payload from S3', () => {
  let server: Versitygw;
  let place: BucketPlace;
  let large: EtcdCluster;
  beforeAll(async () => {
    [server, large] = await Promise.all([Versitygw.start(), EtcdCluster.start()]);
    place = await BucketPlace.make(server);
    await large.put(10, { valueSize: MIB });
    await succeed(backup(large, place.store));
  });
  afterAll(async () => {
    await place?.[Symbol.asyncDispose]();
    await Promise.all([server?.stop(), large?.stop()]);
  });

  /** The server goes silent after 4 MiB; then the signal comes. */
  async function stopMidway(signal: NodeJS.Signals, args: (store: string) => string[]): Promise<AgentResult> {
    await using proxy = await TcpProxy.start(server.endpoint);
    proxy.stallAfter(4 * MIB);
    const agent = start(args(place.through(proxy.url)));
    await agent.phase(args('')[0] === 'verify' ? 'verify' : args('')[1] === 'fetch' ? 'fetch' : 'restore');
    await sleep(500);
    // Wait here: the proxy closes on return, and the agent would notice that before the signal.
    return await agent.kill(signal);
  }

  test.each(signals)('restore fetch, %s', async (signal) => {
    const into = await mkdtemp(join(root, 'into-'));
    const args = (store: string) => command('restore fetch', store, '--to', join(into, 'x.db'));
    expectEnd(await stopMidway(signal, args), signal);
    expect((await readdir(into)).sort()).toEqual(signal === 'SIGKILL' ? leftOf('x.db') : []);
    await succeed(args(place.store));
    expect(await readdir(into)).toEqual(['x.db']);
  });

  test.each(signals)('restore data-dir, %s', async (signal) => {
    const into = await mkdtemp(join(root, 'into-'));
    const args = (store: string) => command('restore data-dir', store, '--data-dir', join(into, 'etcd'));
    expectEnd(await stopMidway(signal, args), signal);
    expect((await readdir(into)).sort()).toEqual(signal === 'SIGKILL' ? leftOf('etcd') : []);
    await succeed(args(place.store));
    expect(await readdir(into)).toEqual(['etcd']);
  });

  test.each(['read', 'open'].flatMap((level) => signals.map((signal) => [level, signal] as const)))(
    'verify --level %s, %s',
    async (level, signal) => {
      const scratch = await mkdtemp(join(root, 'scratch-'));
      const args = (store: string) => command('verify', store, '--level', level, '--scratch', scratch);
      expectEnd(await stopMidway(signal, args), signal);
      if (signal === 'SIGTERM') expect(await readdir(scratch)).toEqual([]);
      expect(await wholeSnapshots(place)).toHaveLength(1);
      expect(await succeed(args(place.store))).toMatchObject({ verified: 1, failed: 0 });
    },
  );
});
