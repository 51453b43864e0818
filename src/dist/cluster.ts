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
  const header = `The etcd cluster orders: three members with a volume of 8 GiB each. It is backed up to S3 every hour, and 24 hourly, 7 daily
and 4 weekly backups are kept. No namespace is set. The reconciler issues its certificates (docs/clusters/tls.md); never use
kubectl replace, which would delete them. docs/clusters/render-from-yaml.md shows how to set another name.
1. Apply the custom resources and the reconciler first, as described in crds.k8s.yaml and etcd-reconciler.k8s.yaml.
2. Change the bucket and the region to yours, both in the CronJob's --store and in the EtcdCluster's spec.backup.
3. ${s3Secret}
4. Apply this file, and take a first backup when the members are ready.
     kubectl apply --server-side -n NAMESPACE -f ${fileOf(id)}
     kubectl get etcd -n NAMESPACE
     kubectl create job orders-first -n NAMESPACE --from=cronjob/${cronJobName}
     kubectl logs -n NAMESPACE -f job/orders-first`;
  return { chart, header };
}
