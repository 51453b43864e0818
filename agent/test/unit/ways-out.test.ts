// Advice of commands that find nothing, or not the requested snapshot: the advised command works as printed.
import { mkdir, mkdtemp, readdir, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSnapshotId } from '../../src/backup/catalog/snapshot-id.ts';
import { ExitCode } from '../../src/lib/errors.ts';
import { unlessAborted } from '../../src/lib/limits/unless-aborted.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { seal } from '../mutations/mutate.ts';
import { runHere } from '../support/in-process.ts';
import { manifestOf } from '../support/manifest-of.ts';

const hour = 3_600_000;
const [older, newer] = ['etcd-snapshot-20261120-020000-000001', 'etcd-snapshot-20261121-020000-000002'] as const;
let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'ways-out-'));
});
afterEach(() => rm(path, { recursive: true }));

async function put(id: string, folder = 'orders', revision?: number): Promise<void> {
  const [cluster, namespace] = folder.split('/').reverse();
  const snapshot = seal(Buffer.from(id));
  const dated = isSnapshotId(id) ? id : older;
  const createdAt = dated.replace(/.*-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-.*/, '$1-$2-$3T$4:$5:$6Z');
  const manifest = manifestOf(snapshot, snapshot, {
    ...{ id, createdAt, object: { key: `${folder}/${id}.db` } },
    ...(revision !== undefined && { content: { revision } }),
    cluster: { name: cluster!, ...(namespace && { namespace }) },
  });
  await mkdir(join(path, folder), { recursive: true });
  await writeFile(join(path, folder, `${id}.db`), snapshot);
  await writeFile(join(path, folder, `${id}.json`), JSON.stringify(manifest));
}
const run = (command: string, ...more: string[]) =>
  runHere(...command.split(' '), ...more, '--cluster=orders', `--store=file://${path}`);
const fetch = (...more: string[]) => run('restore fetch', `--to=${path}/fetched`, ...more);
const manifest = (id: string) => join(path, `orders/${id}.json`);
const mark = (id: string) => writeFile(join(path, `orders/${id}.taking`), '');
const age = (id: string) => utimes(join(path, `orders/${id}.db`), new Date(), new Date(Date.now() - 2 * hour));
const at = (store: string, command: string, ...more: string[]) =>
  runHere(...command.split(' '), ...more, `--store=file://${store}`);
/** The flags that the text ends with. */
const passed = (text: string) => / pass (--store=.*)$/m.exec(text)?.[1]?.split(' ') ?? [];
/** Runs the advised command with this name. */
function asTyped(text: string, command: string) {
  const typed = new RegExp(`\`etcd-agent (${command}[^\`]*)\``).exec(text)?.[1];
  if (typed === undefined) throw new Error(`no ${command} in: ${text}`);
  return runHere(...typed.split(' '));
}

describe('a payload without a manifest that is under an hour old', () => {
  const why = 'has no manifest: its backup is still running, or was killed';
  beforeEach(async () => {
    await put(older);
    await put(newer);
    await rm(manifest(newer));
    await mark(newer);
  });

  test('may have lost it if no backup has marked it: the command that writes one is named', async () => {
    await rm(join(path, `orders/${newer}.taking`));
    const lost = new RegExp(
      `${newer}.* has no manifest: its backup or copy is still running, or was killed, or its manifest was deleted; .*if no backup is running, \`etcd-agent adopt orders/${newer}.db --store=\\S+ --cluster=orders --namespace= --backup-ended\` writes one`,
    );
    expect((await run('show')).log).toEqual([expect.stringMatching(lost)]);
    for (const command of ['list', 'adopt', `show ${newer}`]) expect((await run(command)).text).toMatch(lost);
    await rm(manifest(older));
    await rm(join(path, `orders/${older}.db`));
    for (const command of ['list', 'status', 'show']) expect((await run(command)).text).toMatch(lost);
    // The payload is not a snapshot, so the command reaches it and fails there.
    expect(await asTyped((await run('list')).text, 'adopt')).toMatchObject({
      exitCode: ExitCode.verificationFailed,
    });
  });

  test('causes a warning if it is newer, without advice', async () => {
    const { data, log } = await run('show');
    expect(data.manifest.id).toBe(older);
    expect(log).toEqual([`${newer}, which is newer than ${older}, ${why}`]);
  });

  test('causes none if it is older than the snapshot, or not from before the time', async () => {
    await put('etcd-snapshot-20261122-020000-000003');
    expect((await fetch()).log).toEqual([]);
    await rm(join(path, 'fetched'));
    expect(await fetch('--latest-verified-before=2026-11-20T12:00:00Z')).toMatchObject({
      data: { id: older },
      log: [],
    });
  });

  test('is listed as incomplete, without advice', async () => {
    const { text, data } = await run('list');
    expect(text).toMatch(new RegExp(`^incomplete: ${newer}: it ${why}$`, 'm'));
    expect([data.broken, data.unfinished]).toEqual([[], [{ id: newer, problem: `it ${why}` }]]);
  });

  test('is counted if there is nothing else', async () => {
    await rm(manifest(older));
    await mark(older);
    for (const { text } of [await run('list'), await fetch(), await run('status')]) {
      expect(text).toMatch(/but 2 that (are not verified|have no manifest)/);
      expect(text).not.toContain('etcd-agent adopt');
    }
  });
});

describe.each([
  ['lost', () => rm(manifest(newer)).then(() => age(newer))],
  ['cut', () => truncate(manifest(newer), 300).then(() => age(newer))],
])('a newer snapshot whose manifest is %s', (_, harm) => {
  const adopt = new RegExp(`\`etcd-agent adopt orders/${newer}.db --store=file://\\S+ --cluster=orders --namespace=\``);
  test('is skipped, with the command that adopts it', async () => {
    for (const id of [older, newer]) await put(id);
    await harm();
    expect((await fetch()).log).toEqual([expect.stringMatching(new RegExp(`passed over: .*${adopt.source}`))]);
    expect((await run('status')).text).toMatch(new RegExp(`passed over: ${newer}, .*${adopt.source}`));
  });

  test('is named with that command if there is no other', async () => {
    await put(newer);
    await harm();
    for (const { exitCode, text } of [await fetch(), await run('status')]) {
      expect(exitCode).toBe(ExitCode.nothingThere);
      expect(text).toMatch(adopt);
    }
  });
});

describe('all manifests are lost', () => {
  beforeEach(async () => {
    for (const id of [older, newer]) {
      await put(id);
      await rm(manifest(id));
      await age(id);
    }
  });

  test.each(['status', 'show', 'restore fetch --to=/nowhere/x'])('%s names the newest', async (command) => {
    const { exitCode, text } = await run(command);
    expect({ exitCode, text }).toEqual({
      exitCode: ExitCode.nothingThere,
      text: expect.stringMatching(new RegExp(`such as ${newer}: it has no manifest: .*adopt orders/${newer}.db`)),
    });
    expect(text).not.toContain(older);
  });

  test('list and verify begin with the newest, and have the same words', async () => {
    const why = 'it has no manifest: its backup or copy was killed, or the manifest was deleted';
    const said = (what: string) => [newer, older].map((id) => expect.stringContaining(`${id}: ${what}${why}`));
    const list = await run('list');
    expect(list.text.split('\n').filter((line) => line.startsWith('incomplete: '))).toEqual(said(''));
    const verify = await run('verify');
    expect(verify.exitCode).toBe(ExitCode.verificationFailed);
    expect(verify.text.split('\n')).toEqual(said('failed: '));
    expect(verify.data).toMatchObject({ failed: 2, broken: [{ id: newer, problem: why }, { id: older }] });
  });

  test.each(['list', 'adopt'])('%s has one command that adopts all', async (command) => {
    const { text } = await run(command);
    const all = new RegExp(`adopt orders/${newer}.db orders/${older}.db [^\`]*\` writes a manifest for all 2$`);
    expect(text).toMatch(all);
    const typed = /^.*writes a manifest for all 2$/m.exec(text)![0];
    expect((await asTyped(typed, 'adopt')).data.snapshots).toHaveLength(2);
  });

  test('adopt says that it leaves them out', async () => {
    const { exitCode, text, data } = await run('adopt');
    expect({ exitCode, text, leftOut: data.leftOut }).toEqual({
      exitCode: 0,
      text: expect.stringMatching(/^nothing to adopt in .*\nleft out: 2 payloads of a backup without a manifest; /),
      leftOut: [`orders/${newer}.db`, `orders/${older}.db`],
    });
  });
});

test.each(['verify', `verify ${newer}`])(
  '%s fails for a snapshot without a manifest as for one with a damaged one',
  async (command) => {
    for (const id of [older, newer]) await put(id);
    await truncate(manifest(newer), 100);
    const damaged = await run(command);
    await rm(manifest(newer));
    await age(newer);
    const lost = await run(command);
    for (const { exitCode, data } of [damaged, lost]) {
      expect(exitCode).toBe(ExitCode.verificationFailed);
      expect(data.snapshots).toContainEqual(expect.objectContaining({ id: newer, outcome: 'failed', damaged: true }));
    }
  },
);

test('verify ignores a leftover of a killed run that later snapshots supersede, unless it is named', async () => {
  const after = 'etcd-snapshot-20261122-020000-000003';
  for (const [revision, id] of [older, newer, after].entries()) await put(id, 'orders', revision + 1);
  await rm(manifest(newer));
  await utimes(join(path, `orders/${newer}.db`), new Date(), new Date('2026-11-21T02:00:01Z'));
  // It was whole before, so only its manifest is lost.
  expect((await run('verify')).exitCode).toBe(ExitCode.verificationFailed);
  await writeFile(join(path, `orders/${newer}.taking`), '');
  const { exitCode, data, text } = await run('verify');
  expect({ exitCode, superseded: data.superseded }).toMatchObject({ exitCode: 0, superseded: [{ id: newer }] });
  expect(text).toMatch(
    new RegExp(`^${newer}: not verified: it has no manifest: .*; later snapshots supersede it$`, 'm'),
  );
  expect((await run(`verify ${newer}`)).exitCode).toBe(ExitCode.verificationFailed);
  // The last one is not superseded.
  await rm(manifest(after));
  await age(after);
  expect((await run('verify')).exitCode).toBe(ExitCode.verificationFailed);
});

describe('a payload under a name of the user that a killed `backup --file-name` has left', () => {
  const file = 'weekly-1.db.zst';
  beforeEach(async () => {
    await put(older);
    for (const name of [file, 'weekly-1.reserved']) await writeFile(join(path, 'orders', name), 'x');
  });
  const commands = ['list', 'status', 'check', 'prune --dry-run --retention=last=1', 'restore fetch', 'show weekly-1'];
  const texts = async (...named: string[]) => {
    const found: [string, boolean][] = [];
    for (const command of named) {
      const { text, log } = await run(command, ...(command === 'restore fetch' ? [`--to=${path}/fetched`] : []));
      const line = [text, ...log]
        .join('\n')
        .split('\n')
        .find((each) => each.includes('weekly-1'));
      found.push([
        command,
        /weekly-1.* has no manifest: its backup or copy was killed|weekly-1\b.*running, or was killed/.test(line ?? ''),
      ]);
    }
    return found;
  };

  test('is named by each command', async () => {
    const hours = (n: number) => new Date(Date.now() - n * hour);
    await utimes(join(path, `orders/${file}`), hours(2), hours(2));
    expect(await texts(...commands)).toEqual(commands.map((command) => [command, true]));
    const delete_ =
      'if no backup is running, delete orders/weekly-1.reserved, and then `etcd-agent adopt orders/weekly-1.db.zst ';
    expect((await run('list')).text).toContain(delete_);
    expect(await run('verify')).toMatchObject({ exitCode: ExitCode.verificationFailed });
    const { text } = await run('adopt');
    expect(text.split('weekly-1.db.zst')).toHaveLength(2);
  });

  test('may still be written for an hour', async () => {
    expect(await texts('list', 'restore fetch', 'show weekly-1')).toEqual([
      ['list', true],
      ['restore fetch', true],
      ['show weekly-1', true],
    ]);
    expect(await run('list')).toMatchObject({ data: { broken: [], unfinished: [{ id: 'weekly-1' }] } });
    expect(await run('verify')).toMatchObject({ exitCode: 0 });
  });
});

describe('files without a manifest that may be snapshots', () => {
  const file = async (name: string, hoursAgo: number) => {
    await writeFile(join(path, 'orders', name), 'x');
    const time = new Date(Date.now() - hoursAgo * hour);
    await utimes(join(path, 'orders', name), time, time);
  };
  beforeEach(async () => {
    await put(older);
    await file('before.db', 24 * 365);
  });

  test('that are older say nothing', async () => {
    expect((await run('list')).text).not.toContain('before.db');
    expect((await fetch()).log).toEqual([]);
  });

  test('that are newer than the chosen snapshot are named by list and by a restore, and are no failure', async () => {
    await file('weekly-1.db.zst', 3);
    await file('my weekly:2.db', 2);
    for (const name of ['notes.txt', 'exact.db', 'exact.db.json']) await file(name, 1);
    const line = new RegExp(
      `^2 files have no manifest and are newer than ${older}, the newest is orders/my weekly:2.db; if it is a snapshot of this cluster, \`etcd-agent adopt 'orders/my weekly:2.db' --store=.*\` makes it one$`,
    );
    const { text, data } = await run('list');
    expect(text.split('\n')).toContainEqual(expect.stringMatching(line));
    expect(data).toMatchObject({ withoutManifest: ['orders/my weekly:2.db', 'orders/weekly-1.db.zst'], broken: [] });
    expect((await fetch()).log).toEqual([expect.stringMatching(line)]);
    for (const command of ['verify', 'status']) expect(await run(command)).toMatchObject({ exitCode: 0 });
    expect(
      (await run('restore fetch', `--to=${path}/again`, '--latest-verified-before=2026-11-20T03:00:00Z')).log,
    ).toEqual([]);
    await rm(join(path, 'orders/my weekly:2.db'));
    expect((await run('list')).text).toMatch(
      /^orders\/weekly-1.db.zst has no manifest and is newer than .* makes it one$/m,
    );
  });
});

test('what retention was deleting is not a failure, and nothing suggests to adopt it', async () => {
  for (const id of [older, newer]) await put(id);
  await rm(manifest(older));
  await age(older);
  await writeFile(join(path, `orders/${older}.deleting`), '');
  const line = expect.stringMatching(new RegExp(`^.*${older}: .*retention is deleting it.*`, 'm'));
  const commands = ['list', 'verify', 'prune --retention=last=9 --dry-run'];
  for (const command of commands) {
    const { exitCode, text, data } = await run(command);
    expect({ command, exitCode, text, deleting: data.deleting }).toEqual({
      ...{ command, exitCode: 0, text: line },
      deleting: [{ id: older, problem: expect.any(String) }],
    });
    expect(text).not.toContain('adopt');
    expect(data.broken ?? []).toEqual([]);
  }
  expect(await run('adopt')).toMatchObject({ exitCode: 0, data: { adopted: 0 } });
  expect((await run('adopt')).data).not.toHaveProperty('leftOut');
  expect(await run(`verify ${older}`)).toMatchObject({ exitCode: ExitCode.nothingThere, text: line });
  expect(await run(`show ${older}`)).toMatchObject({ text: line });
  expect((await run('status')).text).not.toContain(older);
});

test('verify waits for a snapshot whose backup may still be running', async () => {
  for (const id of [older, newer]) await put(id);
  await rm(manifest(newer));
  expect(await run('verify')).toMatchObject({ exitCode: 0, data: { verified: 1, failed: 0 } });
  expect((await run('verify', newer)).exitCode).toBe(ExitCode.nothingThere);
});

test('the command that lists the snapshots works as printed', async () => {
  await put(older);
  await rm(join(path, `orders/${older}.db`));
  for (const { text } of [await fetch(), await run('status'), await run('show', newer)]) {
    expect(await asTyped(text, 'list')).toMatchObject({ exitCode: 0, data: { broken: [{ id: older }] } });
  }
});

test('a snapshot whose payload is missing: another one is suggested', async () => {
  for (const id of [older, newer]) await put(id);
  await rm(join(path, `orders/${newer}.db`));
  expect(await fetch(newer)).toMatchObject({
    exitCode: ExitCode.verificationFailed,
    text: expect.stringMatching(
      new RegExp(`payload .* is missing; name another snapshot, for example ${older}, .*; otherwise delete `),
    ),
  });
});

test('a snapshot whose payload is missing: how that ends', async () => {
  await put(newer);
  await rm(join(path, `orders/${newer}.db`));
  for (const { text } of [await fetch(newer), await run('list'), await run('verify'), await run('show', newer)]) {
    expect(text).toMatch(new RegExp(`is missing; .*\`etcd-agent copy\` .*; otherwise delete orders/${newer}.json`));
  }
});

test('a file without a manifest at --object-key: --adopt is mentioned, but not for a missing file', async () => {
  await mkdir(join(path, 'old'));
  await writeFile(join(path, 'old/x.db'), seal(Buffer.from('x')));
  expect(await fetch('--object-key=old/x.db')).toMatchObject({
    exitCode: ExitCode.nothingThere,
    text: expect.stringMatching(/has no manifest .*; if another tool saved it, add --adopt/),
  });
  expect((await fetch('--object-key=old/y.db')).text).not.toContain('--adopt');
});

test.each(['weekly/solo.db.zst', 'orders/solo', 'solo.db'])(
  'a store that has only the exact key %s: it is named',
  async (key) => {
    const snapshot = seal(Buffer.from('solo'));
    await mkdir(join(path, 'weekly'));
    await mkdir(join(path, 'orders'));
    await writeFile(join(path, key), snapshot);
    await writeFile(join(path, 'weekly/aside.db.json'), '{}');
    await writeFile(
      join(path, `${key}.json`),
      JSON.stringify(manifestOf(snapshot, snapshot, { id: older, object: { key } })),
    );
    for (const { text } of [
      await run('list'),
      await run('status'),
      await fetch(),
      await runHere('list', `--store=file://${path}`),
    ]) {
      expect(text).toContain(
        `; it has a snapshot under an exact key, which no list contains: pass --object-key=${key} to`,
      );
    }
    expect((await run('list', '--namespace=prod')).text).not.toContain('--object-key');
    expect(await run('show', `--object-key=${key}`)).toMatchObject({ exitCode: 0 });
  },
);

test('a folder that has only files of other tools: they are counted, with the command that adopts them', async () => {
  await mkdir(join(path, 'orders'));
  for (const name of ['a.db', 'b.db.gz', 'README'])
    await writeFile(join(path, 'orders', name), seal(Buffer.from(name)));
  for (const { text } of [await run('list'), await run('status'), await fetch()]) {
    expect(text).toMatch(/; 2 files in orders could be adopted: /);
    expect((await asTyped(text, 'adopt')).data.snapshots).toHaveLength(2);
  }
});

test('the id of a snapshot of another cluster: its folder is named', async () => {
  await put(older);
  await put(newer, 'shop/payments');
  for (const { exitCode, text } of [await fetch(newer), await run('verify', newer), await run('pin', newer)]) {
    expect({ exitCode, text }).toEqual({
      exitCode: ExitCode.nothingThere,
      text: expect.stringMatching(
        new RegExp(`no snapshot ${newer} of orders;.*shop/payments has it: pass --cluster=payments --namespace=shop`),
      ),
    });
  }
  expect((await fetch('etcd-snapshot-20261122-020000-000003')).text).not.toContain('payments');
});

const readers = ['list', 'status', 'show', 'verify', 'prune --retention=last=1', 'adopt'];

describe.each([
  ['a folder too deep', 'prod'],
  ['two folders too deep', 'prod/orders'],
  ['so deep that it does not exist', 'prod/orders/x'],
])('a store path that is %s', (_, deep) => {
  test.each(readers)('%s says which is right', async (command) => {
    await put(newer, 'prod/orders');
    const wrong = ['--cluster=orders', '--namespace=prod'];
    const { exitCode, text } = await at(join(path, deep), command, ...wrong);
    expect({ exitCode, flags: passed(text) }).toEqual({
      exitCode: ExitCode.nothingThere,
      flags: [`--store=file://${path}`, '--cluster=orders', '--namespace=prod'],
    });
  });
});

describe('a store path that ends with the folder of the cluster', () => {
  const right = () => [`--store=file://${path}`, '--cluster=orders', '--namespace='];
  const saysSo = async (...commands: string[]) => {
    for (const command of commands) {
      const { exitCode, text } = await at(join(path, 'orders'), command, '--cluster=orders');
      expect({ command, exitCode, flags: passed(text) }).toEqual({
        ...{ command, exitCode: ExitCode.nothingThere, flags: right() },
      });
      expect(text).not.toMatch(/etcd-agent adopt|nightly/);
    }
  };

  test('is too deep for adopt, also if files are named, as for the commands that read', async () => {
    await put(older);
    await put('nightly');
    await saysSo(...readers, 'adopt nightly.db', 'adopt nightly.db other.db');
  });

  test('is too deep if all its snapshots were adopted', async () => {
    await put('nightly');
    await saysSo(...readers, 'adopt nightly.db');
  });

  const guess =
    /[;:] it has a file that looks like a snapshot without a folder, and its path ends with orders; if that is one of orders, its path is too deep: pass --store=/;

  test.each([
    ['list', 0],
    ['prune --retention=last=1', 0],
    ['adopt', 0],
    ['status', ExitCode.nothingThere],
    ['show', ExitCode.nothingThere],
  ])(
    'may be too deep if its files have yet to be adopted, and they may also be of another program (%s)',
    async (command, exitCode) => {
      await mkdir(join(path, 'orders'));
      await writeFile(join(path, 'orders/nightly.db'), 'no snapshot');
      const { text, ...result } = await at(join(path, 'orders'), command, '--cluster=orders');
      expect({ exitCode: result.exitCode, flags: passed(text) }).toEqual({ exitCode, flags: right() });
      expect(text).toMatch(guess);
      expect(text).not.toMatch(/etcd-agent adopt|nightly/);
    },
  );

  test('may be too deep for a file that is named for adopt: it is read, with a warning', async () => {
    await mkdir(join(path, 'orders'));
    await writeFile(join(path, 'orders/nightly.db'), 'no snapshot');
    const { text, log } = await at(join(path, 'orders'), 'adopt nightly.db', '--cluster=orders');
    expect(text).toMatch(/nightly\.db.*does not end in the sha256/);
    expect(log).toContainEqual(expect.stringMatching(guess));
  });
});

test('a store path that ends with a namespace is too deep for adopt, also if the folder has files', async () => {
  await put(older, 'prod/orders');
  await writeFile(join(path, 'prod/orders/other.db'), 'no snapshot');
  for (const command of ['adopt', 'adopt orders/other.db']) {
    const { exitCode, text } = await at(join(path, 'prod'), command, '--cluster=orders');
    expect({ exitCode, flags: passed(text) }).toEqual({
      exitCode: ExitCode.nothingThere,
      flags: [`--store=file://${path}`, '--cluster=orders', '--namespace=prod'],
    });
  }
});

describe('one snapshot of prod/orders in the folder of orders, where another cluster has its own', () => {
  const said =
    /[;:] it has the snapshot \S+00000a of prod\/orders in the folder orders; if its path is too deep, pass --store=\S+ --cluster=orders --namespace=prod$/;
  beforeEach(async () => {
    await put('etcd-snapshot-20261122-020000-00000a', 'prod/orders');
    await put(older);
    for (const name of await readdir(join(path, 'orders')))
      await rename(join(path, 'orders', name), join(path, 'prod/orders', name));
    await writeFile(join(path, 'prod/orders/other.db'), 'no snapshot');
  });

  test.each(['adopt', 'adopt orders/other.db'])('%s adopts, with a warning', async (command) => {
    const { text, log } = await at(join(path, 'prod'), command, '--cluster=orders');
    expect(text).toMatch(/other\.db.*does not end in the sha256/);
    expect(log).toContainEqual(expect.stringMatching(said));
  });
});

describe('a manifest in the root of a store whose path does not end with its folder', () => {
  beforeEach(async () => {
    await put(older);
    for (const name of await readdir(join(path, 'orders'))) await rename(join(path, 'orders', name), join(path, name));
    await mkdir(join(path, 'other'));
    await writeFile(join(path, 'other/nightly.db'), 'no snapshot');
  });

  test('does not keep a named file from being adopted', async () => {
    const { text, log } = await at(path, 'adopt other/nightly.db', '--cluster=payments');
    expect(text).toMatch(/nightly\.db.*does not end in the sha256/);
    expect(log).toContainEqual(
      expect.stringMatching(/^file:\S+: it has snapshots of orders without a folder; if the store begins inside /),
    );
    const strange = join(path, "a$&b$'c");
    await mkdir(strange);
    for (const name of await readdir(path)) if (name !== "a$&b$'c") await rename(join(path, name), join(strange, name));
    const again = await at(strange, 'adopt other/nightly.db', '--cluster=payments');
    expect(again.log).toContainEqual(expect.stringContaining(`file://${strange}: it has snapshots of orders without`));
  });

  test('does not make the path too deep', async () => {
    const { text } = await at(path, 'list', '--cluster=payments');
    expect(text).not.toContain('too deep');
  });
});

test('a file of another program that does not answer does not keep a named file from being adopted', async () => {
  await mkdir(join(path, 'x'));
  await writeFile(join(path, 'x/a.db'), 'no snapshot');
  await writeFile(join(path, 'conf.json'), '{}');
  const { get } = FilesystemStore.prototype;
  FilesystemStore.prototype.get = async function (this: FilesystemStore, key, options) {
    if (key === 'conf.json') return unlessAborted(new Promise<never>(() => {}), options?.signal);
    return get.call(this, key, options);
  };
  try {
    const { text } = await at(path, 'adopt x/a.db', '--cluster=orders', '--timeout=6s');
    expect(text).toMatch(/a\.db.*does not end in the sha256/);
  } finally {
    FilesystemStore.prototype.get = get;
  }
});

describe.each(['orders', 'prod/orders'])('a store path that is too high for %s', (folder) => {
  test.each(readers)('%s says which is right', async (command) => {
    const id = 'etcd-snapshot-20261121-020000-00000a';
    const snapshot = seal(Buffer.from(id));
    const [cluster, namespace] = folder.split('/').reverse();
    const named = { name: cluster!, ...(namespace && { namespace }) };
    const lies = join(path, 'Backup/etcd', folder);
    await mkdir(lies, { recursive: true });
    await writeFile(join(lies, `${id}.db`), snapshot);
    const content = manifestOf(snapshot, snapshot, { id, cluster: named, object: { key: `${folder}/${id}.db` } });
    await writeFile(join(lies, `${id}.json`), JSON.stringify(content));
    const flags = ['--cluster=orders', `--namespace=${namespace ?? ''}`];
    const { exitCode, text } = await at(path, command, ...flags);
    expect({ exitCode, flags: passed(text) }).toEqual({
      exitCode: ExitCode.nothingThere,
      flags: [`--store=file://${path}/Backup/etcd`, ...flags],
    });
    expect((await at(join(path, 'Backup/etcd'), 'list', ...flags)).data.snapshots).toMatchObject([{ id }]);
  });
});

test('an empty store, and one with other files: each command says what it looked for, and what is there', async () => {
  for (const what of [/the store is empty/, /the store has only other files, such as notes\/a.txt/]) {
    for (const command of readers) {
      expect((await run(command)).text).toMatch(
        new RegExp(`it has no folder orders, and ${what.source}: check --store, or take a first backup`),
      );
    }
    await mkdir(join(path, 'notes'), { recursive: true });
    await writeFile(join(path, 'notes/a.txt'), '');
  }
});

test('a store with snapshots of another tool in no folder: each command says how to adopt them', async () => {
  await writeFile(join(path, 'notes.txt'), '');
  for (const name of ['etcd-20261119-0100.db', 'etcd-20261120-0100.db'])
    await writeFile(join(path, name), 'no snapshot');
  for (const command of [...readers, `restore fetch --to=${path}/fetched`]) {
    const { text } = await run(command);
    expect(text).toMatch(
      /it has no folder orders, but 2 files that look like snapshots outside of all folders: `etcd-agent adopt etcd-20261120-0100.db etcd-20261119-0100.db --store=\S+ --cluster=orders --namespace=` checks them/,
    );
    expect(text).not.toContain('first backup');
  }
  // The advised command reads the files, and finds that these are none.
  expect(await asTyped((await run('list')).text, 'adopt')).toMatchObject({
    exitCode: ExitCode.verificationFailed,
    text: expect.stringMatching(/etcd-20261120-0100\.db +failed .*does not end in the sha256/),
  });
});

test.each(['file', 'file/below'])('a store at the path of a file (%s) is not called missing', async (at) => {
  await writeFile(join(path, 'file'), '');
  expect(await runHere('list', '--cluster=orders', `--store=file://${path}/${at}`)).toMatchObject({
    exitCode: ExitCode.nothingThere,
    text: expect.stringMatching(`^file://${path}/${at}: the path, or a part of it, is a file; check --store`),
  });
});

test('a directory that does not exist: those beside it are named', async () => {
  await mkdir(join(path, 'etcd'));
  await mkdir(join(path, 'old'));
  expect(await at(join(path, 'etc/x'), 'list', '--cluster=orders')).toMatchObject({
    exitCode: ExitCode.nothingThere,
    text: expect.stringMatching(/does not exist; check --store, .*; \S+ has the directories etcd, old$/),
  });
});

test.each(readers.filter((command) => command !== 'adopt'))(
  '%s with an unknown cluster id lists the known ones',
  async (command) => {
    await put(older);
    await put(newer);
    expect(await run(command, '--cluster-id=ffff')).toMatchObject({
      exitCode: ExitCode.nothingThere,
      text: expect.stringMatching(
        /with the cluster id ffff.*; orders has snapshots of the cluster ids c0 \(2\): check --cluster-id$/m,
      ),
    });
  },
);

test('adopt in a folder that does not exist fails, and names the others', async () => {
  await put(older);
  expect(await at(path, 'adopt', '--cluster=order')).toMatchObject({
    exitCode: ExitCode.nothingThere,
    text: expect.stringMatching(/^nothing to adopt in .*; it has snapshots of orders \(1\): check --cluster/),
  });
});

describe('list without --cluster', () => {
  const list = (...more: string[]) => at(path, 'list', ...more);

  test('lists the clusters of the store', async () => {
    await put(older);
    await put(newer);
    await put(newer, 'prod/orders');
    await put(older, 'prod/payments');
    await rm(join(path, `prod/payments/${older}.json`));
    await utimes(join(path, `prod/payments/${older}.db`), 0, 0);
    await mkdir(join(path, 'prod/notes'));
    await writeFile(join(path, 'prod/notes/a.json'), '{}');
    const newest = { id: newer, createdAt: expect.any(String) };
    const { exitCode, text, data } = await list();
    expect({ exitCode, clusters: data.clusters }).toEqual({
      exitCode: 0,
      clusters: [
        { cluster: 'orders', clusterIds: ['c0'], snapshots: 2, incomplete: 0, newest },
        { namespace: 'prod', cluster: 'orders', clusterIds: ['c0'], snapshots: 1, incomplete: 0, newest },
        { namespace: 'prod', cluster: 'payments', clusterIds: [], snapshots: 0, incomplete: 1 },
      ],
    });
    expect(text.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
      ['NAMESPACE', 'CLUSTER', 'CLUSTER IDS', 'SNAPSHOTS', 'INCOMPLETE', 'NEWEST'],
      ['-', 'orders', 'c0', '2', '0', expect.stringMatching(new RegExp(` ${newer}$`))],
      ['prod', 'orders', 'c0', '1', '0', expect.stringMatching(new RegExp(` ${newer}$`))],
      ['prod', 'payments', '-', '0', '1', '-'],
    ]);
    expect((await list('--namespace=prod')).data.clusters).toHaveLength(2);
    expect((await list('--namespace=')).data.clusters).toHaveLength(1);
  });

  test('says what a store has without a snapshot', async () => {
    expect(await list()).toMatchObject({
      exitCode: 0,
      text: expect.stringMatching(/^no snapshots in .*; the store is empty$/),
    });
    await put(newer, 'prod/orders');
    const deep = await at(join(path, 'prod/orders'), 'list');
    expect({ ...deep, flags: passed(deep.text) }).toMatchObject({
      exitCode: ExitCode.nothingThere,
      flags: [`--store=file://${path}`, '--cluster=orders', '--namespace=prod'],
    });
  });

  test.each(['--retention=last=1', '--cluster-id=c0'])('with %s needs a cluster', async (flag) => {
    expect((await list(flag)).exitCode).toBe(ExitCode.usage);
  });
});

test('status: a snapshot that is too old comes with what to do', async () => {
  await put(older);
  const { exitCode, text } = await run('status', '--max-age=1h');
  expect({ exitCode, text }).toEqual({
    exitCode: ExitCode.nothingThere,
    text: expect.stringMatching(/too old: .* the limit is 1h; take a backup, and find out in the log of the last run /),
  });
});

test('verify names a snapshot once in its line', async () => {
  await put(older);
  await writeFile(join(path, `orders/${older}.db`), Buffer.alloc(seal(Buffer.from(older)).length));
  const { text } = await run('verify');
  expect(text.split(older)).toHaveLength(2);
  expect(text).toMatch(/: failed: the bytes in /);
});

test('an unknown id of a wrong cluster: the list of that cluster is not advised', async () => {
  await put(older);
  const { text } = await at(path, 'show nope', '--cluster=order');
  expect(text).toMatch(/no snapshot nope of order; it has snapshots of orders \(1\): check --cluster/);
});
