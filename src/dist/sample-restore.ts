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
  const header = `Replaces the data of the EtcdCluster orders with that of a backup: the newest verified one before a moment. Clients are cut off
until it is done, and what was written after the backup is lost; a backup of the present data is taken first. The namespace
must have a reconciler. A restore cannot be changed, and happens once: for another one take another name.
1. Change the cluster, the moment, the bucket and the region to yours. For one snapshot write snapshotId in place of
   latestVerifiedBefore, for what an EtcdBackup took write backupName in place of all of source.
2. ${s3Secret}
3. For an encrypted backup make the Secret with the age identity, and add identitySecret: etcd-backup-identity to spec.
     kubectl create secret generic etcd-backup-identity -n NAMESPACE --from-file=identity.txt
4. Restore, and see how far it is.
     kubectl apply --server-side -n NAMESPACE -f ${fileOf(id)}
     kubectl get etcdrestore -n NAMESPACE -w`;
  return { chart, header };
}
