import type { BackupScheduleOptions } from '../backup/backup-schedule-options';
import type { ClusterOrigin } from '../backup/cluster-origin';
import type { EtcdBackupProps } from '../backup/etcd-backup-props';
import type { EtcdRestoreProps } from '../backup/etcd-restore-props';
import type { Retention } from '../backup/retention';
import type { EtcdClusterProps } from '../cluster/etcd-cluster-props';
import type { BackupStore } from '../stores/backup-store';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import type { Document } from './documents';
import type { DocumentReport } from './report';

/** What a document becomes. */
export type Planned = PlannedCluster | PlannedSchedule | PlannedBackup | PlannedRestore;

export interface PlannedCluster {
  readonly becomes: 'cluster';
  readonly document: Document;
  readonly props: EtcdClusterProps;
  readonly schedules: readonly ScheduleOfCluster[];
  /** What the cluster of another operator is called by; undefined for one of ours. */
  readonly old?: OldCluster;
}

export interface ScheduleOfCluster {
  readonly id: string;
  readonly options: BackupScheduleOptions;
  /** More stores, beside the one in `options`. */
  readonly stores: readonly { readonly store: BackupStore; readonly retention?: Retention }[];
  /** Where it stands, when that is not the cluster's. */
  readonly document?: Document;
}

/** A cluster that another operator runs, and that this one takes the place of. */
export interface OldCluster {
  /** Whether an endpoint is one of the old cluster's. */
  isEndpoint(endpoint: string): boolean;
}

/** A backup on a schedule, of an etcd that is known by its endpoints alone. */
export interface PlannedSchedule {
  readonly becomes: 'schedule';
  readonly document: Document;
  readonly endpointsField: string;
  readonly endpoints: string[];
  readonly tls?: EtcdClientTls;
  readonly options: BackupScheduleOptions;
}

export interface PlannedBackup extends Omit<EtcdBackupProps, 'name' | 'cluster'> {
  readonly becomes: 'backup';
  readonly document: Document;
  readonly clusterName?: string;
}

export interface PlannedRestore extends Pick<EtcdRestoreProps, 'labels' | 'safetyBackup' | 'ignoreUnreachablePods'> {
  readonly becomes: 'restore';
  readonly document: Document;
  readonly clusterName: string;
  readonly origin: ClusterOrigin;
  /** That operator's restore makes its cluster anew. */
  readonly old: boolean;
}

/** An API whose objects can be rendered. */
export interface Api {
  readonly apiVersion: string;
  readonly kinds: { readonly [kind: string]: (document: Document) => Planned | undefined };
  /** What becomes of a field that no mapping knows. */
  unknownField(report: DocumentReport, path: string, meant: string | undefined): void;
}
