// `npm run bench -- catalog`: what a store with many snapshots costs each command. docs/contributing/benchmarks.md explains it.
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EtcdCluster } from '../agent/test/harness/etcd-cluster.ts';
import { Versitygw } from '../agent/test/harness/versitygw.ts';
import { type ConfinedRun, runConfined } from '../agent/test/memory/confined-agent.ts';
import { CountingProxy } from './counting-proxy.mts';

const MIB = 1024 * 1024;
const HOUR = 3_600_000;
const limits = { memory: 100 * MIB };
const { smoke } = parseArgs({ options: { smoke: { type: 'boolean', default: false } } }).values;
const counts = smoke ? [1_000] : [1_000, 10_000];

const scratch = await mkdtemp(join(tmpdir(), 'cdk8s-etcd-bench-'));
try {
  await using etcd = await EtcdCluster.start({ size: 1 });
  await etcd.put(100);
  const rows: string[][] = [];
  for (const count of counts) rows.push(...(await measure(etcd, count)));
  const header = ['snapshots', 'command', 'seconds', 'requests', 'own MiB', 'MiB with page cache'];
  console.log(`\n${[header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`);
} finally {
  await rm(scratch, { recursive: true });
}

async function measure(etcd: EtcdCluster, count: number): Promise<string[][]> {
  await using server = await Versitygw.start({ buckets: ['bench'] });
  await using proxy = await CountingProxy.start(server.endpoint);
  const { credentialsDirectory, directory } = server;
  const store = `s3://bench?${new URLSearchParams({ endpoint: proxy.endpoint, credentialsDirectory })}`;
  const rows: string[][] = [];
  const run = async (what: string, ...args: string[]): Promise<ConfinedRun> => {
    proxy.take();
    const flags = ['--cluster', 'orders', '--namespace', 'prod', '--store', store];
    const found = await runConfined(limits, [...args, ...flags], scratch);
    const { seconds, own, peak } = found;
    const row = [seconds.toFixed(1), String(proxy.take()), (own / MIB).toFixed(0), (peak / MIB).toFixed(0)];
    rows.push([String(count), what, ...row]);
    return found;
  };
  const backup = ['backup', '--endpoints', etcd.endpoints.join()];
  await run('the first backup', ...backup);
  await multiply(join(directory, 'bench/prod/orders'), count);
  await run('status, without an index', 'status');
  await run('list, without an index', 'list');
  await run('backup, which writes the index', ...backup);
  await run('backup', ...backup);
  await run('backup with retention', ...backup, '--retention', 'within=3650d,daily=30');
  await run('status', 'status');
  await run('list', 'list');
  const { result } = await run('prune', 'prune', '--retention', 'daily=30,monthly=12');
  console.log(`${count}: prune deleted ${result.deleted.length}`);
  return rows;
}

/** One snapshot becomes many, an hour apart, each with the note of a verification. */
async function multiply(folder: string, count: number): Promise<void> {
  const names = await readdir(folder);
  const own = names.find((name) => name.endsWith('.json'))!;
  const payload = names.find((name) => !name.endsWith('.json'))!;
  const manifest = JSON.parse(await readFile(join(folder, own), 'utf8'));
  const bytes = await readFile(join(folder, payload));
  const now = Date.now();
  for (let n = 1; n < count; n++) {
    const createdAt = new Date(now - n * HOUR);
    const [day, time] = createdAt.toISOString().replaceAll(/[-:]/g, '').split(/[T.]/);
    const id = `etcd-snapshot-${day}-${time}-${n.toString(16).padStart(6, '0')}`;
    const key = `prod/orders/${id}.db.zst`;
    const changed = { ...manifest, id, createdAt: createdAt.toISOString(), object: { ...manifest.object, key } };
    const verification = {
      id,
      level: 'read',
      outcome: 'verified',
      at: createdAt.toISOString(),
      detail: 'as it was sent',
    };
    const written = {
      [`${id}.db.zst`]: bytes,
      [`${id}.json`]: JSON.stringify(changed, null, 2),
      [`${id}.verify.json`]: JSON.stringify({
        ...{ schema: 'cdk8s-etcd/verification/v1', agent: manifest.agent },
        ...verification,
      }),
    };
    for (const [name, content] of Object.entries(written)) {
      const path = join(folder, name);
      await writeFile(path, content);
      await utimes(path, createdAt, createdAt);
    }
  }
}
