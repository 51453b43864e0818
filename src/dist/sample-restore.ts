import { type App, Chart } from 'cdk8s';
import { EtcdRestore, RestoreSource } from '../index';
import { type DistFile, fileOf } from './dist-file';
import { s3, s3Secret } from './s3';
import { sampleCluster } from './sample-cluster';

const id = 'etcd-restore';

export function sampleRestore(app: App): DistFile {
  const chart = new Chart(app, id);
  new EtcdRestore(chart, 'restore-1', {
    cluster: sampleCluster(chart),
    source: RestoreSource.latestVerifiedBefore(s3, '2026-11-21T02:30:00Z'),
  });
  const header = `Replaces the data of the EtcdCluster orders with the newest verified backup before a point in time. Clients are disconnected
until it is complete, and everything that was written after the backup is lost. A backup of the present data is taken first;
what clients write after it was begun is in no backup. Retention keeps it as long as this resource exists.
The namespace must have a reconciler. A restore happens once and cannot be changed: use another name for another one.
1. Change the cluster, the time, the bucket and the region to yours. For a specific snapshot, write snapshotId instead of
   latestVerifiedBefore. For the snapshot of an EtcdBackup, write backupName instead of all other fields of source.
2. ${s3Secret}
3. For an encrypted backup, create the Secret with the age identity, and add identitySecret: etcd-backup-identity to spec.
     kubectl create secret generic etcd-backup-identity -n NAMESPACE --from-file=identity.txt
4. Restore, and watch the progress.
     kubectl apply --server-side -n NAMESPACE -f ${fileOf(id)}
     kubectl get etcdrestore -n NAMESPACE -w`;
  return { chart, header };
}
