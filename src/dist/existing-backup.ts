import { type App, Chart, Cron } from 'cdk8s';
import { EtcdClientTls, EtcdCluster, Retention } from '../index';
import { type DistFile, fileOf } from './dist-file';
import { s3, s3Secret } from './s3';

const id = 'existing-etcd-backup';

export function existingBackup(app: App): DistFile {
  const chart = new Chart(app, id);
  const etcd = EtcdCluster.fromEndpoints(chart, 'existing-etcd', ['https://etcd.example.com:2379'], {
    tls: EtcdClientTls.fromSecret('etcd-client'),
  });
  const { cronJobName } = etcd.addBackupSchedule('hourly', {
    schedule: Cron.schedule({ minute: '17' }),
    store: s3,
    retention: Retention.tiers({ hourly: 24, daily: 7, weekly: 4 }),
  });
  const header = `Backs up an existing etcd cluster to S3 every hour, and keeps 24 hourly, 7 daily and 4 weekly backups. No namespace is set.
It needs no custom resources and no reconciler.
1. Change --endpoints, and the bucket and the region in --store, to yours.
2. Create the Secret with etcd's client certificate.
     kubectl create secret generic etcd-client -n NAMESPACE --from-file=ca.crt --from-file=tls.crt --from-file=tls.key
3. ${s3Secret}
4. Apply this file, and take a first backup at once.
     kubectl apply --server-side -n NAMESPACE -f ${fileOf(id)}
     kubectl create job existing-etcd-first -n NAMESPACE --from=cronjob/${cronJobName}
     kubectl logs -n NAMESPACE -f job/existing-etcd-first`;
  return { chart, header };
}
