// Advice of commands that find nothing, or not the requested snapshot: the advised command works as printed.
import { mkdir, mkdtemp, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../src/lib/errors.ts';
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

async function put(id: string, folder = 'orders'): Promise<void> {
  const [cluster, namespace] = folder.split('/').reverse();
  const snapshot = seal(Buffer.from(id));
  const createdAt = id.replace(/.*-(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-.*/, '$1-$2-$3T$4:$5:$6Z');
  const manifest = manifestOf(snapshot, snapshot, {
    ...{ id, createdAt, object: { key: `${folder}/${id}.db` } },
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
const age = (id: string) => utimes(join(path, `orders/${id}.db`), new Date(), new Date(Date.now() - 2 * hour));
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
    text: expect.stringMatching(new RegExp(`payload .* is missing; name another snapshot, for example ${older}, `)),
  });
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
