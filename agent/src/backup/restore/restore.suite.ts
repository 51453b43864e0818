import { spawnSync } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RunningAgent } from '../../../test/harness/agent.ts';
import { enableAuth } from '../../../test/harness/etcd-auth.ts';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { planMembers } from '../../../test/harness/member-plan.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { program } from '../../../test/support/program.ts';
import { type SavedSnapshot, saveSnapshot } from '../../../test/support/save-snapshot.ts';
import { spoken } from '../../commands/advice/advice.ts';
import { EtcdMember } from '../../etcd/etcd-member.ts';
import { clusterIdOf } from '../../etcd/offline/cluster-id.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { fetchSnapshot, restoreDataDir } from './restore.ts';
import type { DataDirRequest } from './restore-marker.ts';
import { MARKER, markNoted, readMarker } from './restore-marker.ts';

let directory: string;
let etcd: EtcdCluster;
let saved: SavedSnapshot;
let store: FilesystemStore;
let damaged: SnapshotManifest;

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

test('a restore that is refused before a byte is read shows no phase', async () => {
  const inStore = [saved.manifest.id, '--cluster=orders', `--store=file://${join(directory, 'store')}`];
  const to = join(place, 'there.db');
  await writeFile(to, 'x');
  const refused = await runHere('restore', 'fetch', ...inStore, `--to=${to}`);
  expect(refused).toMatchObject({ exitCode: ExitCode.refused, phases: [] });
  expect(await runHere('restore', 'fetch', ...inStore, `--to=${to}.db`)).toMatchObject({ phases: ['fetch'] });
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
    named: true,
    repeat: 'refuse',
    ...changes,
  };
}

const restore = (
  changes?: Partial<DataDirRequest>,
  manifest = saved.manifest,
  tool = etcdutl(),
  signal?: AbortSignal,
) =>
  restoreDataDir(store, manifest, request(changes), new Etcdutl(tool), { signal }).catch((error) => {
    // As a command shows it.
    throw error instanceof AgentError ? spoken(error) : error;
  });

async function oldData(): Promise<void> {
  await mkdir(join(dataDir, 'member'), { recursive: true });
  await writeFile(join(dataDir, 'member/old'), 'precious');
}

const oldDataAt = (path: string) => readFile(join(path, 'member/old'), 'utf8');

describe('a data directory', () => {
  test('has the reported ids and the data, and the old directory lies beside it', async () => {
    await oldData();
    const [plan] = await planMembers(1);
    const { name, peerUrl } = plan!;
    const result = await restore({ name, initialCluster: `${name}=${peerUrl}`, initialAdvertisePeerUrls: peerUrl });

    expect(result.alreadyRestored).toBe(false);
    expect(await oldDataAt(result.movedAside!)).toBe('precious');
    expect(result.movedAside).toMatch(/\/data\.replaced-\d{8}-\d{6}$/);
    expect((await readdir(place)).sort()).toEqual(['data', result.movedAside!.slice(place.length + 1)]);

    await using restored = await EtcdCluster.fromDataDirs([{ ...plan!, dataDir }]);
    const member = await EtcdMember.connect(restored.endpoints[0]!, { endpoints: [], dialTimeout: 5_000 });
    expect(await member.status()).toMatchObject({ memberId: result.memberId, clusterId: result.clusterId });
    member.close();
    expect(result.clusterId).not.toBe(saved.manifest.source.clusterId);
    expect(await restored.etcdctl('get', 'before', '--print-value-only')).toBe('value\n');
  });

  test('begins at the revision of the snapshot; a manifest that claims a higher one restores nothing', async () => {
    const { content } = saved.manifest;
    const claiming = (revision: number) => ({
      ...saved.manifest,
      content: { ...content, hashKV: undefined, revision },
    });
    await oldData();
    await expect(restore({}, claiming(7000))).rejects.toMatchObject({
      exitCode: ExitCode.verificationFailed,
      message: `${saved.manifest.id}: its manifest claims revision 7000, but it ends at 2`,
    });
    expect(await oldDataAt(dataDir)).toBe('precious');
    expect(await readdir(place)).toEqual(['data']);
    await restore({ bumpRevision: 1000 }, claiming(1));
    expect(await readMarker(dataDir)).toMatchObject({ revision: 1002 });
  });

  test('is restored once, however often the command runs', async () => {
    const first = await restore();
    // The second run would fail if it restored.
    const again = await restore({}, damaged, '/nowhere/etcdutl');
    const { id, clusterId, memberId, token, revision } = first;
    expect(again).toEqual({ id, clusterId, memberId, token, revision, alreadyRestored: true });
  });

  const refused = (message: RegExp) => ({ exitCode: ExitCode.refused, message: expect.stringMatching(message) });
  const another = () => ({ ...saved.manifest, id: 'another' });
  const cluster = 'a=http://127.0.0.1:2380,b=http://127.0.0.1:2480';

  test.each<[string, Partial<DataDirRequest>, RegExp]>([
    ['name', { name: 'b' }, /--name was a, and is b;/],
    ['peers', { initialCluster: cluster }, /--initial-cluster was a=http:\S+, and is a=\S+;/],
    ['URLs', { initialAdvertisePeerUrls: 'http://127.0.0.1:1' }, /--initial-advertise-peer-urls was http:\S+, and is/],
    ['token', { initialClusterToken: 'other' }, /--initial-cluster-token was fresh, and is other;/],
    ['bump', { bumpRevision: 7 }, /--bump-revision was 0, and is 7;/],
  ])('that was restored with another %s is refused, and --again restores it', async (_, changes, message) => {
    await restore();
    for (const repeat of ['refuse', 'leave'] as const) {
      await expect(restore({ ...changes, repeat })).rejects.toMatchObject(refused(message));
    }
    expect((await readdir(place)).filter((name) => name.startsWith('data'))).toEqual(['data']);
    if (changes.name || changes.initialAdvertisePeerUrls) return;
    await restore({ ...changes, initialClusterToken: 'new', repeat: 'again' });
    expect((await readdir(place)).filter((name) => name.startsWith('data.replaced-'))).toHaveLength(1);
  });

  test('that was restored from another snapshot is refused, unless no snapshot is named', async () => {
    await restore();
    await expect(restore({}, another())).rejects.toMatchObject(
      refused(new RegExp(`the snapshot was ${saved.manifest.id}, and is another; --again`)),
    );
    expect(await restore({ named: false }, another())).toMatchObject({ id: saved.manifest.id, alreadyRestored: true });
    const other = await restore({ initialClusterToken: 'new', repeat: 'again' }, another());
    expect(other).toMatchObject({ id: 'another', alreadyRestored: false, movedAside: expect.any(String) });
  });

  test('that etcd has written to since is refused, left as it is with --once and restored with --again', async () => {
    const [plan] = await planMembers(1);
    const { name, peerUrl } = plan!;
    const members = { name, initialCluster: `${name}=${peerUrl}`, initialAdvertisePeerUrls: peerUrl };
    const { clusterId } = await restore(members);
    {
      await using restored = await EtcdCluster.fromDataDirs([{ ...plan!, dataDir }]);
      await restored.etcdctl('put', 'since', 'value');
    }
    await expect(restore(members)).rejects.toMatchObject(
      refused(/etcd has written to it: its log is at index \d+, and was at \d+; --again .*; --once leaves it/),
    );
    expect(await restore({ ...members, repeat: 'leave' })).toMatchObject({ clusterId, alreadyRestored: true });
    const again = await restore({ ...members, initialClusterToken: 'new', repeat: 'again' });
    expect(again.alreadyRestored).toBe(false);
    await using restored = await EtcdCluster.fromDataDirs([{ ...plan!, dataDir }]);
    expect(await restored.etcdctl('get', 'since', '--print-value-only')).toBe('');
    expect(await restored.etcdctl('get', 'before', '--print-value-only')).toBe('value\n');
  });

  test.each<[string, Partial<DataDirRequest>, RegExp]>([
    [
      'the same token',
      {},
      /; --again with a new token, for example --initial-cluster-token=(restored-\w{16}), restores/,
    ],
    [
      'the same token for several members',
      { initialCluster: cluster },
      /; --again with the same new token for all members, for example --initial-cluster-token=(restored-\w{16}), restores/,
    ],
    ['another token', { initialClusterToken: 'other' }, /; --again restores again and moves/],
  ])('offers --again as it works: %s', async (_, changes, message) => {
    const members = { initialCluster: changes.initialCluster ?? request().initialCluster };
    await restore(members);
    const error = await restore({ ...members, ...changes }, another()).catch((thrown) => thrown);
    expect(error).toMatchObject(refused(message));
    const [, initialClusterToken = 'other'] = message.exec(error.message)!;
    const again = await restore({ ...members, initialClusterToken, repeat: 'again' }, another());
    expect(again).toMatchObject({ alreadyRestored: false });
  });

  test('is not restored to the same cluster id over other data', async () => {
    const { clusterId } = await restore();
    await expect(restore({ repeat: 'again' })).rejects.toMatchObject(
      refused(new RegExp(`^--initial-cluster-token: .* already holds the cluster ${clusterId} of .* new token`)),
    );
    expect((await readdir(place)).filter((name) => name.startsWith('data'))).toEqual(['data']);
    const { clusterId: other } = await restore({ initialClusterToken: undefined, repeat: 'again' });
    expect(other).not.toBe(clusterId);
  });

  const otherMember = async () => {
    const other = join(place, 'other');
    await restore({ dataDir: other, initialClusterToken: 'other' });
    await rm(join(dataDir, 'member'), { recursive: true });
    await rename(join(other, 'member'), join(dataDir, 'member'));
  };

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ['its database', () => rm(join(dataDir, 'member/snap/db')), /and its database is gone/],
    ['its log', () => rm(join(dataDir, 'member/wal'), { recursive: true }), /and its log is gone/],
    ['all of it', () => rm(join(dataDir, 'member'), { recursive: true }), /and its database is gone/],
    ['its place to another member', otherMember, /and it holds member \w+ of cluster \w+;/],
    ['what its marker says', () => writeFile(join(dataDir, 'etcd-agent-restore.json'), '{'), /cannot be read/],
  ])('that has lost %s is refused', async (_, change, message) => {
    await restore();
    await change();
    for (const repeat of ['refuse', 'leave'] as const)
      await expect(restore({ repeat })).rejects.toMatchObject(refused(message));
    await expect(restore({ repeat: 'again' })).rejects.toMatchObject(
      refused(/of the same token and members; .* new token/),
    );
    const again = await restore({ initialClusterToken: 'new', repeat: 'again' });
    expect(again).toMatchObject({ alreadyRestored: false });
  });

  test('that a running etcd uses is refused', async () => {
    const running = etcd.member(0).dataDir;
    await expect(restore({ dataDir: running })).rejects.toMatchObject({
      exitCode: ExitCode.refused,
      message: expect.stringContaining(`a running etcd uses ${running}; stop it first`),
    });
    expect(await etcd.etcdctl('get', 'before', '--print-value-only')).toBe('value\n');
  });

  const above = /^is not empty and holds no etcd data; its etcd data is in OF: name that$/;
  const inside = /^is the inside of a data directory; name OF$/;
  test.each<[string, (of: string) => string, RegExp]>([
    ['one level too high', (of) => dirname(of), above],
    ['two levels too high', (of) => dirname(dirname(of)), above],
    ['its member directory', (of) => join(of, 'member'), inside],
    ['its log', (of) => join(of, 'member/wal'), inside],
    ['a new directory in its log', (of) => join(of, 'member/wal/new'), inside],
    [
      'a new directory in it',
      (of) => join(of, 'new'),
      /^lies in OF, which a running etcd uses; name another directory$/,
    ],
  ])('that is not the one of a healthy etcd but %s is refused, and the right one is named', async (_, path, why) => {
    const [plan] = await planMembers(1);
    await using running = await EtcdCluster.fromDataDirs([{ ...plan!, dataDir: join(place, 'up/here/data') }]);
    const of = running.member(0).dataDir;
    const before = await readdir(place, { recursive: true });
    for (const repeat of ['refuse', 'again'] as const) {
      await expect(restore({ dataDir: path(of), repeat })).rejects.toMatchObject(
        refused(new RegExp(`^--data-dir: ${path(of)} ${why.source.slice(1).replace('OF', of)}`)),
      );
    }
    expect(await readdir(place)).toEqual(['up']);
    expect((await readdir(place, { recursive: true })).filter((name) => !before.includes(name))).toEqual([]);
  });

  test.each<[string, string, RegExp]>([
    ['is named member', 'data/member', /data\/member is the inside of a data directory; name \S+\/data$/],
    ['holds a log', 'data/other', /data\/other is the inside of a data directory; name \S+\/data$/],
    [
      'holds other files',
      'data/files',
      /data\/files is not empty and holds no etcd data; name another directory or empty it/,
    ],
    [
      'lies above',
      'data',
      /data is not empty and holds no etcd data; its etcd data is in \S+\/data\/other2\/deep: name that/,
    ],
  ])('that %s is refused, and nothing is moved', async (_, path, message) => {
    await mkdir(join(dataDir, 'other/wal'), { recursive: true });
    await mkdir(join(dataDir, 'files'), { recursive: true });
    await writeFile(join(dataDir, 'files/file'), 'precious');
    if (path === 'data') await mkdir(join(dataDir, 'other2/deep/member'), { recursive: true });
    const before = await readdir(place, { recursive: true });
    await expect(restore({ dataDir: join(place, path) })).rejects.toMatchObject(refused(message));
    expect(await readdir(place, { recursive: true })).toEqual(before);
  });

  test.each(['', '/orders/new', '/../.'])('that holds the store, or lies in it (%s), is refused', async (path) => {
    const at = `${join(directory, 'store')}${path}`;
    await expect(restore({ dataDir: at })).rejects.toMatchObject(
      refused(/^--data-dir: \S+ (is|holds|lies in) the store file:\S+; name another directory$/),
    );
    expect(await readdir(join(directory, 'store', 'orders'))).toContain(`${saved.manifest.id}.json`);
  });

  test('that is empty is used', async () => {
    await mkdir(dataDir);
    expect(await restore()).toMatchObject({ alreadyRestored: false });
  });

  test.each(['runs', 'has run'])('is left in place if an etcd %s on it since the restore began', async (how) => {
    const [plan] = await planMembers(1);
    const { name, peerUrl } = plan!;
    const members = { name, initialCluster: `${name}=${peerUrl}`, initialAdvertisePeerUrls: peerUrl };
    await restore(members);
    const [waiting, go] = [join(place, 'waiting'), join(place, 'go')];
    const wait = `while ! [ -e ${go} ]; do sleep 0.1; done`;
    const slow = await program(join(place, 'slow'), `touch ${waiting}`, wait, `exec ${etcdutl()} "$@"`);
    const again = restore({ ...members, initialClusterToken: 'new', repeat: 'again' }, saved.manifest, slow);
    const ended = again.catch((error) => error);
    while (!(await readdir(place)).includes('waiting')) await new Promise((resolve) => setTimeout(resolve, 20));
    await using begun = await EtcdCluster.fromDataDirs([{ ...plan!, dataDir }]);
    await begun.etcdctl('put', 'since', 'value');
    if (how === 'has run') await begun.member(0).kill();
    await writeFile(go, '');
    const message = how === 'runs' ? /a running etcd uses/ : /an etcd ran on .* keep it stopped, and restore again$/;
    expect(await ended).toMatchObject(refused(message));
    expect((await readdir(place)).filter((each) => each.startsWith('data'))).toEqual(['data']);
    if (how === 'has run') await begun.member(0).spawn();
    await begun.member(0).healthy();
    expect(await begun.etcdctl('get', 'since', '--print-value-only')).toBe('value\n');
  });

  test('is marked as noted only if it was not replaced meanwhile', async () => {
    await restore();
    const first = await readMarker(dataDir);
    await restore({ initialClusterToken: 'new', repeat: 'again' });
    const second = await readMarker(dataDir);
    await markNoted(dataDir, first!);
    expect(await readMarker(dataDir)).toEqual(second);
    await markNoted(dataDir, second!);
    expect(await readMarker(dataDir)).toEqual({ ...second, isNoted: true });
  });

  test.each([
    ['a damaged payload', () => restore({}, damaged), ExitCode.verificationFailed, /sha256/],
    [
      'flags that do not fit each other',
      () => restore({ name: 'b' }),
      ExitCode.usage,
      /etcdutl refused to restore it: .*b/,
    ],
    ['a program that is not etcdutl', () => restore({}, undefined, '/bin/ls'), ExitCode.usage, /ls is not etcdutl/],
    ['an etcdutl that is missing', () => restore({}, undefined, '/nowhere/etcdutl'), ExitCode.usage, /not found/],
    [
      'a full disk',
      async () => {
        const says = 'echo "Error: write /x/db: copy_file_range: no space left on device" >&2';
        const version = `[ "$1" = version ] && exec ${etcdutl()} version`;
        return restore({}, undefined, await program(join(place, 'full'), version, says, 'exit 1'));
      },
      ExitCode.usage,
      /^--data-dir: no room to restore .* at .*; make room there$/,
    ],
    [
      'an etcdutl that crashes',
      async () => {
        const version = `[ "$1" = version ] && exec ${etcdutl()} version`;
        return restore({}, undefined, await program(join(place, 'crash'), version, 'echo "panic: boom" >&2', 'exit 2'));
      },
      ExitCode.verificationFailed,
      /etcdutl refused to restore it: panic: boom$/,
    ],
  ])('is left as it was by %s', async (_name, attempt, exitCode, message) => {
    await oldData();
    await expect(attempt()).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });

    expect(await oldDataAt(dataDir)).toBe('precious');
    expect((await readdir(place)).filter((name) => name.startsWith('data'))).toEqual(['data']);
  });

  test('is not changed by a run that is stopped', async () => {
    await oldData();
    const controller = new AbortController();
    const slow = await program(join(place, 'slow'), 'exec sleep 60');
    setTimeout(() => controller.abort(new Error('stop')), 50);
    await expect(restore({}, saved.manifest, slow, controller.signal)).rejects.toThrow('stop');

    expect(await oldDataAt(dataDir)).toBe('precious');
    expect((await readdir(place)).filter((name) => /^data\.(partial|lock)/.test(name))).toEqual([]);
  });

  test('is not changed by a run that is killed with kill -9, and the next run starts again', async () => {
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
    expect(await readdir(place)).toContainEqual(expect.stringMatching(/^data\.partial/));
    const { movedAside } = await restore();
    expect(await oldDataAt(movedAside!)).toBe('precious');
    expect((await readdir(place)).filter((name) => /^data\.(partial|lock)/.test(name))).toEqual([]);
  });

  test('is restored again if a run was killed after it moved the old directory aside', async () => {
    await oldData();
    const { movedAside } = await restore();
    // As if it had died before the last rename.
    await rm(dataDir, { recursive: true });
    await mkdir(`${dataDir}.partial/data/member`, { recursive: true });
    const again = await restore();

    expect(again).toMatchObject({ alreadyRestored: false, movedAside: undefined });
    expect(await oldDataAt(movedAside!)).toBe('precious');
  });

  test('is restored by one run at a time', async () => {
    const waiting = join(place, 'waiting');
    const slow = await program(join(place, 'slow'), `touch ${waiting}`, 'sleep 1', `exec ${etcdutl()} "$@"`);
    const first = restore({}, saved.manifest, slow);
    while (!(await readdir(place)).includes('waiting')) await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(restore({ initialClusterToken: 'other' })).rejects.toMatchObject(
      refused(new RegExp(`^--data-dir: another run is restoring to ${dataDir}.*; wait until it ends, or stop it$`)),
    );
    expect(await first).toMatchObject({ alreadyRestored: false });
    expect((await readdir(place)).sort()).toEqual(['data', 'slow', 'waiting']);
    expect(await restore()).toMatchObject({ alreadyRestored: true });
  });

  test('that is a mount point is refused and keeps its contents', async () => {
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
  test('is the snapshot as etcd sent it, even if a killed run left a part of it', async () => {
    const file = join(place, 'deep/er/snapshot.db');
    await mkdir(join(place, 'deep/er'), { recursive: true });
    await writeFile(`${file}.partial`, 'rest');
    await fetchSnapshot(store, saved.manifest, file, {});

    expect((await readFile(file)).equals(saved.snapshot)).toBe(true);
    expect(await readdir(join(place, 'deep/er'))).toEqual(['snapshot.db']);
  });

  test('is written by one run at a time', async () => {
    const file = join(place, 'snapshot.db');
    const ended = await Promise.allSettled([1, 2].map(() => fetchSnapshot(store, saved.manifest, file, {})));
    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ended).toContainEqual({
      status: 'rejected',
      reason: expect.objectContaining({ exitCode: ExitCode.refused }),
    });
    expect((await readFile(file)).equals(saved.snapshot)).toBe(true);
    expect(await readdir(place)).toEqual(['snapshot.db']);
  });

  test('that exists is not replaced', async () => {
    const file = join(place, 'snapshot.db');
    await writeFile(file, 'precious');
    await expect(fetchSnapshot(store, saved.manifest, file, {})).rejects.toMatchObject({ exitCode: ExitCode.refused });
    expect(await readFile(file, 'utf8')).toBe('precious');
  });

  test('is named in the error if it is a directory', async () => {
    const message = `${place} is a directory; name a file in it`;
    const refused = { exitCode: ExitCode.refused, message, at: 'to' };
    await expect(fetchSnapshot(store, saved.manifest, place, {})).rejects.toMatchObject(refused);
  });

  test('is not left behind if its bytes are damaged', async () => {
    const fetching = fetchSnapshot(store, damaged, join(place, 'snapshot.db'), {});
    await expect(fetching).rejects.toMatchObject({ exitCode: ExitCode.verificationFailed });
    expect(await readdir(place)).toEqual([]);
  });

  test('below a path that is not a directory is a usage error', async () => {
    await writeFile(join(place, 'file'), '');
    await expect(fetchSnapshot(store, saved.manifest, join(place, 'file/snapshot.db'), {})).rejects.toMatchObject({
      exitCode: ExitCode.usage,
      message: expect.stringMatching(/^cannot write/),
      at: 'to',
    });
  });
});

describe('the command restore data-dir', () => {
  const run = (...args: string[]) =>
    runHere('restore', 'data-dir', `--store=${store.url}`, '--cluster=orders', `--data-dir=${dataDir}`, ...args);
  const members = ['--name=a', '--initial-advertise-peer-urls=http://127.0.0.1:1', '--initial-cluster-token=new'];
  const ofTwo = [...members, '--initial-cluster=a=http://127.0.0.1:1,b=http://127.0.0.1:2', `--etcdutl=${etcdutl()}`];

  const named = /^all 2 members must be restored from one snapshot: name it, such as `etcd-agent ([^`]+)`$/;

  test('for several members requires the name of the snapshot: a backup may complete in between', async () => {
    const { id } = saved.manifest;
    const more = ['--bump-revision=7', `--scratch=${place}`];
    const commands = [];
    for (const unnamed of [[], ['latest']]) {
      const { exitCode, text } = await run(...ofTwo, ...more, ...unnamed);
      expect(exitCode).toBe(ExitCode.usage);
      commands.push(named.exec(text)![1]!.split(' '));
    }
    expect(await readdir(place)).toEqual([]);
    expect(commands[1]).toEqual(commands[0]);
    expect(commands[0]).toEqual(
      expect.arrayContaining([id, '--bump-revision=7', `--scratch=${place}`, `--etcdutl=${etcdutl()}`]),
    );
    expect(await runHere(...commands[0]!)).toMatchObject({ exitCode: 0, data: { id, alreadyRestored: false } });
  });

  test('for several members requires the sha256 of an exact key: a backup may replace it in between', async () => {
    const { manifest, snapshot } = saved;
    const { id, content } = manifest;
    const key = 'latest.db';
    const folder = join(directory, 'store');
    const put = (under: SnapshotManifest) => writeFile(join(folder, `${key}.json`), JSON.stringify(under));
    await writeFile(join(folder, key), snapshot);
    await put({ ...manifest, object: { ...manifest.object, key } });
    for (const unnamed of [[], [id]]) {
      const { exitCode, text } = await run(
        ...ofTwo,
        '--initial-cluster-token=keyed',
        `--object-key=${key}`,
        ...unnamed,
      );
      expect(exitCode).toBe(ExitCode.usage);
      const command = named.exec(text)![1]!;
      expect(command).toMatch(
        `restore data-dir --sha256=${content.sha256} --store=${store.url} --cluster=orders --namespace= `,
      );
      await rm(dataDir, { recursive: true, force: true });
      expect(await runHere(...command.split(' '), '--initial-cluster-token=typed', '--again')).toMatchObject({
        exitCode: 0,
        data: { id },
      });
      await rm(dataDir, { recursive: true });
    }
    const byKey = [`--object-key=${key}`, `--sha256=${content.sha256.toUpperCase()}`, '--initial-cluster-token=key'];
    expect(await run(...ofTwo, ...byKey, 'another')).toMatchObject({
      exitCode: ExitCode.verificationFailed,
      text: `${store.url}: ${key} is the snapshot ${id}, not another`,
    });
    expect(await run(...ofTwo, ...byKey)).toMatchObject({ exitCode: 0, data: { id } });
    await put({ ...manifest, object: { ...manifest.object, key }, content: { ...content, sha256: 'f'.repeat(64) } });
    dataDir = join(place, 'b');
    expect(await run(...ofTwo, ...byKey)).toMatchObject({
      exitCode: ExitCode.verificationFailed,
      text: `${id}: its sha256 is ${'f'.repeat(64)}, not the expected ${content.sha256}`,
    });
    expect(await run('--sha256=abc')).toMatchObject({
      exitCode: ExitCode.usage,
      text: expect.stringMatching(/--sha256/),
    });
    expect((await readdir(place)).filter((name) => name.startsWith('b'))).toEqual([]);
  });

  test('warns of authentication that is restored with the data, as restore fetch does', async () => {
    await using guarded = await EtcdCluster.start({ size: 1 });
    await enableAuth(guarded);
    const at = new FilesystemStore({ path: join(place, 'guarded') });
    const file = join(place, 'guarded', 'orders', 'saved.db');
    await mkdir(dirname(file), { recursive: true });
    await guarded.etcdctl('snapshot', 'save', file);
    const asked = [`--store=${at.url}`, '--cluster=orders', '--object-key=orders/saved.db', '--adopt'];
    const tool = `--etcdutl=${etcdutl()}`;
    for (const command of [
      ['data-dir', `--data-dir=${dataDir}`],
      ['fetch', `--to=${join(place, 'fetched.db')}`],
    ]) {
      const { exitCode, log } = await runHere('restore', ...command, ...asked, tool);
      // The first of them makes a manifest.
      const rest = log.filter((line) => !line.includes('its name does not contain a time'));
      expect([exitCode, rest]).toEqual([0, [expect.stringMatching(/^saved has authentication enabled/)]]);
    }
  });

  describe('repeated', () => {
    const own = () => join(place, 'store');
    const asked = (...more: string[]) =>
      runHere('restore', 'data-dir', `--store=file://${own()}`, '--cluster=orders', `--etcdutl=${etcdutl()}`, ...more);
    const here = (...more: string[]) => asked(`--data-dir=${dataDir}`, ...more);
    const bumped = async () =>
      JSON.parse(await readFile(join(dataDir, 'etcd-agent-restore.json'), 'utf8')).bumpRevision;
    beforeEach(async () => {
      const { manifest, snapshot } = saved;
      await mkdir(join(own(), 'orders'), { recursive: true });
      await writeFile(join(own(), manifest.object.key), snapshot);
      await writeFile(join(own(), `orders/${manifest.id}.json`), JSON.stringify(manifest));
    });

    test('the revision exceeds every revision served before, according to data, markers or notes', async () => {
      const began = Date.now() * 1000;
      expect(await here()).toMatchObject({ exitCode: 0 });
      const first = await bumped();
      expect([first >= began - 10, first <= Date.now() * 1000]).toEqual([true, true]);
      expect(await here('--again')).toMatchObject({ exitCode: 0 });
      const second = await bumped();
      expect(second).toBeGreaterThanOrEqual(first + 1e9);
      for (const low of ['--bump-revision=0', `--bump-revision=${first}`]) {
        expect(await here('--again', low)).toMatchObject({
          exitCode: ExitCode.refused,
          text: expect.stringMatching(/clients would not see changes; pass --bump-revision, for example \d{16}$/),
        });
      }
      expect(await bumped()).toBe(second);
      // The disk is lost: the store has notes of both.
      for (const name of await readdir(place))
        if (name.startsWith('data')) await rm(join(place, name), { recursive: true });
      expect(await here()).toMatchObject({ exitCode: 0 });
      expect(await bumped()).toBeGreaterThanOrEqual(second + 1e9);
      // A copy in another place says nothing about this member.
      dataDir = join(place, 'copy');
      expect(await here('--bump-revision=0')).toMatchObject({ exitCode: 0 });
      expect(await bumped()).toBe(0);
    });

    test('members that are restored with one token get the same revision', async () => {
      const { id } = saved.manifest;
      const urls = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
      const of = (n: number, ...more: string[]) =>
        asked(
          ...[id, `--data-dir=${join(place, `data${n}`)}`, `--name=m${n}`, `--initial-advertise-peer-urls=${urls[n]}`],
          ...[`--initial-cluster=m0=${urls[0]},m1=${urls[1]}`, ...more],
        );
      const bumps: number[] = [];
      for (const token of ['one', 'two']) {
        for (const n of [0, 1]) {
          const again = token === 'two' ? ['--again'] : [];
          const { exitCode, text } = await of(n, `--initial-cluster-token=${token}`, ...again);
          expect(exitCode).toBe(0);
          dataDir = join(place, `data${n}`);
          expect(text).toMatch(
            new RegExp(
              `^${dataDir}: restored from ${id}\\n  cluster \\w+, member \\w+, token ${token}, revision \\d{16} or later\\n(  the previous .*\\n)?  next: ${n === 0 ? `restore the other members from ${id} with --initial-cluster-token=${token} from this store too, which has no note of them yet, then` : 'all 2 members are restored:'} start each with the settings of its restore$`,
            ),
          );
          bumps.push(await bumped());
        }
      }
      expect(new Set(bumps.slice(0, 2)).size).toBe(1);
      expect(new Set(bumps.slice(2)).size).toBe(1);
      expect(bumps[2]).toBeGreaterThanOrEqual(bumps[0]! + 1e9);
    });

    test('a restore that is repeated says again what is next, with the token that it chose', async () => {
      const next = (text: string) => text.slice(text.indexOf('\n'));
      const { text, data } = await here();
      const again = await here();
      expect(again.text).toBe(`${dataDir}: was already restored from ${saved.manifest.id}; nothing done${next(text)}`);
      expect(again.data).toMatchObject({ token: data.token, revision: data.revision, alreadyRestored: true });
      expect(next((await here('--once')).text)).toBe(next(text));
    });

    /** A snapshot that is newer than the one that is saved. */
    const putNewer = async (changes: object = {}) => {
      const { manifest, snapshot } = saved;
      const id = 'etcd-snapshot-20361121-020000-abc123';
      const key = `orders/${id}.db`;
      const createdAt = new Date(Date.parse(manifest.createdAt) + 60_000).toISOString();
      await writeFile(join(own(), key), snapshot);
      const newer = { ...manifest, id, createdAt, object: { ...manifest.object, key }, ...changes };
      await writeFile(join(own(), `orders/${id}.json`), JSON.stringify(newer));
      return id;
    };

    test('a newer snapshot that is passed over is in the result', async () => {
      const newer = await putNewer({ verified: undefined });
      const said = `\n  passed over: ${newer}, 1m newer: it was never verified`;
      const passedOver = [{ id: newer, why: 'it was never verified' }];
      const fetch = (...ids: string[]) =>
        runHere('restore', 'fetch', ...ids, `--store=file://${own()}`, '--cluster=orders', `--to=${dataDir}.db`);
      for (const { exitCode, text, data } of [await here(), await fetch()]) {
        expect({ exitCode, data }).toMatchObject({ exitCode: 0, data: { id: saved.manifest.id, passedOver } });
        expect(text).toContain(said);
      }
      await rm(`${dataDir}.db`);
      const named = await fetch(saved.manifest.id);
      expect(named.data).not.toHaveProperty('passedOver');
      expect(named.text).not.toContain('passed over');
    });

    test('the snapshot to name is that of the restore that has begun, also if there is a newer one', async () => {
      const { id } = saved.manifest;
      const urls = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
      const of = (n: number, ...more: string[]) =>
        asked(
          ...[`--data-dir=${join(place, `data${n}`)}`, `--name=m${n}`, `--initial-advertise-peer-urls=${urls[n]}`],
          ...[`--initial-cluster=m0=${urls[0]},m1=${urls[1]}`, ...more],
        );
      expect(await of(0, id, '--initial-cluster-token=one')).toMatchObject({ exitCode: 0 });
      const newer = await putNewer();
      for (const n of [0, 1]) {
        const { exitCode, text } = await of(n, '--initial-cluster-token=one');
        expect(exitCode).toBe(ExitCode.usage);
        const [, command = '', other] =
          /^all 2 members must be restored from one snapshot, and this restore began with \S+: name it, such as `etcd-agent ([^`]+)`; its token is the given one: if another member was told to take a new one, pass that one to all members; the newest verified snapshot is (\S+): to restore that one, name it with a new --initial-cluster-token$/.exec(
            text,
          ) ?? [];
        expect(other).toBe(newer);
        expect(command.split(' ').slice(0, 3)).toEqual(['restore', 'data-dir', id]);
        expect(await runHere(...command.split(' '))).toMatchObject({ exitCode: 0, data: { alreadyRestored: n === 0 } });
      }
      // Another token is another restore.
      expect((await of(1, '--initial-cluster-token=two')).text).toContain(
        `such as \`etcd-agent restore data-dir ${newer} `,
      );
    });

    describe('without an id, after the restore of some members has begun', () => {
      const all = [0, 1, 2].map((n) => `m${n}=http://127.0.0.1:${n + 1}`);
      const of = (n: number, ...more: string[]) =>
        asked(
          ...[`--data-dir=${join(place, `data${n}`)}`, `--name=m${n}`, `--initial-cluster=${all.join(',')}`],
          ...[`--initial-advertise-peer-urls=${all[n]!.slice(3)}`, ...more],
        );
      const unnamed = async (n: number, ...more: string[]) => {
        const { exitCode, text } = await of(n, '--initial-cluster-token=one', ...more);
        expect(exitCode).toBe(ExitCode.usage);
        const typed = /`etcd-agent ([^`]+)`/.exec(text)![1]!.split(' ');
        return { text, typed, token: typed.find((each) => each.startsWith('--initial-cluster-token=')) };
      };
      beforeEach(async () => {
        for (const n of [0, 1])
          expect(await of(n, saved.manifest.id, '--initial-cluster-token=one')).toMatchObject({ exitCode: 0 });
      });

      test('the same token is named to all members, also after another backup, and they become one cluster', async () => {
        const first = await unnamed(0, '--again');
        expect(first.token).toMatch(/=restored-/);
        expect(first.text).toContain(`its token is new, the same for all members that are restored from`);
        expect((await unnamed(2)).text).toContain('if another member was told to take a new one, pass that one');
        await putNewer();
        expect((await unnamed(1, '--again')).token).toBe(first.token);
        const { clusterId } = (await runHere(...first.typed)).data;
        const third = await unnamed(2);
        expect(third.text).toContain(
          '; its token is the one with which another member, or this one, was restored again',
        );
        for (const { typed } of [await unnamed(1, '--again'), third])
          expect(await runHere(...typed)).toMatchObject({ exitCode: 0, data: { clusterId } });
      });

      test('the token whose cluster the directory holds is named', async () => {
        const first = await unnamed(0, '--again');
        expect(await runHere(...first.typed)).toMatchObject({ exitCode: 0 });
        expect((await unnamed(0, '--again')).text).toMatch(
          new RegExp(`, because \\S+ already holds the cluster of the token ${first.token!.split('=')[1]}$`),
        );
      });

      test('if the store does not say what it has noted, the token may be another one', async () => {
        const { get } = FilesystemStore.prototype;
        FilesystemStore.prototype.get = function (this: FilesystemStore, key, options) {
          if (key.includes('.restored-')) throw new AgentError(ExitCode.storeUnreachable, 'no answer');
          return get.call(this, key, options);
        };
        try {
          expect((await unnamed(2)).text).toMatch(/`; its token is the given one: if another member was told to take/);
        } finally {
          FilesystemStore.prototype.get = get;
        }
      });

      test('the id in a note is printed only if it is a valid one', async () => {
        const { id } = saved.manifest;
        const orders = join(own(), 'orders');
        const note = (await readdir(orders)).find((name) => /\.restored-[0-9a-f]+\.json$/.test(name))!;
        const forged = {
          ...JSON.parse(await readFile(join(orders, note), 'utf8')),
          id: `${id}\u001b[31m\nFAKE: do this`,
        };
        await writeFile(join(orders, note), JSON.stringify(forged));
        const { text, typed } = await unnamed(2);
        expect(text).toContain(`, and this restore began with ${id}: name it`);
        expect(typed[2]).toBe(id);
        const { text: refused } = await of(2, await putNewer(), '--initial-cluster-token=one');
        expect(refused).toContain(`was already restored from ${id}; restore this member from ${id} too: `);
      });

      test.each<[string, () => Promise<void>]>([
        [
          'a member of that name in a test cluster elsewhere',
          async () => {
            const [url, ...more] = ['http://127.0.0.9:1', '--initial-cluster-token=drill'];
            const drill = [`--data-dir=${join(place, 'drill')}`, '--name=m0', `--initial-advertise-peer-urls=${url}`];
            const cluster = `--initial-cluster=m0=${url},m1=http://127.0.0.9:2`;
            expect(await asked(saved.manifest.id, ...drill, cluster, ...more)).toMatchObject({ exitCode: 0 });
          },
        ],
        [
          'a member that has come back since',
          async () => {
            const { id } = saved.manifest;
            expect(await of(0, id, '--initial-cluster-token=other', '--again')).toMatchObject({ exitCode: 0 });
            for (const name of await readdir(place))
              if (name.startsWith('data0')) await rm(join(place, name), { recursive: true });
            expect(await of(0, id, '--initial-cluster-token=one', '--again')).toMatchObject({ exitCode: 0 });
          },
        ],
      ])('%s was not restored again as another cluster', async (_, meanwhile) => {
        await meanwhile();
        const { text } = await of(2, saved.manifest.id, '--initial-cluster-token=one');
        expect(text).toContain('all 3 members are restored');
      });

      test.each([
        ['the same snapshot', async () => saved.manifest.id],
        ['another snapshot', putNewer],
      ])(
        'a member that was restored again as another cluster, from %s, does not count as restored',
        async (_, from) => {
          const { id } = saved.manifest;
          expect(await of(0, await from(), '--initial-cluster-token=other', '--again')).toMatchObject({ exitCode: 0 });
          const { exitCode, text } = await of(2, id, '--initial-cluster-token=one');
          expect(exitCode).toBe(0);
          expect(text).not.toContain('all 3 members are restored');
          expect(text).toContain(
            'which has a note of only 1 of these 2 so far, and a note that a member named m0 was restored again as another cluster, then',
          );
        },
      );
    });

    test('a single member with its own token is not restored as the same cluster again', async () => {
      const lone = ['--name=a', '--initial-advertise-peer-urls=http://127.0.0.1:1', '--initial-cluster-token=fixed'];
      const { data } = await here(...lone);
      await rm(dataDir, { recursive: true });
      for (const more of [[], ['--once'], ['--again'], ['--bump-revision=5']]) {
        expect(await here(...lone, ...more)).toMatchObject({
          exitCode: ExitCode.refused,
          text: expect.stringMatching(
            new RegExp(
              `^--initial-cluster-token: the cluster ${data.clusterId} .* was already restored from etcd-\\S+; pass a new --initial-cluster-token`,
            ),
          ),
        });
      }
      const next = await here(...lone, '--initial-cluster-token=new');
      expect(next.exitCode).toBe(0);
      expect(next.data.revision).toBeGreaterThan(data.revision);
    });

    test('the next step of a single member works, and a restore over the running etcd says to stop it first', async () => {
      const [plan] = await planMembers(1);
      const { text, data } = await here();
      expect(data.token).toMatch(/^restored-[0-9a-f]{16}$/);
      const url = 'http://localhost:2380';
      expect(text).toContain(
        `  next: start etcd with --data-dir=${dataDir} --name=default --initial-advertise-peer-urls=${url} --initial-cluster=default=${url} --initial-cluster-token=${data.token}`,
      );
      expect(text).toContain(`token ${data.token}, `);
      const started = { ...plan!, name: 'default', dataDir };
      await using running = await EtcdCluster.fromDataDirs([started]);
      expect(await running.etcdctl('get', 'before', '--print-value-only')).toBe('value\n');
      expect(await here()).toMatchObject({
        exitCode: ExitCode.refused,
        text: expect.stringMatching(/a running etcd uses it: stop that first; then --again restores again/),
      });
      await running.member(0).stop();
      expect((await here()).text).not.toContain('stop that first');
    });

    describe('a member that is restored later', () => {
      const urls = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
      const both = `m0=${urls[0]},m1=${urls[1]}`;
      const member = (n: number, ...more: string[]) => {
        dataDir = join(place, `node${n}`, 'data');
        return here(
          ...[`--name=m${n}`, `--initial-advertise-peer-urls=${urls[n]}`, '--initial-cluster-token=one'],
          ...[`--initial-cluster=${both}`, ...(more.includes('other') ? [] : [saved.manifest.id])],
          ...more,
        );
      };
      const folder = () => join(own(), 'orders');
      /** The note of the first member, an hour and a minute old. */
      const aged = async (changes: object = {}) => {
        const [name] = (await readdir(folder())).filter((each) => /\.restored-[0-9a-f]+\.json$/.test(each));
        const note = JSON.parse(await readFile(join(folder(), name!), 'utf8'));
        const at = new Date(Date.now() - 61 * 60_000).toISOString();
        await writeFile(join(folder(), name!), JSON.stringify({ ...note, at, ...changes }));
        return note.clusterId;
      };
      const backupOf = async (clusterId: string, revision: number) => {
        const { manifest, snapshot } = saved;
        const id = 'other';
        const key = `orders/${id}.db`;
        const { hashKV: _, ...content } = manifest.content;
        const other = {
          ...{ ...manifest, id, content: { ...content, revision } },
          ...{ object: { ...manifest.object, key }, source: { ...manifest.source, clusterId } },
        };
        await writeFile(join(own(), key), snapshot);
        await writeFile(join(folder(), `${id}.json`), JSON.stringify(other));
      };

      test.each([undefined, 5])('gets the revision of the others (%p), however late it is restored', async (given) => {
        expect(await member(0, ...(given === undefined ? [] : [`--bump-revision=${given}`]))).toMatchObject({
          exitCode: 0,
        });
        const bump = await bumped();
        const clusterId = await aged();
        const wrong = await member(1, '--bump-revision=7');
        expect(wrong).toMatchObject({
          exitCode: ExitCode.refused,
          text: expect.stringMatching(
            new RegExp(
              `^--bump-revision=7: the cluster ${clusterId} .* was restored with ${bump}; pass ${bump}, or .* new --initial-cluster-token`,
            ),
          ),
        });
        expect(await member(1)).toMatchObject({ exitCode: 0, data: { clusterId } });
        expect(await bumped()).toBe(bump);
      });

      test('uses a backup of that cluster only if it is to join it', async () => {
        await member(0);
        const bump = await bumped();
        await backupOf(await aged(), bump + 50);
        expect(await member(1)).toMatchObject({
          exitCode: ExitCode.refused,
          text: expect.stringMatching(
            new RegExp(
              `the backup other has reached revision ${bump + 50} since; .* pass their --bump-revision, ${bump}; `,
            ),
          ),
        });
        expect(await member(1, `--bump-revision=${bump}`)).toMatchObject({ exitCode: 0 });
        expect(await bumped()).toBe(bump);
      });

      const refusedAs = (message: RegExp) => ({ exitCode: ExitCode.refused, text: expect.stringMatching(message) });

      test("is refused with the token of the snapshots' own cluster, which may still serve", async () => {
        const clusterId = clusterIdOf(both, 'one')!;
        await backupOf(clusterId, 9);
        for (const more of [[], ['--bump-revision=1000000000'], ['--again'], ['--once'], ['other']]) {
          expect(await member(0, ...more, '--etcdutl=/nowhere')).toMatchObject(
            refusedAs(
              new RegExp(
                `^--initial-cluster-token: this token and these members are those of the cluster ${clusterId} that the snapshots come from; if it still serves, remove m0 there and add it again; otherwise pass the same new token to all members, for example --initial-cluster-token=restored-`,
              ),
            ),
          );
        }
        expect(await readdir(join(place, 'node0'))).toEqual([]);
        // Once it is noted, it is the cluster that the others were restored to.
        const note = { id: saved.manifest.id, bump: 5, revision: 9 };
        await writeFile(join(folder(), `${saved.manifest.id}.restored-${clusterId}.json`), JSON.stringify(note));
        expect(await member(0, '--bump-revision=5')).toMatchObject({ exitCode: 0 });
      });

      test('is refused before the download if the data here is of the same token and members', async () => {
        await member(0);
        await rm(folder(), { recursive: true });
        await mkdir(folder());
        const { manifest, snapshot } = saved;
        await writeFile(join(own(), manifest.object.key), snapshot);
        await writeFile(join(folder(), `${manifest.id}.json`), JSON.stringify(manifest));
        expect(await member(0, '--again', '--bump-revision=2000000000', '--etcdutl=/nowhere')).toMatchObject(
          refusedAs(/^--initial-cluster-token: \S+ already holds the cluster/),
        );
      });

      test('is refused if the revision of the others is below that of the old data here', async () => {
        await member(0, '--bump-revision=5');
        dataDir = join(place, 'node1', 'data');
        await restore({ bumpRevision: 2_000_000, initialClusterToken: 'old' });
        await rm(join(dataDir, 'etcd-agent-restore.json'));
        for (const more of [['--bump-revision=5'], []]) {
          expect(await member(1, '--force-foreign', ...more)).toMatchObject(
            refusedAs(
              /begins at revision \d+, but the data in \S+ has reached 2\d{6}: .* same --bump-revision to all members, for example \d{16}, .* new --initial-cluster-token/,
            ),
          );
        }
        await rm(dataDir, { recursive: true });
        expect(await member(1)).toMatchObject({ exitCode: 0 });
      });

      test('and was restored before, on a disk that is lost, is refused: it may have voted', async () => {
        for (const n of [0, 1]) expect(await member(n)).toMatchObject({ exitCode: 0, log: [] });
        const clusterId = await aged();
        await rm(join(place, 'node1'), { recursive: true });
        for (const more of [['--once'], [], ['--bump-revision=1000000000']]) {
          expect(await member(1, ...more)).toMatchObject(
            refusedAs(
              new RegExp(
                `^--name: m1 was already .* member of the cluster ${clusterId}, .* add it again; .* new --initial-cluster-token`,
              ),
            ),
          );
        }
        expect(await readdir(join(place, 'node1'))).toEqual([]);
        expect(await member(0, '--once')).toMatchObject({ exitCode: 0, log: [] });
        expect(await member(1, '--again')).toMatchObject({ exitCode: 0, data: { clusterId } });
      });

      test('with another revision is refused, however the list of members is written', async () => {
        const list = `--initial-cluster=,m0=HTTP${urls[0]!.slice(4)},,m1=HTTP${urls[1]!.slice(4)},`;
        await member(0, list, '--bump-revision=3000000000');
        expect(await member(1, list, '--bump-revision=9000000000')).toMatchObject(refusedAs(/with 3000000000; pass/));
      });

      test('at the same time with another revision is refused', async () => {
        const ended = await Promise.all([member(0, '--bump-revision=5'), member(1)]);
        const wrong = ended.filter(({ exitCode }) => exitCode !== 0);
        expect(wrong).toMatchObject([
          refusedAs(/^another member was restored from \S+ with --bump-revision=\d+ as the/),
        ]);
        const there = await Promise.all([0, 1].map((n) => readdir(join(place, `node${n}`))));
        expect(there.flat()).toEqual(['data']);
      });

      test('are refused if the store takes no note, unless flags fix the snapshot and the revision', async () => {
        const { manifest, snapshot } = saved;
        const key = 'latest.db';
        await writeFile(join(own(), key), snapshot);
        await writeFile(
          join(own(), `${key}.json`),
          JSON.stringify({ ...manifest, object: { ...manifest.object, key } }),
        );
        const give = /pass --bump-revision=5 to the other members$/;
        const { put } = FilesystemStore.prototype;
        FilesystemStore.prototype.put = () => Promise.reject(new AgentError(ExitCode.storeRefused, 'read-only'));
        try {
          const sha256 = `--sha256=${manifest.content.sha256}`;
          for (const flags of [[], [sha256], ['--bump-revision=5']])
            expect(await member(0, ...flags)).toMatchObject(
              refusedAs(
                new RegExp(
                  `^cannot note the restore .*read-only.*; pass ${sha256} and --bump-revision=\\d+ to all members$`,
                ),
              ),
            );
          expect(await readdir(join(place, 'node0')).catch(() => [])).toEqual([]);
          const first = await member(0, sha256, '--bump-revision=5');
          expect(first).toMatchObject({ exitCode: 0, log: [expect.stringMatching(give)] });
        } finally {
          FilesystemStore.prototype.put = put;
        }
        await rm(folder(), { recursive: true });
        const byKey = [`--object-key=${key}`, `--sha256=${manifest.content.sha256}`, '--bump-revision=5'];
        // Without a folder, the note lies beside the key.
        expect(await member(1, ...byKey)).toMatchObject({ exitCode: 0, log: [] });
        const { clusterId } = (await member(1, '--once', ...byKey)).data;
        expect(await readdir(own())).toContain(`${key}.restored-${clusterId}.json`);
        await rm(join(place, 'node0/data'), { recursive: true });
        const other = await member(0, ...byKey.slice(0, 2), '--bump-revision=7');
        expect(other).toMatchObject(refusedAs(/was restored with 5; pass 5, or/));
      });

      describe('from a file outside the folder', () => {
        const keyed = (n: number, key: string, ...more: string[]) => {
          dataDir = join(place, `node${n}`, 'data');
          return here(
            ...[`--name=m${n}`, `--initial-advertise-peer-urls=${urls[n]}`, '--initial-cluster-token=one'],
            ...[
              `--initial-cluster=${both}`,
              `--object-key=${key}`,
              `--sha256=${saved.manifest.content.sha256}`,
              ...more,
            ],
          );
        };
        const notes = async () =>
          (await readdir(own(), { recursive: true })).filter((name) => name.includes('.restored-')).sort();
        beforeEach(async () => {
          const { manifest, snapshot } = saved;
          const source = { ...manifest.source, clusterId: 'unknown' };
          await mkdir(join(own(), 'old'));
          for (const id of ['a', 'b']) {
            const adopted = { ...manifest, id, source, object: { ...manifest.object, key: `old/${id}.db` } };
            await writeFile(join(own(), `old/${id}.db`), snapshot);
            await writeFile(join(own(), `old/${id}.db.json`), JSON.stringify(adopted));
          }
        });

        test('and one from the folder see each other', async () => {
          const { data } = await keyed(0, 'old/a.db');
          expect(await member(1)).toMatchObject(
            refusedAs(new RegExp(`the cluster ${data.clusterId} .* was already restored from a; `)),
          );
          expect(await keyed(1, 'old/b.db')).toMatchObject(refusedAs(/was already restored from a; /));
          expect(await keyed(1, 'old/a.db', '--bump-revision=7')).toMatchObject(
            refusedAs(/was restored with \d{16}; pass/),
          );
          expect(await keyed(1, 'old/a.db')).toMatchObject({ exitCode: 0, log: [] });
          await rm(join(place, 'node1'), { recursive: true });
          expect(await keyed(1, 'old/a.db')).toMatchObject(refusedAs(/^--name: m1 was already restored as a member/));
        });

        test('and one from the folder that was first see each other', async () => {
          await member(0);
          const before = await notes();
          expect(await keyed(1, 'old/a.db')).toMatchObject(refusedAs(/was already restored from etcd-/));
          expect(await notes()).toEqual(before);
        });

        test.each<[string, () => Promise<{ exitCode: number }>]>([
          ['a key', () => keyed(1, 'old/b.db')],
          ['an id', () => member(1)],
        ])('and one at the same time from %s: a refused one leaves no note', async (_, second) => {
          const ended = await Promise.all([keyed(0, 'old/a.db'), second()]);
          const wrong = ended.filter(({ exitCode }) => exitCode !== 0);
          expect(wrong.length).toBeGreaterThan(0);
          for (const each of wrong)
            expect(each).toMatchObject(refusedAs(/^another member was restored from|was already restored from/));
          if (wrong.length === 2) expect(await notes()).toEqual([]);
          const of = ended[0]!.exitCode === 0 ? () => keyed(1, 'old/a.db') : second;
          expect(await of()).toMatchObject({ exitCode: 0 });
        });

        test('leaves no note if it fails after its note was written', async () => {
          const other = join(place, 'other');
          await restore({ dataDir: other });
          const { put } = FilesystemStore.prototype;
          const written: string[] = [];
          FilesystemStore.prototype.put = async function (this: FilesystemStore, key, ...rest) {
            // As if an etcd had run there meanwhile.
            if (written.push(key) === 1) await rename(other, join(place, 'node0/data'));
            return put.call(this, key, ...rest);
          };
          try {
            expect(await keyed(0, 'old/a.db')).toMatchObject(refusedAs(/an etcd ran on/));
          } finally {
            FilesystemStore.prototype.put = put;
          }
          expect(written.some((key) => key.includes('.restored-'))).toBe(true);
          expect(await notes()).toEqual([]);
        });
      });

      test('is refused if the revision is not known, and if the cluster was restored from another snapshot', async () => {
        await member(0);
        await aged({ bump: undefined, revision: undefined });
        expect(await member(1)).toMatchObject({
          exitCode: ExitCode.refused,
          text: expect.stringMatching(/pass their --bump-revision; /),
        });
        await backupOf(saved.manifest.source.clusterId, 9);
        expect(await member(1, 'other', '--bump-revision=0')).toMatchObject({
          exitCode: ExitCode.refused,
          text: expect.stringMatching(
            /^--initial-cluster-token: the cluster \w+ .* was already restored from etcd-\S+; .* new --initial-cluster-token/,
          ),
        });
      });

      test('from another snapshot than the others gets the command that restores it from theirs', async () => {
        const { data } = await member(0);
        const bump = await bumped();
        await backupOf(saved.manifest.source.clusterId, 9);
        const { exitCode, text } = await member(1, 'other');
        expect(exitCode).toBe(ExitCode.refused);
        const { id } = saved.manifest;
        const [, command] = new RegExp(`; restore this member from ${id} too: \`etcd-agent ([^\`]*)\`; or pass`).exec(
          text,
        )!;
        expect(await runHere(...command!.split(' '))).toMatchObject({
          exitCode: 0,
          data: { id, clusterId: data.clusterId, dataDir: join(place, 'node1', 'data') },
        });
        expect(await bumped()).toBe(bump);
      });

      test.each([
        ['is told --force-failed too if theirs needs it', false],
        ['is not told to use theirs if no restore accepts it', true],
      ])('from another snapshot than the others %s', async (_, damaged) => {
        await member(0);
        await backupOf(saved.manifest.source.clusterId, 9);
        const { id } = saved.manifest;
        const finding = {
          ...{ schema: 'cdk8s-etcd/verification/v1', id, level: 'open', outcome: 'failed', damaged },
          ...{ at: new Date().toISOString(), agent: { version: 'test' } },
        };
        await writeFile(join(folder(), `${id}.verify.json`), JSON.stringify(finding));
        const { exitCode, text } = await member(1, 'other');
        expect(exitCode).toBe(ExitCode.refused);
        const command = /restore this member from \S+ too: `etcd-agent ([^`]*)`; or pass/.exec(text)?.[1];
        if (damaged) expect(command).toBeUndefined();
        else expect(await runHere(...command!.split(' '))).toMatchObject({ exitCode: 0, data: { id } });
      });
    });

    test('the data of a new etcd that began with an empty directory are those of another cluster', async () => {
      {
        const [plan] = await planMembers(1);
        await using begun = await EtcdCluster.fromDataDirs([{ ...plan!, dataDir }]);
        for (let n = 0; n < 20; n++) await begun.etcdctl('put', 'new', 'value');
      }
      const { id, source } = saved.manifest;
      for (const more of [[], ['--again'], ['--bump-revision=1000000000']]) {
        expect(await here(...more, '--etcdutl=/nowhere')).toMatchObject({
          exitCode: ExitCode.refused,
          text: expect.stringMatching(
            new RegExp(
              `^${id} is a snapshot of another cluster: its cluster id is ${source.clusterId}, but ${dataDir} holds \\w+; to restore it anyway, pass --force-foreign$`,
            ),
          ),
        });
      }
      expect(await here('--force-foreign', '--bump-revision=1000000000')).toMatchObject({ exitCode: 0 });
    });

    describe('if the store does not give out the listing or a manifest', () => {
      const { list } = FilesystemStore.prototype;
      const bump = '--bump-revision=3000000000000000';
      const { get } = FilesystemStore.prototype;
      const away = () => {
        FilesystemStore.prototype.list = function (this: FilesystemStore, prefix, options) {
          if (prefix === 'orders/') throw new AgentError(ExitCode.storeUnreachable, 'the listing fails');
          return list.call(this, prefix, options);
        };
      };
      afterEach(() => {
        FilesystemStore.prototype.list = list;
        FilesystemStore.prototype.get = get;
      });
      const begin = async () => {
        const [plan] = await planMembers(1);
        await using begun = await EtcdCluster.fromDataDirs([{ ...plan!, dataDir }]);
        await begun.etcdctl('put', 'new', 'value');
      };
      const copy = (id: string, changes: Partial<SnapshotManifest> = {}) => {
        const manifest = { ...saved.manifest, ...changes, id };
        return writeFile(join(own(), `orders/${id}.json`), JSON.stringify(manifest));
      };
      const { refused } = ExitCode;

      test('the data of another cluster is refused all the same, and the error names both ids', async () => {
        await begin();
        away();
        const { id, source } = saved.manifest;
        const why = 'nothing that can be read connects them \\(the listing fails\\)';
        const text = expect.stringMatching(
          new RegExp(
            `^${id} is a snapshot of another cluster: its cluster id is ${source.clusterId}, but ${dataDir} holds \\w+, and ${why}; try again, or pass --force-foreign to restore it anyway$`,
          ),
        );
        expect(await here(id, bump, '--namespace=')).toMatchObject({ exitCode: refused, text });
        expect(await here(id, bump, '--namespace=', '--force-foreign')).toMatchObject({ exitCode: 0 });
      });

      test('nor is the data of another cluster replaced if a manifest is not given out: the error names it', async () => {
        await begin();
        await copy('away');
        FilesystemStore.prototype.get = function (this: FilesystemStore, key, options) {
          if (key === 'orders/away.json') throw new AgentError(ExitCode.storeUnreachable, '503');
          return get.call(this, key, options);
        };
        expect(await here(saved.manifest.id, bump)).toMatchObject({
          exitCode: refused,
          text: expect.stringMatching(/connects them \(away: its manifest cannot be read: 503\); try again, or pass /),
        });
      });

      test('an earlier restore of that snapshot, or of another one of its cluster, is known all the same', async () => {
        const { id, object } = saved.manifest;
        await copy('other', { object: { ...object, key: 'orders/other.db' } });
        await writeFile(join(own(), 'orders/other.db'), saved.snapshot);
        expect(await here(id)).toMatchObject({ exitCode: 0 });
        for (const name of await readdir(join(own(), 'orders')))
          if (name.includes('.restored-')) await rm(join(own(), 'orders', name));
        away();
        expect(await here('other', '--again', bump, '--namespace=')).toMatchObject({ exitCode: 0 });
        expect(await here('other', '--again', '--bump-revision=4000000000000000', '--namespace=')).toMatchObject({
          exitCode: 0,
        });
      });
    });

    test('data from an exact key that is gone is that of another cluster, unless something connects them', async () => {
      const { manifest, snapshot } = saved;
      const key = 'old/saved.db';
      const source = { ...manifest.source, clusterId: 'abc' };
      await mkdir(join(own(), 'old'));
      await writeFile(join(own(), key), snapshot);
      const exact = { ...manifest, source, object: { ...manifest.object, key } };
      await writeFile(join(own(), `${key}.json`), JSON.stringify({ ...exact, id: 'exact' }));
      expect(await here(`--object-key=${key}`)).toMatchObject({ exitCode: 0 });
      await rm(join(own(), 'old'), { recursive: true });
      const again = [manifest.id, '--again', '--bump-revision=3000000000000000'];
      expect(await here(...again)).toMatchObject({
        exitCode: ExitCode.refused,
        text: expect.stringMatching(
          /is a snapshot of another cluster: .* holds \w+; to restore it anyway, pass --force-/,
        ),
      });
      expect(await here(...again, '--force-foreign')).toMatchObject({ exitCode: 0 });
    });

    describe('a snapshot whose cluster id is unknown, such as an adopted one', () => {
      const mayBe = (what: string) => ({
        exitCode: ExitCode.refused,
        text: expect.stringMatching(
          new RegExp(
            `^${what} may be a snapshot of another cluster: .* holds \\w+.*; to restore it anyway, pass --force-foreign$`,
          ),
        ),
      });
      beforeEach(async () => {
        const { manifest, snapshot } = saved;
        const object = { ...manifest.object, key: 'orders/adopted.db' };
        const adopted = { ...manifest, id: 'adopted', object, source: { ...manifest.source, clusterId: 'unknown' } };
        await writeFile(join(own(), object.key), snapshot);
        await writeFile(join(own(), 'orders/adopted.json'), JSON.stringify(adopted));
      });

      test('does not replace the data of a cluster unasked', async () => {
        expect(await here(saved.manifest.id)).toMatchObject({ exitCode: 0 });
        expect(await here('adopted', '--again')).toMatchObject(mayBe('adopted'));
        expect(await here('adopted', '--again', '--force-foreign')).toMatchObject({ exitCode: 0 });
      });

      test('replaces the data that were restored from it; another snapshot does not, unasked', async () => {
        expect(await here('adopted')).toMatchObject({ exitCode: 0 });
        expect(await here('adopted', '--again')).toMatchObject({ exitCode: 0 });
        const { id } = saved.manifest;
        expect(await here(id, '--again')).toMatchObject(mayBe(id));
        expect(await here(id, '--again', '--force-foreign')).toMatchObject({ exitCode: 0 });
      });
    });

    test.each<[string, () => Promise<unknown>]>([
      ['its own restore, of which there is no note', async () => restore({ dataDir })],
      ['a restore whose marker is lost, but not its note', () => here().then(() => rm(join(dataDir, MARKER)))],
      ['nothing', async () => {}],
    ])('a directory that holds %s is not that of another cluster', async (_, before) => {
      await before();
      expect(await here('--again')).toMatchObject({ exitCode: 0 });
    });

    test('--once does not need the store if there is nothing to do', async () => {
      const { id } = saved.manifest;
      const { data } = await here(id);
      await rm(own(), { recursive: true });
      for (const same of [[], [id], [`--sha256=${saved.manifest.content.sha256}`]]) {
        expect(await here('--once', ...same)).toMatchObject({
          exitCode: 0,
          data: { id, clusterId: data.clusterId, alreadyRestored: true },
        });
      }
      for (const [other, message] of [
        ['another', /the snapshot was \S+, and is another/],
        ['--name=other', /--name was default, and is other/],
        ['--bump-revision=7', /--bump-revision was \d{16}, and is 7/],
      ] as const) {
        expect(
          await here(
            '--once',
            other,
            '--initial-cluster=other=http://localhost:2380,default=http://localhost:2380',
            '--initial-cluster-token=x',
          ),
        ).toMatchObject({
          exitCode: ExitCode.refused,
          text: expect.stringMatching(message),
        });
      }
    });

    test('a store that hangs when the restore is noted does not end a restore that is done', async () => {
      const { put } = FilesystemStore.prototype;
      FilesystemStore.prototype.put = () => new Promise(() => {});
      try {
        const { exitCode, log } = await here(saved.manifest.id, '--timeout=8s');
        expect({ exitCode, log }).toEqual({ exitCode: 0, log: [expect.stringMatching(/^cannot note the restore/)] });
      } finally {
        FilesystemStore.prototype.put = put;
      }
    });

    const forget = async () => {
      const marker = join(dataDir, 'etcd-agent-restore.json');
      await writeFile(marker, JSON.stringify({ ...JSON.parse(await readFile(marker, 'utf8')), isNoted: undefined }));
      for (const name of await readdir(join(own(), 'orders')))
        if (name.includes('.restored-')) await rm(join(own(), 'orders', name));
    };

    test('--once does not need the store if the restore was never noted, and tries to note it', async () => {
      const { id } = saved.manifest;
      await here(id);
      await forget();
      const away = join(place, 'away');
      await rename(own(), away);
      for (const same of [[], [id]]) {
        expect(await here('--once', ...same)).toMatchObject({
          exitCode: 0,
          data: { id, alreadyRestored: true },
          log: [expect.stringMatching(new RegExp(`^cannot note the restore from ${id} .*; the next start tries`))],
        });
      }
      await cp(away, own(), { recursive: true });
      for (const name of [`${id}.json`, `${id}.db`]) await rm(join(own(), 'orders', name));
      const gone = new RegExp(
        `\\(file://${own()}: ${id} does not exist there; pass --restored-from .*\\); the next start`,
      );
      expect(await here('--once')).toMatchObject({ exitCode: 0, log: [expect.stringMatching(gone)] });
      await rm(own(), { recursive: true });
      await rename(away, own());
      expect(await here('--once', id)).toMatchObject({ exitCode: 0, log: [] });
      expect((await readdir(join(own(), 'orders'))).filter((name) => name.includes('.restored-'))).toHaveLength(1);
    });

    test.each([['--once'], []])(
      'also with a newer snapshot there, the restored one is noted (%s)',
      async (...flags) => {
        const { id } = saved.manifest;
        await here();
        await forget();
        const newer = id.replace('20261121', '20261122');
        const { manifest, snapshot } = saved;
        const key = `orders/${newer}.db`;
        await writeFile(join(own(), key), snapshot);
        const createdAt = new Date(Date.parse(manifest.createdAt) + 86_400_000).toISOString();
        const later = { ...manifest, id: newer, createdAt, object: { ...manifest.object, key } };
        await writeFile(join(own(), `orders/${newer}.json`), JSON.stringify(later));
        expect(await here(...flags)).toMatchObject({ exitCode: 0, data: { id }, log: [] });
        const names = (await readdir(join(own(), 'orders'))).filter((name) => name.includes('.restored-'));
        expect(names).toEqual([expect.stringContaining(id)]);
      },
    );

    test('--once notes a restore that a killed run did not note', async () => {
      await here();
      const marker = join(dataDir, 'etcd-agent-restore.json');
      await writeFile(marker, JSON.stringify({ ...JSON.parse(await readFile(marker, 'utf8')), isNoted: undefined }));
      const notes = async () => (await readdir(join(own(), 'orders'))).filter((name) => name.includes('.restored-'));
      for (const name of await notes()) await rm(join(own(), 'orders', name));
      expect(await here('--once')).toMatchObject({ exitCode: 0 });
      expect(await notes()).toHaveLength(1);
    });
  });

  const three = 'm0=http://10.0.0.1:2380,m1=http://10.0.0.2:2380,m2=http://10.0.0.3:2380';

  test.each<[string, string[], RegExp]>([
    [
      'a peer URL without a scheme',
      ['--name=a', '--initial-advertise-peer-urls=127.0.0.1:2380'],
      /^--initial-advertise-peer-urls: '127\.0\.0\.1:2380' has no scheme; write https:\/\/127\.0\.0\.1:2380, or http:\/\/ without TLS$/,
    ],
    [
      'a member without a scheme',
      ['--name=a', '--initial-cluster=a=http://10.0.0.1:2380,b=node-b:2380'],
      /^--initial-cluster: 'node-b:2380' has no scheme; write https:\/\/node-b:2380, or/,
    ],
    [
      'a peer URL without a port',
      ['--name=a', '--initial-advertise-peer-urls=https://node-a'],
      /^--initial-advertise-peer-urls: 'https:\/\/node-a' is not a valid peer URL; write it like https:\/\/etcd-0:2380$/,
    ],
    [
      'a peer URL with a path',
      ['--name=a', '--initial-advertise-peer-urls=https://node-a:2380/x'],
      /^--initial-advertise-peer-urls: 'https:\/\/node-a:2380\/x' is not a valid peer URL; write it/,
    ],
    [
      'no peer URLs',
      ['--name=m1', `--initial-cluster=${three}`],
      /^--initial-advertise-peer-urls: is missing; write --initial-advertise-peer-urls=http:\/\/10\.0\.0\.2:2380, as --initial-cluster has it for m1$/,
    ],
    [
      'the peer URLs of another member',
      ['--name=m1', `--initial-cluster=${three}`, '--initial-advertise-peer-urls=http://10.0.0.3:2380'],
      /^--initial-advertise-peer-urls: http:\/\/10\.0\.0\.3:2380 does not fit --initial-cluster, which has http:\/\/10\.0\.0\.2:2380 for m1; make them equal$/,
    ],
    [
      'a peer name that does not resolve',
      ['--name=m1', `--initial-cluster=${three}`, '--initial-advertise-peer-urls=http://nowhere.invalid:2380'],
      /^--initial-advertise-peer-urls: nowhere\.invalid cannot be resolved \(E\w+\), .*; write --initial-advertise-peer-urls=http:\/\/10\.0\.0\.2:2380/,
    ],
    [
      'no name',
      [`--initial-cluster=${three}`, '--initial-advertise-peer-urls=http://10.0.0.2:2380'],
      /^--name: 'default' is not a member in --initial-cluster; pass --name with one of m0, m1, m2$/,
    ],
    [
      'a wrong name',
      ['--name=m4', `--initial-cluster=${three}`],
      /^--name: 'm4' is not a member in --initial-cluster; pass --name with one of m0, m1, m2$/,
    ],
  ])('with %s is a mistake that is found before the download', async (_, flags, text) => {
    const token = '--initial-cluster-token=x';
    expect(await run(saved.manifest.id, token, ...flags, '--etcdutl=/nowhere')).toMatchObject({
      exitCode: ExitCode.usage,
      text: expect.stringMatching(text),
      phases: [],
    });
    expect(await readdir(place)).toEqual([]);
  });

  test('accepts peer URLs that are the same in another form', async () => {
    const flags = ['--name=a', '--initial-cluster-token=form', `--etcdutl=${etcdutl()}`];
    const { address } = await lookup(hostname(), { family: 4 });
    const forms = [
      `--initial-cluster=a=http://${address}:2380`,
      `--initial-advertise-peer-urls=http://${hostname()}:2380`,
    ];
    expect(await run(saved.manifest.id, ...flags, ...forms)).toMatchObject({ exitCode: 0 });
  });

  test('accepts only one of --again and --once', async () => {
    expect(await run('--again', '--once')).toMatchObject({
      exitCode: ExitCode.usage,
      text: expect.stringMatching(/choose one/),
    });
  });
});
