import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { backupRequest, silent } from '../../../test/support/backup-request.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { putJson } from '../catalog/catalog.ts';
import { takeBackup } from './take.ts';

let etcd: EtcdCluster;
let root: string;
beforeAll(async () => {
  etcd = await EtcdCluster.start();
  await etcd.put(4);
});
afterAll(() => etcd?.stop());
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'keep-committed-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

/** Fails to read the payload back. What happens meanwhile is given. */
class BadRead extends FilesystemStore {
  meanwhile: (key: string) => Promise<void> = async () => {};
  override async get(key: string): ReturnType<FilesystemStore['get']> {
    if (/\.(json|reserved)$/.test(key)) return super.get(key);
    await this.meanwhile(key);
    return (async function* () {
      yield Buffer.from('bad');
    })();
  }
}

async function failing(overrides: object, prepare: (store: BadRead) => void) {
  const store = new BadRead({ path: join(root, 'store') });
  prepare(store);
  const log: string[] = [];
  const warnings = pino({ level: 'warn' }, { write: (line) => log.push(JSON.parse(line).msg) });
  const taken = takeBackup(backupRequest(etcd, root, [store], overrides), { ...silent, log: warnings });
  await expect(taken).rejects.toMatchObject({ exitCode: ExitCode.verificationFailed });
  const keys: string[] = [];
  for await (const { key } of store.list('')) keys.push(key);
  return { keys: keys.sort(), log: log.filter((line) => !/bytes, not/.test(line)) };
}

const isPayload = expect.stringMatching(/\.db$/);

test.each([{}, { fileName: 'nightly' }, { key: 'own/latest.db' }])(
  'a failed backup with %j deletes its payload',
  async (overrides) => {
    expect(await failing(overrides, () => {})).toEqual({ keys: [], log: [] });
  },
);

test.each([{}, { key: 'own/latest.db' }])(
  'a manifest that no agent would read is not written, with %j',
  async (overrides) => {
    const store = new FilesystemStore({ path: join(root, 'store') });
    const request = backupRequest(etcd, root, [store], { restoredFrom: ['XYZ'], ...overrides });
    await expect(takeBackup(request, silent)).rejects.toThrow(/manifest of .* is not valid .*cluster\.lineage\.0/);
    for await (const { key } of store.list('')) throw new Error(`${key} is left`);
  },
);

test.each([{}, { fileName: 'nightly' }, { key: 'own/latest.db' }])(
  'a failed backup with %j keeps its payload if a manifest was written for it meanwhile',
  async (overrides) => {
    const { keys, log } = await failing(overrides, (store) => {
      store.meanwhile = (key) => putJson(store, key.replace(/\.db$/, '.json'), {}, {});
    });
    expect(keys).toEqual(expect.arrayContaining([isPayload, expect.stringMatching(/\.json$/)]));
    expect(log).toEqual([expect.stringMatching(/^\S+ is kept: .*\.json exists by now/)]);
  },
);

test('a failed backup keeps its payload if it cannot be told whether there is a manifest', async () => {
  const { keys, log } = await failing({}, (store) => {
    store.meanwhile = async () => {
      const stat = store.stat.bind(store);
      store.stat = async (key, options) => {
        if (key.endsWith('.json')) throw new Error('no answer');
        return stat(key, options);
      };
    };
  });
  // With the marker that its backup did not end.
  expect(keys.filter((key) => !key.endsWith('.taking'))).toEqual([isPayload]);
  expect(log).toEqual([expect.stringMatching(/is kept: .*\.json may exist by now \(no answer\)/)]);
});

/** Something else changes the payload while the manifest is written. */
class Meddled extends FilesystemStore {
  meddle: (path: string) => Promise<unknown> = async () => {};
  override async put(...[key, body, options]: Parameters<FilesystemStore['put']>) {
    const put = await super.put(key, body, options);
    if (key.endsWith('.json')) await this.meddle(join(root, 'store', key.replace(/\.json$/, '.db')));
    return put;
  }
}

test.each<[string, (path: string) => Promise<unknown>]>([
  ['was deleted', (path) => rm(path)],
  ['was replaced', (path) => writeFile(path, 'other')],
])(
  'a payload that %s while the manifest is written fails the backup, and no manifest is left',
  async (what, meddle) => {
    const store = new Meddled({ path: join(root, 'store') });
    store.meddle = meddle;
    await expect(takeBackup(backupRequest(etcd, root, [store]), silent)).rejects.toMatchObject({
      exitCode: ExitCode.verificationFailed,
      message: expect.stringContaining(what),
    });
    const left = await readdir(join(root, 'store'), { recursive: true });
    expect(left.filter((name) => name.endsWith('.json'))).toEqual([]);
  },
);

test('a manifest that cannot be removed again is named', async () => {
  const store = new Meddled({ path: join(root, 'store') });
  const { get } = store;
  store.meddle = async (path) => {
    await rm(path);
    store.get = (key, ...more) =>
      key.endsWith('.json') ? Promise.reject(new Error('no answer')) : get.call(store, key, ...more);
  };
  const taken = takeBackup(backupRequest(etcd, root, [store]), silent);
  const [, key] = await taken.then(
    () => [],
    ({ message }) =>
      /; its manifest (\S+) may be left, because it could not be removed \(no answer\): delete it; /.exec(message)!,
  );
  expect(await readdir(join(root, 'store'), { recursive: true })).toContain(key);
});

test('a manifest that another run has replaced by then is named', async () => {
  const store = new Meddled({ path: join(root, 'store') });
  store.meddle = async (path) => {
    await rm(path);
    await writeFile(path.replace(/\.db$/, '.json'), '{}');
  };
  await expect(takeBackup(backupRequest(etcd, root, [store]), silent)).rejects.toThrow(
    /; its manifest orders\/\S+\.json may be left, because another run has replaced it or the store keeps it: check it; /,
  );
});

test('a payload that is gone is named in the log of a run that is stopped', async () => {
  const store = new Meddled({ path: join(root, 'store') });
  const controller = new AbortController();
  store.meddle = async (path) => {
    await rm(path);
    controller.abort(new AgentError(ExitCode.terminated, 'stopped by SIGTERM'));
  };
  const log: string[] = [];
  const errors = pino({ level: 'error' }, { write: (line) => log.push(JSON.parse(line).msg) });
  const context = { ...silent, log: errors, signal: controller.signal };
  await expect(takeBackup(backupRequest(etcd, root, [store]), context)).rejects.toThrow(/^stopped by SIGTERM$/);
  expect(log).toEqual([expect.stringContaining('was deleted while the backup was writing its manifest')]);
});

/** Its answer to the manifest is lost. */
class LosingAnswers extends FilesystemStore {
  /** Called once the manifest is written. */
  onManifest = () => {};
  override async put(...args: Parameters<FilesystemStore['put']>) {
    const put = await super.put(...args);
    if (!args[0].endsWith('.json')) return put;
    this.onManifest();
    args[2]?.signal?.throwIfAborted();
    throw new AgentError(ExitCode.storeUnreachable, 'connection lost');
  }
}

test.each([{}, { key: 'own/latest.db' }, { key: 'own/latest.db', overwrite: true }])(
  'an answer to the manifest that is lost does not make a failure of a committed backup, with %j',
  async (overrides) => {
    const store = new LosingAnswers({ path: join(root, 'store') });
    expect(await takeBackup(backupRequest(etcd, root, [store], overrides), silent)).toMatchObject({
      targets: [{ verified: 'read' }],
    });
  },
);

test.each([
  ['stopped by SIGTERM', ExitCode.terminated],
  ['connection lost', ExitCode.storeUnreachable],
])('a manifest that may have been written is named: %s', async (why, exitCode) => {
  const store = new LosingAnswers({ path: join(root, 'store') });
  const controller = new AbortController();
  store.onManifest = () => {
    store.get = () => Promise.reject(new Error('no answer'));
    if (exitCode === ExitCode.terminated) controller.abort(new AgentError(exitCode, why));
  };
  const taken = takeBackup(backupRequest(etcd, root, [store]), { ...silent, signal: controller.signal });
  const message = expect.stringMatching(
    `^${why}; the manifest orders/etcd-snapshot-\\S+\\.json in file:\\S+/store may have been written$`,
  );
  await expect(taken).rejects.toMatchObject({ exitCode, message, finding: { kind: 'listed' } });
  // With the marker: the manifest may also be missing.
  const left = await readdir(join(root, 'store/orders'));
  expect(left.map((name) => name.replace(/^[^.]+/, '')).sort()).toEqual(['.db', '.json', '.taking']);
});

/** Does not answer any more for the payload once the manifest is written. */
class HangingAfterwards extends FilesystemStore {
  onManifest = () => {};
  #hangs = false;
  override async put(...args: Parameters<FilesystemStore['put']>) {
    const put = await super.put(...args);
    this.#hangs ||= args[0].endsWith('.json');
    if (this.#hangs) this.onManifest();
    return put;
  }
  override async stat(...[key, options]: Parameters<FilesystemStore['stat']>) {
    if (this.#hangs && key.endsWith('.db')) return unlessAborted(new Promise<never>(() => {}), options?.signal);
    return super.stat(key, options);
  }
}

test('a store that hangs after the manifest does not make a failure of a committed backup', async () => {
  const store = new HangingAfterwards({ path: join(root, 'store') });
  expect(await takeBackup(backupRequest(etcd, root, [store]), silent)).toMatchObject({
    targets: [{ verified: 'read' }],
  });
}, 20_000);

test.each([
  [undefined, {}, 'orders/etcd-snapshot-\\S+\\.db'],
  [{ last: 1 }, {}, 'orders/etcd-snapshot-\\S+\\.db'],
  [undefined, { key: 'own/latest.db' }, 'orders/etcd-snapshot-\\S+\\.db'],
] as const)(
  'a backup that is stopped after its manifest says what it has stored (retention: %j, %j)',
  async (retention, overrides, key) => {
    const store = new HangingAfterwards({ path: join(root, 'store') });
    const controller = new AbortController();
    store.onManifest = () => controller.abort(new AgentError(ExitCode.terminated, 'stopped by SIGTERM'));
    const targets = [{ store, ...(retention && { retention }) }];
    const taken = takeBackup(
      { ...backupRequest(etcd, root, [], overrides), targets },
      { ...silent, signal: controller.signal },
    );
    await expect(taken).rejects.toMatchObject({
      exitCode: ExitCode.terminated,
      message: expect.stringMatching(
        `^stopped by SIGTERM; before that, the snapshot was stored: ${key} in file:\\S+/store$`,
      ),
    });
    const left = await readdir(join(root, 'store'), { recursive: true });
    expect(left.filter((name) => name.endsWith('.taking'))).toEqual([]);
  },
  20_000,
);

test('a store that may not be listed gets the backup all the same, with a warning', async () => {
  const store = new FilesystemStore({ path: join(root, 'store') });
  store.list = () => {
    throw new AgentError(ExitCode.storeRefused, 'list: AccessDenied');
  };
  const log: string[] = [];
  const warnings = pino({ level: 'warn' }, { write: (line) => log.push(JSON.parse(line).msg) });
  const { targets } = await takeBackup(backupRequest(etcd, root, [store]), { ...silent, log: warnings });
  expect(targets).toMatchObject([{ verified: 'read' }]);
  expect(log).toEqual([expect.stringMatching(/^list: AccessDenied; the backup goes on/)]);
});
