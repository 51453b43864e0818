import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { generateIdentity } from 'age-encryption';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { seal } from '../../../test/mutations/mutate.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { saveSnapshot } from '../../../test/support/save-snapshot.ts';
import { ExitCode } from '../../lib/errors.ts';

let saved: Buffer;
let later: Buffer;
beforeAll(async () => {
  await using etcd = await EtcdCluster.start();
  await etcd.put(20);
  saved = (await saveSnapshot(etcd)).snapshot;
  await etcd.put(5);
  later = (await saveSnapshot(etcd)).snapshot;
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
  expect(result).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { adopted: 1, failed: 6 } });
  expect(result.text).toMatch(/data-dir.db.*copy of a member’s db file/);
  expect(await files()).toEqual([...before, 'orders/good.json'].sort());
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
  test.each([
    ['damaged', '{'],
    ['of a newer format', '{"schema":"cdk8s-etcd/snapshot/v2"}'],
  ])('%s, is passed by, which is said', async (_, manifest) => {
    await put('orders/own.db');
    await put('orders/own.json', Buffer.from(manifest));
    await put('orders/free.db');
    const why = expect.stringMatching(/orders\/own\.json may be its manifest/);
    const skipped = { key: 'orders/own.db', outcome: 'skipped', detail: why };
    expect(await adopt()).toMatchObject({
      exitCode: 0,
      text: why,
      data: { adopted: 1, skipped: 1, snapshots: [skipped, { outcome: 'adopted', id: 'free' }] },
    });
    expect(await adopt('orders/own.db')).toMatchObject({ exitCode: 0, data: { adopted: 0, snapshots: [skipped] } });
    const fetch = ['fetch', ...inStore(), '--object-key=orders/own.db', '--adopt', `--to=${path}/x.db`];
    expect(await runHere('restore', ...fetch)).toMatchObject({ exitCode: ExitCode.refused, text: why });
    expect(await files()).toEqual(['orders/free.db', 'orders/free.json', 'orders/own.db', 'orders/own.json']);
  });

  test('a file beside a manifest that names another payload can be adopted', async () => {
    await put('orders/a.db');
    await adopt();
    await put('orders/a.snap');
    expect(await adopt()).toMatchObject({ exitCode: 0, data: { adopted: 1, skipped: 0 } });
  });
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
  const asTyped = (text: string) => {
    const [, line] = /`etcd-agent (adopt [^`]*)`/.exec(text) ?? [];
    const words = line?.match(/(?:[^\s']|'[^']*')+/g) ?? [];
    return runHere(...words.map((word) => word.replaceAll("'", '')), `--etcdutl=${etcdutl()}`, `--scratch=${path}`);
  };
  const fetch = (name: string, ...more: string[]) =>
    runHere('restore', 'fetch', ...more, ...inStore(), `--to=${path}/${name}`);

  test.each([`show ${id}`, `restore fetch ${id} --to=/tmp/x`, 'list', 'verify'])(
    '%s says the way out when the manifest is damaged',
    async (command) => {
      await put(`orders/${id}.db`);
      await put(`orders/${id}.json`, Buffer.from('{"schema":"cdk8s-etcd/snapshot/v1","id'));
      const { text } = await runHere(...command.split(' '), ...inStore());
      expect(text).toContain(
        `; if it is damaged, move orders/${id}.json away, then \`etcd-agent adopt orders/${id}.db`,
      );
      await rm(join(path, `orders/${id}.json`));
      expect(await asTyped(text)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
      expect(await fetch('y.db')).toMatchObject({ exitCode: 0, data: { id } });
    },
  );

  test('the finding against the damaged manifest does not count against the new one', async () => {
    await put(`orders/${id}.db`);
    await put(`orders/${id}.json`, Buffer.from('{'));
    expect(await runHere('verify', ...inStore())).toMatchObject({ exitCode: ExitCode.verificationFailed });
    await rm(join(path, `orders/${id}.json`));
    const said = (words: string) => ({
      log: [],
      data: {
        snapshots: [{ finding: expect.stringMatching(`^${words} what .verify. found before: its manifest cannot`) }],
      },
      text: expect.stringContaining(`${words} what `),
    });
    expect(await adopt(`orders/${id}.db`, '--dry-run')).toMatchObject(said('would replace'));
    expect(await adopt(`orders/${id}.db`)).toMatchObject(said('replaces'));
    expect((await list()).snapshots).toMatchObject([{ id, state: 'verified', level: 'open' }]);
    expect(await fetch('x.db')).toMatchObject({ exitCode: 0, data: { id } });
  });

  test.each(['show', 'list', 'verify'])('%s says the way out when the manifest is gone', async (command) => {
    await put(`orders/${id}.db`);
    await put('orders/other.db');
    await adopt('orders/other.db');
    const { text, exitCode } = await runHere(command, ...(command === 'show' ? [id] : []), ...inStore());
    expect({ text, exitCode }).toEqual({
      text: expect.stringMatching(
        new RegExp(`${id}.* manifest.*; if no backup is running, .etcd-agent adopt orders/${id}`),
      ),
      exitCode: command === 'show' ? ExitCode.nothingThere : 0,
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
      await put(key, saved, new Date(Date.now() - 61 * 60_000));
      expect(await adopt(key)).toMatchObject({ exitCode: 0, data: { adopted: 1 } });
    },
  );

  test.each([
    ['is missing', `show ${id}`],
    ['is missing', `restore fetch ${id} --to=/tmp/x`],
    ['is damaged', 'list'],
    ['is damaged', `show ${id}`],
  ])('if its manifest %s, `%s` says to wait and does not name `adopt`', async (what, command) => {
    await put(`orders/${id}.db`, saved, new Date());
    if (what === 'is damaged') await put(`orders/${id}.json`, Buffer.from('{'));
    const { text } = await runHere(...command.split(' '), ...inStore());
    expect(text).toMatch(wait);
    expect(text).not.toContain('etcd-agent adopt');
  });

  test('a name that a backup has reserved is left alone, however old', async () => {
    await put('orders/nightly.db.gz', gzipSync(saved));
    await put('orders/nightly.reserved', Buffer.from('{}'));
    await put('orders/other.db');
    const why = expect.stringMatching(
      /a backup is writing it: orders\/nightly\.reserved exists; wait until it ends; if it was killed, delete that file/,
    );
    expect(await adopt()).toMatchObject({
      exitCode: 0,
      data: { adopted: 1, snapshots: [{ key: 'orders/nightly.db.gz', outcome: 'skipped', detail: why }, {}] },
    });
    expect(await adopt('orders/nightly.db.gz')).toMatchObject({ exitCode: ExitCode.refused, text: why });
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
    ['about the data', found({}), 'failed', /its data differ .*`verify \S+ --level=open` replaces it if/],
    ['that is damaged', '{', 'unread', /is damaged; run `verify --level=open`/],
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
      text: expect.stringMatching(/`verify --object-key=own\/latest\.db --level=open` replaces it/),
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
