// The main jobs on real etcd processes: a cluster from birth to restore under a writer, then backups of any etcd.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tellOfBackups } from './backups.mts';
import { tellOfACluster } from './cluster.mts';
import { done, failed, title } from './narrate.mts';

title(
  'cdk8s-etcd: a cluster that is formed, healed, upgraded and restored; an etcd that is backed up, lost and back again',
);
const directory = await mkdtemp(join(tmpdir(), 'cdk8s-etcd-quickstart-'));
try {
  await tellOfACluster(join(directory, 'cluster'));
  await tellOfBackups(directory);
  done('All of it was true. Next: docs/clusters/configure-a-cluster.md and docs/backups/schedules.md');
} catch (error) {
  failed(error);
  process.exitCode = 1;
} finally {
  await rm(directory, { recursive: true, force: true });
}
