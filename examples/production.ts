// An etcd cluster with TLS, hourly backups that are verified by opening them, one member in each zone, and metrics for
// Prometheus.
//
// The namespace `shop` must contain cert-manager's Issuers `etcd-ca` and `etcd-peer-ca`, each with its own CA, and the
// Secret with the credentials of the bucket, AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=… in s3.env:
//   kubectl create secret generic etcd-backup-s3 -n shop --from-env-file=s3.env
import { App, Chart, Cron, Size } from 'cdk8s';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import {
  BackupStore,
  EtcdCluster,
  EtcdReconciler,
  EtcdResources,
  EtcdSpread,
  EtcdTls,
  EtcdVersion,
  NetworkAccess,
  Retention,
  S3Credentials,
  VerificationLevel,
} from '../src';

const app = new App();
const chart = new Chart(app, 'shop-etcd', { namespace: 'shop' });
const prometheus = NetworkAccess.peers({
  namespace: 'monitoring',
  podLabels: { 'app.kubernetes.io/name': 'prometheus' },
});

new EtcdReconciler(chart, 'reconciler', { replicas: 2, metricsAccess: prometheus });

const etcd = new EtcdCluster(chart, 'orders', {
  size: 3,
  version: EtcdVersion.V3_6,
  volume: { size: Size.gibibytes(20), storageClass: 'fast-ssd' },
  resources: EtcdResources.SMALL,
  tls: EtcdTls.certManager({ issuer: 'etcd-ca', peerIssuer: 'etcd-peer-ca' }),
  spread: EtcdSpread.REQUIRED_ZONES,
  networkAccess: NetworkAccess.peers({ podLabels: { 'shop.example.com/etcd-client': 'true' } }),
  metricsAccess: prometheus,
  requireBackupForUpgrade: true,
});

etcd.addBackupSchedule('hourly', {
  schedule: Cron.schedule({ minute: '17' }),
  store: BackupStore.s3({
    bucket: 'example-etcd-backup',
    region: 'eu-west-1',
    credentials: S3Credentials.fromSecret('etcd-backup-s3'),
  }),
  retention: Retention.tiers({ hourly: 24, daily: 7, weekly: 8 }),
  verify: VerificationLevel.OPEN,
});

app.synth();
