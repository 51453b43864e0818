// Backs up an etcd cluster without TLS, but with password authentication, to a volume and to an NFS server.
//
// Create this Secret in the namespace of the backup:
//   kubectl create secret generic etcd-user --from-file=username --from-file=password
import { App, Chart, Cron, Duration, Size } from 'cdk8s';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import { BackupStore, Compression, EtcdAuth, EtcdBackupSchedule, Retention } from '../src';

const app = new App();
const chart = new Chart(app, 'etcd-backup-filesystem');

const backup = new EtcdBackupSchedule(chart, 'nightly', {
  cluster: 'lab',
  endpoints: ['etcd:2379'],
  auth: EtcdAuth.fromSecret('etcd-user'),
  schedule: Cron.daily(),
  timeout: Duration.minutes(10),
  // The stored file is the same as the one that `etcdctl snapshot save` writes.
  compression: Compression.NONE,
  fileName: 'lab-%Y%m%d-%H%M%S',
  fileNameTimeZone: 'Europe/Berlin',
  store: BackupStore.filesystem({ claimName: 'etcd-backup' }),
  retention: Retention.last(7),
  resources: { cpuLimit: '500m', memoryLimit: Size.mebibytes(128) },
});

backup.addStore(
  BackupStore.filesystem({ nfs: { server: 'nfs.example.com', path: '/srv/backup' }, directory: 'etcd/lab' }),
  { retention: Retention.last(30) },
);

app.synth();
