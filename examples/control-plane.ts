// Backs up the etcd of the kubeadm cluster to which it is applied: to an SFTP server, to a bucket in Ceph, and to a
// directory on the node itself. kubeadm's PKI and the encryption configuration are stored with each snapshot,
// encrypted.
//
// Create these Secrets after the namespace exists:
//   kubectl create secret generic backup-sftp -n etcd-backup --from-literal=username=etcd \
//     --from-file=privateKey=id_backup --from-file=knownHosts=known_hosts
//   kubectl create secret generic backup-ceph -n etcd-backup --from-env-file=ceph.env   (AWS_ACCESS_KEY_ID=… and so on)
import { writeFileSync } from 'node:fs';
import { App, Chart, Cron } from 'cdk8s';
// From src/ in a checkout, from 'cdk8s-etcd' in your own project.
import {
  BackupStore,
  Compression,
  ControlPlaneEtcdBackup,
  Encryption,
  Retention,
  S3Credentials,
  SftpCredentials,
} from '../src';

const app = new App();
const chart = new Chart(app, 'control-plane-backup', { namespace: 'etcd-backup' });

const backup = new ControlPlaneEtcdBackup(chart, 'hourly', {
  cluster: 'prod',
  schedule: Cron.schedule({ minute: '17' }),
  // File names that existing tools expect, in the time zone of their users.
  fileName: 'etcd-snapshot-%Y%m%d-%H%M%S.db',
  fileNameTimeZone: 'Asia/Shanghai',
  compression: Compression.NONE,
  store: BackupStore.sftp({
    host: 'backup.example.com',
    path: 'backup/etcd',
    credentials: SftpCredentials.fromSecret('backup-sftp'),
    legacyAlgorithms: true,
  }),
  retention: Retention.last(24),
  files: {
    files: ['/etc/kubernetes/enc/encryption.yaml'],
    encryption: Encryption.age({
      recipients: [
        'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
        'age1l52wqul6mupxel84hdf9dwtma8n7zxjmt0nwz4h38fde94ne7ppqh6sg7v',
      ],
    }),
  },
});
backup.addStore(
  BackupStore.s3({
    endpoint: 'http://ceph.example.com:7480',
    bucket: 'etcd-backup',
    credentials: S3Credentials.fromSecret('backup-ceph'),
  }),
  { retention: Retention.last(72) },
);
backup.addStore(BackupStore.filesystem({ hostPath: '/var/backups/etcd' }), { retention: Retention.last(3) });

app.synth();

// Not in dist/, because this file is for the nodes and not for the API server: docs/control-plane/backup.md.
writeFileSync('etcd-restore.yaml', backup.restorePodYaml());
