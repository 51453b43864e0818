import type { EtcdBackupSchedule } from '../backup/etcd-backup-schedule';
import type { IEtcdCluster } from '../backup/i-etcd-cluster';

/** An EtcdCluster that a backup or a restore names, and that is none of the input. */
export class NamedCluster implements IEtcdCluster {
  /** Not known, and no resource says them. */
  readonly clientEndpoints: string[] = [];

  constructor(readonly clusterName: string) {}

  addBackupSchedule(): EtcdBackupSchedule {
    throw new Error(`${this.clusterName} is only known by its name`);
  }
}
