import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seal } from '../../test/mutations/mutate.ts';
import { runHere } from '../../test/support/in-process.ts';
import { type ManifestChanges, manifestOf } from '../../test/support/manifest-of.ts';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { FilesystemStore } from '../store/filesystem/filesystem-store.ts';

const ids = ['1', '2', '3'].map((n) => `etcd-snapshot-2026112${n}-020000-00000${n}`);
let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'prune-'));
  await mkdir(join(path, 'orders'));
  for (const [at, id] of ids.entries()) await put(id, 10 - at);
});
afterEach(() => rm(path, { recursive: true }));

async function put(id: string, daysAgo: number, changes: ManifestChanges = {}): Promise<void> {
  const snapshot = seal(Buffer.from(id));
  const createdAt = new Date(Date.now() - daysAgo * 86_400_000).toISOString();
  await writeFile(join(path, `orders/${id}.db`), snapshot);
  await writeFile(
    join(path, `orders/${id}.json`),
    JSON.stringify(manifestOf(snapshot, snapshot, { id, createdAt, ...changes })),
  );
}

const prune = (...args: string[]) => runHere('prune', '--cluster=orders', ...args);

test.each(['', 'orders/', 'orders/..', 'orders/\u0000'])(
  'a snapshot whose manifest names the key %j is not the one in favour of which others are deleted',
  async (key) => {
    await put('etcd-snapshot-20261124-020000-000004', 1, { object: { key } });

    const { data } = await prune(`--store=file://${path}`, '--retention=last=1');
    expect(data.deleted).not.toContain(ids[2]);
    expect(await readdir(join(path, 'orders'))).toEqual(expect.arrayContaining([`${ids[2]}.db`, `${ids[2]}.json`]));
  },
);

describe.each([
  ['backup', '--endpoints=127.0.0.1:1'],
  ['prune', '--dry-run'],
])('%s --restored-from', (command, flag) => {
  const run = (...args: string[]) =>
    runHere(command, flag, '--cluster=orders', `--store=file://${path}`, '--retention=last=1', ...args);

  test.each(['xyz', '13803658152347727308', '0x1a', 'c0 ', ids[0]!, 'unknown', 'c0,x'])(
    '%j is not a cluster id',
    async (id) => {
      const message = expect.stringMatching(/^--restored-from: '.*' is not an etcd cluster id; write it in hex/);
      expect(await run(`--restored-from=${id}`)).toMatchObject({ exitCode: ExitCode.usage, text: message });
      const config = join(path, 'config.yaml');
      await writeFile(config, JSON.stringify({ restoredFrom: [id] }));
      expect(await run(`--config=${config}`)).toMatchObject({ exitCode: ExitCode.usage, text: message });
    },
  );
});

test('--restored-from takes upper case', async () => {
  await put(ids[2]!, 8, { source: { clusterId: 'c9' } });
  const kept = async (id: string) => {
    const { data } = await prune(`--store=file://${path}`, '--retention=last=3', '--dry-run', `--restored-from=${id}`);
    return data.snapshots.map(({ reasons }: { reasons: string[] }) => reasons);
  };
  expect(await kept('C0')).toEqual(await kept('c0'));
  expect(await kept('C0')).not.toEqual(await kept('c1'));
});

test.each([
  ['warns', [24, 2, 3], [expect.stringMatching(/the revision fell from 24 in .* to 3 in .* was etcd emptied/)]],
  ['may be two runs at the same time', [4, 24, 23], []],
  ['is none if it is made up for', [24, 23, 25], []],
])('a fall of the revision within minutes %s', async (_, revisions, warnings) => {
  for (const [at, id] of ids.entries()) await put(id, (3 - at) / 1_440, { content: { revision: revisions[at]! } });
  const { data, log } = await prune(`--store=file://${path}`, '--retention=last=2');
  expect(log).toEqual(warnings);
  expect(data.deleted).toEqual(warnings.length > 0 ? [] : [ids[0]]);
});

test('a deletion that fails is in the exit code and the message, and the others are done', async () => {
  const { delete: remove } = FilesystemStore.prototype;
  try {
    FilesystemStore.prototype.delete = async function (this: FilesystemStore, key, options) {
      if (key.includes(ids[0]!)) throw new AgentError(ExitCode.storeRefused, 'AccessDenied');
      return remove.call(this, key, options);
    };
    const { exitCode, data, text } = await prune(`--store=file://${path}`, '--retention=last=1');
    expect({ exitCode, data }).toMatchObject({ exitCode: ExitCode.storeRefused, data: { deleted: [ids[1]] } });
    expect(data).toMatchObject({ failed: [ids[0]], error: expect.stringContaining(`${ids[0]}: AccessDenied`) });
    expect(text).toMatch(/^1 deleted, 0 deferred, 1 not deleted$/m);
    expect(text).toMatch(new RegExp(`^${ids[0]} .* not deleted +no rule keeps it$`, 'm'));
  } finally {
    FilesystemStore.prototype.delete = remove;
  }
});

test('the column DONE says what was done', async () => {
  for (let n = 0; n < 12; n++) await put(`etcd-snapshot-202610${n + 10}-020000-00000a`, 40 - n);
  const { delete: remove } = FilesystemStore.prototype;
  const oldest = (key: string) => /202610(10|11|12|13)/.test(key);
  try {
    FilesystemStore.prototype.delete = async function (this: FilesystemStore, key, options) {
      if (oldest(key)) throw new AgentError(ExitCode.storeUnreachable, '503');
      return remove.call(this, key, options);
    };
    const { text } = await prune(`--store=file://${path}`, '--retention=last=1');
    const rows = text.split('\n').filter((line) => line.startsWith('etcd-snapshot-202610'));
    expect(rows.map((line) => /Z +(not deleted|\w+)/.exec(line)?.[1])).toEqual([
      ...Array(4).fill('not deleted'),
      ...Array(8).fill('defer'),
    ]);
  } finally {
    FilesystemStore.prototype.delete = remove;
  }
});

test('a rule that is given twice is not guessed', async () => {
  expect(await prune(`--store=file://${path}`, '--retention=last=3,last=1')).toMatchObject({
    exitCode: ExitCode.usage,
    text: "--retention: 'last' is given twice; remove one",
  });
});

describe('the newest verified snapshot is read before others are deleted', () => {
  const newest = ids[2]!;
  const run = (...args: string[]) => prune(`--store=file://${path}`, '--retention=last=1', ...args);
  const names = async () => (await readdir(join(path, 'orders'))).sort();
  const finding = async () => JSON.parse(await readFile(join(path, `orders/${newest}.verify.json`), 'utf8'));
  const flipBit = async (id: string) => {
    const bytes = await readFile(join(path, `orders/${id}.db`));
    bytes[0]! ^= 1;
    await writeFile(join(path, `orders/${id}.db`), bytes);
  };
  const { get } = FilesystemStore.prototype;
  afterEach(() => {
    FilesystemStore.prototype.get = get;
  });
  const failReading = (exitCode: ExitCode, id = newest) => {
    FilesystemStore.prototype.get = async function (this: FilesystemStore, key, options) {
      if (key === `orders/${id}.db`) throw new AgentError(exitCode, 'no answer');
      return get.call(this, key, options);
    };
  };

  test('with a flipped bit it does not count, nothing is deleted, and the finding is stored', async () => {
    await flipBit(newest);
    const before = await names();
    const { exitCode, text, data } = await run();
    expect({ exitCode, deleted: data.deleted }).toEqual({ exitCode: ExitCode.verificationFailed, deleted: [] });
    expect(data.error).toMatch(new RegExp(`^${newest}: .*sha256 differs.*nothing is deleted`));
    expect(text).toContain(data.error);
    expect(data.snapshots.find(({ id }: { id: string }) => id === newest).reasons).not.toContain(
      'newest verified of cluster c0',
    );
    expect(await names()).toEqual([...before, `${newest}.verify.json`].sort());
    expect(await finding()).toMatchObject({ id: newest, level: 'read', outcome: 'failed', damaged: true });
  });

  test('the error says what to do next, and that only a run that may write records it', async () => {
    await flipBit(newest);
    const next = new RegExp(`; take a backup, check the others with \`etcd-agent verify --store=file://${path} `);
    const dry = (await run('--dry-run')).data.error;
    expect(dry).toMatch(next);
    expect(dry).toContain('nothing would be deleted; without --dry-run, `prune` records this, and from then on');
    expect((await run()).data.error).toMatch(/nothing is deleted; from now on it does not count as verified; /);
  });

  test('after that the next one is read, and counts', async () => {
    await flipBit(newest);
    await run();
    expect(await run()).toMatchObject({ exitCode: 0, data: { deleted: [ids[0]] } });
    expect(await names()).toContain(`${ids[1]}.json`);
  });

  const begun = () => {
    const first = new Date(Date.now() - 10 * 86_400_000).toISOString();
    return put(newest, 8, { cluster: { family: [{ id: 'c0', first }] } });
  };

  test('the newest of each etcd is read', async () => {
    await begun();
    const [old, other] = ['etcd-snapshot-20261101-020000-00000a', 'etcd-snapshot-20261102-020000-00000b'];
    await put(old!, 30, { source: { clusterId: 'b0' } });
    await put(other!, 20, { source: { clusterId: 'b0' } });
    await flipBit(other!);
    const { exitCode, data } = await run('--restored-from=b0');
    expect({ exitCode, deleted: data.deleted }).toEqual({ exitCode: ExitCode.verificationFailed, deleted: [] });
    expect(data.error).toContain(other);
  });

  test('a dry run says the same, and writes nothing', async () => {
    await flipBit(newest);
    const before = await names();
    const { exitCode, data } = await run('--dry-run');
    expect({ exitCode, deleted: data.deleted }).toEqual({ exitCode: ExitCode.verificationFailed, deleted: [] });
    expect(await names()).toEqual(before);
  });

  test.each([ExitCode.storeUnreachable, ExitCode.storeRefused])(
    'nothing is deleted if it cannot be read (%i), and nothing is held against it',
    async (code) => {
      failReading(code);
      const before = await names();
      const { exitCode, text } = await run();
      expect({ exitCode, text }).toEqual({
        exitCode: code,
        text: expect.stringMatching(new RegExp(`^${newest}: .*no answer.*nothing is deleted`)),
      });
      expect(await names()).toEqual(before);
    },
  );

  test('that of an earlier etcd may be refused, as in cold storage', async () => {
    await begun();
    const old = 'etcd-snapshot-20261101-020000-00000a';
    await put(old, 30, { source: { clusterId: 'b0' } });
    failReading(ExitCode.storeRefused, old);
    const { exitCode, data, log } = await run('--restored-from=b0');
    expect({ exitCode, deleted: data.deleted }).toEqual({ exitCode: 0, deleted: [ids[0], ids[1]] });
    expect(log).toContainEqual(expect.stringMatching(`${old}: cannot be read: no answer; it counts by its manifest`));
    expect(await names()).toContain(`${old}.json`);
  });

  test('it is not read if there is nothing to delete', async () => {
    await flipBit(newest);
    expect(await prune(`--store=file://${path}`, '--retention=last=3')).toMatchObject({ exitCode: 0 });
  });
});

test.each([['--cluster=order'], ['--cluster=orders', '--namespace=shop']])(
  'a wrong name (%j) is an error where the store has snapshots of others',
  async (...flags) => {
    const { exitCode, text, data } = await runHere('prune', ...flags, `--store=file://${path}`, '--retention=last=1');
    expect({ exitCode, text, error: data.error }).toEqual({
      exitCode: ExitCode.nothingThere,
      text: expect.stringMatching(/^no snapshots of .*; it has snapshots of orders \(3\): check --/),
      error: expect.stringMatching(/it has snapshots of orders \(3\)/),
    });
  },
);

describe('--cluster-id', () => {
  const wrong = (...args: string[]) =>
    prune(`--store=file://${path}`, '--retention=last=1', '--cluster-id=deadbeef', ...args);

  test.each([[[]], [['--dry-run']]])(
    'of an id that nothing knows deletes nothing, not even what was adopted %j',
    async (flags) => {
      for (const id of ids) await put(id, 10, { source: { clusterId: 'unknown' } });
      await put('etcd-snapshot-20261124-020000-000004', 1);
      const before = await readdir(join(path, 'orders'));
      const { exitCode, text, data } = await wrong(...flags);
      expect({ exitCode, text, error: data.error }).toEqual({
        exitCode: ExitCode.nothingThere,
        text: expect.stringMatching(
          /^no snapshots of orders with the cluster id deadbeef in .*, so nothing is deleted; orders has .*c0 \(1\)/,
        ),
        error: expect.stringContaining('check --cluster-id'),
      });
      expect(await readdir(join(path, 'orders'))).toEqual(before);
    },
  );

  test('of an id that only a note or --restored-from connects is used', async () => {
    expect((await wrong('--dry-run', '--restored-from=c0')).exitCode).toBe(ExitCode.done);
    await writeFile(join(path, `orders/${ids[2]}.restored-deadbeef.json`), '{}');
    expect((await wrong('--dry-run')).exitCode).toBe(ExitCode.done);
  });
});

describe('an etcd that kept running after another was restored from it', () => {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const names = async (of: string) =>
    (await readdir(join(path, 'orders'))).filter((name) => name.endsWith(`${of}.json`));
  const nameOf = (day: number, rest: string) => `etcd-snapshot-${ago(day).slice(0, 10).replaceAll('-', '')}-${rest}`;
  const restoredDaysAgo = 10;

  const remove = async (day: number, rest: string) => {
    for (const end of ['db', 'json']) await rm(join(path, 'orders', `${nameOf(day, rest)}.${end}`));
  };

  /** `isRecorded`: by agents that record since when an etcd is backed up. */
  async function fill(isRecorded: boolean): Promise<void> {
    await rm(join(path, 'orders'), { recursive: true });
    await mkdir(join(path, 'orders'));
    const old = { source: { clusterId: 'a0' } };
    const family = isRecorded ? [{ id: 'b0', first: ago(restoredDaysAgo) }] : undefined;
    const restored = { source: { clusterId: 'b0' }, cluster: { lineage: ['a0'], family } };
    for (let day = 20; day >= 1; day--) {
      await put(nameOf(day, '000000-aaaaaa'), day + 0.1, old);
      if (day <= restoredDaysAgo) await put(nameOf(day, '120000-bbbbbb'), day, restored);
    }
  }

  test.each([true, false])(
    'loses nothing of what it took since to the retention of the other, however often that runs (recorded: %s)',
    async (isRecorded) => {
      await fill(isRecorded);
      for (let runs = 0; runs < 4; runs++)
        await prune(`--store=file://${path}`, '--retention=last=2', '--cluster-id=b0');
      expect(await names('bbbbbb')).toHaveLength(2);
      // Unless it is known when the other began, everything may be from after that.
      expect(await names('aaaaaa')).toHaveLength(isRecorded ? 10 : 20);
    },
  );

  test('and is never taken for the past of the other', async () => {
    const before = `--latest-verified-before=${ago(4.5)}`;
    const fetchOld = (...args: string[]) =>
      runHere('restore', 'fetch', '--cluster=orders', `--store=file://${path}`, `--to=${path}/x.db`, before, ...args);
    await fill(true);
    const two = { exitCode: ExitCode.refused, text: expect.stringMatching(/one kept running after another/) };
    expect(await fetchOld()).toMatchObject(two);
    // It stopped a day before that time, and of the other, retention has left nothing from then.
    for (const day of [5, 4, 3, 2, 1]) await remove(day, '000000-aaaaaa');
    await prune(`--store=file://${path}`, '--retention=last=2', '--cluster-id=b0', '--force');
    expect(await names('bbbbbb')).toHaveLength(2);
    expect(await fetchOld()).toMatchObject(two);
    expect(await fetchOld('--cluster-id=a0')).toMatchObject({ exitCode: 0 });
  });

  test('by snapshots of an earlier agent, which do not say when the other began, only by its cluster id', async () => {
    await fill(false);
    for (let day = 10; day > 2; day--) await remove(day, '120000-bbbbbb');
    for (let day = 4; day > 0; day--) await remove(day, '000000-aaaaaa');
    const fetchOld = (...args: string[]) =>
      runHere(
        'restore',
        'fetch',
        '--cluster=orders',
        `--store=file://${path}`,
        `--to=${path}/${args.length}.db`,
        ...args,
      );
    const before = `--latest-verified-before=${ago(3)}`;
    expect(await fetchOld()).toMatchObject({ exitCode: 0, text: expect.stringContaining('bbbbbb') });
    expect(await fetchOld(before)).toMatchObject({
      exitCode: ExitCode.refused,
      text: expect.stringMatching(/is of the cluster id a0, and it is not known when b0 was restored from it/),
    });
    expect(await fetchOld(before, '--cluster-id=a0')).toMatchObject({ exitCode: 0 });
  });
});

test('an empty store is not an error', async () => {
  await rm(join(path, 'orders'), { recursive: true });
  expect(await prune(`--store=file://${path}`, '--retention=last=1')).toMatchObject({
    exitCode: 0,
    text: expect.stringMatching(/take a first backup\n0 deleted, 0 deferred$/),
  });
});

describe('rules of the store', () => {
  const config = async (retention?: object) => {
    const file = join(path, 'config.json');
    const stores = [{ filesystem: { path }, retention: { last: 2 } }];
    await writeFile(file, JSON.stringify({ stores, ...(retention && { retention }) }));
    return `--config=${file}`;
  };

  test('count without a warning over those that the config file has for all stores', async () => {
    const { log, data } = await prune(await config({ last: 5 }), '--dry-run');
    expect({ log, deleted: data.deleted }).toEqual({ log: [], deleted: [ids[0]] });
  });

  test.each([{ last: 5 }, undefined])('count over --retention, with a warning', async (common) => {
    const { log, data } = await prune(await config(common), '--retention=last=1', '--dry-run');
    expect(log).toEqual([expect.stringMatching(/^--retention=last=1 /)]);
    expect(data.deleted).toEqual([ids[0]]);
  });

  test('count without a warning where --retention says the same', async () => {
    expect((await prune(await config({ last: 5 }), '--retention=last=2', '--dry-run')).log).toEqual([]);
  });
});

test('what is unreadable is shown with its cause, and a snapshot without a manifest with the command that adopts it', async () => {
  const [lost, cut] = ['etcd-snapshot-20261102-020000-00000b', 'etcd-snapshot-20261101-020000-00000a'];
  for (const id of [lost, cut]) await put(id!, 30);
  await writeFile(join(path, `orders/${cut}.json`), '{');
  await rm(join(path, `orders/${lost}.json`));
  await utimes(join(path, `orders/${lost}.db`), new Date(), new Date(Date.now() - 48 * 3_600_000));
  for (const more of ['--dry-run', '--sweep-age=9d']) {
    const { text, data } = await prune(`--store=file://${path}`, '--retention=last=3', more);
    expect(text).toMatch(new RegExp(`^${cut} .* unreadable: its manifest cannot be read: it is damaged`, 'm'));
    expect(text).toMatch(new RegExp(`^incomplete: ${lost}: it has no manifest: .*adopt orders/${lost}.db `, 'm'));
    expect(data.broken).toEqual([{ id: lost, problem: expect.stringContaining('it has no manifest') }]);
  }
  // While a manifest cannot be read, no payload is proved superseded.
  expect((await prune(`--store=file://${path}`, '--retention=last=3')).data.swept).toEqual([]);
});
