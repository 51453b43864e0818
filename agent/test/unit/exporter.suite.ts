// The exporter, and the reads that it makes in processes of their own.
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentError, ExitCode } from '../../src/lib/errors.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { RunningAgent, runAgent } from '../harness/agent.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { freePorts } from '../harness/free-ports.ts';
import { seal } from '../mutations/mutate.ts';
import { runHere } from '../support/in-process.ts';
import { type ManifestChanges, manifestOf } from '../support/manifest-of.ts';

let root: string;
let path: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'exporter-'));
  path = join(root, 'store');
  await mkdir(join(path, 'orders'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true }));

/** `minute`: of its creation. */
async function put(minute: number, changes: ManifestChanges = {}, seconds = 3): Promise<string> {
  const id = `etcd-snapshot-20261121-02${minute}00-00000a`;
  const createdAt = `2026-11-21T02:${minute}:00.000Z`;
  const snapshot = seal(Buffer.from(id));
  const manifest = manifestOf(snapshot, snapshot, { id, createdAt, content: { revision: minute }, ...changes });
  const timing = { ...manifest.timing, seconds };
  await writeFile(join(path, 'orders', `${id}.db`), snapshot);
  await writeFile(join(path, 'orders', `${id}.json`), JSON.stringify({ ...manifest, timing }));
  return id;
}
const timeOf = (minute: number) => Date.parse(`2026-11-21T02:${minute}:00Z`) / 1000;

describe('a read of a store', () => {
  const { get } = FilesystemStore.prototype;
  beforeEach(() => {
    process.env.ETCD_AGENT_EXPORTER_READ = '0';
  });
  afterEach(() => {
    delete process.env.ETCD_AGENT_EXPORTER_READ;
    FilesystemStore.prototype.get = get;
  });

  const read = (store = `file://${path}`, ...more: string[]) =>
    runHere('exporter', '--cluster=orders', `--store=${store}`, ...more);
  const valuesOf = ({ data }: Awaited<ReturnType<typeof read>>) =>
    Object.fromEntries(data.found.samples.map(({ name, value }: { name: string; value: number }) => [name, value]));
  const fails = (id: string) => {
    FilesystemStore.prototype.get = function (this: FilesystemStore, key, options) {
      if (!key.endsWith(`${id}.json`)) return get.call(this, key, options);
      return Promise.reject(new AgentError(ExitCode.storeUnreachable, '500'));
    };
  };

  test('finds the newest verified snapshot', async () => {
    await put(10);
    await put(20);
    await put(30, { verified: undefined });
    expect(valuesOf(await read())).toMatchObject({
      etcd_backup_last_verified_timestamp_seconds: timeOf(20),
      etcd_backup_last_verified_revision: 20,
      etcd_backup_last_snapshot_duration_seconds: 3,
      etcd_backup_last_snapshot_size_bytes: expect.any(Number),
      etcd_backup_snapshots: 3,
    });
  });

  test('claims neither a revision nor a duration that nobody knows', async () => {
    await put(10, { content: {}, source: { clusterId: 'unknown' } });
    const values = valuesOf(await read());
    expect(values).toMatchObject({ etcd_backup_last_verified_timestamp_seconds: timeOf(10) });
    expect(Object.keys(values)).not.toContain('etcd_backup_last_verified_revision');
    expect(Object.keys(values)).not.toContain('etcd_backup_last_snapshot_duration_seconds');
  });

  test('of an empty store finds none', async () => {
    expect(valuesOf(await read())).toEqual({
      etcd_backup_last_verified_timestamp_seconds: 0,
      etcd_backup_snapshots: 0,
    });
  });

  test('of a store that does not exist fails', async () => {
    await rm(path, { recursive: true });
    expect(await read()).toMatchObject({ exitCode: ExitCode.nothingThere, text: expect.stringContaining(path) });
  });

  test('fails if the manifest of a snapshot cannot be read that may be the newest; an older one does not matter', async () => {
    const [older, , newest] = [await put(10), await put(20), await put(30)];
    fails(older);
    expect(valuesOf(await read())).toMatchObject({ etcd_backup_last_verified_timestamp_seconds: timeOf(30) });
    fails(newest);
    expect(await read()).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      text: expect.stringMatching(`${newest}: its manifest cannot be read: .*500`),
    });
  });

  test('of a store that hangs ends at its time limit', async () => {
    const store = await hanging('exec sleep 600');
    expect(await read(store, '--timeout=1s')).toMatchObject({ exitCode: ExitCode.timedOut });
  });

  test('of an etcd that does not answer fails', async () => {
    process.env.ETCD_AGENT_EXPORTER_READ = 'etcd';
    const [port] = await freePorts(1);
    const found = await read(undefined, `--endpoints=127.0.0.1:${port}`, '--dial-timeout=1s');
    expect(found).toMatchObject({ exitCode: ExitCode.etcdUnavailable });
  });
});

/** A store whose executables run this. */
async function hanging(script: string): Promise<string> {
  const scripts = await mkdtemp(join(root, 'scripts-'));
  for (const verb of ['put', 'get', 'list', 'stat', 'delete']) {
    await writeFile(join(scripts, verb), `#!/bin/sh\n${script}\n`);
    await chmod(join(scripts, verb), 0o755);
  }
  return `exec://${scripts}`;
}

class Exporter implements AsyncDisposable {
  readonly agent: RunningAgent;
  readonly #url: string;

  private constructor(agent: RunningAgent, url: string) {
    this.agent = agent;
    this.#url = url;
  }

  static async start(...args: string[]): Promise<Exporter> {
    const [port] = await freePorts(1);
    const own = ['--cluster=orders', '--interval=100ms', '--timeout=20s', `--listen=127.0.0.1:${port}`];
    return new Exporter(new RunningAgent(['exporter', ...own, ...args]), `http://127.0.0.1:${port}`);
  }

  async get(of: string): Promise<{ status: number; body: string } | undefined> {
    const response = await fetch(`${this.#url}${of}`).catch(() => undefined);
    return response && { status: response.status, body: await response.text() };
  }

  /** Scrapes until the metrics contain the line. */
  async until(line: string): Promise<string> {
    for (;;) {
      const body = (await this.get('/metrics'))?.body ?? '';
      if (body.split('\n').includes(line)) return body;
      await sleep(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.agent.kill();
  }
}

const series = (name: string, store: string, value: number) =>
  `etcd_backup_${name}{etcd_cluster="orders",store="${store}"} ${value}`;

test('a store that goes away is down and keeps its last known time, and counts again when it is back', async () => {
  await put(10);
  const url = `file://${path}`;
  await using exporter = await Exporter.start(`--store=${url}`);
  await exporter.until(series('store_up', url, 1));
  expect(await exporter.get('/readyz')).toEqual({ status: 200, body: 'ok\n' });
  expect(await exporter.get('/livez')).toMatchObject({ status: 200 });
  expect(await exporter.get('/')).toMatchObject({ status: 404 });

  await rename(path, `${path}.gone`);
  const gone = await exporter.until(series('store_up', url, 0));
  expect(gone).toContain(series('last_verified_timestamp_seconds', url, timeOf(10)));
  const readAt = (body: string) => /^etcd_backup_store_last_read_timestamp_seconds.*$/m.exec(body)?.[0];
  expect(readAt(await exporter.until(series('store_up', url, 0)))).toBe(readAt(gone));

  await rename(`${path}.gone`, path);
  await put(20);
  await exporter.until(series('last_verified_timestamp_seconds', url, timeOf(20)));
  const back = await exporter.until(series('store_up', url, 1));
  expect(readAt(back)).not.toBe(readAt(gone));

  const { code, log } = await exporter.agent.kill('SIGTERM');
  expect(code).toBe(0);
  expect(log.filter(({ msg }) => msg.includes('does not exist'))).toHaveLength(1);
});

test('a store that hangs delays no scrape and no other store; a signal ends the exporter meanwhile', async () => {
  await put(10);
  const [good, stuck] = [`file://${path}`, await hanging('exec sleep 600')];
  await using exporter = await Exporter.start(`--store=${good}`, `--store=${stuck}`);
  const body = await exporter.until(series('store_up', good, 1));
  expect(body).not.toContain(stuck);
  expect(await exporter.get('/readyz')).toEqual({ status: 503, body: `not read yet: ${stuck}\n` });
  // 143 would mean that it was ended by its own time limit after a signal.
  const { code } = await exporter.agent.kill('SIGTERM');
  expect(code).toBe(0);
});

test('a read that neither answers nor ends itself is ended at its limit, and reported as down', async () => {
  // The script stops the process that reads.
  const stuck = await hanging('kill -STOP $PPID; exec sleep 20');
  await using exporter = await Exporter.start(`--store=${stuck}`, '--timeout=1s');
  await exporter.until(series('store_up', stuck, 0));
  expect(await exporter.get('/readyz')).toMatchObject({ status: 200 });
  const { code } = await exporter.agent.kill('SIGTERM');
  expect(code).toBe(0);
});

test('the revision of an etcd is exported while the etcd answers', async () => {
  const etcd = await EtcdCluster.start({ size: 1 });
  const url = `file://${path}`;
  await using exporter = await Exporter.start(`--store=${url}`, `--endpoints=${etcd.endpoints}`, '--dial-timeout=1s');
  try {
    const body = await exporter.until('etcd_backup_etcd_up{etcd_cluster="orders"} 1');
    expect(body).toMatch(/^etcd_backup_etcd_revision\{etcd_cluster="orders"\} [1-9]/m);
  } finally {
    await etcd[Symbol.asyncDispose]();
  }
  expect(await exporter.until('etcd_backup_etcd_up{etcd_cluster="orders"} 0')).not.toContain(
    'etcd_backup_etcd_revision{',
  );
});

test('a mistake ends the exporter at once', async () => {
  const args = ['exporter', '--cluster=orders', `--store=file://${path}`];
  expect(await runAgent([...args, '--interval=0s'])).toMatchObject({ code: ExitCode.usage });
  expect(await runAgent([...args, '--endpoints=ftp://etcd'])).toMatchObject({ code: ExitCode.usage });
  expect(await runAgent(['exporter', '--cluster=orders'])).toMatchObject({ code: ExitCode.usage });
});
