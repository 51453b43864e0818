import { etcdutl } from '../agent/test/harness/etcd-binaries.ts';
import type { EtcdCluster } from '../agent/test/harness/etcd-cluster.ts';
import { imageCommand } from '../agent/test/harness/image-command.ts';
import type { Step } from './measure.mts';
import type { S3Server } from './s3-server.mts';

export const CLUSTER = 'bench';
/** Names of the file and the object of the scripts. */
export const OBJECT = 'snapshot.db';

/** The agent as its image starts it. */
export function agent(s3: S3Server, ...args: string[]): Step {
  const { command, env } = imageCommand();
  const store = ['--store', s3.store, '--cluster', CLUSTER, '--etcdutl', etcdutl()];
  return { command: [...command, ...args, ...store], environment: env };
}

/** The ways to back up, by name, with their steps; all steps work in one directory. */
export function backups(etcd: EtcdCluster, s3: S3Server): Map<string, Step[]> {
  const endpoints = `--endpoints=${etcd.endpoints.join()}`;
  const save = { command: [etcd.binaries.etcdctl, endpoints, 'snapshot', 'save', OBJECT] };
  const ours = (...flags: string[]) => [agent(s3, 'backup', endpoints, ...flags)];
  return new Map([
    ['s3cmd', [save, { command: [...s3.s3cmd, 'put', OBJECT, `s3://${s3.bucket}/${OBJECT}`] }]],
    ['ours', ours()],
    ['rclone', [save, { command: [...s3.rclone, 'copyto', OBJECT, `:s3:${s3.bucket}/${OBJECT}`] }]],
    ['ours, --compression none', ours('--compression=none')],
    ['ours, --verify stream', ours('--verify=stream')],
    ['ours, none, stream', ours('--compression=none', '--verify=stream')],
  ]);
}
