import { cp, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { initialCluster, planMembers } from '../../../test/harness/member-plan.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { ExitCode } from '../../lib/errors.ts';

let place: string;
let etcd: EtcdCluster;
let id: string;
let inStore: string[];

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'members-'));
  etcd = await EtcdCluster.start({ size: 3 });
  inStore = [`--store=file://${place}/store`, '--cluster=orders'];
  const { exitCode, data } = await runHere('backup', `--endpoints=${etcd.endpoints}`, ...inStore);
  expect(exitCode).toBe(0);
  id = data.snapshot.id;
  for (const member of etcd.members) await member.stop();
}, 60_000);
afterAll(async () => {
  await etcd?.stop();
  await rm(place, { recursive: true });
});

const restore = (dataDir: string, ...more: string[]) =>
  runHere('restore', 'data-dir', id, `--data-dir=${dataDir}`, `--etcdutl=${etcdutl()}`, ...inStoreOf(more), ...more);
const inStoreOf = (flags: readonly string[]) =>
  inStore.filter((each) => !each.startsWith('--store') || !flags.some((flag) => flag.startsWith('--store')));
const own = (at: number) => {
  const { name, peerUrl } = etcd.member(at);
  return [`--name=${name}`, `--initial-advertise-peer-urls=${peerUrl}`];
};
const allMembers = () => initialCluster(etcd.members);

test('data that cannot be read may be those of another cluster', async () => {
  const dataDir = join(place, 'damaged');
  await mkdir(join(dataDir, 'member/wal'), { recursive: true });
  await writeFile(join(dataDir, 'member/wal/0000000000000000-0000000000000000.wal'), Buffer.alloc(128));
  const { name, peerUrl } = etcd.member(1);
  const as = [...own(1), `--initial-cluster=${name}=${peerUrl}`];
  expect(await restore(dataDir, ...as)).toMatchObject({
    exitCode: ExitCode.refused,
    text: expect.stringMatching(/pass --force-foreign$/),
  });
  const forced = await restore(dataDir, ...as, '--force-foreign', '--initial-cluster-token=damaged');
  expect(forced).toMatchObject({ exitCode: 0 });
});

test('a snapshot of several members makes no cluster of one, unless that member is listed', async () => {
  const dataDir = join(place, 'alone');
  for (const flags of [own(1), []]) {
    const { exitCode, text } = await restore(dataDir, ...flags);
    expect(exitCode).toBe(ExitCode.usage);
    expect(text).toMatch(`--initial-cluster: is missing, and ${id} is the snapshot of an etcd with 3 members`);
    const [suggested] = /--initial-cluster=[^ ,]+(,[^ ,]+){2}/.exec(text)!;
    expect(suggested.split(/=(.*)/)[1]!.split(',').sort()).toEqual(allMembers().split(',').sort());
  }
  const { name, peerUrl } = etcd.member(1);
  const listed = [...own(1), `--initial-cluster=${name}=${peerUrl}`];
  expect(await restore(dataDir, ...listed)).toMatchObject({ exitCode: 0 });
  // As an init container of an older version has done.
  expect(await restore(dataDir, ...own(1))).toMatchObject({ exitCode: 0, data: { alreadyRestored: true } });
  expect(await restore(dataDir, ...own(1), '--again')).toMatchObject({ exitCode: ExitCode.usage });
});

describe('a snapshot whose manifest does not list the members makes no cluster of one either', () => {
  const refused = (text: string) => {
    expect(text).toMatch(/--initial-cluster: is missing, and \S+ is the snapshot of an etcd with 3 members/);
    const [suggested] = /--initial-cluster=[^ ,]+(,[^ ,]+){2}/.exec(text)!;
    expect(suggested.split(/=(.*)/)[1]!.split(',').sort()).toEqual(allMembers().split(',').sort());
  };
  const lone = async (name: string, ...flags: string[]) => {
    const dataDir = join(place, name);
    const at = [`--data-dir=${dataDir}`, `--etcdutl=${etcdutl()}`, ...own(1)];
    const { exitCode, text } = await runHere('restore', 'data-dir', ...flags, ...at);
    expect({ exitCode, there: await readdir(dataDir).catch(() => []) }).toEqual({
      exitCode: ExitCode.usage,
      there: [],
    });
    return text;
  };

  test('because it was adopted: its manifest lists them', async () => {
    const [store] = inStore;
    await mkdir(join(place, 'store/other'), { recursive: true });
    await runHere('restore', 'fetch', id, ...inStore, `--to=${place}/store/other/nightly.db`);
    const adopted = [store!, '--cluster=other', `--etcdutl=${etcdutl()}`];
    expect(await runHere('adopt', ...adopted)).toMatchObject({ exitCode: 0 });
    const listed = async (key: string) => JSON.parse(await readFile(join(place, 'store', key), 'utf8')).members;
    const byId = (members: { id: string }[]) => members.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    expect(byId(await listed('other/nightly.json'))).toEqual(byId(await listed(`orders/${id}.json`)));
    refused(await lone('adopted', 'nightly', store!, '--cluster=other'));
  });

  test('or because etcd could not be asked: the snapshot itself does', async () => {
    const manifest = JSON.parse(await readFile(join(place, `store/orders/${id}.json`), 'utf8'));
    delete manifest.members;
    await cp(join(place, 'store/orders'), join(place, 'unlisted/orders'), { recursive: true });
    await writeFile(join(place, `unlisted/orders/${id}.json`), JSON.stringify(manifest));
    refused(await lone('unlisted-data', id, `--store=file://${place}/unlisted`, '--cluster=orders'));
  });
});

test('the data of another member is not replaced, and all data directories below are named', async () => {
  const [first, second] = [etcd.member(0), etcd.member(1)];
  const all = [`--initial-cluster=${allMembers()}`, '--initial-cluster-token=new'];
  const before = await readdir(dirname(second.dataDir));
  expect(await restore(second.dataDir, ...own(0), ...all)).toMatchObject({
    exitCode: ExitCode.refused,
    text: expect.stringContaining(
      `${second.dataDir} holds the data of the member ${second.name}, not of ${first.name}; pass the data directory of`,
    ),
  });
  const [, ...unnamed] = own(1);
  const cluster = `--initial-cluster=${allMembers().replace(`${second.name}=`, 'default=')}`;
  expect(await restore(second.dataDir, ...unnamed, cluster, '--initial-cluster-token=new')).toMatchObject({
    exitCode: ExitCode.refused,
    text: expect.stringMatching(
      `^--name: is missing, .* ${second.dataDir} holds the data of the member ${second.name}; pass --name=${second.name} `,
    ),
  });
  const { exitCode, text } = await restore(dirname(second.dataDir), ...own(1), ...all);
  expect(exitCode).toBe(ExitCode.refused);
  for (const { dataDir } of etcd.members) expect(text).toContain(dataDir);
  expect(text).toMatch(`; name ${second.dataDir}, which is that of --name`);
  expect(await readdir(dirname(second.dataDir))).toEqual(before);
  expect(await restore(second.dataDir, ...own(1), ...all)).toMatchObject({ exitCode: 0 });
});

test.each([
  ['is refused', () => [`--initial-cluster-token=${basename(dirname(etcd.member(0).dataDir))}`], ExitCode.refused],
  ['is missing', () => [], ExitCode.usage],
])('a token that %s: all members are told the same new one', async (_, flags, exitCode) => {
  const told = [];
  for (const at of [0, 1]) {
    const all = [...own(at), `--initial-cluster=${allMembers()}`];
    const result = await restore(join(place, `told-${exitCode}-${at}`), ...all, ...flags());
    expect(result.exitCode).toBe(exitCode);
    told.push(/for example (?:--initial-cluster-token=)?(restored-\w{16})/.exec(result.text)?.[1]);
  }
  expect(told).toEqual([expect.any(String), told[0]]);
  const next = [...own(0), `--initial-cluster=${allMembers()}`, `--initial-cluster-token=${told[0]}`];
  expect(await restore(join(place, `told-${exitCode}-0`), ...next)).toMatchObject({ exitCode: 0 });
});

test('without an id and with the token of the present data: the suggested command has a new token, and is accepted', async () => {
  const { dataDir } = etcd.member(2);
  const token = `--initial-cluster-token=${basename(dirname(dataDir))}`;
  const flags = [...own(2), `--initial-cluster=${allMembers()}`, token, '--again'];
  const inPlace = [`--data-dir=${dataDir}`, `--etcdutl=${etcdutl()}`];
  const { exitCode, text } = await runHere('restore', 'data-dir', ...inStore, ...inPlace, ...flags);
  expect(exitCode).toBe(ExitCode.usage);
  expect(text).toContain(
    `; its token is new, the same for all members that are restored from ${id}, because ${dataDir} already holds the cluster`,
  );
  const [typed] = /(?<=`etcd-agent )restore data-dir [^`]*/.exec(text)!;
  expect(typed).toContain(`restore data-dir ${id} `);
  expect(typed).toMatch(/ --initial-cluster-token=restored-\w{16} /);
  expect(await runHere(...typed.split(' '))).toMatchObject({ exitCode: 0 });
});

test('of a link, the directory behind it is replaced', async () => {
  const [disk, link] = [join(place, 'disk'), join(place, 'link')];
  const alone = [...own(1), `--initial-cluster=${initialCluster([etcd.member(1)])}`];
  await mkdir(disk);
  await symlink(join(disk, 'data'), link);
  expect(await restore(link, ...alone)).toMatchObject({
    exitCode: ExitCode.refused,
    text: expect.stringMatching(
      /link is a link to \S+\/disk\/data, which cannot be opened; name the directory itself$/,
    ),
  });
  await mkdir(join(disk, 'data'));
  expect(await restore(link, ...alone)).toMatchObject({ exitCode: 0, data: { dataDir: join(disk, 'data') } });
  expect(await readlink(link)).toBe(join(disk, 'data'));
  expect(await readdir(join(disk, 'data'))).toContain('member');
  expect(await restore(link, ...alone, '--again')).toMatchObject({ exitCode: 0 });
  expect((await readdir(disk)).filter((name) => name.startsWith('data.replaced-'))).toHaveLength(2);
  expect((await readdir(place)).filter((name) => name.startsWith('link'))).toEqual(['link']);
});

test('members that were restored from two stores with different numbers are found by check and backup', async () => {
  const plans = (await planMembers(3)).map((plan) => ({ ...plan, dataDir: join(place, `apart-${plan.name}`) }));
  await cp(join(place, 'store'), join(place, 'copy'), { recursive: true });
  const texts = [];
  for (const [at, { name, peerUrl, dataDir }] of plans.entries()) {
    const { exitCode, text } = await restore(
      ...([dataDir, `--name=${name}`, `--initial-advertise-peer-urls=${peerUrl}`] as const),
      ...[`--initial-cluster=${initialCluster(plans)}`, '--initial-cluster-token=apart'],
      ...(at < 2 ? ['--bump-revision=2000000000'] : ['--bump-revision=1000000000', `--store=file://${place}/copy`]),
    );
    expect(exitCode).toBe(0);
    texts.push(text);
  }
  expect(texts[1]).toMatch(
    'with --initial-cluster-token=apart from this store too, which has a note of only 1 of these 2 so far, then',
  );
  expect(texts[2]).toMatch('from this store too, which has no note of them yet, then start each');
  await using apart = await EtcdCluster.fromDataDirs(plans);
  const endpoints = `--endpoints=${apart.endpoints}`;
  const other = `${apart.endpoints[2]} is at revision 10000000`;
  expect(await runHere('backup', endpoints, ...inStore)).toMatchObject({
    exitCode: ExitCode.sourceSuspect,
    log: expect.arrayContaining([expect.stringContaining(`MembersInconsistent: ${other}`)]),
  });
  const { exitCode, text } = await runHere('check', endpoints, ...inStore, `--etcdutl=${etcdutl()}`);
  expect([exitCode, text]).toEqual([ExitCode.sourceSuspect, expect.stringContaining(other)]);
}, 60_000);
