// `npm run bench -- restore`: from the stored snapshot to a member that serves. docs/contributing/benchmarks.md explains it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { etcdutl } from '../agent/test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../agent/test/harness/etcd-cluster.ts';
import { initialCluster, type MemberPlan, planMembers } from '../agent/test/harness/member-plan.ts';
import { checkGoals } from './goals.mts';
import { fillWithKubernetes } from './kubernetes-data.mts';
import { type Cost, measure, type Step } from './measure.mts';
import { readOptions } from './options.mts';
import { type S3Server, startS3 } from './s3-server.mts';
import { medianRatio, table } from './table.mts';
import { provide } from './tools.mts';
import { agent, backups, OBJECT } from './ways.mts';

const options = readOptions();
provide('s3cmd', 'rclone', 'time');
const scratch = await mkdtemp(join(tmpdir(), 'cdk8s-etcd-bench-'));

/** Steps that create the member's data directory, and its snapshot if needed. */
function restores(s3: S3Server, plan: MemberPlan, dataDir: string): Map<string, Step[]> {
  const member = [
    ...['--name', plan.name, '--data-dir', dataDir, '--initial-advertise-peer-urls', plan.peerUrl],
    ...['--initial-cluster', initialCluster([plan]), '--initial-cluster-token', 'restored'],
  ];
  const file = join(scratch, OBJECT);
  const restore = { command: [etcdutl(), 'snapshot', 'restore', file, ...member] };
  const get = { command: [...s3.s3cmd, 'get', `s3://${s3.bucket}/${OBJECT}`, file] };
  const copy = { command: [...s3.rclone, 'copyto', `:s3:${s3.bucket}/${OBJECT}`, file] };
  return new Map([
    ['s3cmd', [get, restore]],
    ['ours', [agent(s3, 'restore', 'data-dir', ...member)]],
    ['rclone', [copy, restore]],
  ]);
}

/** Seconds until etcd is healthy on the data directory. */
async function start(plan: MemberPlan, dataDir: string): Promise<number> {
  const started = performance.now();
  await using _ = await EtcdCluster.fromDataDirs([{ ...plan, dataDir }], { dataRoot: scratch });
  return (performance.now() - started) / 1_000;
}

async function store(s3: S3Server): Promise<void> {
  await using etcd = await EtcdCluster.start({ dataRoot: scratch, extraArgs: ['--quota-backend-bytes=8589934592'] });
  console.log(`${options.size} MiB of Kubernetes-like objects in etcd ${etcd.binaries.version}, S3 by ${s3.name}`);
  await fillWithKubernetes(etcd, options.size);
  const ways = backups(etcd, s3);
  for (const way of ['s3cmd', 'ours']) await measure(ways.get(way)!, scratch);
  for (const level of ['read', 'open']) {
    const { wall, cpu } = await measure([agent(s3, 'verify', `--level=${level}`)], scratch);
    console.log(`verify --level=${level}: ${wall.toFixed(1)} s, CPU ${cpu.toFixed(1)} s`);
  }
  await rm(join(scratch, OBJECT));
}

try {
  await using s3 = await startS3(options.server);
  await store(s3);
  const dataDir = join(scratch, 'restored');
  const costs = new Map<string, Cost[]>();
  for (let round = 1; round <= options.rounds; round++) {
    const [plan] = await planMembers(1);
    for (const [way, steps] of restores(s3, plan!, dataDir)) {
      const cost = await measure(steps, scratch);
      const total = { ...cost, wall: cost.wall + (await start(plan!, dataDir)) };
      costs.set(way, [...(costs.get(way) ?? []), total]);
      for (const path of [dataDir, join(scratch, OBJECT)]) await rm(path, { recursive: true, force: true });
      console.log(`round ${round}: ${way}: ${total.wall.toFixed(1)} s, CPU ${cost.cpu.toFixed(1)} s`);
    }
  }
  console.log(`\nMedian (least–most) of ${options.rounds}\n${table(costs, 's3cmd')}\n`);
  if (!options.smoke) {
    checkGoals([{ what: 'wall ÷ s3cmd', value: medianRatio(costs, 'ours', 's3cmd', 'wall'), limit: 0.6 }]);
  }
} finally {
  await rm(scratch, { recursive: true });
}
