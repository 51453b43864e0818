import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { generateIdentity } from 'age-encryption';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { seal } from '../../../test/mutations/mutate.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { saveSnapshot } from '../../../test/support/save-snapshot.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';

let saved: Buffer;
let later: Buffer;
let larger: Buffer;
/** Its database has a CORRUPT alarm. */
let alarmed: Buffer;
beforeAll(async () => {
  await using etcd = await EtcdCluster.start();
  await etcd.put(20);
  saved = (await saveSnapshot(etcd)).snapshot;
  await etcd.put(5);
  later = (await saveSnapshot(etcd)).snapshot;
  await etcd.put(1_000);
  larger = (await saveSnapshot(etcd)).snapshot;
  const body = JSON.stringify({ action: 'ACTIVATE', memberID: '1', alarm: 'CORRUPT' });
  await fetch(`${etcd.endpoints[0]}/v3/maintenance/alarm`, { method: 'POST', body });
  alarmed = (await saveSnapshot(etcd)).snapshot;
});

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'adopt-'));
});
afterEach(() => rm(path, { recursive: true }));

const modified = new Date('2026-11-20T02:38:30Z');
async function put(key: string, bytes: Uint8Array = saved, at = modified): Promise<void> {
  await mkdir(join(path, key, '..'), { recursive: true });
  await writeFile(join(path, key), bytes);
  await utimes(join(path, key), at, at);
}
const inStore = () => ['--cluster=orders', `--store=file://${path}`];
/** Runs the command that the text advises. */
const asTyped = (text: string) => {
  const [, line] = /`etcd-agent (adopt [^`]*)`/.exec(text) ?? [];
  const words = line?.match(/(?:[^\s']|'[^']*')+/g) ?? [];
  return runHere(...words.map((word) => word.replaceAll("'", '')), `--etcdutl=${etcdutl()}`, `--scratch=${path}`);
};
const adopt = (...more: string[]) =>
  runHere('adopt', ...inStore(), `--etcdutl=${etcdutl()}`, `--scratch=${path}`, ...more);
const files = async () =>
  (await readdir(path, { recursive: true, withFileTypes: true }))
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(path.length + 1))
    .sort();
const list = async () => (await runHere('list', ...inStore())).data;

test('a plain snapshot is adopted, and its file is not changed', async () => {
  await put('orders/snapshot-20261120-023807.db');
  expect(await adopt()).toMatchObject({
    exitCode: 0,
    text: expect.stringMatching(/verified by its own sha256 and a trial restore/),
    data: { adopted: 1, failed: 0, snapshots: [{ outcome: 'adopted', id: 'snapshot-20261120-023807' }] },
  });
  expect(await files()).toEqual(['orders/snapshot-20261120-023807.db', 'orders/snapshot-20261120-023807.json']);
  expect(await list()).toMatchObject({
    broken: [],
    snapshots: [{ verified: true, level: 'open', clusterId: 'unknown', createdAt: '2026-11-20T02:38:07.000Z' }],
  });
  expect(await runHere('verify', '--level=open', ...inStore(), `--etcdutl=${etcdutl()}`)).toMatchObject({
    exitCode: 0,
  });
  expect(await adopt()).toMatchObject({ exitCode: 0, text: expect.stringMatching(/^nothing to adopt/) });
  expect(await adopt('orders/snapshot-20261120-023807.db')).toMatchObject({
    exitCode: 0,
    data: { skipped: 1, adopted: 0 },
  });
});

test('compressed files, names that are not valid ids, and the same name twice are adopted', async () => {
  await put('orders/a.db.gz', gzipSync(saved));
  await put('orders/a.db', saved);
  await put('orders/etcd 2026-11-20T02:38:07.db.zst', zstdCompressSync(saved));
  expect(await adopt()).toMatchObject({ exitCode: 0, data: { adopted: 3 } });
  const { snapshots, broken } = await list();
  expect(broken).toEqual([]);
  expect(new Set(snapshots.map(({ id }: { id: string }) => id)).size).toBe(3);
  expect(snapshots.map(({ revision }: { revision?: number }) => revision)).toEqual(Array(3).fill(expect.any(Number)));
  for (const { id } of snapshots) {
    const to = join(path, 'out', `${id}.db`);
    expect(await runHere('restore', 'fetch', id, ...inStore(), `--to=${to}`)).toMatchObject({ exitCode: 0 });
    expect(await readFile(to)).toEqual(saved);
  }
});

test('a file in the root of the store is adopted under its exact key, and restored from', async () => {
  await put('etcd-20261120-0100.db');
  await put('etcd-snapshot-20261120-010000-00c0de.db', saved);
  const fetched = ['restore', 'fetch', ...inStore(), `--etcdutl=${etcdutl()}`, `--scratch=${path}`];
  const named = [
    '--object-key=etcd-snapshot-20261120-010000-00c0de.db',
    '--adopt',
    `--to=${join(path, 'out', 'fetched.db')}`,
  ];
  expect(await runHere(...fetched, ...named)).toMatchObject({ exitCode: 0 });
  expect(await adopt('etcd-20261120-0100.db')).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  expect(await files()).toEqual(
    expect.arrayContaining(['etcd-snapshot-20261120-010000-00c0de.db.json', 'etcd-20261120-0100.db.json']),
  );
  expect(await adopt('etcd-20261120-0100.db')).toMatchObject({ exitCode: 0, data: { skipped: 1 } });
  const again = ['--object-key=etcd-20261120-0100.db', `--to=${join(path, 'out', 'again.db')}`];
  expect(await runHere(...fetched, ...again)).toMatchObject({ exitCode: 0 });
  expect(await readFile(join(path, 'out', 'again.db'))).toEqual(saved);
});

test('retention deletes an adopted snapshot like any other, and keeps other files beside it', async () => {
  const day = 86_400_000;
  for (let n = 0; n < 5; n++) await put(`orders/s${n}.db`, saved, new Date(modified.getTime() - n * day));
  await put('orders/s4.db.sha256', Buffer.from('x'));
  await put('orders/s4.db.gz', gzipSync(saved), new Date(modified.getTime() - 20 * day));
  await adopt();
  const pruned = await runHere('prune', ...inStore(), '--retention=last=4');
  expect(pruned.data.deleted).toHaveLength(2);
  expect(pruned.data.snapshots.flatMap(({ reasons }: { reasons: string[] }) => reasons).join()).not.toMatch(/foreign/);
  expect((await files()).filter((key) => key.includes('s4'))).toEqual(['orders/s4.db.sha256']);
});

test('a file that is not a snapshot is left alone, and the others are adopted', async () => {
  const flipped = Buffer.from(saved);
  flipped[flipped.length >> 1]! ^= 1;
  await put('orders/cut.db', saved.subarray(0, saved.length / 2));
  await put('orders/data-dir.db', saved.subarray(0, -32));
  await put('orders/empty.db', Buffer.alloc(0));
  await put('orders/flipped.db', flipped);
  await put('orders/good.db');
  await put('orders/hello.db', seal(Buffer.from('hello')));
  await put('orders/no-gzip.db.gz');
  await put('orders/notes.txt', Buffer.from('not asked for'));
  await put('orders/etcd-snapshot-20260101-000000-dead00.db', saved);
  const before = await files();
  const result = await adopt();
  expect(result).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { adopted: 2, failed: 5 } });
  expect(result.text).toMatch(/data-dir.db.*copy of a member’s db file/);
  // Its content counts, not its name.
  expect(await files()).toEqual([...before, 'orders/good.json', 'orders/no-gzip.json'].sort());
});

test('with a program that is not etcdutl, no file is called bad', async () => {
  await put('orders/good.db');
  const { exitCode, text } = await adopt('orders/good.db', '--etcdutl=/bin/ls');
  expect({ exitCode, text }).toEqual({
    exitCode: ExitCode.usage,
    text: expect.stringMatching(/^--etcdutl: \/bin\/ls is not etcdutl/),
  });
  expect(await files()).toEqual(['orders/good.db']);
});

test('a database whose keys etcd could not have written is refused, although its checksum is right', async () => {
  const database = saved.subarray(0, -32);
  const key = '\x0a\x0akey-000001';
  /** Changes the byte at this distance from each copy of the key: some copies are in pages that bbolt has freed. */
  const changed = (distance: number, to: (value: number) => number) => {
    const copy = Buffer.from(database);
    for (let at = database.indexOf(key); at >= 0; at = database.indexOf(key, at + 1))
      copy[at + distance] = to(copy[at + distance]!);
    expect(copy.equals(database)).toBe(false);
    return seal(copy);
  };
  await put(
    'orders/empty-key.db',
    changed(1, () => 0),
  );
  await put('orders/good.db', seal(Buffer.from(database)));
  await put(
    'orders/revision.db',
    changed(15, (value) => value + 1),
  );
  const { exitCode, data } = await adopt();
  expect([exitCode, data.adopted, data.failed]).toEqual([ExitCode.verificationFailed, 1, 2]);
  expect(data.snapshots).toMatchObject([
    { outcome: 'failed', detail: expect.stringMatching(/is not a key with a value|empty key/) },
    { outcome: 'adopted', id: 'good' },
    { outcome: 'failed', detail: expect.stringMatching(/claims to be of revision/) },
  ]);
});

test('a dry run checks the files and writes nothing', async () => {
  await put('orders/a.db');
  expect(await adopt('--dry-run')).toMatchObject({
    exitCode: 0,
    data: { adopted: 1, snapshots: [{ outcome: 'would be adopted' }] },
  });
  expect(await files()).toEqual(['orders/a.db']);
});

test('for a name in local time the time of the store is used, with a warning', async () => {
  await put('orders/db_2026-11-20_03-38-07.db');
  const { data, log } = await adopt();
  expect(data.snapshots[0]).toMatchObject({
    createdAt: modified.toISOString(),
    warning: expect.stringMatching(/using the time of the store/),
  });
  // Once: the result has it.
  expect(log).toEqual([]);
});

test('files copied today are ordered by the months in their names, also by retention', async () => {
  const months = Array.from({ length: 12 }, (_, month) => new Date(Date.UTC(2025, month, 1, 2, 38)));
  const at = new Date('2026-11-20T09:38:30Z');
  for (const month of months) await put(`orders/monthly-${month.toISOString().slice(0, 16)}.db`, saved, at);
  const { data } = await adopt();
  expect(data.snapshots.map(({ createdAt }: { createdAt: string }) => createdAt).sort()).toEqual(
    months.map((month) => month.toISOString()),
  );
  const pruned = await runHere('prune', ...inStore(), '--retention=monthly=12', '--force');
  expect(pruned).toMatchObject({ exitCode: 0, data: { deleted: [] } });
  expect(await files()).toHaveLength(24);
});

test('files copied on one day are ordered by the hours in their names', async () => {
  const at = new Date('2026-11-20T12:00:30Z');
  for (let hour = 0; hour < 12; hour++)
    await put(`orders/h-20261120-${String(hour).padStart(2, '0')}0000.db`, saved, at);
  await adopt();
  const pruned = await runHere('prune', ...inStore(), '--retention=hourly=24', '--force');
  expect(pruned).toMatchObject({ exitCode: 0, data: { deleted: [] } });
});

test('a key outside the folder gets its manifest beside it, and `list` does not show it', async () => {
  await put('old/backups/x.db');
  await put('orders/sub/y');
  expect(await adopt('old/backups/x.db', '/orders/sub/y')).toMatchObject({ exitCode: 0, data: { adopted: 2 } });
  expect(await files()).toEqual(['old/backups/x.db', 'old/backups/x.db.json', 'orders/sub/y', 'orders/sub/y.json']);
  expect(await list()).toMatchObject({ snapshots: [], broken: [] });
  const fetch = ['restore', 'fetch', ...inStore(), '--object-key=old/backups/x.db', `--to=${path}/out.db`];
  expect(await runHere(...fetch)).toMatchObject({ exitCode: 0 });
  expect(await adopt('old/nothing.db')).toMatchObject({ exitCode: ExitCode.nothingThere });
});

test('restore adopts one file with --adopt', async () => {
  await put('orders/a.db.gz', gzipSync(saved));
  const fetch = (...more: string[]) =>
    runHere('restore', 'fetch', ...inStore(), '--object-key=orders/a.db.gz', `--etcdutl=${etcdutl()}`, ...more);
  expect(await fetch(`--to=${path}/1.db`)).toMatchObject({ exitCode: ExitCode.nothingThere });
  for (const name of ['2.db', '3.db']) {
    expect(await fetch('--adopt', `--to=${path}/${name}`)).toMatchObject({ exitCode: 0, data: { id: 'a' } });
    expect(await readFile(join(path, name))).toEqual(saved);
  }
  const dataDir = [
    'restore',
    'data-dir',
    ...inStore(),
    '--object-key=orders/a.db.gz',
    '--adopt',
    `--etcdutl=${etcdutl()}`,
  ];
  const beside = `${path}-data`;
  expect(await runHere(...dataDir, `--data-dir=${beside}`)).toMatchObject({ exitCode: 0 });
  await rm(beside, { recursive: true });
  await put('orders/bad.db', Buffer.from('bad'));
  const bad = ['restore', 'fetch', ...inStore(), '--object-key=orders/bad.db', '--adopt', `--to=${path}/4.db`];
  expect(await runHere(...bad)).toMatchObject({ exitCode: ExitCode.verificationFailed });
  expect(await files()).not.toContain('4.db');
});

describe('a file that already has a manifest', () => {
  const why = expect.stringMatching(/orders\/own\.json may be its manifest/);
  const skipped = { key: 'orders/own.db', outcome: 'skipped', detail: why };

  test('of a newer format, is passed by, which is said', async () => {
    await put('orders/own.db');
    await put('orders/own.json', Buffer.from('{"schema":"cdk8s-etcd/snapshot/v2"}'));
    await put('orders/free.db');
    expect(await adopt()).toMatchObject({
      exitCode: 0,
      text: why,
      data: { adopted: 1, skipped: 1, snapshots: [skipped, { outcome: 'adopted', id: 'free' }] },
    });
    expect(await adopt('orders/own.db')).toMatchObject({ exitCode: ExitCode.refused, text: why });
    expect((await adopt()).text).not.toContain('`adopt` replaces it');
    const fetch = ['fetch', ...inStore(), '--object-key=orders/own.db', '--adopt', `--to=${path}/x.db`];
    expect(await runHere('restore', ...fetch)).toMatchObject({ exitCode: ExitCode.refused, text: why });
    expect(await files()).toEqual(['orders/free.db', 'orders/free.json', 'orders/own.db', 'orders/own.json']);
  });

  test('that is damaged, is replaced if it is named, and the old text is kept until retention deletes the snapshot', async () => {
    await put('orders/own.db');
    await put('orders/own.json', Buffer.from('{'));
    expect(await adopt()).toMatchObject({ exitCode: 0, data: { adopted: 0, snapshots: [skipped] } });
    const before = await files();
    const dry = await adopt('orders/own.db', '--dry-run');
    expect(await files()).toEqual(before);
    const { exitCode, data, text } = await adopt('orders/own.db');
    const [{ id, replaced }] = data.snapshots;
    expect([exitCode, data.adopted, id]).toEqual([0, 1, 'own']);
    expect(dry.data.snapshots).toMatchObject([{ id, replaced }]);
    expect(text).toContain(`the old one is kept as ${replaced}`);
    expect(await readFile(join(path, replaced), 'utf8')).toBe('{');
    expect((await list()).snapshots).toMatchObject([{ id: 'own', verified: true }]);
    await put('orders/newer.db', saved, new Date(modified.getTime() + 86_400_000));
    await adopt('orders/newer.db');
    await runHere('prune', ...inStore(), '--retention=last=1,minKeep=1');
    expect(await files()).toEqual(['orders/newer.db', 'orders/newer.json']);
  });

  test('that is damaged, is kept if the file is not a snapshot', async () => {
    await put('orders/own.db', Buffer.from('no snapshot'));
    await put('orders/own.json', Buffer.from('{'));
    expect(await adopt('orders/own.db')).toMatchObject({ exitCode: ExitCode.verificationFailed });
    expect(await files()).toEqual(['orders/own.db', 'orders/own.json']);
  });

  test('that another run writes meanwhile in its place, stays', async () => {
    await put('orders/own.db');
    await put('orders/own.json', Buffer.from('{'));
    const meanwhile = await writingEtcdutl('orders/own.json', '{"id":"a"}');
    const said = expect.stringMatching(/orders\/own\.json was written meanwhile/);
    expect(await adopt('orders/own.db', meanwhile)).toMatchObject({ exitCode: ExitCode.refused, text: said });
    expect(await readFile(join(path, 'orders/own.json'), 'utf8')).toBe('{"id":"a"}');
  });

  test('is not replaced if another run writes it while the old one is copied aside', async () => {
    await put('orders/own.db');
    await put('orders/own.json', Buffer.from('{'));
    const { put: putObject } = FilesystemStore.prototype;
    FilesystemStore.prototype.put = async function (key, body, options) {
      const done = await putObject.call(this, key, body, options);
      if (key.includes('.replaced-')) await put('orders/own.json', Buffer.from('{"id":"a"}'));
      return done;
    };
    try {
      const said = expect.stringMatching(/orders\/own\.json was written meanwhile/);
      expect(await adopt('orders/own.db')).toMatchObject({ exitCode: ExitCode.refused, text: said });
    } finally {
      FilesystemStore.prototype.put = putObject;
    }
    expect(await readFile(join(path, 'orders/own.json'), 'utf8')).toBe('{"id":"a"}');
  });

  test('is not replaced if it is a document of another program', async () => {
    await put('orders/own.db');
    await put('orders/own.json', Buffer.from('{"made":"by a script"}'));
    const said = expect.stringMatching(/own\.json is a file of another program/);
    expect(await adopt('orders/own.db')).toMatchObject({ exitCode: ExitCode.refused, text: said });
    const { text } = await adopt();
    expect(text).toEqual(said);
    expect(text).not.toContain('replaces it');
    expect(await readFile(join(path, 'orders/own.json'), 'utf8')).toBe('{"made":"by a script"}');
  });

  test('that the store refuses, fails; the error says what to do', async () => {
    await put('orders/own.db');
    await put('orders/own.json', Buffer.from('{}'));
    const { get } = FilesystemStore.prototype;
    FilesystemStore.prototype.get = function (key, options) {
      return key.endsWith('own.json')
        ? Promise.reject(new AgentError(ExitCode.storeRefused, 'EACCES'))
        : get.call(this, key, options);
    };
    const said = expect.stringMatching(
      /own\.json may be its manifest, .*EACCES; allow the agent to read it, or move it/,
    );
    try {
      expect(await adopt('orders/own.db')).toMatchObject({ exitCode: ExitCode.refused, text: said });
      const { text } = await adopt();
      expect(text).toEqual(said);
      expect(text).not.toContain('replaces it');
    } finally {
      FilesystemStore.prototype.get = get;
    }
  });

  test.each([
    ['another payload', `orders/other.db`],
    ['its own payload', 'orders/etcd-snapshot-20261120-023807-3f9c2a.db'],
  ])('of another snapshot, which names %s, is replaced if the file is named', async (_, names) => {
    const id = 'etcd-snapshot-20261120-023807-3f9c2a';
    const copied = JSON.stringify(manifestOf(saved, saved, { id: 'other', object: { key: names } }));
    await put(`orders/${id}.db`);
    await put(`orders/${id}.json`, Buffer.from(copied));
    expect((await runHere('list', ...inStore())).text).toMatch(
      /its manifest belongs to other; if its payload is good, .etcd-agent adopt [^`]*. replaces the manifest/,
    );
    const flags = ['--adopt', `--object-key=orders/${id}.db`, `--etcdutl=${etcdutl()}`, `--to=${path}/x.db`];
    const refused = { exitCode: ExitCode.refused, text: expect.stringContaining('was written for another payload') };
    expect(await runHere('restore', 'fetch', ...inStore(), ...flags)).toMatchObject(refused);
    expect(await adopt(`orders/${id}.db`)).toMatchObject({ exitCode: 0, data: { adopted: 1, snapshots: [{ id }] } });
    expect((await list()).snapshots).toMatchObject([{ id, verified: true }]);
  });

  test('under a name that is not an id, and damaged, is replaced too', async () => {
    await put('orders/with.a.dot.db');
    await adopt('orders/with.a.dot.db');
    const [manifest] = (await files()).filter((name) => name.endsWith('.json'));
    await put(manifest!, Buffer.from('{'));
    expect(await adopt('orders/with.a.dot.db')).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
    expect((await list()).snapshots).toHaveLength(1);
  });

  test('a file beside a manifest that names another payload can be adopted', async () => {
    await put('orders/a.db');
    await adopt();
    await put('orders/a.snap');
    expect(await adopt()).toMatchObject({ exitCode: 0, data: { adopted: 1, skipped: 0 } });
  });
});

describe('restore --adopt', () => {
  const fetch = (...more: string[]) =>
    runHere(
      ...['restore', 'fetch', ...inStore(), '--object-key=orders/a.db', '--adopt', `--to=${path}/x.db`],
      ...[`--etcdutl=${etcdutl()}`, `--scratch=${path}`, ...more],
    );

  test('does not replace an intact manifest whose payload has another size; the error says what to do', async () => {
    const manifest = Buffer.from(JSON.stringify(manifestOf(saved, saved, { id: 'a', object: { key: 'orders/a.db' } })));
    await put('orders/a.db', larger);
    await put('orders/a.json', manifest);
    expect(await fetch()).toMatchObject({
      exitCode: ExitCode.refused,
      text: expect.stringMatching(
        /orders\/a\.json was written for another payload: its payload has \d+ bytes, not \d+; name another snapshot, or, .* first run `etcd-agent adopt orders\/a\.db [^`]*`/,
      ),
    });
    expect(await readFile(join(path, 'orders/a.json'))).toEqual(manifest);
    expect(await files()).toEqual(['orders/a.db', 'orders/a.json']);
  });

  test.each([
    ['its sha256', [`--sha256=${'e'.repeat(64)}`], /its sha256 is .*, not the expected e/],
    ['its id', ['b'], /is the snapshot a, not b/],
  ])('writes nothing if %s is not the expected one', async (_, more, said) => {
    await put('orders/a.db');
    const args = [`--data-dir=${path}/data`, `--etcdutl=${etcdutl()}`, `--scratch=${path}`, ...more];
    const { exitCode, text } = await runHere(
      ...['restore', 'data-dir', ...inStore(), '--object-key=orders/a.db', '--adopt', '--name=a', ...args],
      '--initial-advertise-peer-urls=http://127.0.0.1:2380',
    );
    expect(text).toMatch(said);
    expect(exitCode).toBe(ExitCode.verificationFailed);
    expect(await files()).toEqual(['orders/a.db']);
  });
});

test('a key that is not relative to the store: the error says so', async () => {
  await put('orders/a.db');
  for (const key of ['a.db', `${path}/orders/a.db`]) {
    expect(await adopt(key)).toMatchObject({
      exitCode: ExitCode.nothingThere,
      text: expect.stringMatching(/ has no .*a\.db; a key is relative to the store, for example orders\/a\.db$/),
    });
  }
  expect((await adopt('orders/b.db')).text).not.toContain('relative');
});

test("a file among another cluster's snapshots is refused without --force-foreign; with it, that cluster's retention keeps the file", async () => {
  const staging = ['--namespace=staging', '--cluster=orders', `--store=file://${path}`];
  const theirs = (...more: string[]) => runHere(...more, ...staging, `--etcdutl=${etcdutl()}`, `--scratch=${path}`);
  const key = 'staging/orders/dump.db';
  await put(key);
  const fetch = (file: string, ...more: string[]) =>
    runHere(
      ...['restore', 'fetch', ...inStore(), '--namespace=prod', `--object-key=${key}`, '--adopt'],
      ...[`--etcdutl=${etcdutl()}`, `--scratch=${path}`, `--to=${path}/${file}`, ...more],
    );
  await put('staging/orders/other.db', saved, new Date(modified.getTime() + 86_400_000));
  await theirs('adopt', 'staging/orders/other.db');

  const before = await files();
  const refused = {
    exitCode: ExitCode.refused,
    text: expect.stringMatching(
      /dump\.db lies among the snapshots of staging\/orders, such as other; name .*--force-foreign$/,
    ),
  };
  expect(await fetch('1.out')).toMatchObject(refused);
  expect(await adopt('--namespace=prod', key)).toMatchObject(refused);
  expect(await files()).toEqual(before);

  expect(await fetch('2.out', '--force-foreign')).toMatchObject({ exitCode: 0 });
  expect(await files()).toContain(`${key}.json`);
  expect(await runHere('prune', ...staging, '--retention=last=1,minKeep=1', '--force')).toMatchObject({ exitCode: 0 });
  expect(await files()).toEqual(expect.arrayContaining([key, `${key}.json`]));
  expect(await fetch('3.out')).toMatchObject({ exitCode: 0 });
});

test('a revision that contradicts an uncertain time causes a warning', async () => {
  await put('orders/snapshot-20261120-010000.db', later, new Date('2026-11-20T01:00:00Z'));
  await put('orders/old.db', saved, new Date('2026-11-20T02:00:00Z'));
  const said =
    /^orders\/old\.db: its revision 21 is lower than revision 26 of snapshot-20261120-010000, .*earlier time/;
  const { data, log } = await adopt('--dry-run');
  expect(log).toContainEqual(expect.stringMatching(said));
  expect(data.snapshots).toMatchObject([
    { id: 'old', warning: expect.stringMatching(/its name does not contain a time.*; its revision 21 is lower/) },
    { id: 'snapshot-20261120-010000' },
  ]);
  await adopt('orders/snapshot-20261120-010000.db');
  expect((await adopt()).log).toContainEqual(expect.stringMatching(said));
  expect((await adopt()).log).toEqual([]);
});

describe('a snapshot of the agent that has lost its manifest', () => {
  const id = 'etcd-snapshot-20261120-023807-3f9c2a';
  /** Runs the command that the message names, as a shell splits it. */
  const fetch = (name: string, ...more: string[]) =>
    runHere('restore', 'fetch', ...more, ...inStore(), `--to=${path}/${name}`);

  test.each([`show ${id}`, `restore fetch ${id} --to=/tmp/x`, 'list', 'verify'])(
    '%s says the way out when the manifest is damaged',
    async (command) => {
      await put(`orders/${id}.db`);
      await put(`orders/${id}.json`, Buffer.from('{"schema":"cdk8s-etcd/snapshot/v1","id'));
      const { text } = await runHere(...command.split(' '), ...inStore());
      expect(text).toMatch(
        new RegExp(`; if its payload is good, .etcd-agent adopt orders/${id}.db [^\`]*. replaces the manifest`),
      );
      const { exitCode, data } = await asTyped(text);
      const [{ outcome, replaced }] = data.snapshots;
      expect([exitCode, outcome]).toEqual([0, 'adopted']);
      expect(await readFile(join(path, replaced), 'utf8')).toBe('{"schema":"cdk8s-etcd/snapshot/v1","id');
      expect(await fetch('y.db')).toMatchObject({ exitCode: 0, data: { id } });
    },
  );

  test('a finding that the payload does not fit the lost manifest does not count against the new one', async () => {
    await put(`orders/${id}.db`);
    const lost = manifestOf(later, later, { id, object: { sizeBytes: saved.length } });
    await put(`orders/${id}.json`, Buffer.from(JSON.stringify(lost)));
    expect(await runHere('verify', ...inStore())).toMatchObject({ exitCode: ExitCode.verificationFailed });
    await rm(join(path, `orders/${id}.json`));
    const said = (words: string) => ({
      log: [],
      data: {
        snapshots: [
          { finding: expect.stringMatching(`^${words} what .verify. found before: .*not those that were stored`) },
        ],
      },
      text: expect.stringContaining(`${words} what `),
    });
    expect(await adopt(`orders/${id}.db`, '--dry-run')).toMatchObject(said('would replace'));
    expect(await adopt(`orders/${id}.db`)).toMatchObject(said('replaces'));
    expect((await list()).snapshots).toMatchObject([{ id, state: 'verified', level: 'open' }]);
    expect(await fetch('x.db')).toMatchObject({ exitCode: 0, data: { id } });
  });

  test.each([
    ['is damaged', '{'],
    ['is gone', undefined],
  ])('restore also names another snapshot when the manifest %s, and `adopt` ends the search', async (_, text) => {
    await put('orders/other.db');
    await adopt('orders/other.db');
    await put(`orders/${id}.db`, saved.subarray(0, 100));
    if (text) await put(`orders/${id}.json`, Buffer.from(text));
    const failed = await fetch('x.db', id);
    expect(failed.text).toMatch(/name another snapshot, for example other, .*; if .*`etcd-agent adopt /);
    expect((await asTyped(failed.text)).text).toMatch(
      /; use another snapshot, and replace the file .*, or move orders\/\S+( and orders\/\S+)? away/,
    );
  });

  test.each([
    ['show', ExitCode.nothingThere],
    ['list', 0],
    ['verify', ExitCode.verificationFailed],
    ['adopt', 0],
  ])('%s says the way out when the manifest is gone (%i)', async (command, code) => {
    await put(`orders/${id}.db`);
    await put('orders/other.db');
    await adopt('orders/other.db');
    const { text, exitCode } = await runHere(command, ...(command === 'show' ? [id] : []), ...inStore());
    expect({ text, exitCode }).toEqual({
      text: expect.stringMatching(
        new RegExp(`(${id}|left out).* manifest.*; if no backup is running, .etcd-agent adopt orders/${id}`),
      ),
      exitCode: code,
    });
    expect(await asTyped(text)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
    expect(await fetch('y.db', id)).toMatchObject({ exitCode: 0 });
  });
});

/** An etcdutl that first writes this object, as another run might. */
async function writingEtcdutl(key: string, text: string): Promise<string> {
  const script = join(path, 'etcdutl.sh');
  await writeFile(script, `#!/bin/sh\nprintf '%s' '${text}' > '${path}/${key}'\nexec '${etcdutl()}' "$@"\n`, {
    mode: 0o755,
  });
  return `--etcdutl=${script}`;
}

describe('a payload whose backup may still be running', () => {
  const id = 'etcd-snapshot-20261120-023807-3f9c2a';
  const wait = /its backup may still be running; wait until \d{4}-\S+Z/;

  test.each([`orders/${id}.db`, `old/latest.db.${id}`])(
    '%s is refused in the first hour, and then adopted',
    async (key) => {
      await put(key, saved, new Date(Date.now() - 50 * 60_000));
      const refused = { exitCode: ExitCode.refused, text: expect.stringMatching(wait) };
      expect(await adopt(key)).toMatchObject(refused);
      const fetch = ['restore', 'fetch', ...inStore(), `--object-key=${key}`, '--adopt', `--to=${path}/x.db`];
      expect(await runHere(...fetch, `--etcdutl=${etcdutl()}`)).toMatchObject(refused);
      expect(await files()).toEqual([key]);
      const { text } = await adopt(key);
      expect(text).toMatch(/ --backup-ended` adopts it now$/);
      expect(await asTyped(text)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
      for (const each of await files()) if (each !== key) await rm(join(path, each));
      await put(key, saved, new Date(Date.now() - 61 * 60_000));
      expect(await adopt(key)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
    },
  );

  test.each([`show ${id}`, `restore fetch ${id} --to=/tmp/x`, 'adopt'])(
    '`%s` says how long to wait, and what to do then',
    async (command) => {
      await put(`orders/${id}.db`, saved, new Date());
      await put(`orders/${id}.taking`, Buffer.alloc(0), new Date());
      const { text } = await runHere(...command.split(' '), ...inStore());
      expect(text).toMatch(
        /its backup( or copy)? is still running, or was killed(, or its manifest was deleted)?; .*wait until \d{4}-\S+Z; if it has no manifest then, .etcd-agent adopt .* writes one; with --backup-ended it does so now/,
      );
      await put(`orders/${id}.db`, saved, new Date(Date.now() - 61 * 60_000));
      expect(await asTyped(text)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
    },
  );

  test('a restore of the newest one says in its result that it is passed over', async () => {
    await put('orders/snapshot-20261119-023807.db');
    expect(await adopt()).toMatchObject({ exitCode: 0 });
    await put(`orders/${id}.db`, saved, new Date());
    await put(`orders/${id}.taking`, Buffer.alloc(0), new Date());
    const why = 'it has no manifest: its backup is still running, or was killed';
    expect(await runHere('restore', 'fetch', ...inStore(), `--to=${path}/x.db`)).toMatchObject({
      exitCode: 0,
      text: expect.stringMatching(new RegExp(`passed over: ${id}, \\S+ .*newer: ${why}`)),
      data: { passedOver: [{ id, why }] },
    });
  });

  test.each(['list', `show ${id}`, 'verify', 'status'])(
    'a damaged manifest shows that it is over: `%s` names `adopt` at once',
    async (command) => {
      await put(`orders/${id}.db`, saved, new Date());
      await put(`orders/${id}.json`, Buffer.from('{'));
      const { text } = await runHere(...command.split(' '), ...inStore());
      expect(text).not.toContain('wait until');
      expect(await asTyped(text)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
    },
  );

  test('a manifest that the store refuses is the reason, however young the payload is', async () => {
    await put(`orders/${id}.db`, saved, new Date());
    await put(`orders/${id}.json`, Buffer.from('{}'));
    const { get } = FilesystemStore.prototype;
    FilesystemStore.prototype.get = function (this: FilesystemStore, key, ...more) {
      if (key === `orders/${id}.json`) throw new AgentError(ExitCode.storeRefused, 'EACCES');
      return get.call(this, key, ...more);
    };
    try {
      const { text } = await adopt(`orders/${id}.db`);
      expect(text).toMatch(/json may be its manifest, but cannot be used: .*EACCES/);
      expect(text).not.toContain('wait until');
    } finally {
      FilesystemStore.prototype.get = get;
    }
  });

  test('a name that a backup has reserved is left alone, however old', async () => {
    await put('orders/nightly.db.gz', gzipSync(saved));
    await put('orders/nightly.reserved', Buffer.from('{}'), new Date());
    await put('orders/other.db');
    const why = expect.stringMatching(
      /a backup is writing it: orders\/nightly\.reserved exists; wait until it ends; if it was killed, delete that file/,
    );
    expect(await adopt()).toMatchObject({
      exitCode: 0,
      data: { adopted: 1, snapshots: [{ key: 'orders/nightly.db.gz', outcome: 'skipped', detail: why }, {}] },
    });
    expect(await adopt('orders/nightly.db.gz')).toMatchObject({ exitCode: ExitCode.refused, text: why });
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(path, 'orders/nightly.reserved'), longAgo, longAgo);
    const killed =
      /: its backup was killed, or has been running for over an hour: orders\/nightly\.reserved exists; if no backup is running, delete that file/;
    expect((await adopt('orders/nightly.db.gz')).text).toMatch(killed);
    const [left] = (await adopt()).data.snapshots;
    expect(`${left.key}: ${left.detail}`).toMatch(killed);
    await rm(join(path, 'orders/nightly.reserved'));
    expect(await adopt()).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  });

  test('a fresh file of another tool is adopted at once', async () => {
    await put('orders/a.db', saved, new Date());
    expect(await adopt()).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  });

  test('a manifest that another run writes meanwhile stays', async () => {
    await put('orders/a.db');
    const manifest = join(path, 'orders/a.json');
    const meanwhile = await writingEtcdutl('orders/a.json', '{"id":"a"}');
    const said = expect.stringMatching(/orders\/a\.json was written meanwhile/);
    expect(await adopt(meanwhile)).toMatchObject({
      exitCode: 0,
      data: { adopted: 0, snapshots: [{ outcome: 'skipped', detail: said }] },
    });
    await rm(manifest);
    expect(await adopt('orders/a.db', meanwhile)).toMatchObject({ exitCode: ExitCode.refused, text: said });
    expect(await readFile(manifest, 'utf8')).toBe('{"id":"a"}');
  });
});

describe('what `verify` found before', () => {
  const id = 'etcd-snapshot-20261120-023807-3f9c2a';
  const finding = `orders/${id}.verify.json`;
  const found = (more: object) =>
    JSON.stringify({
      ...{ schema: 'cdk8s-etcd/verification/v1', id, level: 'open', outcome: 'failed', at: '2026-11-20T03:00:00.000Z' },
      ...{ detail: `${id}: its data differ from those of the cluster`, agent: { version: '1' }, ...more },
    });
  const putFinding = async (text: string) => {
    await put(`orders/${id}.db`);
    await put(finding, Buffer.from(text));
  };
  const verify = () => runHere('verify', id, '--level=open', ...inStore(), `--etcdutl=${etcdutl()}`);
  const fetch = (name: string, ...more: string[]) =>
    runHere('restore', 'fetch', ...inStore(), `--etcdutl=${etcdutl()}`, `--to=${path}/${name}`, ...more);

  test.each([
    [
      'about the data',
      found({}),
      'failed',
      /its data differ .*`etcd-agent verify \S+ --level=open [^`]*` replaces it if/,
    ],
    ['that is damaged', '{', 'unread', /is damaged; `etcd-agent verify \S+ --level=open [^`]*` replaces it/],
    ['of a newer agent', '{"schema":"cdk8s-etcd/verification/v2"}', 'unread', /use a newer agent/],
  ])('%s stands, which is said, and only `verify` replaces it', async (_, text, state, why) => {
    await putFinding(text);
    const key = `--object-key=orders/${id}.db`;
    const refused = { exitCode: ExitCode.verificationFailed, text: expect.stringContaining('--force-failed') };
    expect(await adopt(`orders/${id}.db`)).toMatchObject({
      exitCode: 0,
      text: expect.stringMatching(why),
      data: { adopted: 1, snapshots: [{ finding: expect.stringMatching(/^it is not verified: /) }] },
    });
    expect(await readFile(join(path, finding), 'utf8')).toBe(text);
    expect(JSON.stringify(await list())).toMatch(/its data differ|cannot be read|has the schema/);
    expect(await fetch('x.db', '--adopt', key)).toMatchObject(refused);
    if (text === '{') {
      const whole = new RegExp(
        `is damaged; .etcd-agent verify ${id} --level=open --store=\\S+ --cluster=orders --namespace=`,
      );
      for (const ran of [await runHere('list', ...inStore()), await fetch('x.db'), await fetch('x.db', id)])
        expect(ran.text).toMatch(whole);
    }
    await rm(join(path, `orders/${id}.json`));
    expect(await fetch('x.db', '--adopt', key)).toMatchObject(refused);
    expect(await fetch('x.db', '--adopt', key, '--force-failed')).toMatchObject({ exitCode: 0 });
    if (text.includes('/v2')) return;
    expect(await verify()).toMatchObject({ exitCode: 0 });
    expect((await list()).snapshots).toMatchObject([{ id, state: 'verified' }]);
    expect(state).not.toBe('verified');
  });

  test('about the payload is replaced', async () => {
    await putFinding(found({ damaged: true }));
    expect(await adopt(`orders/${id}.db`)).toMatchObject({
      exitCode: 0,
      text: expect.stringContaining('replaces what'),
    });
    expect((await list()).snapshots).toMatchObject([{ id, state: 'verified' }]);
  });

  test('about the data is not lost when `verify` finds the manifest damaged', async () => {
    await putFinding(found({}));
    await put(`orders/${id}.json`, Buffer.from('{'));
    expect(await verify()).toMatchObject({ exitCode: ExitCode.verificationFailed });
    expect(await readFile(join(path, finding), 'utf8')).toBe(found({}));
  });

  test('under an exact key stands too, although the id is another', async () => {
    await put('own/latest.db');
    await put('own/latest.db.verify.json', Buffer.from(found({})));
    const key = '--object-key=own/latest.db';
    expect(await adopt('own/latest.db')).toMatchObject({
      exitCode: 0,
      text: expect.stringMatching(/`etcd-agent verify --object-key=own\/latest\.db --level=open [^`]*` replaces it/),
    });
    expect(await fetch('x.db', key)).toMatchObject({ exitCode: ExitCode.verificationFailed });
    expect(await runHere('verify', key, '--level=open', ...inStore(), `--etcdutl=${etcdutl()}`)).toMatchObject({
      exitCode: 0,
    });
    expect(await fetch('x.db', key)).toMatchObject({ exitCode: 0 });
  });

  test('is not touched if the manifest cannot be written', async () => {
    const text = found({ damaged: true });
    await putFinding(text);
    const meanwhile = await writingEtcdutl(`orders/${id}.json`, '{"id":"a"}');
    expect(await adopt(`orders/${id}.db`, meanwhile)).toMatchObject({ exitCode: ExitCode.refused });
    expect(await readFile(join(path, finding), 'utf8')).toBe(text);
  });
});

describe('an exact key', () => {
  const key = 'own/a.db';
  const fetch = (name: string) =>
    runHere('restore', 'fetch', `--object-key=${key}`, ...inStore(), `--to=${path}/${name}`);
  const asTyped = (text: string) => {
    const [, line = ''] = /`etcd-agent (adopt [^`]*)`/.exec(text) ?? [];
    return runHere(...line.split(' '), `--etcdutl=${etcdutl()}`, `--scratch=${path}`);
  };
  beforeEach(async () => {
    await put(key);
    expect(await adopt(key)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  });

  test.each<[string, () => Promise<void>, RegExp]>([
    ['a damaged manifest', () => put(`${key}.json`, Buffer.from('{')), /replaces the manifest/],
    [
      'a payload of another size',
      () => put(key, larger),
      /if another snapshot was stored in its place, .* writes a new manifest/,
    ],
  ])('with %s: the command in the error makes it a snapshot again', async (_, harm, said) => {
    await harm();
    const failed = await fetch('x.db');
    expect(failed).toMatchObject({ exitCode: ExitCode.verificationFailed, text: expect.stringMatching(said) });
    expect(await asTyped(failed.text)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
    expect(await fetch('x.db')).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(path, 'x.db'))).toEqual(await readFile(join(path, key)));
    expect((await files()).filter((name) => name.startsWith('own/'))).toEqual([
      ...[key, `${key}.json`],
      expect.stringMatching(/^own\/a\.db\.json\.replaced-[0-9a-f]{16}$/),
    ]);
  });

  test('with a damaged manifest: restored with --adopt', async () => {
    await put(`${key}.json`, Buffer.from('{'));
    const flags = [
      '--adopt',
      `--object-key=${key}`,
      `--etcdutl=${etcdutl()}`,
      `--scratch=${path}`,
      `--to=${path}/x.db`,
    ];
    expect(await runHere('restore', 'fetch', ...inStore(), ...flags)).toMatchObject({
      exitCode: 0,
      log: expect.arrayContaining([expect.stringMatching(/the old one is kept as own\/a\.db\.json\.replaced-/)]),
    });
  });

  test('with a payload of another size that is not a snapshot: the manifest stays', async () => {
    await put(key, saved.subarray(0, 100));
    const text = await readFile(join(path, `${key}.json`), 'utf8');
    expect(await adopt(key)).toMatchObject({ exitCode: ExitCode.verificationFailed });
    expect(await readFile(join(path, `${key}.json`), 'utf8')).toBe(text);
  });
});

test.each([
  ['weekly.1', 'weekly-1-XXXXXX'],
  ['monthly', 'monthly'],
  ['etcd-snapshot-20261120-023807-3f9c2a', 'etcd-snapshot-20261120-023807-3f9c2a'],
])('a file that retention is deleting now is not adopted: %s', async (name, of) => {
  const key = `orders/${name}.db`;
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 6);
  const marker = `orders/${of.replace('XXXXXX', hash)}.deleting`;
  const minutes = (n: number) => new Date(Date.now() - n * 60_000);
  await put(key);
  await put(marker, Buffer.from('{}'), minutes(59));
  const before = await files();
  for (const flags of [[], ['--backup-ended']])
    expect(await adopt(key, ...flags)).toMatchObject({
      exitCode: ExitCode.refused,
      text: expect.stringMatching(
        /: retention is deleting it; wait until \d{4}-.*Z, and adopt it then if it is still there$/,
      ),
    });
  expect(await files()).toEqual(before);
  await put(marker, Buffer.from('{}'), minutes(61));
  expect(await adopt(key)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  expect(await files()).not.toContain(marker);
});

test('a file that retention was deleting when it was killed is adopted only by its name', async () => {
  for (const name of ['monthly', 'weekly.1']) await put(`orders/${name}.db`);
  expect(await adopt()).toMatchObject({ exitCode: 0, data: { adopted: 2 } });
  for (const name of await files()) {
    const [, id] = /^orders\/(.*)\.json$/.exec(name) ?? [];
    if (!id) continue;
    await rm(join(path, name));
    await put(`orders/${id}.deleting`, Buffer.from('{}'));
  }
  const again = await adopt();
  expect(again).toMatchObject({ text: expect.stringMatching(/weekly\.1\.db.*retention is deleting it/) });
  expect(again).toMatchObject({ data: { adopted: 0, skipped: 2 } });
  expect(await adopt('orders/monthly.db')).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  expect(await files()).not.toContain('orders/monthly.deleting');
});

describe('while a payload of ours is being checked', () => {
  const id = 'etcd-snapshot-20261120-023807-3f9c2a';
  const key = `orders/${id}.db`;
  /** An etcdutl that first runs this, as another command might. */
  const meanwhile = async (shell: string) => {
    const script = join(path, 'meanwhile.sh');
    await writeFile(script, `#!/bin/sh\n${shell}\nexec '${etcdutl()}' "$@"\n`, { mode: 0o755 });
    return `--etcdutl=${script}`;
  };

  test('a marker keeps other runs from deleting it, and is removed, also if it is not a snapshot', async () => {
    await put(key);
    const look = await meanwhile(`ls '${path}/orders' > '${path}/seen'`);
    expect(await adopt(key, look)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
    expect(await readFile(join(path, 'seen'), 'utf8')).toMatch(new RegExp(`^${id}\\.db\\.adopting-[0-9a-f]{6}$`, 'm'));
    await put('orders/etcd-snapshot-20261120-023807-bad000.db', Buffer.from('bad'));
    await adopt('orders/etcd-snapshot-20261120-023807-bad000.db');
    expect((await files()).filter((name) => name.includes('.adopting'))).toEqual([]);
  });

  test('by two runs, the end of one leaves the other protected', async () => {
    await put(key);
    const other = `${id}.db.adopting-aaaaaa`;
    await put(`orders/${other}`, Buffer.alloc(0));
    expect(await adopt(key)).toMatchObject({ exitCode: 0 });
    expect(await files()).toContain(`orders/${other}`);
  });

  test('with credentials that may only read, nothing is said of a marker that was never written', async () => {
    await put(key);
    const refuse = (store: FilesystemStore) =>
      Promise.reject<never>(new AgentError(ExitCode.storeRefused, `${store.url}: read-only`));
    const { put: putObject, delete: deleteObject } = FilesystemStore.prototype;
    FilesystemStore.prototype.put = function () {
      return refuse(this);
    };
    FilesystemStore.prototype.delete = function () {
      return refuse(this);
    };
    try {
      const flags = ['--adopt', `--object-key=${key}`, `--etcdutl=${etcdutl()}`, `--to=${path}/x.db`];
      expect(await runHere('restore', 'fetch', ...inStore(), ...flags)).toMatchObject({
        exitCode: 0,
        log: [expect.stringContaining('restoring without adopting it')],
      });
    } finally {
      FilesystemStore.prototype.put = putObject;
      FilesystemStore.prototype.delete = deleteObject;
    }
  });

  test.each([
    ['deleted', `rm -f '$'`],
    ['replaced', `echo x > '$'`],
  ])('and is %s: it is not adopted', async (what, shell) => {
    await put(key);
    const { exitCode, text } = await adopt(key, await meanwhile(shell.replace('$', join(path, key))));
    expect(exitCode).toBe(ExitCode.verificationFailed);
    expect(text).toContain(`${key} was ${what} while it was being checked, and is not adopted`);
    expect(await files()).not.toContain(`orders/${id}.json`);
  });

  test('`verify` finds it bad: that stands, and is said', async () => {
    await put(key);
    await put(`orders/${id}.json`, Buffer.from('{'));
    const finding = { schema: 'cdk8s-etcd/verification/v1', id, level: 'read', outcome: 'failed', damaged: true };
    const text = JSON.stringify({
      ...finding,
      detail: 'found meanwhile',
      at: '2026-11-20T03:00:00.000Z',
      agent: { version: '1' },
    });
    const { data } = await adopt(key, await meanwhile(`printf '%s' '${text}' > '${path}/orders/${id}.verify.json'`));
    expect(data.snapshots).toMatchObject([
      { outcome: 'adopted', finding: expect.stringMatching(/stands: found meanwhile/) },
    ]);
    expect((await list()).snapshots).toMatchObject([{ id, state: 'failed' }]);
  });
});

describe('what fails for one file does not keep the others from being adopted', () => {
  const { put: putObject } = FilesystemStore.prototype;
  afterEach(() => {
    FilesystemStore.prototype.put = putObject;
  });
  const refuse = (manifest: string) => {
    FilesystemStore.prototype.put = async function (this: FilesystemStore, key, body, options) {
      if (key === manifest) throw new AgentError(ExitCode.storeRefused, 'AccessDenied');
      return putObject.call(this, key, body, options);
    };
  };

  test.each([{ named: [] }, { named: ['orders/a.db', 'orders/b.db', 'orders/c.db'] }])(
    'the store refuses a manifest: %j',
    async ({ named }) => {
      for (const name of ['a', 'b', 'c']) await put(`orders/${name}.db`);
      refuse('orders/b.json');
      const { exitCode, data, text } = await adopt(...named);
      expect(exitCode).toBe(ExitCode.verificationFailed);
      expect(data.snapshots).toMatchObject([
        { key: 'orders/a.db', outcome: 'adopted' },
        { key: 'orders/b.db', outcome: 'failed', detail: 'AccessDenied', exitCode: ExitCode.storeRefused },
        { key: 'orders/c.db', outcome: 'adopted' },
      ]);
      expect(text).toMatch(/orders\/b\.db +failed .*AccessDenied/);
    },
  );

  test('if there is no other, the code is that of the failure', async () => {
    await put('orders/b.db');
    refuse('orders/b.json');
    expect(await adopt()).toMatchObject({ exitCode: ExitCode.storeRefused });
  });

  test('a key that does not exist', async () => {
    await put('orders/a.db');
    expect((await adopt('orders/gone.db', 'orders/a.db')).data.snapshots).toMatchObject([
      { key: 'orders/gone.db', outcome: 'failed', detail: expect.stringContaining('has no orders/gone.db') },
      { key: 'orders/a.db', outcome: 'adopted' },
    ]);
  });

  test('a name with a control character', async () => {
    await put('orders/a.db');
    await put('orders/b\nc.db');
    const { exitCode, data, text, log } = await adopt();
    expect([exitCode, data.adopted]).toEqual([ExitCode.verificationFailed, 1]);
    expect(text).toMatch(/"orders\/b\\nc\.db" +failed .*has a control character; rename it/);
    expect(log.join()).not.toContain('b\nc');
  });
});

describe('the command that a hint names', () => {
  const id = 'etcd-snapshot-20261120-023807-3f9c2a';

  test('is not named if another manifest names the payload; its owner is', async () => {
    await put(`orders/${id}.db`);
    await adopt(`orders/${id}.db`);
    const manifest = JSON.parse(await readFile(join(path, `orders/${id}.json`), 'utf8'));
    await put('orders/copied.json', Buffer.from(JSON.stringify({ ...manifest, id: 'copied' })));
    await rm(join(path, `orders/${id}.json`));
    for (const command of [['list'], ['show', id], ['verify']]) {
      const { text } = await runHere(...command, ...inStore());
      expect(text).toMatch(/; orders\/copied\.json names its payload: it is that of the snapshot copied/);
      expect(text).not.toContain('etcd-agent adopt');
    }
    expect(await adopt(`orders/${id}.db`)).toMatchObject({
      exitCode: 0,
      data: { skipped: 1, snapshots: [{ detail: 'it already has a manifest: orders/copied.json' }] },
    });
  });

  test('has the identities and etcdutl that were given', async () => {
    await put(`orders/${id}.db.age`);
    await put(`orders/${id}.json`, Buffer.from('{'));
    const identity = join(path, 'my key.txt');
    await writeFile(identity, await generateIdentity());
    const flags = [`--age-identity-file=${identity}`, '--etcdutl=/opt/my etcd/etcdutl'];
    const { text } = await runHere('verify', ...inStore(), ...flags);
    expect(text).toMatch(
      /etcd-agent adopt [^`]* --age-identity-file='[^']*my key\.txt' '--etcdutl=\/opt\/my etcd\/etcdutl'`/,
    );
    expect((await runHere('list', ...inStore())).text).toMatch(/ --age-identity-file=FILE`/);
  });
});

test('a link to the newest snapshot counts once, and leads to it', async () => {
  const day = 86_400_000;
  await put('orders/a.db', saved, new Date(modified.getTime() - day));
  await put('orders/b.db', later);
  await symlink('b.db', join(path, 'orders/latest.db'));
  expect(await adopt()).toMatchObject({
    data: { adopted: 2, skipped: 1 },
    text: expect.stringContaining('it is a link to orders/b.db, which counts once'),
  });
  expect((await runHere('prune', ...inStore(), '--retention=last=1')).data.deleted).toEqual(['a']);
  const to = join(path, 'out', 'fetched.db');
  const byLink = ['--object-key=orders/latest.db', '--adopt', `--to=${to}`, `--etcdutl=${etcdutl()}`];
  expect(await runHere('restore', 'fetch', ...inStore(), ...byLink, `--scratch=${path}`)).toMatchObject({
    exitCode: 0,
  });
  expect(await readFile(to)).toEqual(later);
});

test('a file that is written again after it was adopted does not count, and is adopted again', async () => {
  const at = new Date(Date.now() + 3_600_000);
  await put('orders/latest.db', saved, at);
  await adopt();
  // Its writer's clock is ahead of the store's.
  expect((await list()).snapshots).toMatchObject([{ verified: true }]);
  const other = Buffer.concat([later, Buffer.alloc(Math.max(0, saved.length - later.length))]).subarray(
    0,
    saved.length,
  );
  await put('orders/latest.db', other, new Date(at.getTime() + 1_000));
  const { snapshots, broken } = await list();
  expect([snapshots, broken]).toMatchObject([[], [{ problem: expect.stringContaining('was written again') }]]);
  expect(await runHere('status', ...inStore())).toMatchObject({
    exitCode: ExitCode.nothingThere,
    text: expect.stringContaining('etcd-agent adopt orders/latest.db'),
  });
  await put('orders/newer.db');
  await adopt();
  expect((await runHere('prune', ...inStore(), '--retention=last=1,minKeep=1')).data.deleted).toEqual([]);
  const replaced = await adopt('orders/latest.db');
  expect(replaced).toMatchObject(
    later.length === saved.length ? { exitCode: 0, data: { adopted: 1 } } : { exitCode: ExitCode.verificationFailed },
  );
});

test('an adopted store that was copied, with new times, counts', async () => {
  await put('orders/a.db');
  await adopt();
  await utimes(join(path, 'orders/a.db'), new Date(), new Date());
  await utimes(join(path, 'orders/a.json'), new Date(), new Date(Date.now() + 1_000));
  expect((await list()).snapshots).toMatchObject([{ verified: true }]);
});

test('a file without a dot in its name is deleted by retention, and not adopted again', async () => {
  for (const at of [1795228687, 1795142287, 1795055887]) await put(`orders/etcd-snapshot-node1-${at}`);
  expect(await adopt()).toMatchObject({ data: { adopted: 3 } });
  expect((await files()).filter((key) => key.endsWith('-1795228687.json'))).toEqual([]);
  await runHere('prune', ...inStore(), '--retention=last=1,minKeep=1');
  expect((await files()).filter((key) => !key.endsWith('.json'))).toEqual(['orders/etcd-snapshot-node1-1795228687']);
  expect(await adopt()).toMatchObject({ data: { adopted: 0 } });
});

test('a file without a dot in its name with a damaged manifest of its exact name becomes a snapshot that is listed', async () => {
  const key = 'orders/etcd-snapshot-node1-1795228687';
  await put(key);
  await writeFile(join(path, `${key}.json`), '{');
  expect(await adopt(key)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  expect((await list()).snapshots).toMatchObject([{ id: 'etcd-snapshot-node1-1795228687', verified: true }]);
});

test('a damaged manifest under an id that is not the name of the file is named', async () => {
  const key = 'orders/etcd 2026-11-20.db';
  await put(key);
  await adopt();
  const at = (await files()).find((each) => each.endsWith('.json'))!;
  await writeFile(join(path, at), '{');
  const detail = expect.stringMatching(
    /may be its manifest, but is damaged; `adopt` replaces it when you name the file/,
  );
  expect(await adopt()).toMatchObject({ data: { adopted: 0, snapshots: [{ key, outcome: 'skipped', detail }] } });
  expect(await adopt(key)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
});

test('a file with a new time and the same bytes is a snapshot again when it is named', async () => {
  await put('orders/a.db');
  await adopt();
  const [{ createdAt }] = (await list()).snapshots;
  const at = new Date(Date.now() + 5_000);
  await utimes(join(path, 'orders/a.db'), at, at);
  expect((await list()).snapshots).not.toMatchObject([{ verified: true }]);
  expect(await adopt('orders/a.db')).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  expect((await list()).snapshots).toMatchObject([{ id: 'a', verified: true, createdAt }]);
});

describe('a file with a new time', () => {
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
  const verify = () => runHere('verify', ...inStore(), `--etcdutl=${etcdutl()}`, `--scratch=${path}`);
  beforeEach(async () => {
    await put('orders/a.db');
    await adopt();
    await utimes(join(path, 'orders/a.json'), ago(60), ago(60));
  });

  test('and the same bytes is a snapshot again once it is verified', async () => {
    await utimes(join(path, 'orders/a.db'), ago(30), ago(30));
    expect((await list()).broken).toMatchObject([{ id: 'a', problem: expect.stringContaining('was written again') }]);
    expect(await verify()).toMatchObject({ exitCode: 0, data: { verified: 1, failed: 0 } });
    expect(await list()).toMatchObject({ broken: [], snapshots: [{ id: 'a', verified: true }] });
  });

  test('and the same bytes is one also if the time is in the future', async () => {
    await utimes(join(path, 'orders/a.db'), ago(-3_600), ago(-3_600));
    expect(await verify()).toMatchObject({ exitCode: 0, data: { verified: 1 } });
    expect(await list()).toMatchObject({ broken: [], snapshots: [{ id: 'a', verified: true }] });
  });

  test('counts only if it has the time that it had when it was verified: it may be written meanwhile', async () => {
    await utimes(join(path, 'orders/a.db'), ago(30), ago(30));
    expect(await verify()).toMatchObject({ exitCode: 0 });
    await utimes(join(path, 'orders/a.db'), ago(10), ago(10));
    expect((await list()).broken).toMatchObject([{ id: 'a', problem: expect.stringContaining('was written again') }]);
    expect(await adopt('orders/a.db')).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
  });

  test('is not called broken by what is wrong with the run', async () => {
    await utimes(join(path, 'orders/a.db'), ago(30), ago(30));
    const without = ['--etcdutl=/nonexistent/etcdutl', `--scratch=${path}`, '--level=open'];
    expect(await runHere('verify', ...inStore(), ...without)).toMatchObject({ exitCode: ExitCode.usage });
  });

  test('and other bytes is none, and no finding says so after it is adopted again', async () => {
    await put('orders/a.db', Buffer.concat([saved.subarray(0, -1), Buffer.from([1 ^ saved.at(-1)!])]), ago(30));
    expect(await verify()).toMatchObject({ exitCode: 30, text: expect.stringContaining('was written again') });
    expect((await files()).filter((key) => key.includes('verify'))).toEqual([]);
  });
});

test('a snapshot that an older agent adopted by a link stays one, unless its file is one itself', async () => {
  await put('orders/b.db');
  await adopt();
  const manifest = JSON.parse(await readFile(join(path, 'orders/b.json'), 'utf8'));
  const ofLink = { ...manifest, id: 'latest', object: { ...manifest.object, key: 'orders/latest.db' } };
  await symlink('b.db', join(path, 'orders/latest.db'));
  await writeFile(join(path, 'orders/latest.json'), JSON.stringify(ofLink));
  expect(await list()).toMatchObject({
    snapshots: [{ id: 'b', verified: true }],
    broken: [{ id: 'latest', problem: 'its file orders/latest.db is a link to orders/b.db, which is the snapshot b' }],
  });
  await rm(join(path, 'orders/b.json'));
  expect(await list()).toMatchObject({ snapshots: [{ id: 'latest', verified: true }], broken: [] });
});

test('a damaged manifest of an older agent beside a file without a dot in its name is listed', async () => {
  const key = 'orders/etcd-snapshot-node1-1795228687';
  await put(key);
  await writeFile(join(path, `${key}.json`), '{');
  await writeFile(join(path, 'orders/notes'), 'x');
  await writeFile(join(path, 'orders/notes.json'), '{');
  expect((await list()).broken).toMatchObject([
    { id: 'etcd-snapshot-node1-1795228687', problem: expect.stringContaining('its manifest cannot be read') },
  ]);
  expect((await runHere('status', ...inStore())).text).toMatch(/adopt orders\/etcd-snapshot-node1-1795228687/);
});

test('a file that cannot be read is left out with the reason, and the others are adopted', async () => {
  await put('orders/a.db');
  await put('orders/notes.tar.gz');
  await put('orders/etcd-snapshot-node1-1795228687');
  const { get } = FilesystemStore.prototype;
  FilesystemStore.prototype.get = async function (key) {
    if (/gz$|87$/.test(key)) throw new AgentError(ExitCode.storeRefused, 'InvalidObjectState (403)');
    return get.call(this, key);
  };
  const detail = expect.stringMatching(/cannot be read: .*InvalidObjectState/);
  const { exitCode, data } = await adopt().finally(() => {
    FilesystemStore.prototype.get = get;
  });
  expect({ exitCode, adopted: data.adopted }).toEqual({ exitCode: 0, adopted: 1 });
  const skipped = data.snapshots.filter(({ outcome }: { outcome: string }) => outcome === 'skipped');
  expect(skipped).toMatchObject([{ detail }, { detail }]);
});

test('a file that was compressed after encryption is said to be that', async () => {
  await put('orders/a.db.gz', gzipSync(Buffer.concat([Buffer.from('age-encryption.org/v1\n'), Buffer.alloc(1_000)])));
  expect((await adopt()).text).toMatch(/it was compressed after it was encrypted; decompress it once/);
});

test('a file that is refused is closed', async () => {
  await put('orders/a.db', Buffer.concat([Buffer.from('504b0304140000', 'hex'), Buffer.alloc(3_000_000)]));
  await adopt();
  const open = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  expect(open.filter((file) => file.startsWith(path))).toEqual([]);
});

test('files of k3s are adopted, and what is left out is said with the reason', async () => {
  await put('orders/etcd-snapshot-node1.example.com-1795228687');
  await put('orders/on-demand-server-1-1795228000');
  await put('orders/etcd-notes-20261121', Buffer.from('not a snapshot'));
  await put('orders/a.db.xz', Buffer.from('fd377a585a000004', 'hex'));
  await put('orders/b.db', Buffer.from('504b0304140000', 'hex'));
  await put('orders/2026-11-21_023807/snapshot.db');
  const result = await adopt();
  expect(result).toMatchObject({ data: { adopted: 2, skipped: 3, failed: 1 } });
  expect(result.text).toMatch(/etcd-notes-20261121 +skipped .*its content is not that of a snapshot/);
  expect(result.text).toMatch(/a\.db\.xz +skipped .*it is compressed with xz.*`xz -d`/);
  expect(result.text).toMatch(/snapshot\.db +skipped .*it lies in a folder below/);
  expect(result.text).toMatch(/b\.db +failed .*it is a zip archive.*`unzip`, and adopt the snapshot inside\s*\n/);
  const below = await adopt('orders/2026-11-21_023807/snapshot.db');
  expect(below.data.snapshots).toMatchObject([{ createdAt: '2026-11-21T02:38:07.000Z' }]);
});

test('a file under an exact key that is written again is adopted again by its key', async () => {
  await put('etcd.db', later);
  await adopt('etcd.db');
  const at = new Date(Date.now() + 1_000);
  await put('etcd.db', larger, at);
  const fetched = ['restore', 'fetch', ...inStore(), `--etcdutl=${etcdutl()}`, '--object-key=etcd.db'];
  const to = join(path, 'out', 'fetched.db');
  const refused = await runHere(...fetched, `--to=${to}`);
  expect(refused).toMatchObject({
    exitCode: ExitCode.verificationFailed,
    text: expect.stringContaining('etcd-agent adopt etcd.db'),
  });
  expect(await adopt('etcd.db')).toMatchObject({ data: { adopted: 1 } });
  expect(await runHere(...fetched, `--to=${to}`)).toMatchObject({ exitCode: 0 });
  expect(await readFile(to)).toEqual(larger);
});

test('a database with a CORRUPT alarm is adopted as suspect, and the command says so', async () => {
  await put('orders/snapshot-20261120-023807.db', alarmed);
  const { exitCode, text, data } = await adopt();
  expect([exitCode, text]).toEqual([0, expect.stringContaining('its database has a CORRUPT alarm')]);
  const [{ id, alarms }] = data.snapshots;
  expect(alarms).toEqual(['CORRUPT']);
  const { source, verified } = JSON.parse(await readFile(join(path, `orders/${id}.json`), 'utf8'));
  expect([source, verified]).toEqual([expect.objectContaining({ alarms, suspect: ['Corrupt'] }), undefined]);
  expect((await list()).snapshots).toEqual([expect.objectContaining({ id, suspect: ['Corrupt'] })]);
});
