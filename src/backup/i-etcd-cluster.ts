import type { EtcdClientTls } from '../tls/etcd-client-tls';
import type { BackupScheduleOptions } from './backup-schedule-options';
import type { EtcdBackupSchedule } from './etcd-backup-schedule';

/** An etcd to connect to and to back up: an `EtcdCluster`, or somebody else's. */
export interface IEtcdCluster {
  /** The cluster's name, under which its backups are stored. */
  readonly clusterName: string;
  /** The client URL of each member. Clients do best with all of them: a Service keeps a dead node for a while. */
  readonly clientEndpoints: string[];
  /** How clients trust it and are trusted by it; none means plain http. */
  readonly clientTls?: EtcdClientTls;
  /**
   * Backs it up on a schedule.
   *
   * @param id the schedule's name; its CronJob is `<cluster>-<id>`
   */
  addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule;
}
