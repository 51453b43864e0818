import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { pino } from 'pino';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { backupRequest, silent } from '../../../test/support/backup-request.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { IdleTimeoutStore } from '../../store/idle-timeout.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import type { BackupRequest } from './take.ts';
import { takeBackup } from './take.ts';

let etcd: EtcdCluster;
let path: string;
const { get, list } = FilesystemStore.prototype;
beforeAll(async () => {
  etcd = await EtcdCluster.start();
});
afterAll(() => etcd[Symbol.asyncDispose]());
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'same-etcd-'));
});
afterEach(async () => {
  Object.assign(FilesystemStore.prototype, { get, list });
  await rm(path, { recursive: true });
});
const backupOf = ({ endpoints }: EtcdCluster, ...flags: string[]) =>
  runHere('backup', `--store=file://${path}`, `--endpoints=${endpoints}`, ...flags);
const backup = (...flags: string[]) => backupOf(etcd, ...flags);

test('the first backup into a folder warns if another folder has snapshots of the same etcd', async () => {
  for (let n = 0; n < 3; n++) {
    expect(await backup('--cluster=orders', '--namespace=prod')).toMatchObject({ exitCode: 0, log: [] });
  }
  const read: string[] = [];
  Object.assign(FilesystemStore.prototype, {
    get(this: FilesystemStore, key: string, ...more: []) {
      read.push(key);
      return get.call(this, key, ...more);
    },
  });
  const { exitCode, log } = await backup('--cluster=orders', '--namespace=prd');
  expect({ exitCode, log }).toEqual({
    exitCode: 0,
    log: [
      expect.stringMatching(
        /^prd\/orders has no snapshots yet, but prod\/orders has some of this etcd \(cluster id [0-9a-f]+\); if that is its folder, pass --cluster=orders --namespace=prod$/,
      ),
    ],
  });
  expect(read.filter((key) => key.startsWith('prod/'))).toEqual([expect.stringMatching(/\.json$/)]);
  expect(await backup('--cluster=orders', '--namespace=prd')).toMatchObject({ exitCode: 0, log: [] });
});

test.each([
  ['', ''],
  ['prod', 'prod'],
])(
  'a backup whose store begins inside the folder of its cluster (namespace %j) warns, and the error of the next command too',
  async (namespace, folder) => {
    const named = ['--cluster=orders', `--namespace=${namespace}`];
    const deep = `--store=file://${join(path, folder || 'orders')}`;
    const backupDeep = () => runHere('backup', deep, `--endpoints=${etcd.endpoints}`, ...named);
    await backup(...named);
    const { exitCode, log } = await backupDeep();
    expect({ exitCode, log }).toEqual({
      exitCode: 0,
      log: [
        expect.stringMatching(
          new RegExp(
            `^${namespace ? 'prod/' : ''}orders has no snapshots yet in ${deep.slice(8)}; it has snapshots of \\S+ .*, so its path is too deep: pass --store=file://${path} ${named.join(' ')}$`,
          ),
        ),
      ],
    });
    if (namespace) return;
    const { text } = await runHere('status', `--store=file://${path}`, '--cluster=orders');
    expect(text).toMatch(
      /: orders \(1\), orders\/orders \(1\); if orders is no namespace, a backup with a --store one folder too deep has made orders\/orders; pass --namespace= or --namespace=orders$/,
    );
  },
);

test('a backup warns if its store begins in a namespace, so that its folder is that of another cluster', async () => {
  await backup('--cluster=orders', '--namespace=prod');
  const pass = `pass --store=file://${path} --cluster=orders --namespace=prod`;
  for (let n = 0; n < 2; n++) {
    const deep = [`--store=file://${path}/prod`, `--endpoints=${etcd.endpoints}`, '--cluster=orders'];
    const { exitCode, log } = await runHere('backup', ...deep);
    expect({ exitCode, log }).toEqual({
      exitCode: 0,
      log: [
        expect.stringMatching(
          n === 0
            ? `^the store begins inside the folder of a cluster; it has snapshots of prod/orders in the folder orders, so its path is too deep: ${pass}$`
            : // By then the folder also has a snapshot of its own cluster.
              `^the store may begin inside the folder of a cluster; it has the snapshot etcd-\\S+ of prod/orders in the folder orders; if its path is too deep, ${pass}$`,
        ),
      ],
    });
  }
});

test('a backup warns if its store begins above the one with the snapshots of this etcd', async () => {
  await runHere('backup', `--store=file://${path}/etcd`, `--endpoints=${etcd.endpoints}`, '--cluster=orders');
  const { exitCode, log } = await backup('--cluster=orders');
  expect({ exitCode, log }).toEqual({
    exitCode: 0,
    log: [
      `orders has no snapshots yet in file://${path}; it has snapshots of orders in the folder etcd/orders; if its path is too high, pass --store=file://${path}/etcd --cluster=orders --namespace=`,
    ],
  });
});

test('snapshots that were copied into the root of the store by hand say nothing of its path', async () => {
  await backup('--cluster=orders');
  for (const name of await readdir(join(path, 'orders'))) await copyFile(join(path, 'orders', name), join(path, name));
  expect((await backup('--cluster=order')).log).toEqual([
    expect.stringMatching(/^order has no snapshots yet, but orders has some of this etcd/),
  ]);
});

test('the folder of another etcd, and a store that lists only its own folder, cause no warning', async () => {
  await using other = await EtcdCluster.start({ size: 1 });
  await backupOf(other, '--cluster=other');
  expect(await backup('--cluster=orders')).toMatchObject({ exitCode: 0, log: [] });
  Object.assign(FilesystemStore.prototype, {
    list(this: FilesystemStore, prefix: string, ...more: []) {
      if (prefix === '') throw new AgentError(ExitCode.storeRefused, '403');
      return list.call(this, prefix, ...more);
    },
  });
  expect(await backup('--cluster=third')).toMatchObject({ exitCode: 0, log: [] });
});

test('the folder that has most of them is named, and the others too', async () => {
  await backup('--cluster=orders', '--namespace=typo');
  for (let n = 0; n < 3; n++) await backup('--cluster=regular');
  expect((await backup('--cluster=orders')).log).toEqual([
    expect.stringMatching(
      /, but regular has some of this etcd \(.*\), and so has typo\/orders \(1\); .* pass --cluster=regular --namespace=$/,
    ),
  ]);
});

test('every backup of another etcd into a folder warns, with both cluster ids and the ways out, and so does check', async () => {
  await using other = await EtcdCluster.start({ size: 1 });
  const mine = (await backup('--cluster=orders')).data.snapshot;
  const second = (...flags: string[]) => backupOf(other, '--cluster=orders', ...flags);
  expect(await second('--object-key=x.db')).toMatchObject({ exitCode: 0, log: [] });
  const { exitCode, data, log } = await second();
  const { clusterId } = data.snapshot;
  expect({ exitCode, log }).toEqual({
    exitCode: 0,
    log: [
      expect.stringMatching(
        new RegExp(
          `^orders has snapshots of another etcd \\(cluster id ${mine.clusterId}, newest ${mine.id}\\), and this one has the cluster id ${clusterId}; .* pass a --cluster or --namespace of its own; .* this store has no note of it \\(the restore used another store, or another tool\\), pass --restored-from=${mine.clusterId}$`,
        ),
      ),
    ],
  });
  expect(await second()).toMatchObject({ exitCode: 0, log });
  expect((await backup('--cluster=orders')).log).toEqual([
    expect.stringContaining(`(cluster id ${clusterId}, newest `),
  ]);
  const { text } = await runHere('check', `--store=file://${path}`, '--cluster=orders');
  const both = `(${mine.clusterId}, ${clusterId}|${clusterId}, ${mine.clusterId})`;
  expect(text).toMatch(
    new RegExp(
      `the snapshots of orders are of 2 etcds that no restore connects, ${both}; .* --restored-from to its next backup`,
    ),
  );
});

test('an etcd that was abandoned by another restore causes no such warning', async () => {
  await using other = await EtcdCluster.start({ size: 1 });
  await backup('--cluster=orders', '--restored-from=a1');
  expect(await backupOf(other, '--cluster=orders', '--restored-from=a1')).toMatchObject({ exitCode: 0, log: [] });
  expect((await runHere('check', `--store=file://${path}`, '--cluster=orders')).text).not.toContain('no restore');
});

test('a backup without recipients into a folder with encrypted snapshots warns, and list shows which are encrypted', async () => {
  const recipient = await identityToRecipient(await generateX25519Identity());
  const encrypted = (await backup('--cluster=orders', `--age-recipient=${recipient}`)).data.snapshot.id;
  const { exitCode, log, data } = await backup('--cluster=orders');
  expect({ exitCode, log }).toEqual({
    exitCode: 0,
    log: [
      `this backup is not encrypted, but orders has encrypted snapshots, such as ${encrypted}; pass --age-recipient to encrypt it too`,
    ],
  });
  const listed = await runHere('list', `--store=file://${path}`, '--cluster=orders');
  expect(listed.data.snapshots.map((one: { id: string; encrypted: boolean }) => [one.id, one.encrypted])).toEqual([
    [data.snapshot.id, false],
    [encrypted, true],
  ]);
  expect(listed.text).toMatch(new RegExp(`^${data.snapshot.id} .* no +read\n${encrypted} .* age +read$`, 'm'));
});

test('a cluster that was restored from the other causes no such warning', async () => {
  await using other = await EtcdCluster.start({ size: 1 });
  const { clusterId } = (await backup('--cluster=orders')).data.snapshot;
  expect(await backupOf(other, '--cluster=orders', `--restored-from=${clusterId}`)).toMatchObject({
    exitCode: 0,
    log: [],
  });
});

test.each<[string, (folder: string) => Promise<void>]>([
  [
    'a dead run has left a payload in the new folder',
    async () => {
      await mkdir(join(path, 'order'));
      await writeFile(join(path, 'order/etcd-snapshot-20260101-000000-aaaaaa.db'), 'left');
    },
  ],
  [
    'the other folder has an adopted snapshot whose name comes last',
    async (folder) => {
      const [name] = (await readdir(folder)).filter((each) => each.endsWith('.json'));
      const manifest = JSON.parse(await readFile(join(folder, name!), 'utf8'));
      const adopted = { ...manifest, id: 'weekly', source: { ...manifest.source, clusterId: 'unknown' } };
      await writeFile(join(folder, 'weekly.json'), JSON.stringify(adopted));
      await writeFile(join(folder, 'etcd-snapshot-20991231-000000-aaaaaa.json'), JSON.stringify(adopted));
    },
  ],
  [
    'the other folder has files of another program',
    async (folder) => {
      for (const name of ['package', 'zones', 'zzz']) await writeFile(join(folder, `${name}.json`), '{}');
    },
  ],
])('the first backup also warns if %s', async (_, prepare) => {
  await backup('--cluster=orders');
  await prepare(join(path, 'orders'));
  const { exitCode, log } = await backup('--cluster=order');
  expect({ exitCode, log }).toEqual({
    exitCode: 0,
    log: [
      expect.stringMatching(
        /^order has no snapshots yet, but orders has some of this etcd .* pass --cluster=orders --namespace=$/,
      ),
    ],
  });
});

describe('another folder that hangs', () => {
  /** Gives out nothing of the other folder until it is released, and stores nothing before the other folder is asked for. */
  class Hanging extends FilesystemStore {
    readonly release = Promise.withResolvers<void>();
    readonly asked = Promise.withResolvers<void>();
    readonly signals: (AbortSignal | undefined)[] = [];
    readonly hangs: 'get' | 'list';
    onManifest = () => {};

    constructor(hangs: 'get' | 'list' = 'get') {
      super({ path });
      this.hangs = hangs;
    }

    override async get(key: string, options?: CallOptions) {
      if (this.hangs === 'get' && key.startsWith('prod/')) {
        this.signals.push(options?.signal);
        this.asked.resolve();
        await this.release.promise;
        return super.get(key);
      }
      return super.get(key, options);
    }

    override async *list(prefix: string, options?: CallOptions) {
      if (this.hangs === 'list' && prefix === '') {
        this.asked.resolve();
        await this.release.promise;
      }
      yield* super.list(prefix, options);
    }

    override async put(...args: Parameters<FilesystemStore['put']>) {
      await this.asked.promise;
      const put = await super.put(...args);
      if (args[0].endsWith('.json')) this.onManifest();
      return put;
    }
  }

  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).msg) });
  const take = (store: Store, overrides: Partial<BackupRequest> = {}, signal = silent.signal) =>
    takeBackup(backupRequest(etcd, path, [store], overrides), { ...silent, log, signal });
  beforeEach(async () => {
    lines.length = 0;
    await backup('--cluster=orders', '--namespace=prod');
  });

  test.each(['get', 'list'] as const)('in %s does not end the backup or the store', async (hangs) => {
    const store = new IdleTimeoutStore(
      'file://x',
      async () => new Hanging(hangs),
      () => 1_500,
    );
    const { targets } = await take(store);
    expect(targets).toMatchObject([{ verified: 'read' }]);
    expect(targets[0]!.error).toBeUndefined();
  });

  test('delays a finished backup by a second at most', async () => {
    const store = new Hanging();
    let stored = 0;
    store.onManifest = () => {
      stored = Date.now();
    };
    await take(store);
    expect(Date.now() - stored).toBeLessThan(3_000);
    expect(store.signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  test('does not let a signal make a failure of a finished backup', async () => {
    const store = new Hanging();
    const controller = new AbortController();
    let stopped = 0;
    store.onManifest = () =>
      setTimeout(() => {
        stopped = Date.now();
        controller.abort(new AgentError(ExitCode.terminated, 'stopped by SIGTERM'));
      }, 500);
    expect(await take(store, {}, controller.signal)).toMatchObject({ targets: [{ verified: 'read' }] });
    expect(stopped).toBeGreaterThan(0);
  });

  test('is no longer asked after a failed backup, and causes no warning then', async () => {
    const store = new Hanging();
    store.put = async () => {
      await store.asked.promise;
      throw new AgentError(ExitCode.storeRefused, '403');
    };
    await expect(take(store, { fileName: 'own-%Y' })).rejects.toThrow('403');
    expect(store.signals.map((signal) => signal?.aborted)).toEqual([true]);
    store.release.resolve();
    await sleep(100);
    expect(lines).toEqual(['403']);
  });
});
