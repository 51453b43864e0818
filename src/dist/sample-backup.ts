import { type App, Chart } from 'cdk8s';
import { EtcdBackup, EtcdClientTls } from '../index';
import { type DistFile, fileOf } from './dist-file';
import { s3, s3Secret } from './s3';
import { sampleCluster } from './sample-cluster';

const id = 'etcd-backup';

export function sampleBackup(app: App): DistFile {
  const chart = new Chart(app, id);
  new EtcdBackup(chart, 'before-release', { cluster: sampleCluster(chart), schedule: 'hourly' });
  new EtcdBackup(chart, 'existing-etcd-before-release', {
    endpoints: ['https://etcd.example.com:2379'],
    tls: EtcdClientTls.fromSecret('etcd-client'),
    store: s3,
  });
  const header = `Two backups, each taken once: of the EtcdCluster orders, with the stores of its schedule 'hourly', and of an existing etcd
cluster. The namespace must have a reconciler. A backup happens once and cannot be changed: use another name for another one.
1. Keep the backup that you want, and change its cluster and schedule, or its endpoints, bucket and region.
2. For endpoints, create the Secret with etcd's client certificate.
     kubectl create secret generic etcd-client -n NAMESPACE --from-file=ca.crt --from-file=tls.crt --from-file=tls.key
3. ${s3Secret}
4. Take the backup, and watch its progress.
     kubectl apply --server-side -n NAMESPACE -f ${fileOf(id)}
     kubectl get etcdbackup -n NAMESPACE -w`;
  return { chart, header };
}
