// The main jobs on real etcd processes: the life of a cluster under writes, then backups of an existing cluster.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demonstrateBackups } from './backups.mts';
import { demonstrateCluster } from './cluster.mts';
import { done, failed, title } from './narrate.mts';

title('cdk8s-etcd: form, heal, upgrade and restore a cluster; back up, lose and restore an existing one');
const directory = await mkdtemp(join(tmpdir(), 'cdk8s-etcd-quickstart-'));
try {
  await demonstrateCluster(join(directory, 'cluster'));
  await demonstrateBackups(directory);
  done('Every check passed. Next: docs/clusters/configure-a-cluster.md and docs/backups/schedules.md');
} catch (error) {
  failed(error);
  process.exitCode = 1;
} finally {
  await rm(directory, { recursive: true, force: true });
}
