import type { Duration } from 'cdk8s';
import type { EtcdAuth } from '../etcd/etcd-auth';
import type { BackupStore } from '../stores/backup-store';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import type { Compression } from './compression';
import type { Encryption } from './encryption';
import type { IEtcdCluster } from './i-etcd-cluster';

/** Properties of `EtcdBackup`. Give either `cluster` or `endpoints`, and either `schedule` or `store`. */
export interface EtcdBackupProps {
  /**
   * Name of the resource: a Kubernetes name of at most 52 characters. An EtcdBackup cannot be changed; use another name
   * for another backup.
   * @default - `<cluster>-<id>`, or the construct's id with `endpoints`
   */
  readonly name?: string;
  /**
   * Cluster to back up: an `EtcdCluster` in the same namespace, or an existing etcd cluster.
   * @default - `endpoints` are used
   */
  readonly cluster?: IEtcdCluster;
  /**
   * Client URLs of one or more members of the etcd cluster to back up, such as `https://etcd-0.etcd:2379`. Without a
   * scheme, https is used if `tls` is given, else http.
   * @default - `cluster` is used
   */
  readonly endpoints?: string[];
  /**
   * With `endpoints`: TLS settings, if etcd uses TLS.
   * @default - plain http
   */
  readonly tls?: EtcdClientTls;
  /**
   * With `endpoints`: etcd user to log in as.
   * @default - none
   */
  readonly auth?: EtcdAuth;
  /**
   * Id of a backup schedule of the cluster. The snapshot is stored in the same stores, with the same settings.
   * @default - `store` is used
   */
  readonly schedule?: string;
  /**
   * Store for the snapshot.
   * @default - the stores of `schedule` are used
   */
  readonly store?: BackupStore;
  /**
   * Exact key of the snapshot within the store. It may contain `{{ .Namespace }}`, `{{ .Name }}`, `{{ .UID }}` and
   * `{{ .CreationTimestamp }}` of this resource. Retention never deletes such a snapshot. Cannot be combined with
   * `prefix`.
   * @default - a key below the cluster's name, as for the backups of a schedule
   */
  readonly key?: string;
  /**
   * Folder within the store, instead of the store's own folder. Cannot be combined with `key`.
   * @default - the folder of the store
   */
  readonly prefix?: string;
  /**
   * Compression of the snapshot.
   * @default - the compression of the schedule, else Compression.ZSTD
   */
  readonly compression?: Compression;
  /**
   * With `store`: encrypts the snapshot before it is stored.
   * @default - no encryption; with `schedule`, the encryption of the schedule
   */
  readonly encryption?: Encryption;
  /**
   * How long to wait for a connection to a member.
   * @default Duration.seconds(5)
   */
  readonly dialTimeout?: Duration;
  /**
   * Longest time that the backup may take.
   * @default Duration.hours(1)
   */
  readonly timeout?: Duration;
  /**
   * Name of an existing ServiceAccount, for a store with workload identity. The Job needs no permissions in Kubernetes.
   * @default - a ServiceAccount is created if the workload identity of `store` has annotations
   */
  readonly serviceAccountName?: string;
  /**
   * Image of the Job. Required for `BackupStore.command`.
   * @default - the agent's image
   */
  readonly image?: string;
  /**
   * Additional labels of the resource.
   * @default - only the standard labels, `app.kubernetes.io/…`
   */
  readonly labels?: { readonly [name: string]: string };
}
