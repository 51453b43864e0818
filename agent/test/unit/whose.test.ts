// The snapshots that a command selects in a store with several clusters.
import { mkdir, mkdtemp, readdir, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../src/lib/errors.ts';
import { seal } from '../mutations/mutate.ts';
import { runHere } from '../support/in-process.ts';
import { type ManifestChanges, manifestOf } from '../support/manifest-of.ts';

const hour = 3_600_000;
let path: string;
let count = 0;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'whose-'));
});
afterEach(() => rm(path, { recursive: true }));

/** Each one is newer than the previous one. */
async function put(folder: string, clusterId: string, more: Partial<ManifestChanges['cluster']> = {}): Promise<string> {
  count++;
  const createdAt = new Date(Date.now() - 100 * hour + count * hour).toISOString();
  const [day, time] = createdAt.replaceAll(/[-:]/g, '').split(/[T.]/);
  const id = `etcd-snapshot-${day}-${time}-${String(count).padStart(6, '0')}`;
  const [cluster, namespace] = folder.split('/').reverse();
  const snapshot = seal(Buffer.from(id));
  const manifest = manifestOf(snapshot, snapshot, {
    id,
    createdAt,
    cluster: { name: cluster!, ...(namespace && { namespace }), ...more },
    source: { clusterId },
    object: { key: `${folder}/${id}.db` },
  });
  await mkdir(join(path, folder), { recursive: true });
  await writeFile(join(path, folder, `${id}.db`), snapshot);
  await writeFile(join(path, folder, `${id}.json`), JSON.stringify(manifest));
  return id;
}
const run = (command: string, ...more: string[]) =>
  runHere(...command.split(' '), ...more, '--cluster=orders', `--store=file://${path}`);
const shown = async (...more: string[]) => (await run('show', ...more)).data.manifest?.id;

describe('one name in two namespaces', () => {
  let ids: Record<'prod' | 'staging', string>;
  beforeEach(async () => {
    ids = { prod: await put('prod/orders', 'a'), staging: await put('staging/orders', 'b') };
  });

  test.each(['show', 'list', 'status', 'verify', 'prune --retention=last=1', 'copy --to=file:///nowhere'])(
    '%s asks which',
    async (command) => {
      const { exitCode, text } = await run(command);
      expect({ exitCode, text }).toEqual({
        exitCode: ExitCode.refused,
        text: expect.stringMatching(
          /2 clusters named orders: prod\/orders \(1\), staging\/orders \(1\); pass --namespace=prod or --namespace=staging$/,
        ),
      });
    },
  );

  test('each has its own, to every command', async () => {
    for (const [namespace, id] of Object.entries(ids)) {
      const flag = `--namespace=${namespace}`;
      expect(await shown(flag)).toBe(id);
      expect((await run('list', flag)).data.snapshots).toMatchObject([{ id, cluster: `${namespace}/orders` }]);
      expect(await run('status', flag)).toMatchObject({
        data: { stores: [{ id }] },
        metrics: expect.arrayContaining([
          expect.objectContaining({
            name: 'etcd_backup_snapshots',
            value: 1,
            labels: expect.objectContaining({ namespace }),
          }),
        ]),
      });
    }
    expect((await run('show', '--namespace=prod', ids.staging)).exitCode).toBe(ExitCode.nothingThere);
  });

  test.each([
    ['list', 'no snapshots of shop/orders in'],
    ['verify', 'no snapshots of shop/orders in'],
    ['copy --to=file:///nowhere', 'holds no verified snapshot of shop/orders'],
    ['show', 'holds no verified snapshot of shop/orders'],
    ['show x', 'holds no snapshot x of shop/orders'],
    ['pin x', 'holds no snapshot x of shop/orders'],
    ['status', 'holds no verified snapshot of shop/orders'],
  ])('%s in a third namespace says which there are, and fails', async (command, said) => {
    const { exitCode, text } = await run(command, '--namespace=shop');
    expect(exitCode).toBe(ExitCode.nothingThere);
    expect(text).toContain(said);
    expect(text).toMatch(/; it has snapshots of prod\/orders \(1\), staging\/orders \(1\): check --namespace$/);
  });

  test('prune in a third namespace reports this, and deletes nothing', async () => {
    const { exitCode, text } = await run('prune', '--namespace=shop', '--retention=last=1');
    expect(exitCode).toBe(ExitCode.nothingThere);
    expect(text).toMatch(
      /no snapshots of shop\/orders in .*; it has snapshots of prod\/orders \(1\), staging\/orders \(1\)/,
    );
  });

  test.each(['manifest gone', 'manifest cut'])('the one whose %s is still one of two', async (damage) => {
    const manifest = join(path, 'prod/orders', `${ids.prod}.json`);
    if (damage === 'manifest gone') await rm(manifest);
    else await truncate(manifest, 30);
    for (const command of ['list', 'status', 'show', 'restore fetch --to=/nowhere/x']) {
      const { exitCode, text } = await run(command);
      expect({ exitCode, text }).toEqual({
        exitCode: ExitCode.refused,
        text: expect.stringMatching(/2 clusters named orders: prod\/orders/),
      });
    }
  });

  test('if all of its own are bad, no other namespace is suggested', async () => {
    await truncate(join(path, 'prod/orders', `${ids.prod}.json`), 30);
    for (const command of ['status', 'show']) {
      const { text } = await run(command, '--namespace=prod');
      expect(text).toMatch(new RegExp(`1 that is not verified, ${ids.prod}: its manifest cannot be read`));
      expect(text).not.toContain('staging');
    }
  });

  test('a missing manifest is reported with the command that restores it', async () => {
    await rm(join(path, 'prod/orders', `${ids.prod}.json`));
    const old = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(path, 'prod/orders', `${ids.prod}.db`), old, old);
    const { exitCode, text } = await run('show', '--namespace=prod', ids.prod);
    expect(exitCode).toBe(ExitCode.nothingThere);
    expect(text).toMatch(
      new RegExp(
        `${ids.prod}: it has no manifest: .*\`etcd-agent adopt prod/orders/${ids.prod}.db --store=file://\\S+ --cluster=orders --namespace=prod\` writes one$`,
      ),
    );
  });

  test('the one without a namespace can be selected', async () => {
    const id = await put('orders', 'c');
    expect((await run('show')).text).toMatch(/pass --namespace= or --namespace=prod or --namespace=staging$/);
    expect(await shown('--namespace=')).toBe(id);
  });
});

test.each(['a mistyped', 'a file for a'])('%s directory of a store is an error of all that only read', async (what) => {
  const wrong = join(path, 'wrong');
  if (what === 'a file for a') await writeFile(wrong, '');
  const commands = [
    'list',
    'status',
    'show',
    'verify',
    'prune --retention=last=1',
    'adopt',
    'restore fetch --to=/no/x',
  ];
  for (const command of [...commands, 'copy --to=file:///nowhere']) {
    const [first, ...args] = command.split(' ');
    const { exitCode, text } = await runHere(first!, ...args, '--cluster=orders', `--store=file://${wrong}`);
    expect({ command, exitCode, text }).toEqual({
      ...{ command, exitCode: ExitCode.nothingThere },
      text: expect.stringMatching(
        what === 'a mistyped'
          ? /^file:\/\/\S+\/wrong: the directory does not exist; check --store, .* first backup/
          : /^file:\/\/\S+\/wrong: the path, or a part of it, is a file; check --store/,
      ),
    });
  }
  if (what === 'a mistyped') expect(await readdir(path)).toEqual([]);
});

test('a name that no folder has is reported with the existing ones; an empty store is not a mistake', async () => {
  expect(await run('list')).toMatchObject({
    exitCode: 0,
    text: expect.stringMatching(/^no snapshots of orders in \S+; it has no folder orders, and the store is empty/),
  });
  for (let n = 0; n < 7; n++) await put(`prod/n${n}`, 'a');
  const { exitCode, text } = await run('list');
  expect(exitCode).toBe(ExitCode.nothingThere);
  expect(text).toMatch(
    /; it has snapshots of prod\/n0 \(1\), .*prod\/n4 \(1\) and 2 more: check --cluster and --namespace$/,
  );
});

test('if only one namespace has the name, no flag is needed', async () => {
  await put('prod/payments', 'z');
  const id = await put('prod/orders', 'a');
  expect(await shown()).toBe(id);
  expect((await run('pin', id)).exitCode).toBe(0);
  expect((await run('list')).data.snapshots).toMatchObject([{ id, pinned: true }]);
});

test('a manifest of another cluster in the folder is shown with that cluster, and selected only by its id', async () => {
  const ours = await put('orders', 'a');
  const theirs = await put('orders', 'a', { namespace: 'staging' });

  expect(await shown()).toBe(ours);
  expect(await run('status')).toMatchObject({ data: { stores: [{ id: ours }] } });
  expect((await run('list')).text).toMatch(new RegExp(`${theirs}.* FOREIGN staging/orders`));
  expect(await shown(theirs)).toBe(theirs);
});

test('two etcds with one name and no restore between them are refused until a cluster id or a snapshot is named', async () => {
  const [a, b] = [await put('orders', 'a1'), await put('orders', 'b2')];
  const both = new RegExp(`b2 \\(1, newest ${b}\\), a1 \\(1, newest ${a}\\); pass the --cluster-id`);

  for (const command of ['show', 'status']) {
    expect(await run(command)).toMatchObject({ exitCode: ExitCode.refused, text: expect.stringMatching(both) });
  }
  expect(await shown('--cluster-id=A1')).toBe(a);
  expect(await run('status', '--cluster-id=b2')).toMatchObject({ data: { stores: [{ id: b }] } });
  expect(await shown(a)).toBe(a);
  await writeFile(join(path, `orders/${a}.restored-b2.json`), '{}');
  expect(await shown()).toBe(b);
});

test('an etcd that continues after another was restored from it is refused until a cluster id is named', async () => {
  const before = await put('orders', 'd0');
  await writeFile(join(path, `orders/${before}.restored-e1.json`), '{}');
  const restored = await put('orders', 'e1', { lineage: ['d0'] });
  expect(await shown()).toBe(restored);
  const after = await put('orders', 'd0');
  const both = new RegExp(`d0 \\(2, newest ${after}\\), e1 \\(2, newest ${restored}\\); pass the --cluster-id`);
  for (const command of ['show', 'status', 'restore fetch --to=/nowhere/x']) {
    expect(await run(command)).toMatchObject({ exitCode: ExitCode.refused, text: expect.stringMatching(both) });
  }
  for (const [id, newest] of [
    ['e1', restored],
    ['d0', after],
  ]) {
    expect(await shown(`--cluster-id=${id}`)).toBe(newest);
    expect(await run('status', `--cluster-id=${id}`)).toMatchObject({
      data: { stores: [{ id: newest }] },
      metrics: expect.arrayContaining([expect.objectContaining({ name: 'etcd_backup_snapshots', value: 2 })]),
    });
  }
  const { data } = await run('prune --retention=last=1', '--cluster-id=e1');
  expect(data.deleted).toEqual([]);
});

test('list and verify of a cluster id cover only that etcd', async () => {
  const [a] = [await put('orders', 'a1'), await put('orders', 'b2'), await put('orders', 'a1', { namespace: 'other' })];
  expect((await run('list', '--cluster-id=a1')).data.snapshots).toMatchObject([{ id: a }]);
  expect((await run('verify --level=read', '--cluster-id=a1')).data.snapshots).toMatchObject([{ id: a }]);
  const none = { text: expect.stringMatching(/^no snapshots of orders with the cluster id c3 in /) };
  expect(await run('list', '--cluster-id=c3')).toMatchObject({ exitCode: ExitCode.nothingThere, ...none });
  expect(await run('verify', '--cluster-id=c3')).toMatchObject({ exitCode: ExitCode.nothingThere, ...none });
});

test('a status that is too old says that the etcd of its cluster id was restored, and as what', async () => {
  const status = async (...flags: string[]) => (await run('status', ...flags)).text;
  const restored = (as: string) =>
    `; a1 was restored as ${as}, whose snapshots do not count here: if that etcd is the one that runs now, pass --cluster-id=${as}`;
  const first = await put('orders', 'a1');
  await writeFile(join(path, 'orders', `${first}.restored-b2.json`), '{}');
  expect(await status('--cluster-id=a1', '--max-age=1h')).toMatch(new RegExp(`, the limit is 1h${restored('b2')}$`));
  await put('orders', 'b2', { lineage: ['a1'] });
  await put('orders', 'c3', { lineage: ['b2', 'a1'] });
  expect(await status('--cluster-id=a1', '--max-age=1h')).toMatch(new RegExp(`, the limit is 1h${restored('c3')}$`));
  for (const flags of [['--cluster-id=a1'], ['--cluster-id=c3', '--max-age=1h'], ['--max-age=1h']]) {
    expect(await status(...flags)).not.toContain('restored');
  }
  await rm(join(path, 'orders', `${first}.db`));
  expect(await status('--cluster-id=a1')).toMatch(new RegExp(`^file.* holds no verified .*${restored('c3')}$`));
});

test('a name of a file is not an id: the error names the id', async () => {
  const id = await put('orders', 'a1');
  const none = `file://${path} holds no snapshot`;
  for (const name of [`${id}.db.zst`, `orders/${id}.json`]) {
    const text = `${none} ${name} of orders; this is the name of a file: pass the id ${id}`;
    expect(await run('show', name)).toMatchObject({ exitCode: ExitCode.nothingThere, text });
  }
  const text = expect.stringMatching(/ holds no snapshot \.\.\/x of orders; see `etcd-agent list --store/);
  expect(await run('show', '../x')).toMatchObject({ exitCode: ExitCode.nothingThere, text });
});

test('a list of nothing but incomplete snapshots does not say that there are none', async () => {
  const id = await put('orders', 'a1');
  await rm(join(path, 'orders', `${id}.db`));
  expect((await run('list')).text).toMatch(/^no complete snapshot of orders in .*\nincomplete: /);
});

test('a named snapshot of another cluster is used, and its cluster is reported', async () => {
  const id = await put('prod/orders', 'a1');
  const key = `prod/orders/${id}.db`;
  const fetch = async (cluster: string, ...more: string[]) =>
    runHere(
      ...['restore', 'fetch', `--cluster=${cluster}`, `--store=file://${path}`, `--object-key=${key}`],
      ...[`--to=${path}/${cluster}${more.length}.db`, ...more],
    );
  await rename(join(path, 'prod/orders', `${id}.json`), join(path, `${key}.json`));
  const said = (of: string) => [`${id} is a snapshot of prod/orders, not of ${of}`];
  expect(await fetch('orders')).toMatchObject({ exitCode: 0, log: [] });
  expect(await fetch('orders', '--namespace=staging')).toMatchObject({ exitCode: 0, log: said('staging/orders') });
  expect(await fetch('other', '--namespace=prod')).toMatchObject({ exitCode: 0, log: said('prod/other') });
});

test('a restored etcd still finds its history after the snapshot that it came from was pruned', async () => {
  const from = await put('orders', 'd0');
  await writeFile(join(path, `orders/${from}.restored-e1.json`), '{}');
  await put('orders', 'd0');
  await put('orders', 'd0');
  expect((await run('prune --retention=last=2')).data.deleted).toEqual([from]);
  const first = new Date(Date.now() - 100 * hour + (count + 1) * hour).toISOString();
  const restored = await put('orders', 'e1', { family: [{ id: 'e1', first }] });
  expect(await shown()).toBe(restored);
  expect((await run('prune --retention=last=1')).data.deleted).toHaveLength(1);
});

describe('a newest snapshot that is not good is skipped with a warning', () => {
  let taken: string;
  let newest: string;
  beforeEach(async () => {
    taken = await put('orders', 'a');
    newest = await put('orders', 'a');
  });
  const payload = () => join(path, `orders/${newest}.db`);
  const manifest = () => join(path, `orders/${newest}.json`);
  const verdict = () => ({
    ...{ schema: 'cdk8s-etcd/verification/v1', id: newest, level: 'read', outcome: 'failed' },
    ...{ at: new Date().toISOString(), detail: 'sha256 differs', agent: { version: 'test' } },
  });

  test.each<[string, () => Promise<void>, RegExp]>([
    ['its payload is gone', () => rm(payload()), /its payload .* is missing/],
    ['its manifest is cut', () => truncate(manifest(), 300), /its manifest cannot be read/],
    [
      'its manifest is newer',
      () => writeFile(manifest(), '{"schema":"cdk8s-etcd/snapshot/v2"}'),
      /its manifest has the schema .* use a newer agent/,
    ],
    [
      'a verification failed',
      () => writeFile(join(path, `orders/${newest}.verify.json`), JSON.stringify(verdict())),
      /its verification failed \(sha256 differs\)/,
    ],
    [
      'its manifest is gone',
      async () => {
        await rm(manifest());
        await utimes(payload(), new Date(), new Date(Date.now() - 2 * hour));
      },
      /it has no manifest/,
    ],
  ])('%s', async (what, harm, why) => {
    await harm();
    const said = new RegExp(`^${newest} is passed over: ${why.source}.*; it is 1h( 1s)? newer than ${taken}, `);
    expect(await run('restore fetch', `--to=${path}/fetched.db`)).toMatchObject({
      exitCode: 0,
      data: { id: taken },
      log: [expect.stringMatching(said)],
    });
    expect(await run('status')).toMatchObject({
      exitCode: 0,
      text: expect.stringMatching(new RegExp(`${taken}, .*; passed over: ${newest}, .* newer: ${why.source}`)),
      data: { stores: [{ id: taken, passedOver: [{ id: newest, why: expect.stringMatching(why) }] }] },
    });
    expect((await run('show', taken)).log).toEqual([]);
    if (what !== 'a verification failed') {
      expect((await run('list')).data.broken).toEqual([{ id: newest, problem: expect.stringMatching(why) }]);
    }
  });

  test('but not a running backup, which is only named, nor a snapshot of another cluster', async () => {
    await rm(manifest());
    const other = await put('orders', 'a', { namespace: 'staging' });
    await rm(join(path, `orders/${other}.db`));
    const { data, log } = await run('show');
    expect([data.manifest.id, log]).toEqual([taken, [expect.stringMatching(`^${newest}, which .* still running`)]]);
    expect((await run('status')).text).not.toMatch(/passed over/);
  });

  test('of many the newest five are listed', async () => {
    await rm(payload());
    for (let n = 0; n < 7; n++) await rm(join(path, `orders/${await put('orders', 'a')}.db`));
    const { log } = await run('show');
    expect(log).toHaveLength(6);
    expect(log.at(-1)).toMatch(/^3 more that are newer than/);
    expect((await run('status')).text).toMatch(/its payload .* is missing \(and 7 more\); to keep it, copy it here/);
  });
});
