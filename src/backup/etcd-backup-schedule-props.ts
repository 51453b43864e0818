import type { Cron, Duration } from 'cdk8s';
import type { EtcdAuth } from '../etcd/etcd-auth';
import type { BackupPodHost } from '../lib/backup-pod';
import type { ControlPlaneSpec, ExistingEtcdSpec } from '../resource/types';
import type { BackupStore } from '../stores/backup-store';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import type { INamed } from '../validation/named';
import type { BackupResources } from './backup-resources';
import type { Compression } from './compression';
import type { Encryption } from './encryption';
import type { JobOptions } from './job-options';
import type { Retention } from './retention';
import type { ClusterMetadata, ScheduleSpec } from './schedule-manifests';
import type { VerificationLevel } from './verification-level';

/** Configures a backup schedule: when backups are taken, how, and where they are stored. */
export interface BackupScheduleOptions extends JobOptions {
  /** Sets the times at which backups are taken. */
  readonly schedule: Cron;
  /** Selects the store for the backups. Use `addStore` for further stores. */
  readonly store: BackupStore;
  /**
   * Selects the backups to keep in `store`.
   * @default - all of them: nothing is ever deleted
   */
  readonly retention?: Retention;
  /**
   * Sets the time zone of `schedule`, an IANA name such as `Europe/Berlin`.
   * @default - the time zone of Kubernetes' controller manager, usually UTC
   */
  readonly timeZone?: string;
  /**
   * Selects how the snapshot is compressed.
   * @default Compression.ZSTD
   */
  readonly compression?: Compression;
  /**
   * Encrypts the snapshot before it is stored. A restore then needs one of the secret keys.
   * @default - the agent does not encrypt; the store may
   */
  readonly encryption?: Encryption;
  /**
   * Sets the pattern for the names of copies of the snapshots: a strftime pattern of `%Y %m %d %H %M %S`, letters, digits,
   * `-`, `_` and `+`, such as `orders-%Y%m%d-%H%M%S`. The time is that of the backup. The agent appends the file
   * extension; you may write `.db` yourself if the snapshot is neither compressed nor encrypted. A copy has the size of
   * the snapshot, and is deleted with it.
   * @default - no copies; the snapshots themselves are named by their ids
   */
  readonly fileName?: string;
  /**
   * Sets the time zone of `fileName`, an IANA name such as `Europe/Berlin`.
   * @default UTC
   */
  readonly fileNameTimeZone?: string;
  /**
   * Sets how thoroughly a backup is verified before it counts as good and before older backups may be deleted.
   * @default VerificationLevel.READ
   */
  readonly verify?: VerificationLevel;
  /**
   * Names the CronJob and its ServiceAccount: a Kubernetes name of at most 52 characters.
   * @default - `<cluster>-<id>`
   */
  readonly name?: string;
  /**
   * Suspends the schedule. You can still start a run by hand.
   * @default false
   */
  readonly suspend?: boolean;
  /**
   * Limits how late a run may start, for example after an outage of the control plane, before it is skipped. It must be
   * more than 10 seconds, because the CronJob controller checks only every 10 seconds.
   * @default Duration.hours(1)
   */
  readonly startingDeadline?: Duration;
  /**
   * Sets the time after which Kubernetes ends a run, including all its retries. It also ends a run that cannot start,
   * for example because a Secret or the image is missing, and that would block all later runs. It must be longer than
   * `timeout`.
   * @default Duration.hours(6)
   */
  readonly activeDeadline?: Duration;
  /**
   * Sets the time after which the agent aborts one attempt. The error message then contains the step in progress.
   * @default - depends on the size of the database
   */
  readonly timeout?: Duration;
  /**
   * Limits how long the agent waits for a connection to a member.
   * @default Duration.seconds(5)
   */
  readonly dialTimeout?: Duration;
  /**
   * Limits how often a failed run is retried. A failure that a retry cannot fix ends the run at once.
   * @default 3
   */
  readonly retries?: number;
  /**
   * Limits how many finished Jobs are kept, with the logs of their pods. A schedule of an `EtcdCluster` must keep at
   * least 1.
   * @default 3
   */
  readonly successfulJobsHistoryLimit?: number;
  /**
   * Limits how many failed Jobs are kept, with the logs of their pods. A schedule of an `EtcdCluster` must keep at
   * least 1.
   * @default 3
   */
  readonly failedJobsHistoryLimit?: number;
  /**
   * Sets the CPU and memory of the pod, and of the Jobs that the reconciler creates with the settings of this schedule.
   * @default - 100m CPU and 100Mi memory, both as request and as limit; with VerificationLevel.OPEN up to 1Gi memory
   */
  readonly resources?: BackupResources;
  /**
   * Sets the image of the agent.
   * @default - the image of this release
   */
  readonly image?: string;
  /**
   * Names an existing ServiceAccount. The agent needs no permissions in Kubernetes.
   * @default - a ServiceAccount without a token is created
   */
  readonly serviceAccountName?: string | INamed;
  /**
   * Adds annotations to the ServiceAccount that is created, besides those of `S3Credentials.workloadIdentity`.
   * @default - none
   */
  readonly serviceAccountAnnotations?: { readonly [name: string]: string };
}

/** Configures an `EtcdBackupSchedule`. */
export interface EtcdBackupScheduleProps extends BackupScheduleOptions {
  /**
   * Sets the name under which the backups are stored and found again: up to 63 letters, digits, `-`, `_` and `.`. Two
   * etcd clusters must not share a name within one store.
   */
  readonly cluster: string;
  /**
   * Lists client URLs of one or more members, such as `https://etcd-0.etcd:2379`. The agent finds the other members
   * through these. Without a scheme, https is used if `tls` is given, else http.
   */
  readonly endpoints: string[];
  /**
   * Gives the agent its TLS settings, if etcd uses TLS.
   * @default - plain http
   */
  readonly tls?: EtcdClientTls;
  /**
   * Selects the etcd user to log in as.
   * @default - none: etcd's authentication is off, or the client certificate identifies the user
   */
  readonly auth?: EtcdAuth;
  /**
   * Settings of a pod that runs on etcd's own node.
   * @internal
   */
  readonly _host?: BackupPodHost;
  /**
   * Client URLs of the cluster, by which it is recognized, if `endpoints` are those of a port for backups.
   * @internal
   */
  readonly _clientEndpoints?: string[];
  /**
   * ConfigMap with the record of the cluster, which names snapshots that retention keeps.
   * @internal
   */
  readonly _record?: string;
  /**
   * Those of the cluster.
   * @internal
   */
  readonly _clusterMetadata?: ClusterMetadata;
  /**
   * True if the cluster outlives its manifests.
   * @internal
   */
  readonly _protect?: boolean;
  /**
   * Adds what the cluster decides to what the resource says of the schedule, which follows the cluster when that changes.
   * @internal
   */
  readonly _complete?: (spec: ScheduleSpec) => ScheduleSpec;
  /**
   * The schedule as the resource has it, in the place of the options.
   * @internal
   */
  readonly _written?: ScheduleSpec;
  /**
   * How etcd is reached, as the resource has it, in the place of `endpoints`, `tls` and `auth`.
   * @internal
   */
  readonly _etcd?: ExistingEtcdSpec;
  /**
   * The control plane whose etcd is backed up, as the resource has it.
   * @internal
   */
  readonly _controlPlane?: ControlPlaneSpec;
}

/** Configures a store that `EtcdBackupSchedule.addStore` adds. */
export interface AddStoreOptions {
  /**
   * Selects the backups to keep in this store.
   * @default - all of them: nothing is ever deleted
   */
  readonly retention?: Retention;
}
