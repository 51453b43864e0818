// A cluster with the reconciler's certificates, hourly backups and monitoring. The folders beside this one have the same app in
// other languages.
import { App, Chart, Cron, Size } from 'cdk8s';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import { BackupStore, EtcdCluster, EtcdCrds, EtcdTls, Retention, S3Credentials } from '../../src';

const app = new App();
new EtcdCrds(new Chart(app, 'crds'), 'crds');

const chart = new Chart(app, 'orders', { namespace: 'shop' });
const etcd = new EtcdCluster(chart, 'orders', {
  size: 3,
  volume: { size: Size.gibibytes(20), storageClass: 'fast-ssd' },
  tls: EtcdTls.managed({ serverNames: ['etcd.shop.example.com'] }),
});
etcd.addBackupSchedule('hourly', {
  schedule: Cron.schedule({ minute: '17' }),
  store: BackupStore.s3({
    bucket: 'example-etcd-backup',
    region: 'eu-west-1',
    credentials: S3Credentials.fromSecret('etcd-backup-s3'),
  }),
  retention: Retention.tiers({ hourly: 24, daily: 7, weekly: 4 }),
});
etcd.addMonitoring({ labels: { release: 'kube-prometheus-stack' } });

app.synth();
