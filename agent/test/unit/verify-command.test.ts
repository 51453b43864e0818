// Results of `verify` for snapshots that are damaged, withheld by the store, or deleted meanwhile.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { describeExtra, packExtra, putExtra } from '../../src/backup/payload/extra.ts';
import { AgentError, ExitCode } from '../../src/lib/errors.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { seal } from '../mutations/mutate.ts';
import { runHere } from '../support/in-process.ts';
import { type ManifestChanges, manifestOf } from '../support/manifest-of.ts';

const [first, second] = ['etcd-snapshot-20261120-020000-000001', 'etcd-snapshot-20261121-020000-000002'] as const;
let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'verify-'));
  await mkdir(join(path, 'orders'));
  await put(first);
  await put(second);
});
afterEach(async () => {
  Object.assign(FilesystemStore.prototype, original);
  await rm(path, { recursive: true });
});

async function put(id: string, changes: ManifestChanges = {}, more: object = {}): Promise<void> {
  const snapshot = seal(Buffer.from(id));
  const createdAt = new Date(Date.now() - (id === first ? 2 : 1) * 3_600_000).toISOString();
  const manifest = manifestOf(snapshot, snapshot, { id, createdAt, ...changes });
  await writeFile(join(path, `orders/${id}.db`), snapshot);
  await writeFile(join(path, `orders/${id}.json`), JSON.stringify({ ...manifest, ...more }));
}
const run = (command: string, ...more: string[]) =>
  runHere(...command.split(' '), ...more, '--cluster=orders', `--store=file://${path}`);
const files = async () => (await readdir(join(path, 'orders'))).sort();

const original = { ...methodsOf() };
function methodsOf() {
  const { get, stat, put } = FilesystemStore.prototype;
  return { get, stat, put };
}

/** Retention deletes the first just before such a call is made. */
function deleteBefore(method: keyof typeof original, key: string): void {
  let done = false;
  const call = original[method] as (...args: unknown[]) => unknown;
  Object.assign(FilesystemStore.prototype, {
    async [method](...args: unknown[]) {
      if (args[0] === key && !done) {
        done = true;
        for (const name of await files()) if (name.startsWith(first)) await rm(join(path, 'orders', name));
      }
      return call.apply(this, args);
    },
  });
}

test('a part without a snapshot is called so', async () => {
  const texts: string[] = [];
  for (const part of ['1/3', '2/3', '3/3']) texts.push((await run('verify', `--subset=${part}`)).text);
  expect(texts).toContainEqual(expect.stringMatching(/^no snapshot is in part \d of 3$/));
  expect(texts).not.toContain('');
});

test.each([[], ['--subset=1/1']])(
  'snapshots that are all deleted meanwhile are named (%j)',
  async (...flags: string[]) => {
    await rm(join(path, `orders/${second}.json`));
    await rm(join(path, `orders/${second}.db`));
    deleteBefore('get', `orders/${first}.db`);
    const { exitCode, text, data } = await run('verify', ...flags);
    expect({ exitCode, text }).toEqual({ exitCode: 0, text: `${first}: not verified: it was deleted meanwhile` });
    expect(data).toMatchObject({ snapshots: [], deleted: [first] });
  },
);

test('one that is named and deleted meanwhile is not found, unless another fails', async () => {
  const deleted = { snapshots: [{ id: second }], deleted: [first] };
  deleteBefore('get', `orders/${first}.db`);
  expect(await run('verify', first, second)).toMatchObject({ exitCode: ExitCode.nothingThere, data: deleted });
  Object.assign(FilesystemStore.prototype, original);
  await put(first);
  await writeFile(join(path, `orders/${second}.db`), 'damaged');
  deleteBefore('get', `orders/${first}.db`);
  expect(await run('verify', first, second)).toMatchObject({ exitCode: ExitCode.verificationFailed, data: deleted });
});

test.each([
  ['before it is read', 'put', `orders/${second}.verify.json`],
  ['before its payload is read', 'get', `orders/${first}.db`],
  ['before its payload is checked', 'stat', `orders/${first}.db`],
  ['before what was found is noted', 'put', `orders/${first}.verify.json`],
] as const)(
  'a snapshot that is deleted %s is not reported as damaged, and no finding is left',
  async (_name, method, key) => {
    deleteBefore(method, key);

    expect(await run('verify')).toMatchObject({ exitCode: 0, data: { verified: 1, failed: 0 } });
    expect(await files()).toEqual([`${second}.db`, `${second}.json`, `${second}.verify.json`]);
  },
);

test('a manifest that names a payload outside the folder is reported as bad, and the others are verified', async () => {
  await put(first, { object: { key: '../../etc/passwd' } });

  expect(await run('verify')).toMatchObject({
    exitCode: ExitCode.verificationFailed,
    data: { verified: 1, failed: 1, snapshots: [{ id: second }, { id: first, outcome: 'failed' }] },
  });
});

const byId = (data: { snapshots: { id: string }[] }) => Object.fromEntries(data.snapshots.map((one) => [one.id, one]));

describe.each([
  ['an empty key', ''],
  ['a key with a control character', 'orders/\u0000x'],
  ['a key that is not well-formed', 'orders/\ud800'],
  ['the folder itself', 'orders/'],
  ['the directory .', 'orders/.'],
  ['the directory ..', 'orders/..'],
])('a manifest that names %s', (_name, key) => {
  const extra = { key, sizeBytes: 1, sha256: '0'.repeat(64), paths: [], recipients: [] };

  test.each([
    ['payload', { object: { key } }, {}],
    ['extra files', {}, { extra }],
  ])('as its %s is the problem of that snapshot alone', async (_what, changes, more) => {
    await put(second, changes, more);

    const { exitCode, data } = await run('verify');
    expect(exitCode).toBe(ExitCode.verificationFailed);
    expect(byId(data)).toMatchObject({ [first]: { outcome: 'verified' }, [second]: { outcome: 'failed' } });
    expect((await run('list')).data.broken).toMatchObject([{ id: second }]);
    expect(await run('status')).toMatchObject({ exitCode: 0, data: { stores: [{ id: first }] } });
    expect((await run(`restore fetch ${second} --to=${path}/x.db`)).exitCode).toBe(ExitCode.verificationFailed);
  });

  test.each([
    ['payload', { object: { key } }, {}],
    ['extra files', { object: { key: 'mine.db' } }, { extra }],
  ])('as the %s of an exact key has failed', async (_what, changes, more) => {
    const snapshot = seal(Buffer.from('exact'));
    await writeFile(join(path, 'mine.db'), snapshot);
    await writeFile(
      join(path, 'mine.db.json'),
      JSON.stringify({ ...manifestOf(snapshot, snapshot, changes), ...more }),
    );

    expect((await run('verify', '--object-key=mine.db')).exitCode).toBe(ExitCode.verificationFailed);
  });
});

test.each([
  ['payload', (key: string) => put(second, { object: { key } })],
  [
    'extra files',
    (key: string) =>
      put(second, {}, { extra: { key, sizeBytes: 1, sha256: '0'.repeat(64), paths: [], recipients: [] } }),
  ],
])('a manifest that names a key that is too long for the store as its %s is inconclusive', async (_name, damage) => {
  await damage(`orders/${'x'.repeat(300)}`);

  const { exitCode, data } = await run('verify');
  expect(exitCode).toBe(ExitCode.inconclusive);
  expect(byId(data)).toMatchObject({ [first]: { outcome: 'verified' }, [second]: { outcome: 'inconclusive' } });
});

/** Makes the store fail this call for this key. */
function failAt(method: keyof typeof original, key: string, exitCode: ExitCode): void {
  const call = original[method] as (...args: unknown[]) => unknown;
  Object.assign(FilesystemStore.prototype, {
    async [method](...args: unknown[]) {
      if (args[0] === key) throw new AgentError(exitCode, 'the store answers 403');
      return call.apply(this, args);
    },
  });
}

const extraOf = async (id: string) => {
  const recipients = [await identityToRecipient(await generateIdentity())];
  await writeFile(join(path, 'ca.key'), 'secret');
  const packed = await packExtra({ paths: [join(path, 'ca.key')], recipients });
  const extra = describeExtra(packed, 'orders', id);
  await putExtra(new FilesystemStore({ path }), extra, packed.bytes, {});
  await put(id, {}, { extra });
};

test.each([
  ['the payload', 'get', `orders/${second}.db`],
  ['the state of the payload', 'stat', `orders/${second}.db`],
  ['the extra files', 'get', `orders/${second}.extra.tar.age`],
  ['the state of the extra files', 'stat', `orders/${second}.extra.tar.age`],
] as const)(
  'a snapshot of which the store refuses %s is inconclusive, and the others are verified',
  async (_name, method, key) => {
    await extraOf(second);
    failAt(method, key, ExitCode.storeRefused);

    const { exitCode, data, metrics } = await run('verify');
    expect(exitCode).toBe(ExitCode.inconclusive);
    expect(byId(data)).toMatchObject({
      [first]: { outcome: 'verified' },
      [second]: { outcome: 'inconclusive', detail: expect.stringContaining('the store answers 403') },
    });
    expect(metrics).not.toEqual([]);
    expect(await files()).not.toContain(`${second}.verify.json`);

    failAt(method, key, ExitCode.storeUnreachable);
    expect((await run('verify')).exitCode).toBe(ExitCode.inconclusive);
  },
);

describe('a failure at a deeper level', () => {
  const found = {
    ...{ schema: 'cdk8s-etcd/verification/v1', id: second, level: 'open', outcome: 'failed', detail: 'HashKV differs' },
    ...{ at: new Date().toISOString(), agent: { version: 'test' } },
  };
  beforeEach(() => writeFile(join(path, `orders/${second}.verify.json`), JSON.stringify(found)));
  const { list } = FilesystemStore.prototype;
  afterEach(() => Object.assign(FilesystemStore.prototype, { list }));
  const hide = () =>
    Object.assign(FilesystemStore.prototype, {
      async *list(this: FilesystemStore, ...args: Parameters<typeof list>) {
        for await (const object of list.apply(this, args)) if (!/verify/.test(object.key)) yield object;
      },
    });
  const stands = { id: second, level: 'open', outcome: 'failed', detail: expect.stringMatching(/^HashKV differs; /) };

  test.each([
    ['', () => {}],
    [' that the listing leaves out', hide],
  ])('%s is the outcome of one at a lower level, and stays', async (_, prepare) => {
    prepare();
    const { exitCode, data } = await run('verify', '--level=read');
    expect(exitCode).toBe(ExitCode.verificationFailed);
    expect(data).toMatchObject({ verified: 1, failed: 1 });
    expect(data.snapshots).toContainEqual(stands);
    expect(JSON.parse(await readFile(join(path, `orders/${second}.verify.json`), 'utf8'))).toEqual(found);
  });

  test('that the listing leaves out keeps others from being deleted, and the snapshot from being copied', async () => {
    hide();
    const { data } = await run('prune', '--retention=last=1');
    expect(data.deleted).toEqual([]);
    const to = await mkdtemp(join(tmpdir(), 'verify-copies-'));
    const copied = await run('copy', `--to=file://${to}`);
    await rm(to, { recursive: true });
    expect(copied.data.snapshots).toMatchObject([
      { id: second, outcome: 'failed' },
      { id: first, outcome: 'copied' },
    ]);
  });

  test('that is damaged leaves the outcome open', async () => {
    await writeFile(join(path, `orders/${second}.verify.json`), '{');
    expect(await run('verify', second)).toMatchObject({
      exitCode: ExitCode.inconclusive,
      data: { snapshots: [{ outcome: 'inconclusive', detail: expect.stringContaining('is damaged') }] },
    });
  });
});

test('an earlier verification still counts in the metrics when the store refuses the payload', async () => {
  await put(second, { verified: undefined });
  await run('verify');
  failAt('get', `orders/${second}.db`, ExitCode.storeRefused);

  const { metrics } = await run('verify', second);
  const newest = metrics?.find(({ name }) => name === 'etcd_backup_last_verified_timestamp_seconds');
  const { createdAt } = JSON.parse(await readFile(join(path, `orders/${second}.json`), 'utf8'));
  expect(newest?.value).toBe(Date.parse(createdAt) / 1000);
});

test('verify, list, status and restore agree on a pair that was copied to another name', async () => {
  const copy = 'etcd-snapshot-20261122-020000-000003';
  await writeFile(
    join(path, `orders/${copy}.json`),
    JSON.stringify({ ...manifestOf(seal(Buffer.from(first))), id: first }),
  );
  const problem = `its manifest belongs to ${first}`;

  expect((await run('list')).data.broken).toEqual([{ id: copy, problem }]);
  expect(await run('verify', copy)).toMatchObject({
    exitCode: ExitCode.verificationFailed,
    data: { snapshots: [{ id: copy, outcome: 'failed', detail: problem }] },
  });
  expect(await run('restore fetch', copy, `--to=${path}/x.db`)).toMatchObject({
    exitCode: ExitCode.verificationFailed,
  });
  expect(await run('status')).toMatchObject({ data: { stores: [{ id: second }] } });
});

describe('a named snapshot that is known to be bad', () => {
  const found = (id: string, outcome: string) => ({
    ...{ schema: 'cdk8s-etcd/verification/v1', id, level: 'open', outcome, detail: 'HashKV differs' },
    ...{ at: new Date().toISOString(), agent: { version: 'test' } },
  });
  const bad = [
    ['failed', () => writeFile(join(path, `orders/${second}.verify.json`), JSON.stringify(found(second, 'failed')))],
    ['suspect', () => put(second, { source: { suspect: ['MembersInconsistent'] } })],
    ['unread', () => writeFile(join(path, `orders/${second}.verify.json`), '{')],
  ] as const;
  const why =
    /`verify` found it FAILED: HashKV differs|SUSPECT: MembersInconsistent|finding of `verify` cannot be read/;
  const refused = {
    exitCode: ExitCode.verificationFailed,
    text: expect.stringMatching(new RegExp(`^${second}: .*(${why.source}).*--force-failed`)),
  };

  test.each(bad)('is not restored: %s', async (_state, makeBad) => {
    await makeBad();
    for (const command of [
      `restore fetch ${second} --to=${path}/x.db`,
      `restore data-dir ${second} --data-dir=${path}/data`,
      `restore serve ${second} --listen=127.0.0.1:0 --token-sha256=${'0'.repeat(64)} --scratch=${path}`,
    ]) {
      expect(await run(command)).toMatchObject(refused);
    }
    expect(await files()).not.toContain('x.db');
    expect((await run('show', second)).exitCode).toBe(0);
  });

  test.each(bad)(
    'is restored with --force-failed, with a warning, and is never called verified: %s',
    async (_state, makeBad) => {
      await makeBad();
      const { exitCode, text, log } = await run('restore fetch', second, '--force-failed', `--to=${path}/x.db`);
      expect({ exitCode, log }).toEqual({ exitCode: 0, log: expect.arrayContaining([expect.stringMatching(why)]) });
      expect(text).not.toMatch(/verified \(/);
      expect(await readFile(join(path, 'x.db'))).toEqual(seal(Buffer.from(second)));
    },
  );

  test('also under an exact key, where the result for a previous object does not count', async () => {
    const snapshot = seal(Buffer.from('exact'));
    await writeFile(join(path, 'mine.db'), snapshot);
    const manifest = manifestOf(snapshot, snapshot, { object: { key: 'mine.db' } });
    await writeFile(join(path, 'mine.db.json'), JSON.stringify(manifest));
    const fetch = (to: string) => run('restore fetch', '--object-key=mine.db', `--to=${path}/${to}.db`);
    await writeFile(join(path, 'mine.db.verify.json'), JSON.stringify(found(second, 'failed')));
    expect((await fetch('x')).exitCode).toBe(0);
    await writeFile(join(path, 'mine.db.verify.json'), JSON.stringify(found(manifest.id, 'failed')));
    expect((await fetch('y')).exitCode).toBe(ExitCode.verificationFailed);
  });
});

test('a snapshot that no identity decrypts does not prevent others from being verified, and is a usage error if it is the only one', async () => {
  const [mine, other] = [await generateIdentity(), await generateIdentity()];
  await writeFile(join(path, 'identity'), mine);
  const recipients = [await identityToRecipient(other)];
  const plain = seal(Buffer.from(second));
  await put(
    second,
    {},
    { object: { ...manifestOf(plain, plain).object, key: `orders/${second}.db`, encryption: { recipients } } },
  );
  const identity = `--age-identity-file=${join(path, 'identity')}`;
  const some = await run('verify', '--level=open', identity);
  expect(some.exitCode).not.toBe(ExitCode.usage);
  expect(some.data.snapshots).toContainEqual(
    expect.objectContaining({ id: second, outcome: 'inconclusive', detail: expect.stringMatching(/identity/) }),
  );
  expect(some.data.snapshots.map(({ id }: { id: string }) => id)).toContain(first);
  expect(await files()).not.toContain(`${second}.verify.json`);
  expect((await run('verify', second, '--level=open', identity)).exitCode).toBe(ExitCode.usage);
});

describe('a snapshot that is encrypted for another key', () => {
  let identity: string;
  let recipients: string[];
  beforeEach(async () => {
    await writeFile(join(path, 'identity'), await generateIdentity());
    identity = `--age-identity-file=${join(path, 'identity')}`;
    recipients = [await identityToRecipient(await generateIdentity())];
  });
  const encryptedFor = (known: readonly string[]) => ({
    object: { key: `orders/${second}.db`, encryption: { recipients: [...known] } },
  });
  const outcomes = async () => {
    const { exitCode, data } = await run('verify', '--level=open', identity);
    expect(exitCode).not.toBe(ExitCode.usage);
    expect(data.snapshots.map(({ id }: { id: string }) => id).sort()).toEqual([first, second]);
    return data.snapshots.find(({ id }: { id: string }) => id === second);
  };

  test('is inconclusive also when its recipients are not known, as those of an adopted one', async () => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipients[0]!);
    const snapshot = seal(Buffer.from(second));
    const stored = Buffer.from(await encrypter.encrypt(snapshot));
    const { object } = manifestOf(snapshot, stored);
    await put(second, { object: { ...object, ...encryptedFor([]).object } });
    await writeFile(join(path, `orders/${second}.db`), stored);

    expect(await outcomes()).toMatchObject({ outcome: 'inconclusive', detail: expect.stringMatching(/identity/) });
    expect(await files()).not.toContain(`${second}.verify.json`);

    stored[stored.length - 1]! ^= 1;
    await writeFile(join(path, `orders/${second}.db`), stored);
    expect(await outcomes()).toMatchObject({
      outcome: 'failed',
      detail: expect.stringMatching(/sha256/),
    });
  });

  test('is failed when its payload is missing, also as the only one', async () => {
    await put(second, encryptedFor(recipients));
    await rm(join(path, `orders/${second}.db`));

    expect(await outcomes()).toMatchObject({ outcome: 'failed', detail: expect.stringMatching(/missing/) });
    expect((await run('verify', second, '--level=open', identity)).exitCode).toBe(ExitCode.verificationFailed);
  });

  test('is failed when its bytes differ from the stored ones, which is visible without a key', async () => {
    await put(second, encryptedFor(recipients));
    const stored = seal(Buffer.from(second));
    stored[0]! ^= 1;
    await writeFile(join(path, `orders/${second}.db`), stored);

    expect(await outcomes()).toMatchObject({
      outcome: 'failed',
      level: 'read',
      detail: expect.stringMatching(/sha256/),
    });
    expect(JSON.parse(await readFile(join(path, `orders/${second}.verify.json`), 'utf8'))).toMatchObject({
      outcome: 'failed',
      level: 'read',
    });
  });
});

test('damaged extra files are found at level read, and missing ones at level stream', async () => {
  const recipients = [await identityToRecipient(await generateIdentity())];
  await writeFile(join(path, 'ca.key'), 'secret');
  const packed = await packExtra({ paths: [join(path, 'ca.key')], recipients });
  const extra = describeExtra(packed, 'orders', first);
  await putExtra(new FilesystemStore({ path }), extra, packed.bytes, {});
  await put(first, {}, { extra });
  const failed = { exitCode: ExitCode.verificationFailed, data: { failed: 1 } };
  expect(await run('verify')).toMatchObject({ exitCode: 0, data: { verified: 2 } });

  packed.bytes[100]! ^= 1;
  await writeFile(join(path, extra.key), packed.bytes);
  expect(await run('verify', '--level=stream')).toMatchObject({ exitCode: 0 });
  expect(await run('verify')).toMatchObject(failed);
  await rm(join(path, extra.key));
  expect(await run('verify', '--level=stream')).toMatchObject(failed);
});
