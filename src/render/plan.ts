import type { ClusterOrigin } from '../backup/cluster-origin';
import type { EtcdBackupProps } from '../backup/etcd-backup-props';
import type { BackupScheduleOptions } from '../backup/etcd-backup-schedule-props';
import type { EtcdRestoreProps } from '../backup/etcd-restore';
import type { JobOptions } from '../backup/job-options';
import type { Retention } from '../backup/retention';
import type { EtcdClusterProps } from '../cluster/etcd-cluster-props';
import type { EtcdAuth } from '../etcd/etcd-auth';
import type { ResourceProblem } from '../resource/resource-problems';
import type {
  BackupScheduleSpec,
  EtcdBackupScheduleSpec,
  EtcdClusterSpec,
  EtcdReconcilerSpec,
} from '../resource/types';
import type { BackupStore } from '../stores/backup-store';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import type { EtcdUserOptions } from '../users/etcd-user-props';
import type { Document } from './documents';
import type { DocumentReport } from './report';

/** The resource that a document becomes. */
export type Planned =
  | PlannedCluster
  | PlannedSchedule
  | PlannedOwnSchedule
  | PlannedReconciler
  | PlannedBackup
  | PlannedRestore
  | PlannedUser;

export interface PlannedCluster {
  readonly becomes: 'cluster';
  readonly document: Document;
  /** Of an EtcdCluster of ours. */
  readonly spec?: EtcdClusterSpec;
  readonly props?: EtcdClusterProps;
  readonly schedules: readonly ScheduleOfCluster[];
  /** Schedules that the document of another operator's cluster has in `spec.backup`, as our resource has them. */
  readonly backups?: readonly BackupScheduleSpec[];
  /** The cluster of another operator that this one replaces; undefined for our own resources. */
  readonly old?: OldCluster;
}

export interface ScheduleOfCluster {
  readonly id: string;
  /** Where the cluster's document has it. */
  readonly path?: string;
  readonly options: BackupScheduleOptions;
  /** Further stores, in addition to the one in `options`. */
  readonly stores: readonly { readonly store: BackupStore; readonly retention?: Retention }[];
  /** Document of the schedule, if it is not the cluster's document. */
  readonly document?: Document;
}

/** A cluster that another operator runs and that a new cluster replaces. */
export interface OldCluster {
  /** Returns true for an endpoint of the old cluster. */
  isEndpoint(endpoint: string): boolean;
}

/** A backup schedule of an etcd cluster that is known only by its endpoints. */
export interface PlannedSchedule {
  readonly becomes: 'schedule';
  readonly document: Document;
  readonly endpointsField: string;
  readonly endpoints: string[];
  readonly tls?: EtcdClientTls;
  readonly options: BackupScheduleOptions;
}

/** An EtcdBackupSchedule of ours. */
export interface PlannedOwnSchedule {
  readonly becomes: 'own schedule';
  readonly document: Document;
  readonly spec: EtcdBackupScheduleSpec;
  /** How etcd is reached, unless it is that of the control plane. */
  readonly tls?: EtcdClientTls;
  readonly auth?: EtcdAuth;
}

export interface PlannedReconciler {
  readonly becomes: 'reconciler';
  readonly document: Document;
  readonly spec: EtcdReconcilerSpec;
}

export interface PlannedBackup extends Omit<EtcdBackupProps, 'name' | 'cluster'> {
  readonly becomes: 'backup';
  readonly document: Document;
  readonly clusterName?: string;
}

export interface PlannedRestore
  extends JobOptions,
    Pick<EtcdRestoreProps, 'safetyBackup' | 'ignoreUnreachablePods' | 'again'> {
  readonly becomes: 'restore';
  readonly document: Document;
  readonly clusterName: string;
  readonly origin: ClusterOrigin;
  /** True for another operator's restore, which recreates its cluster. */
  readonly old: boolean;
}

export interface PlannedUser extends Omit<EtcdUserOptions, 'name'> {
  readonly becomes: 'user';
  readonly document: Document;
  readonly clusterName: string;
  /** True if the document says that the reconciler writes the certificate. */
  readonly hasSecret: boolean;
}

/** An API whose objects can be rendered. */
export interface Api {
  readonly apiVersion: string;
  readonly kinds: { readonly [kind: string]: (document: Document) => Planned | undefined };
  /** Problems that the API server would find. */
  problems?(document: Document): readonly ResourceProblem[];
  /** Reports a field that no mapping reads. */
  unknownField(report: DocumentReport, path: string, remedy: string): void;
}
