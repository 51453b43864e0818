import { Chart, Cron, Testing } from 'cdk8s';
import library from '../lib/src/index.js';
import { quietApp } from './quiet-app.mts';

const { BackupStore, EtcdBackupSchedule, Retention } = library;

export const source = `new EtcdBackupSchedule(chart, 'nightly', {
  cluster: 'orders',
  endpoints: ['http://etcd-0:2379', 'http://etcd-1:2379', 'http://etcd-2:2379'],
  schedule: Cron.daily(),
  store: BackupStore.filesystem({ claimName: 'etcd-backup' }),
  retention: Retention.last(3),
});`;

/** Synthesizes that TypeScript, with the given endpoints. */
export function synthesize(endpoints: readonly string[]) {
  const chart = new Chart(quietApp(), 'etcd-backup');
  new EtcdBackupSchedule(chart, 'nightly', {
    cluster: 'orders',
    endpoints: [...endpoints],
    schedule: Cron.daily(),
    store: BackupStore.filesystem({ claimName: 'etcd-backup' }),
    retention: Retention.last(3),
  });
  return Testing.synth(chart);
}

/** Returns the arguments with which the CronJob's pod runs the agent. */
export function agentArguments(manifests: ReturnType<typeof synthesize>): string[] {
  const cronJob = manifests.find(({ kind }) => kind === 'CronJob');
  return cronJob.spec.jobTemplate.spec.template.spec.containers[0].args;
}
