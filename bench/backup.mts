// `npm run bench -- backup`: the agent against the usual scripts, on one etcd and one S3 server. docs/contributing/benchmarks.md explains it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../agent/test/harness/etcd-cluster.ts';
import { checkGoals } from './goals.mts';
import { fillWithKubernetes } from './kubernetes-data.mts';
import { type Cost, measure } from './measure.mts';
import { readOptions } from './options.mts';
import { startS3 } from './s3-server.mts';
import { medianRatio, table } from './table.mts';
import { provide } from './tools.mts';
import { backups } from './ways.mts';

const options = readOptions();
provide('s3cmd', 'rclone', 'time');
const scratch = await mkdtemp(join(tmpdir(), 'cdk8s-etcd-bench-'));
try {
  await using s3 = await startS3(options.server);
  await using etcd = await EtcdCluster.start({ extraArgs: ['--quota-backend-bytes=8589934592'] });
  console.log(`${options.size} MiB of Kubernetes-like objects in etcd ${etcd.binaries.version}, S3 by ${s3.name}`);
  await fillWithKubernetes(etcd, options.size);
  const ways = backups(etcd, s3);
  const costs = new Map<string, Cost[]>([...ways.keys()].map((way) => [way, []]));
  for (let round = 1; round <= options.rounds; round++) {
    for (const [way, steps] of ways) {
      const directory = await mkdtemp(join(scratch, 'run-'));
      const cost = await measure(steps, directory);
      costs.get(way)!.push(cost);
      await rm(directory, { recursive: true });
      s3.empty();
      console.log(`round ${round}: ${way}: ${cost.wall.toFixed(1)} s, CPU ${cost.cpu.toFixed(1)} s`);
    }
  }
  console.log(`\nMedian (least–most) of ${options.rounds}\n${table(costs, 's3cmd')}\n`);
  if (!options.smoke) {
    const ours = costs.get('ours')!;
    checkGoals([
      { what: 'wall ÷ s3cmd', value: medianRatio(costs, 'ours', 's3cmd', 'wall'), limit: 0.5 },
      { what: 'CPU ÷ s3cmd', value: medianRatio(costs, 'ours', 's3cmd', 'cpu'), limit: 0.4 },
      { what: 'own memory in MiB', value: Math.max(...ours.map(({ memory }) => memory)), limit: 100 },
      { what: 'MiB written to disk', value: Math.max(...ours.map(({ disk }) => disk)), limit: 1 },
    ]);
  }
} finally {
  await rm(scratch, { recursive: true });
}
