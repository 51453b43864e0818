// Backs up an existing etcd cluster over mutual TLS, to a bucket nearby and to a bucket in another region.
//
// Create these Secrets in the namespace of the backup:
//   kubectl create secret generic orders-etcd-client --from-file=ca.crt --from-file=tls.crt --from-file=tls.key
//   kubectl create secret generic backup-minio --from-env-file=minio.env   (MINIO_ACCESS_KEY=… and MINIO_SECRET_KEY=…)
//   kubectl create secret generic minio-ca --from-file=ca.crt
import { App, Chart, Cron, Duration } from 'cdk8s';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import {
  BackupStore,
  CaBundle,
  EtcdClientTls,
  EtcdCluster,
  Retention,
  S3Credentials,
  ServerSideEncryption,
  VerificationLevel,
} from '../src';

const app = new App();
const chart = new Chart(app, 'orders-etcd-backup');

const members = [0, 1, 2].map((ordinal) => `https://etcd-${ordinal}.etcd:2379`);
const etcd = EtcdCluster.fromEndpoints(chart, 'orders', members, {
  tls: EtcdClientTls.fromSecret('orders-etcd-client'),
});

const backup = etcd.addBackupSchedule('hourly', {
  schedule: Cron.schedule({ minute: '17' }),
  timeZone: 'Europe/Berlin',
  verify: VerificationLevel.OPEN,
  store: BackupStore.s3({
    endpoint: 'https://minio.storage:9000',
    ca: CaBundle.fromSecret('minio-ca'),
    bucket: 'etcd-backup',
    credentials: S3Credentials.fromSecret('backup-minio'),
  }),
  retention: Retention.tiers({ within: Duration.days(2), daily: 14, timeZone: 'Europe/Berlin' }),
});

backup.addStore(
  BackupStore.s3({
    bucket: 'example-etcd-backup',
    region: 'eu-west-1',
    prefix: 'production',
    credentials: S3Credentials.workloadIdentity({
      serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/etcd-backup' },
    }),
    serverSideEncryption: ServerSideEncryption.KMS,
  }),
  { retention: Retention.tiers({ daily: 7, weekly: 8, monthly: 12 }) },
);

app.synth();
