import { Chart, Cron, Testing } from 'cdk8s';
import { BackupStore, EtcdBackupSchedule, type EtcdBackupScheduleProps, S3Credentials } from '../src';

/** A store without mistakes. */
export const s3 = BackupStore.s3({
  bucket: 'backups',
  region: 'eu-west-1',
  credentials: S3Credentials.fromSecret('s3'),
});

/** Properties without mistakes. */
export const valid: EtcdBackupScheduleProps = {
  cluster: 'orders',
  endpoints: ['etcd:2379'],
  schedule: Cron.hourly(),
  store: s3,
};

/** A chart with one schedule, `shop/backup/nightly`. */
export function schedule(props: Partial<EtcdBackupScheduleProps> = {}): EtcdBackupSchedule {
  const chart = new Chart(Testing.app(), 'shop');
  return new EtcdBackupSchedule(chart, 'nightly', { ...valid, ...props });
}

// biome-ignore lint/suspicious/noExplicitAny: manifests are checked against Kubernetes' schema elsewhere
export type Manifest = any;

export function manifestsOf(backup: EtcdBackupSchedule): Manifest[] {
  return Testing.synth(Chart.of(backup));
}

export function cronJobOf(backup: EtcdBackupSchedule): Manifest {
  return manifestsOf(backup).find(({ kind }) => kind === 'CronJob');
}

export function podOf(backup: EtcdBackupSchedule): Manifest {
  return cronJobOf(backup).spec.jobTemplate.spec.template.spec;
}

export function argumentsOf(backup: EtcdBackupSchedule): string[] {
  return podOf(backup).containers[0].args;
}

/** The value of each `--store` argument. */
export function storesOf(backup: EtcdBackupSchedule): Manifest[] {
  const flag = '--store=';
  return argumentsOf(backup)
    .filter((argument) => argument.startsWith(flag))
    .map((argument) => JSON.parse(argument.slice(flag.length)));
}
