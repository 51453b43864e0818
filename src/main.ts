// The app that `cdk8s synth` runs: it writes dist/.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Chart, Cron } from 'cdk8s';
import { BackupStore, EtcdBackupSchedule, EtcdClientTls, Retention, S3Credentials } from './index';

const app = new App();
const chart = new Chart(app, 'etcd-backup-s3');
const schedule = new EtcdBackupSchedule(chart, 'backup', {
  cluster: 'etcd',
  endpoints: ['https://etcd:2379'],
  tls: EtcdClientTls.fromSecret('etcd-client'),
  schedule: Cron.schedule({ minute: '17' }),
  store: BackupStore.s3({
    bucket: 'etcd-backup',
    region: 'us-east-1',
    credentials: S3Credentials.fromSecret('etcd-backup-s3'),
  }),
  retention: Retention.tiers({ hourly: 24, daily: 7, weekly: 4 }),
});
app.synth();

const file = `${chart.node.id}${app.outputFileExtension}`;
// cdk8s itself writes no comments.
const header = `# Backs up an etcd to S3 every hour, and keeps 24 hourly, 7 daily and 4 weekly backups. No namespace is set.
# 1. Change --endpoints, and the bucket and region in --store, to yours.
# 2. Make the Secrets: etcd's client certificate, and the keys AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=… in s3.env.
#      kubectl create secret generic etcd-client -n NAMESPACE --from-file=ca.crt --from-file=tls.crt --from-file=tls.key
#      kubectl create secret generic etcd-backup-s3 -n NAMESPACE --from-env-file=s3.env
# 3. Apply, and take a first backup at once.
#      kubectl apply -n NAMESPACE -f ${file}
#      kubectl create job etcd-backup-first -n NAMESPACE --from=cronjob/${schedule.cronJobName}
#      kubectl logs -n NAMESPACE -f job/etcd-backup-first
`;
const path = join(app.outdir, file);
writeFileSync(path, `${header}${readFileSync(path, 'utf8')}`);
