import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { etcdutl } from '../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../test/harness/etcd-cluster.ts';
import { runHere } from '../../test/support/in-process.ts';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { FilesystemStore } from '../store/filesystem/filesystem-store.ts';

let etcd: EtcdCluster;
let root: string;
let path: string;
/** The snapshots, oldest first. */
let ids: string[];
const { get } = FilesystemStore.prototype;
const TIMEOUT = '--timeout=8s';
const run = (command: string, ...flags: string[]) =>
  runHere(...command.split(' '), '--cluster=orders', `--store=file://${path}`, ...flags);
const backup = (...flags: string[]) => run('backup', `--endpoints=${etcd.endpoints}`, ...flags);
const names = async () => (await readdir(join(path, 'orders'))).sort();

beforeAll(async () => {
  etcd = await EtcdCluster.start({ size: 1 });
  root = await mkdtemp(join(tmpdir(), 'silent-'));
  path = join(root, 'full');
  ids = [];
  for (let n = 0; n < 5; n++) {
    ids.push((await backup()).data.snapshot.id);
    // A name holds only seconds, and one of the same second may be the newest.
    if (n === 0) await sleep(1_000);
  }
});
afterAll(async () => {
  await etcd[Symbol.asyncDispose]();
  await rm(root, { recursive: true });
});
beforeEach(async () => {
  path = await mkdtemp(join(root, 'store-'));
  await cp(join(root, 'full'), path, { recursive: true, preserveTimestamps: true });
});
afterEach(() => {
  FilesystemStore.prototype.get = get;
});

const fails = () => Promise.reject<never>(new AgentError(ExitCode.storeUnreachable, '500'));
const hangs = () => new Promise<never>(() => {});
const silence = (isAway: (key: string) => boolean, answer: () => Promise<never>) => {
  FilesystemStore.prototype.get = function (this: FilesystemStore, key, options) {
    return isAway(key) ? answer() : get.call(this, key, options);
  };
};

describe.each([
  ['fails', fails, '500'],
  ['hangs', hangs, 'no sign of life for 2 s'],
])('a manifest that %s', (_, answer, why) => {
  const oldest = () => ids[0]!;
  const problem = () => expect.stringMatching(new RegExp(`${oldest()}: its manifest cannot be read: .*${why}`));
  beforeEach(() => silence((key) => key.endsWith(`${oldest()}.json`), answer));

  test('does not keep a backup from being taken and committed', async () => {
    const { exitCode, data, log } = await backup(TIMEOUT, '--retention=last=1');
    expect({ exitCode, log }).toEqual({ exitCode: 0, log: [problem(), problem()] });
    expect(log[0]).toMatch(/; the backup goes on without it$/);
    expect(log[1]).toMatch(/^retention: .*; it is kept, and so is every snapshot but later ones of the current etcd$/);
    expect(data.stores).toMatchObject([{ verified: 'read', deleted: [] }]);
    expect(await names()).toEqual(expect.arrayContaining([...ids, data.snapshot.id].map((id) => `${id}.json`)));
  });

  test('is shown by `list`, beside the others', async () => {
    const { exitCode, text, data } = await run('list', TIMEOUT, '--retention=last=1');
    expect({ exitCode, ids: data.snapshots.map(({ id }: { id: string }) => id) }).toEqual({
      exitCode: 0,
      ids: ids.slice(1).reverse(),
    });
    expect(text).toMatch(new RegExp(`^not read: ${oldest()}: its manifest cannot be read: .*${why}`, 'm'));
    expect(text).toContain(`undecided until ${oldest()} is read`);
  });

  test('is not counted by `status`, which says so', async () => {
    const { exitCode, text, data } = await run('status', TIMEOUT);
    expect({ exitCode, id: data.stores[0].id }).toEqual({ exitCode: 0, id: ids[4] });
    expect(text).toMatch(new RegExp(`; not counted: ${oldest()}: its manifest cannot be read: .*${why}`));
  });

  test('is reported by `verify`, which goes on with the others', async () => {
    const { exitCode, data } = await run('verify', TIMEOUT, '--level=read');
    expect({ exitCode, verified: data.verified, failed: data.failed }).toEqual({
      exitCode: ExitCode.inconclusive,
      verified: 4,
      failed: 0,
    });
    expect(data.snapshots.find(({ id }: { id: string }) => id === oldest())).toMatchObject({
      outcome: 'inconclusive',
      detail: expect.stringContaining(why),
    });
  });

  test('is kept by `prune`, with what may depend on it', async () => {
    const before = await names();
    for (const flags of [['--dry-run'], []]) {
      const { exitCode, data, log } = await run('prune', TIMEOUT, '--retention=last=1', ...flags);
      expect({ exitCode, deleted: data.deleted, log }).toEqual({ exitCode: 0, deleted: [], log: [problem()] });
      expect(data.snapshots.find(({ id }: { id: string }) => id === ids[1]).reasons).toEqual([
        `undecided until ${oldest()} is read`,
      ]);
    }
    expect(await names()).toEqual(before);
  });
});

describe('a finding of `verify` that fails', () => {
  const [fetch, to] = ['restore fetch', () => `--to=${join(path, 'x.db')}`];
  beforeEach(async () => {
    expect(await run(`verify ${ids[3]}`, '--level=read')).toMatchObject({ exitCode: 0 });
    silence((key) => key.endsWith(`${ids[3]}.verify.json`), fails);
  });

  test('does not make its own snapshot unusable: it is shown, pinned, and restored with --force-failed', async () => {
    expect(await run(`show ${ids[3]}`)).toMatchObject({ exitCode: 0 });
    expect(await run(`pin ${ids[3]}`)).toMatchObject({ exitCode: 0 });
    const named = `${fetch} ${ids[3]}`;
    expect(await run(named, to())).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      text: expect.stringMatching(/the finding of `verify` cannot be read: .*500; try again; .*--force-failed/),
    });
    expect(await run(named, to(), '--force-failed')).toMatchObject({ exitCode: 0 });
  });

  test('does not keep the newest snapshot from being restored without an id', async () => {
    expect(await run(fetch, to())).toMatchObject({ exitCode: 0, data: { id: ids[4] } });
  });
});

describe('a short --timeout leaves time', () => {
  const restore = (...more: string[]) => {
    const to = ['--name=a', '--initial-advertise-peer-urls=http://127.0.0.1:2380', `--etcdutl=${etcdutl()}`];
    return run('restore data-dir', TIMEOUT, `--data-dir=${path}-data`, ...to, ...more);
  };

  test('to restore a named snapshot while another manifest hangs', async () => {
    silence((key) => key.endsWith(`${ids[0]}.json`), hangs);
    expect(await restore(ids[4]!)).toMatchObject({ exitCode: 0, data: { id: ids[4] } });
  });

  test('to say which manifest hangs, where it may be the newest', async () => {
    silence((key) => key.endsWith(`${ids[4]}.json`), hangs);
    const text = expect.stringMatching(`${ids[4]}, which may be newer than ${ids[3]}: .* does not answer in time; try`);
    expect(await restore()).toMatchObject({ exitCode: ExitCode.storeUnreachable, text });
  });
});

test.each([
  ['fails', fails],
  ['hangs', hangs],
])('a payload that %s is reported by `verify`, which goes on with the others', async (_, answer) => {
  silence((key) => key.includes(`${ids[3]}.db`), answer);
  const { exitCode, data } = await run('verify', '--timeout=8s', '--level=read');
  expect({ exitCode, verified: data.verified }).toEqual({ exitCode: ExitCode.inconclusive, verified: 4 });
  expect(await run('verify', ids[3]!, '--timeout=8s', '--level=read')).toMatchObject({
    exitCode: ExitCode.storeUnreachable,
  });
});

test('payloads that hang, one after the other, do not take the whole time of `verify`', async () => {
  silence((key) => key.includes('.db') && !key.includes(ids[4]!), hangs);
  const { exitCode, data } = await run('verify', '--timeout=8s', '--level=read');
  expect({ exitCode, verified: data.verified, inconclusive: data.inconclusive }).toEqual({
    exitCode: ExitCode.inconclusive,
    verified: 1,
    inconclusive: 4,
  });
});

test('a store that gives out nothing is unreachable; a backup still goes in', async () => {
  silence((key) => ids.some((id) => key.includes(id)), fails);
  for (const command of ['list', 'status', 'verify', 'prune --retention=last=1']) {
    expect(await run(command)).toMatchObject({ exitCode: ExitCode.storeUnreachable });
  }
  expect(await backup('--retention=last=1')).toMatchObject({ exitCode: 0, data: { stores: [{ deleted: [] }] } });
});

describe('a run that times out', () => {
  beforeEach(() => {
    FilesystemStore.prototype.get = async function (this: FilesystemStore, key, options) {
      if (!key.endsWith('.json'))
        await sleep(20_000, undefined, options).catch(() => options?.signal?.throwIfAborted());
      return get.call(this, key, options);
    };
  });
  const waiting = (id: string) =>
    new RegExp(
      `not done after 2s.*, waiting for \`get orders/${id}\\.db\\S*\`; check that the store answers this, or allow more with --timeout`,
    );

  test('names the object that it waits for', async () => {
    const { exitCode, text } = await run('restore fetch', '--timeout=2s', `--to=${join(path, 'out.db')}`);
    expect({ exitCode, text }).toEqual({ exitCode: ExitCode.timedOut, text: expect.stringMatching(waiting(ids[4]!)) });
  });

  test('names it for a backup, too', async () => {
    const { exitCode, text } = await backup('--timeout=2s');
    expect({ exitCode, text }).toEqual({
      exitCode: ExitCode.timedOut,
      text: expect.stringMatching(waiting('etcd-snapshot-[0-9a-f-]+')),
    });
  });
});

describe('a payload that was bad', () => {
  const away = async () => {
    const name = (await names()).find((each) => each.startsWith(`${ids[4]}.db`))!;
    const payload = join(path, 'orders', name);
    await rename(payload, join(path, 'away'));
    return () => rename(join(path, 'away'), payload);
  };

  test('because it was missing counts again once it is back', async () => {
    const back = await away();
    const { exitCode, data } = await run('verify', ids[4]!, '--level=read');
    expect({ exitCode, failed: data.failed }).toEqual({ exitCode: ExitCode.verificationFailed, failed: 1 });
    await back();
    const fetched = await run('restore fetch', ids[4]!, `--to=${join(path, 'out.db')}`);
    expect(fetched).toMatchObject({ exitCode: 0 });
    expect(await run('status')).toMatchObject({ data: { stores: [{ id: ids[4] }] } });
  });
  test('by its bytes, and was repaired, is found good by the command that the error names', async () => {
    const name = (await names()).find((each) => each.startsWith(`${ids[4]}.db`))!;
    const payload = join(path, 'orders', name);
    const bytes = await readFile(payload);
    await writeFile(payload, Buffer.from(bytes).fill(0, 10, 20));
    await run('verify', ids[4]!, '--level=read');
    await writeFile(payload, bytes);
    const fetch = () => run('restore fetch', ids[4]!, `--to=${join(path, 'out.db')}`);
    const { exitCode, text } = await fetch();
    expect(exitCode).toBe(ExitCode.verificationFailed);
    const [, again = ''] = /; if it was repaired since, run `etcd-agent ([^`]+)` again$/.exec(text) ?? [];
    expect(await runHere(...again.split(' '))).toMatchObject({ exitCode: 0 });
    expect(await fetch()).toMatchObject({ exitCode: 0 });
  });
});
