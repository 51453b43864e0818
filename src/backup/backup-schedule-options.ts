import type { Cron, Duration } from 'cdk8s';
import type { ImagePullPolicy } from '../lib/image-pull-policy';
import type { Toleration } from '../lib/toleration';
import type { BackupStore } from '../stores/backup-store';
import type { BackupResources } from './backup-resources';
import type { Compression } from './compression';
import type { Encryption } from './encryption';
import type { Retention } from './retention';
import type { VerificationLevel } from './verification-level';

/** When a backup is taken, how, and where it goes: all of a backup schedule but the etcd. */
export interface BackupScheduleOptions {
  /** When to take a backup. */
  readonly schedule: Cron;
  /** Where the backups go. More stores are added with `addStore`. */
  readonly store: BackupStore;
  /**
   * Which backups of `store` to keep.
   * @default - all of them: nothing is ever deleted
   */
  readonly retention?: Retention;
  /**
   * The time zone of `schedule`, an IANA name such as `Europe/Berlin`.
   * @default - the one of Kubernetes' controller manager, mostly UTC
   */
  readonly timeZone?: string;
  /**
   * How the snapshot is compressed.
   * @default Compression.ZSTD
   */
  readonly compression?: Compression;
  /**
   * Encrypts the snapshot before it is stored. Only whoever has one of the secret keys can restore it.
   * @default - it is stored as it is, or as the store itself encrypts it
   */
  readonly encryption?: Encryption;
  /**
   * Names of your own for the stored snapshots, by the time that they are taken: a strftime pattern of `%Y %m %d %H %M %S`,
   * letters, digits, `-`, `_` and `+`, such as `orders-%Y%m%d-%H%M%S`. The ending is added; `.db` may be written where the
   * snapshot is neither compressed nor encrypted. What a killed run leaves behind under such a name is not swept, as it could
   * be somebody else's.
   * @default - `etcd-snapshot-%Y%m%d-%H%M%S-` in UTC, and six random hex digits
   */
  readonly fileName?: string;
  /**
   * The time zone of `fileName`, an IANA name such as `Europe/Berlin`.
   * @default UTC
   */
  readonly fileNameTimeZone?: string;
  /**
   * How much of each backup is proven before it counts, and before an older one is deleted.
   * @default VerificationLevel.READ
   */
  readonly verify?: VerificationLevel;
  /**
   * The name of the CronJob and its ServiceAccount: a Kubernetes name of at most 52 characters.
   * @default - `<cluster>-<id>`
   */
  readonly name?: string;
  /**
   * Stop making backups. A run by hand still works.
   * @default false
   */
  readonly suspend?: boolean;
  /**
   * How late a run may start, say after an outage of the control plane, before it is skipped. More than 10 seconds, as
   * the CronJob controller only looks that often.
   * @default Duration.hours(1)
   */
  readonly startingDeadline?: Duration;
  /**
   * When Kubernetes ends a run with all its retries, whatever it is doing. It also ends one that never got to start,
   * because a Secret or the image is missing, and would hold up all the runs after it. Longer than `timeout`.
   * @default Duration.hours(6)
   */
  readonly activeDeadline?: Duration;
  /**
   * When the agent itself gives up on a try, with a message that says what it was doing.
   * @default - by the size of the database
   */
  readonly timeout?: Duration;
  /**
   * How long to wait for a connection to a member.
   * @default Duration.seconds(5)
   */
  readonly dialTimeout?: Duration;
  /**
   * How often a failed run is tried again, unless it failed in a way that another try cannot change.
   * @default 3
   */
  readonly retries?: number;
  /**
   * How many finished Jobs stay, with their pods' logs. At least 1 for a schedule of an `EtcdCluster`.
   * @default 3
   */
  readonly successfulJobsHistoryLimit?: number;
  /**
   * How many failed Jobs stay, with their pods' logs. At least 1 for a schedule of an `EtcdCluster`.
   * @default 3
   */
  readonly failedJobsHistoryLimit?: number;
  /**
   * CPU and memory.
   * @default - 100m CPU and 100Mi memory, as request and as limit
   */
  readonly resources?: BackupResources;
  /**
   * The agent's image.
   * @default - the one of this release
   */
  readonly image?: string;
  /**
   * When the node pulls the image.
   * @default - Kubernetes': IfNotPresent, or Always for the tag `latest`
   */
  readonly imagePullPolicy?: ImagePullPolicy;
  /**
   * Names of Secrets with registry credentials.
   * @default - none
   */
  readonly imagePullSecrets?: string[];
  /**
   * A ServiceAccount that exists already. The agent needs no permission in Kubernetes.
   * @default - one is made, without a token
   */
  readonly serviceAccountName?: string;
  /**
   * Labels of the nodes where the pod may run.
   * @default - any node
   */
  readonly nodeSelector?: { readonly [name: string]: string };
  /**
   * Taints of the nodes where the pod may run.
   * @default - none
   */
  readonly tolerations?: Toleration[];
  /**
   * The pod's PriorityClass.
   * @default - the cluster's default
   */
  readonly priorityClassName?: string;
  /**
   * Labels of every object and of the pod, beside the standard ones.
   * @default - `app.kubernetes.io/…` alone
   */
  readonly labels?: { readonly [name: string]: string };
}
