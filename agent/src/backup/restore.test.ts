import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningAgent } from '../../test/harness/agent.ts';
import { etcdutl } from '../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../test/harness/etcd-cluster.ts';
import { planMembers } from '../../test/harness/member-plan.ts';
import { program } from '../../test/program.ts';
import { type SavedSnapshot, saveSnapshot } from '../../test/save-snapshot.ts';
import { ExitCode } from '../errors.ts';
import { EtcdMember } from '../etcd/etcd-member.ts';
import { Etcdutl } from '../etcd/etcdutl.ts';
import { FilesystemStore } from '../store/filesystem.ts';
import type { Manifest } from './manifest.ts';
import { type DataDirRequest, fetchSnapshot, restoreDataDir } from './restore.ts';

let directory: string;
let etcd: EtcdCluster;
let saved: SavedSnapshot;
let store: FilesystemStore;
let damaged: Manifest;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'restore-'));
  etcd = await EtcdCluster.start();
  await etcd.etcdctl('put', 'before', 'value');
  saved = await saveSnapshot(etcd);
  const path = join(directory, 'store');
  await mkdir(join(path, 'orders'), { recursive: true });
  store = new FilesystemStore({ path });
  const { manifest, snapshot } = saved;
  await writeFile(join(path, manifest.object.key), snapshot);
  await writeFile(join(path, `orders/${manifest.id}.json`), JSON.stringify(manifest));
  damaged = { ...manifest, object: { ...manifest.object, key: 'orders/damaged.db' } };
  await writeFile(join(path, damaged.object.key), Buffer.from(snapshot).fill(1, 20_000, 20_001));
});
afterAll(async () => {
  await etcd?.stop();
  await rm(directory, { recursive: true });
});

let place: string;
let dataDir: string;
beforeEach(async () => {
  place = await mkdtemp(join(directory, 'place-'));
  dataDir = join(place, 'data');
});

function request(changes: Partial<DataDirRequest> = {}): DataDirRequest {
  const url = 'http://127.0.0.1:2380';
  return {
    dataDir,
    name: 'a',
    initialCluster: `a=${url}`,
    initialAdvertisePeerUrls: url,
    initialClusterToken: 'fresh',
    bumpRevision: 0,
    ...changes,
  };
}

const restore = (
  changes?: Partial<DataDirRequest>,
  manifest = saved.manifest,
  tool = etcdutl(),
  signal?: AbortSignal,
) => restoreDataDir(store, manifest, request(changes), new Etcdutl(tool), { signal });

async function oldData(): Promise<void> {
  await mkdir(join(dataDir, 'member'), { recursive: true });
  await writeFile(join(dataDir, 'member/old'), 'precious');
}

const oldDataAt = (path: string) => readFile(join(path, 'member/old'), 'utf8');

describe('a data directory', () => {
  test('has the ids that were told, and the data; what was there lies beside it', async () => {
    await oldData();
    const [plan] = await planMembers(1);
    const { name, peerUrl } = plan!;
    const told = await restore({ name, initialCluster: `${name}=${peerUrl}`, initialAdvertisePeerUrls: peerUrl });

    expect(told.alreadyRestored).toBe(false);
    expect(await oldDataAt(told.movedAside!)).toBe('precious');
    expect(told.movedAside).toMatch(/\/data\.replaced-\d{8}-\d{6}$/);
    expect((await readdir(place)).sort()).toEqual(['data', told.movedAside!.slice(place.length + 1)]);

    await using restored = await EtcdCluster.fromDataDirs([{ ...plan!, dataDir }]);
    const member = await EtcdMember.connect(restored.endpoints[0]!, { endpoints: [], dialTimeout: 5_000 });
    expect(await member.status()).toMatchObject({ memberId: told.memberId, clusterId: told.clusterId });
    member.close();
    expect(told.clusterId).not.toBe(saved.manifest.source.clusterId);
    expect(await restored.etcdctl('get', 'before', '--print-value-only')).toBe('value\n');
  });

  test('is restored once, however often it is asked for', async () => {
    const first = await restore();
    await writeFile(join(dataDir, 'written-since'), '');
    // Were it to restore, it would fail.
    const again = await restore({}, damaged, '/nowhere/etcdutl');

    expect(again).toEqual({ clusterId: first.clusterId, memberId: first.memberId, alreadyRestored: true });
    expect(await readdir(dataDir)).toContain('written-since');

    const other = await restore({ initialClusterToken: 'another' }, { ...saved.manifest, id: 'another' });
    expect(other.clusterId).not.toBe(first.clusterId);
    expect(await readdir(other.movedAside!)).toContain('written-since');
  });

  test('that a running etcd uses is refused', async () => {
    const running = etcd.member(0).dataDir;
    await expect(restore({ dataDir: running })).rejects.toMatchObject({
      exitCode: ExitCode.refused,
      message: expect.stringContaining(`a running etcd uses ${running}; stop it first`),
    });
    expect(await etcd.etcdctl('get', 'before', '--print-value-only')).toBe('value\n');
  });

  test.each([
    ['a damaged payload', () => restore({}, damaged), ExitCode.verificationFailed, /sha256/],
    [
      'flags that do not fit each other',
      () => restore({ name: 'b' }),
      ExitCode.usage,
      /etcdutl refused to restore it: .*b/,
    ],
    ['an etcdutl that is missing', () => restore({}, undefined, '/nowhere/etcdutl'), ExitCode.usage, /not found/],
    [
      'an etcdutl that crashes',
      async () => restore({}, undefined, await program(join(place, 'crash'), 'echo "panic: boom" >&2', 'exit 2')),
      ExitCode.verificationFailed,
      /etcdutl refused to restore it: panic: boom$/,
    ],
  ])('is left as it was by %s', async (_name, attempt, exitCode, message) => {
    await oldData();
    await expect(attempt()).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });

    expect(await oldDataAt(dataDir)).toBe('precious');
    expect((await readdir(place)).filter((name) => name.startsWith('data'))).toEqual(['data']);
  });

  test('is left as it was by a run that is stopped', async () => {
    await oldData();
    const controller = new AbortController();
    const slow = await program(join(place, 'slow'), 'exec sleep 60');
    setTimeout(() => controller.abort(new Error('stop')), 50);
    await expect(restore({}, saved.manifest, slow, controller.signal)).rejects.toThrow('stop');

    expect(await oldDataAt(dataDir)).toBe('precious');
    expect(await readdir(place)).not.toContain('data.partial');
  });

  test('is left as it was by kill -9, and the next run begins anew', async () => {
    await oldData();
    const waiting = join(place, 'waiting');
    const slow = await program(join(place, 'slow'), `touch ${waiting}`, 'exec sleep 5');
    const agent = new RunningAgent([
      ...['restore', 'data-dir', `--store=${store.url}`, '--cluster=orders', `--data-dir=${dataDir}`],
      `--etcdutl=${slow}`,
    ]);
    while (!(await readdir(place)).includes('waiting')) await new Promise((resolve) => setTimeout(resolve, 20));
    await agent.kill('SIGKILL');

    expect(await oldDataAt(dataDir)).toBe('precious');
    expect(await readdir(place)).toContain('data.partial');
    const { movedAside } = await restore();
    expect(await oldDataAt(movedAside!)).toBe('precious');
    expect(await readdir(place)).not.toContain('data.partial');
  });

  test('of a run that was killed after it moved the old one aside is made again', async () => {
    await oldData();
    const { movedAside } = await restore();
    // As if it had died before the last rename.
    await rm(dataDir, { recursive: true });
    await mkdir(`${dataDir}.partial/data/member`, { recursive: true });
    const again = await restore();

    expect(again).toMatchObject({ alreadyRestored: false, movedAside: undefined });
    expect(await oldDataAt(movedAside!)).toBe('precious');
  });

  test('that is a mount point is told so, and keeps what it holds', async () => {
    await mkdir(dataDir);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dataDir]).status !== 0) {
      console.warn('skipped: only root may mount a tmpfs');
      return;
    }
    try {
      await oldData();
      await expect(restore()).rejects.toMatchObject({
        exitCode: ExitCode.usage,
        message: expect.stringMatching(/--data-dir: .*is a mount point; name a directory below it/),
      });
      expect(await oldDataAt(dataDir)).toBe('precious');
    } finally {
      spawnSync('umount', [dataDir]);
    }
  });
});

describe('a fetched file', () => {
  test('is the snapshot as etcd sent it, also where a killed run left a part of it', async () => {
    const file = join(place, 'deep/er/snapshot.db');
    await mkdir(join(place, 'deep/er'), { recursive: true });
    await writeFile(`${file}.partial`, 'rest');
    await fetchSnapshot(store, saved.manifest, file, {});

    expect((await readFile(file)).equals(saved.snapshot)).toBe(true);
    expect(await readdir(join(place, 'deep/er'))).toEqual(['snapshot.db']);
  });

  test('that exists is not replaced', async () => {
    const file = join(place, 'snapshot.db');
    await writeFile(file, 'precious');
    await expect(fetchSnapshot(store, saved.manifest, file, {})).rejects.toMatchObject({ exitCode: ExitCode.refused });
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  test('is not left behind when its bytes are damaged', async () => {
    const fetching = fetchSnapshot(store, damaged, join(place, 'snapshot.db'), {});
    await expect(fetching).rejects.toMatchObject({ exitCode: ExitCode.verificationFailed });
    expect(await readdir(place)).toEqual([]);
  });

  test('below something that is no directory is a mistake', async () => {
    await writeFile(join(place, 'file'), '');
    await expect(fetchSnapshot(store, saved.manifest, join(place, 'file/snapshot.db'), {})).rejects.toMatchObject({
      exitCode: ExitCode.usage,
      message: expect.stringMatching(/--to: cannot write/),
    });
  });
});
