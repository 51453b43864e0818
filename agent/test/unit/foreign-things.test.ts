// Foreign and newer content in a store: nothing of it is lost, and one line reports it.

import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCatalog } from '../../src/backup/catalog/catalog.ts';
import { Folder } from '../../src/backup/catalog/folder.ts';
import { ExitCode } from '../../src/lib/errors.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { seal } from '../mutations/mutate.ts';
import { runHere } from '../support/in-process.ts';
import { type ManifestChanges, manifestOf } from '../support/manifest-of.ts';
import { S3Stub } from '../support/s3-stub.ts';
import { secretDirectory } from '../support/secret-directory.ts';

const day = 86_400_000;
const good = 'etcd-snapshot-20261120-020000-000001';
const odd = 'etcd-snapshot-20261121-020000-000002';

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'foreign-'));
  // A file's time, which is the store's clock, can lie some milliseconds behind ours.
  await put(good, { createdAt: new Date(Date.now() - day - 60_000).toISOString() });
});
afterEach(() => rm(path, { recursive: true }));

const write = async (key: string, content: string | Uint8Array) => {
  await mkdir(join(path, key, '..'), { recursive: true });
  await writeFile(join(path, key), content);
};
async function put(id: string, changes: ManifestChanges = {}, more: object = {}): Promise<void> {
  const snapshot = seal(Buffer.from(id));
  const key = `orders/${id}.db`;
  await write(key, snapshot);
  await write(
    `orders/${id}.json`,
    JSON.stringify({ ...manifestOf(snapshot, snapshot, { id, object: { key }, ...changes }), ...more }),
  );
}
const run = (command: string, ...more: string[]) =>
  runHere(...command.split(' '), ...more, '--cluster=orders', `--store=file://${path}`);
const files = async () =>
  (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(path.length + 1))
    .sort();
const ids = ({ data }: Awaited<ReturnType<typeof run>>) => data.snapshots.map(({ id }: { id: string }) => id);

/** Prunes with the strictest policy, and checks that only these files were deleted. */
async function pruneLoses(lost: readonly string[]): Promise<void> {
  const before = await files();
  await run('prune', '--retention=last=1,minKeep=1', '--sweep-age=1ms', '--force');
  expect(await files()).toEqual(before.filter((key) => !lost.includes(key)));
}

test('files of other tools under our prefix are neither shown, copied nor removed', async () => {
  const foreign = [
    'README',
    'other.db',
    'other.db.md5',
    'notes.json',
    'x.y.json',
    'sub/z.db',
    '.hidden',
    'ünï.db',
    `${good}`,
  ];
  for (const name of foreign) await write(`orders/${name}`, '{}');
  await write('payments/etcd-snapshot-20261121-020000-00000f.db', 'x');
  const before = await files();
  expect(ids(await run('list'))).toEqual([good]);
  expect((await run('list')).data.broken).toEqual([]);
  expect(await run('verify')).toMatchObject({ exitCode: 0, data: { verified: 1 } });
  expect(await run('status')).toMatchObject({ exitCode: 0 });
  expect(await run('copy', `--to=file://${path}/copy/deeper`)).toMatchObject({ exitCode: 0, data: { copied: 1 } });
  expect((await files()).filter((key) => key.startsWith('copy/'))).toHaveLength(2);
  await rm(join(path, 'copy'), { recursive: true });
  await rm(join(path, `orders/${good}.verify.json`));
  expect(await files()).toEqual(before);
  await pruneLoses([]);
});

describe('a manifest of a newer major version', () => {
  beforeEach(() => put(odd, { createdAt: new Date().toISOString() }, { schema: 'cdk8s-etcd/snapshot/v2' }));
  const line = expect.stringMatching(/schema 'cdk8s-etcd\/snapshot\/v2'.*use a newer agent/);

  test('is shown as such and changed by no command', async () => {
    expect((await run('list')).data).toMatchObject({ snapshots: [{ id: good }], broken: [{ id: odd, problem: line }] });
    expect(await run('show', odd)).toMatchObject({ exitCode: ExitCode.verificationFailed, text: line });
    expect(await run('restore fetch', odd, `--to=${path}/x`)).toMatchObject({
      exitCode: ExitCode.verificationFailed,
      text: line,
    });
    expect((await run('show')).data).toMatchObject({ manifest: { id: good } });
    expect(await run('status')).toMatchObject({ data: { stores: [{ id: good }] } });
    await pruneLoses([]);
  });

  test('is neither good nor bad for verify, and no result is noted', async () => {
    expect(await run('verify', odd)).toMatchObject({ exitCode: ExitCode.inconclusive, text: line });
    expect(await files()).not.toContain(`orders/${odd}.verify.json`);
  });

  test('is not copied', async () => {
    const to = `--to=file://${path}/copy/deeper`;
    expect(await run('copy', to)).toMatchObject({
      exitCode: 0,
      data: { copied: 1 },
      log: [expect.stringMatching(/^not copied: \S+: its manifest /)],
    });
    expect(await run('copy', odd, to)).toMatchObject({ exitCode: ExitCode.verificationFailed, text: line });
  });

  test('even under a custom name', async () => {
    await put('mine', {}, { schema: 'cdk8s-etcd/snapshot/v2' });
    expect((await run('list')).data.broken).toHaveLength(2);
    await pruneLoses([]);
  });
});

describe('the result of a verification cannot be read', () => {
  beforeEach(async () => {
    await put(odd, { createdAt: new Date().toISOString() });
    await write(`orders/${odd}.verify.json`, '{');
  });

  test('such a snapshot does not count, and is kept', async () => {
    const problem = expect.stringMatching(/the finding of `verify` cannot be read/);
    expect((await run('list')).data).toMatchObject({ snapshots: [{ id: good }], broken: [{ id: odd, problem }] });
    expect(await run('status')).toMatchObject({ data: { stores: [{ id: good }] } });
    await pruneLoses([]);
    await put('etcd-snapshot-20261101-020000-000009', { createdAt: new Date(Date.now() - 9 * day).toISOString() });
    await pruneLoses(['json', 'db'].map((ending) => `orders/etcd-snapshot-20261101-020000-000009.${ending}`));
  });

  test('a deeper verification replaces it, a shallower one does not', async () => {
    expect((await run('verify', odd)).exitCode).toBe(ExitCode.inconclusive);
    expect(await readFile(join(path, `orders/${odd}.verify.json`), 'utf8')).toBe('{');
    const payload = join(path, `orders/${odd}.db`);
    await writeFile(payload, (await readFile(payload)).fill(0, 0, 1));
    expect((await run('verify', odd)).exitCode).toBe(ExitCode.verificationFailed);
    expect(await readFile(join(path, `orders/${odd}.verify.json`), 'utf8')).toMatch(/"outcome": "failed"/);
  });
});

test('nothing is deleted in favour of a snapshot that no longer matches the index', async () => {
  const ids = Array.from({ length: 70 }, (_, n) => `etcd-snapshot-20260101-000000-${String(n).padStart(6, '0')}`);
  for (const [n, id] of ids.entries()) {
    await put(id, { createdAt: new Date(Date.now() - (100 - n) * 60_000).toISOString() });
  }
  await readCatalog(new Folder(new FilesystemStore({ path }), 'orders'), { keepIndex: () => {} });
  const newest = join(path, `orders/${ids.at(-1)}.json`);
  const { mtime } = await stat(newest);
  // Of the same size and time: the index does not notice.
  await writeFile(newest, (await readFile(newest, 'utf8')).replace('"read"', '"none"'));
  await utimes(newest, mtime, mtime);
  await pruneLoses([]);
  expect((await run('prune', '--retention=last=1,minKeep=1', '--force')).text).toMatch(
    new RegExp(
      `nothing is deleted: ${ids.at(-1)} is no longer verified; see .etcd-agent show ${ids.at(-1)} --store=\\S+ --cluster=orders --namespace=\`, and run .etcd-agent verify`,
    ),
  );
});

describe('a snapshot dated in the future', () => {
  beforeEach(() => put(odd, { createdAt: new Date(Date.now() + day).toISOString() }));

  test('is shown as such, kept, copied, and does not make old ones new', async () => {
    expect(await run('list')).toMatchObject({ text: expect.stringMatching(new RegExp(`dated in the future: ${odd}`)) });
    expect(await run('verify')).toMatchObject({ exitCode: 0, data: { verified: 2 } });
    expect(await run('status', '--max-age=1h')).toMatchObject({
      exitCode: ExitCode.nothingThere,
      text: expect.stringMatching(
        /too old: .*1d old, the limit is 1h; 1 dated in the future does not count; take a backup, /,
      ),
    });
    expect(await run('copy', `--to=file://${path}/copy/deeper`)).toMatchObject({ data: { copied: 2 } });
    await pruneLoses([]);
  });

  test('is not what `latest` means, which the log says; it can be named', async () => {
    const { data, log } = await run('show');
    expect(data.manifest.id).toBe(good);
    expect(log).toEqual([expect.stringMatching(new RegExp(`${odd} is dated in the future .* name it to use it`))]);
    expect((await run('show', odd)).data.manifest.id).toBe(odd);
  });

  test('alone it does not count as a backup for a probe', async () => {
    await rm(join(path, `orders/${good}.json`));
    expect(await run('status')).toMatchObject({
      exitCode: ExitCode.nothingThere,
      text: expect.stringMatching(/no verified snapshot of orders, but 1 dated in the future/),
    });
  });
});

test('a manifest that was copied to another name does not affect the first one', async () => {
  await write('orders/mine.json', await readFile(join(path, `orders/${good}.json`)));
  expect((await run('list')).data.broken).toEqual([{ id: 'mine', problem: `its manifest belongs to ${good}` }]);
  await pruneLoses([]);
});

test.each(['', '{"schema": "cdk8s-etcd/sn', '{"schema": "cdk8s-etcd/snapshot/v1"}'])(
  'a damaged manifest under a name of the user’s own is shown, and a file of another program is not: %j',
  async (damaged) => {
    await put('mine');
    await write('orders/mine.json', damaged);
    await write('orders/theirs.db', 'x');
    await write('orders/theirs.json', '{"schema": "theirs"}');
    const problem = expect.stringMatching(/^its manifest cannot be read: it is damaged/);
    expect((await run('list')).data.broken).toEqual([{ id: 'mine', problem }]);
    expect(await run('verify')).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { failed: 1 } });
    expect(await run('restore', 'fetch', 'mine', `--to=${path}/out`)).toMatchObject({
      exitCode: ExitCode.verificationFailed,
      text: expect.stringMatching(/^mine: its manifest cannot be read: it is damaged/),
    });
    await pruneLoses([]);
  },
);

test('a payload elsewhere that a manifest names is never removed', async () => {
  await write('payments/precious.db', 'x');
  await put(odd, {
    createdAt: new Date(Date.now() - 2 * day).toISOString(),
    object: { key: 'payments/precious.db', sizeBytes: 1 },
  });
  expect((await run('list')).data.broken).toMatchObject([
    { id: odd, problem: expect.stringMatching(/not in the folder/) },
  ]);
  await run('prune', '--retention=last=1,minKeep=1', '--force');
  expect(await files()).toContain('payments/precious.db');
});

test('an exact key without an ending is out of retention’s reach', async () => {
  const snapshot = seal(Buffer.from('x'));
  await write('orders/exact', snapshot);
  const manifest = manifestOf(snapshot, snapshot, {
    createdAt: '2026-01-01T00:00:00.000Z',
    object: { key: 'orders/exact' },
  });
  await write('orders/exact.json', JSON.stringify(manifest));
  expect((await run('list')).data).toMatchObject({ snapshots: [{ id: good }], broken: [] });
  await pruneLoses([]);
});

test('snapshots of another cluster do not count for ours', async () => {
  await put(odd, { createdAt: new Date().toISOString(), cluster: { name: 'payments' } });
  expect(await run('status')).toMatchObject({ data: { stores: [{ id: good }] } });
  expect(await run('copy', `--to=file://${path}/copy/deeper`)).toMatchObject({ data: { copied: 1 } });
  await pruneLoses([]);
});

test('pins: set, shown, respected, removed; an unknown id pins nothing', async () => {
  await put(odd, { createdAt: new Date(Date.now() - 2 * day).toISOString() });
  expect(await run('pin', odd, 'no-such')).toMatchObject({ exitCode: ExitCode.nothingThere });
  expect(await files()).not.toContain(`orders/${odd}.pin`);
  expect(await run('pin', odd)).toMatchObject({ exitCode: 0, text: `${odd}: pinned` });
  expect(await run('pin', odd)).toMatchObject({ exitCode: 0, text: `${odd}: was already pinned` });
  expect((await run('list')).text).toMatch(/, pinned$/m);
  expect((await run('prune', '--dry-run', '--retention=last=1')).text).toMatch(/keep +pinned/);
  await pruneLoses([]);
  expect(await run('unpin', odd)).toMatchObject({ exitCode: 0, data: { snapshots: [{ id: odd, changed: true }] } });
  expect(await run('unpin', odd)).toMatchObject({ exitCode: 0, data: { snapshots: [{ id: odd, changed: false }] } });
  await pruneLoses([`orders/${odd}.db`, `orders/${odd}.json`]);
});

test('prune: rules of the store apply, and one line says that those of the flag do not', async () => {
  const store = (retention: object) => `--store=${JSON.stringify({ filesystem: { path }, retention })}`;
  const prune = (own: object) => runHere('prune', '--dry-run', '--retention=last=1', '--cluster=orders', store(own));
  const line = expect.stringMatching(/^--retention=last=1 is ignored: the store has its own rules, \{"last":7\}$/);
  expect((await prune({ last: 7 })).log).toContainEqual(line);
  expect((await prune({ last: 1 })).log).toEqual([]);
});

test('status: several stores, the worst decides', async () => {
  await mkdir(join(path, 'nothing'));
  const empty = `--store=file://${path}/nothing`;
  expect(await run('status', '--max-age=2d')).toMatchObject({ exitCode: 0, text: expect.stringMatching(/1d old$/) });
  const { exitCode, text, data } = await run('status', empty);
  expect(exitCode).toBe(ExitCode.nothingThere);
  const failedFirst = /^FAILED: .*no verified snapshot of orders; .* has snapshots of orders: pass .*\nok: /;
  expect(text).toMatch(failedFirst);
  const after = await runHere('status', `--store=file://${path}`, empty, '--cluster=orders');
  expect(after).toMatchObject({
    text: expect.stringMatching(failedFirst),
    data: { stores: [{ ok: true }, { ok: false }] },
  });
  expect(data.stores).toMatchObject([
    { ok: false },
    { ok: true, ageSeconds: expect.any(Number), sizeBytes: expect.any(Number) },
  ]);
});

describe("a store's clock that is 30 days behind", () => {
  const { now } = FilesystemStore.prototype;
  beforeEach(() => {
    FilesystemStore.prototype.now = async () => new Date(Date.now() - 30 * day - 20_000);
  });
  afterEach(() => {
    FilesystemStore.prototype.now = now;
  });

  test('does not make an old snapshot new: status', async () => {
    expect(await run('status', '--max-age=6h')).toMatchObject({
      exitCode: ExitCode.nothingThere,
      text: expect.stringMatching(/too old: .*1d old, the limit is 6h; .*; the store's clock is 30d behind ours$/),
      data: { stores: [{ ageSeconds: expect.any(Number), clockSeconds: expect.closeTo(-30 * 86_400, -2) }] },
    });
  });

  test('does not date a new snapshot in the future: status, list', async () => {
    await put(odd, { createdAt: new Date().toISOString() });
    expect(await run('status', '--max-age=6h')).toMatchObject({ exitCode: 0, data: { stores: [{ id: odd }] } });
    for (const command of ['status', 'list']) expect((await run(command)).text).not.toContain('in the future');
    expect(await run('list', '--retention=last=1')).toMatchObject({
      data: { snapshots: [{ id: odd, keptBy: expect.arrayContaining(['last']) }, { id: good }] },
    });
  });
});

test('leftovers of a killed check are swept, but nothing that only resembles them', async () => {
  const old = new Date(Date.now() - day);
  const names = ['.check-0123456789abcdef', '.check-mine', '.check-0123456789abcdef.db'];
  for (const name of names) {
    await write(`orders/${name}`, 'x');
    await utimes(join(path, 'orders', name), old, old);
  }
  await pruneLoses([`orders/${names[0]}`]);
});

test.each([0, 1])('`status` reports one store while another, at position %i, hangs', async (at) => {
  await using stub = await S3Stub.start();
  stub.intercept = () => 'hang';
  const keys = { AWS_ACCESS_KEY_ID: 'stub-access', AWS_SECRET_ACCESS_KEY: 'stub-secret' };
  const { path: credentialsDirectory } = secretDirectory(join(path, 'secret'), keys);
  const hung = `s3://${stub.bucket}?${new URLSearchParams({ endpoint: stub.endpoint, credentialsDirectory })}`;
  const stores = [`--store=file://${path}`].toSpliced(at, 0, `--store=${hung}`);
  const { data, exitCode } = await runHere('status', '--cluster=orders', ...stores, '--timeout=6s');
  expect(exitCode).toBe(ExitCode.storeUnreachable);
  expect(data.stores[at]).toMatchObject({ ok: false, detail: expect.stringContaining('no sign of life') });
  expect(data.stores[1 - at]).toMatchObject({ ok: true, id: good });
});
