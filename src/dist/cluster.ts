import { type App, Chart, Cron } from 'cdk8s';
import { EtcdCluster, Retention } from '../index';
import { type DistFile, fileOf } from './dist-file';
import { s3, s3Secret } from './s3';

const id = 'etcd-cluster';

export function cluster(app: App): DistFile {
  const chart = new Chart(app, id);
  const etcd = new EtcdCluster(chart, 'orders');
  const { cronJobName } = etcd.addBackupSchedule('hourly', {
    schedule: Cron.schedule({ minute: '17' }),
    store: s3,
    retention: Retention.tiers({ hourly: 24, daily: 7, weekly: 4 }),
  });
  const header = `The etcd orders: three members with a volume of 8 GiB each, backed up to S3 every hour, of which 24 hourly, 7 daily and 4
weekly backups are kept. No namespace is set. There is no TLS, and it cannot be switched on later: docs/clusters/configure-a-cluster.md and
docs/clusters/render-from-yaml.md show how to have it, and another name.
1. Apply the custom resources and the reconciler first: crds.k8s.yaml and etcd-reconciler.k8s.yaml say how.
2. Change the bucket and the region to yours, in the CronJob's --store and in the EtcdCluster's spec.backup.
3. ${s3Secret}
4. Apply, and take a first backup when the members are ready.
     kubectl apply --server-side -n NAMESPACE -f ${fileOf(id)}
     kubectl get etcd -n NAMESPACE
     kubectl create job orders-first -n NAMESPACE --from=cronjob/${cronJobName}
     kubectl logs -n NAMESPACE -f job/orders-first`;
  return { chart, header };
}
