// The clock of a store is a help: if it cannot be read, only retention must do without its work.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode } from '../../src/lib/errors.ts';
import type { CommandSpec } from '../../src/store/spec.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { LocalScripts } from '../support/command-scripts.ts';
import { type Ran, runHere } from '../support/in-process.ts';

let etcd: EtcdCluster;
let root: string;
let scripts: LocalScripts;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'store-clock-'));
  etcd = await EtcdCluster.start();
  await etcd.put(10);
});
afterAll(async () => {
  await etcd?.stop();
  await rm(root, { recursive: true, force: true });
});
beforeEach(async () => {
  scripts = await LocalScripts.make();
});
afterEach(() => scripts[Symbol.asyncDispose]());

const at = (spec: CommandSpec) => `--store=${JSON.stringify({ command: spec })}`;
const run = (command: string, store: string, ...more: string[]) =>
  runHere(...command.split(' '), '--cluster=orders', store, ...more);
const backup = (store: string, ...more: string[]) =>
  run('backup', store, `--endpoints=${etcd.endpoints.join()}`, ...more);
const idsIn = async (): Promise<string[]> =>
  (await run('list', at(scripts.spec))).data.snapshots.map(({ id }: { id: string }) => id);

const late = /`now`, which reads the store's clock, did not answer within \d+ s/;
const clocks: [string, string, RegExp, ExitCode][] = [
  ['hangs', 'exec sleep 1000', late, ExitCode.storeUnreachable],
  ['never ends', 'while :; do echo waiting >&2; sleep 1; done', late, ExitCode.storeUnreachable],
  ['fails', 'echo broken >&2; exit 1', /now ended with exit code 1: broken/, ExitCode.storeUnreachable],
  ['is refused', 'echo no >&2; exit 103', /now was refused: no/, ExitCode.storeRefused],
  ['prints garbage', 'echo noon', /now printed "noon"; it must print one line like/, ExitCode.storeRefused],
];

describe.each(clocks)('a clock that %s', (_, text, why, exitCode) => {
  let store: string;
  beforeEach(async () => {
    store = at(await scripts.replacing('now', `#!/bin/sh\n${text}\n`));
  });

  test('a backup is taken, and says once that leftovers stay', async () => {
    const { exitCode: code, data, log } = await backup(store, '--timeout=30s');
    expect({ code, stores: data.stores }).toMatchObject({ code: 0, stores: [{ verified: 'read' }] });
    expect(log.filter((line) => why.test(line))).toEqual([
      expect.stringMatching(/^leftovers of dead runs could not be removed: /),
    ]);
    expect(await idsIn()).toEqual([data.snapshot.id]);
  });

  test('retention deletes nothing: exit code 3 after a backup, an error of prune', async () => {
    for (let n = 0; n < 2; n++) await backup(at(scripts.spec));
    const { exitCode: code, data, text: shown } = await backup(store, '--retention=last=1', '--timeout=30s');
    const kept = new RegExp(`${why.source}.*; nothing is deleted while the store's clock cannot be compared`);
    expect(code).toBe(ExitCode.partial);
    expect(data.stores).toMatchObject([{ verified: 'read', retentionError: expect.stringMatching(kept) }]);
    expect(shown).toContain(data.snapshot.id);
    const pruned = await run('prune', store, '--retention=last=1', '--timeout=30s');
    expect(pruned).toMatchObject({ exitCode, text: expect.stringMatching(kept) });
    expect(await idsIn()).toHaveLength(3);
  });

  test('what only reads works', async () => {
    const { data } = await backup(at(scripts.spec));
    const into = join(root, data.snapshot.id);
    const commands: Record<string, () => Promise<Ran>> = {
      list: () => run('list', store, '--timeout=30s'),
      clusters: () => runHere('list', store, '--timeout=30s'),
      status: () => run('status', store, '--timeout=30s'),
      verify: () => run('verify', store, '--level=read', '--timeout=30s'),
      restore: () => run('restore fetch', store, `--to=${into}`, '--timeout=30s'),
      adopt: () => run('adopt', store, '--timeout=30s'),
    };
    const codes = await Promise.all(
      Object.entries(commands).map(async ([name, call]) => {
        const ran = await call();
        return [name, ran.exitCode === 0 ? 0 : ran.text];
      }),
    );
    expect(Object.fromEntries(codes)).toEqual(Object.fromEntries(Object.keys(commands).map((name) => [name, 0])));
  });

  test('check warns, with the reason', async () => {
    const { data } = await run('check', store, '--timeout=30s');
    const found = data.findings.filter(({ check }: { check: string }) => check === 'clock');
    expect(found).toMatchObject([{ outcome: 'warning', detail: expect.stringMatching(why) }]);
    expect(data.failed).toBe(0);
  });
});

test('a clock that hangs does not end the part of a store beside another', async () => {
  const store = at(await scripts.replacing('now', '#!/bin/sh\nexec sleep 1000\n'));
  const other = `--store=file://${root}/other`;
  const { exitCode, data } = await backup(store, other, '--timeout=16s');
  expect({ exitCode, stores: data.stores }).toMatchObject({
    exitCode: 0,
    stores: [{ verified: 'read' }, { verified: 'read' }],
  });
});

test.each([
  ['ahead of', 90_000_000, 'is dated too early, so that earlier ones may count as newer'],
  ['behind', -90_000_000, 'is dated in the future, and does not count as the newest until then'],
])('a clock %s ours: a backup warns once, of that store', async (how, shift, what) => {
  const time = new Date(Date.now() + shift).toISOString();
  const store = at(await scripts.replacing('now', `#!/bin/sh\necho ${time}\n`));
  const warnings = async (...more: string[]) =>
    (await backup(store, `--store=file://${root}/${how.slice(0, 3)}`, ...more)).log.filter((line) =>
      /clock/.test(line),
    );
  const differs = `^the store's clock is 1d.* ${how} ours; if ours is wrong, this snapshot`;
  const then =
    '; set the clock of this machine, and take another backup; until both clocks agree, leftovers of dead runs stay$';
  expect(await warnings()).toEqual([expect.stringMatching(`${differs} ${what}${then}`)]);
});

test('a clock that answers late is waited for', async () => {
  const store = at(await scripts.replacing('now', `#!/bin/sh\nsleep 3\nexec "\${0%/*}/real-now"\n`));
  await backup(at(scripts.spec));
  await sleep(1_100);
  const { exitCode, data } = await backup(store, '--retention=last=1');
  expect({ exitCode, stores: data.stores }).toMatchObject({ exitCode: 0, stores: [{ deleted: [expect.any(String)] }] });
});
