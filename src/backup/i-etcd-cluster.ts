import type { IConstruct } from 'constructs';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import type { EtcdBackupSchedule } from './etcd-backup-schedule';
import type { BackupScheduleOptions } from './etcd-backup-schedule-props';

/**
 * Represents an etcd cluster that clients can connect to and that can be backed up: an `EtcdCluster`, or an existing
 * etcd cluster.
 */
export interface IEtcdCluster extends IConstruct {
  /** Names the cluster. Its backups are stored under this name. */
  readonly clusterName: string;
  /**
   * Lists the client URL of each member. Give clients all of them: a Service still leads to a failed node for a while.
   */
  readonly clientEndpoints: string[];
  /**
   * Gives clients their TLS settings.
   * @default - plain http
   */
  readonly clientTls?: EtcdClientTls;
  /**
   * Backs up the cluster on a schedule.
   *
   * @param id The name of the schedule, whose CronJob is `<cluster>-<id>`.
   * @param options The store, the schedule and the retention of the backups.
   */
  addBackupSchedule(id: string, options: BackupScheduleOptions): EtcdBackupSchedule;
  /**
   * Returns the cluster as a peer for the network policies and connections of cdk8s-plus, such as
   * `deployment.connections.allowTo(etcd)`, which opens the port for clients.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a type of cdk8s-plus, which has a package for each Kubernetes
  toNetworkPolicyPeerConfig(): any;
  /** Selects the members, for what cdk8s-plus does with pods, such as `deployment.scheduling.colocate(etcd)`. */
  // biome-ignore lint/suspicious/noExplicitAny: a type of cdk8s-plus, which has a package for each Kubernetes
  toPodSelector(): any;
  /** Returns the labels of the members and their namespace, for cdk8s-plus. */
  // biome-ignore lint/suspicious/noExplicitAny: a type of cdk8s-plus, which has a package for each Kubernetes
  toPodSelectorConfig(): any;
}
