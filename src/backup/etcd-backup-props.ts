import type { Duration } from 'cdk8s';
import type { EtcdAuth } from '../etcd/etcd-auth';
import type { EtcdBackupSpec } from '../resource/types';
import type { BackupStore } from '../stores/backup-store';
import type { EtcdClientTls } from '../tls/etcd-client-tls';
import type { INamed } from '../validation/named';
import type { BackupResources } from './backup-resources';
import type { Compression } from './compression';
import type { Encryption } from './encryption';
import type { IEtcdCluster } from './i-etcd-cluster';
import type { JobOptions } from './job-options';

/**
 * Configures an `EtcdBackup`. Give either `cluster` or `endpoints`, and either `schedule` or `store`. What the properties
 * do not say of the Job, it has of the schedule, else of the members of the `EtcdCluster`.
 */
export interface EtcdBackupProps extends JobOptions {
  /**
   * Names the resource: a Kubernetes name of at most 52 characters. An EtcdBackup cannot be changed; use another name
   * for another backup.
   * @default - `<cluster>-<id>`, or the construct's id with `endpoints`
   */
  readonly name?: string;
  /**
   * Selects the cluster to back up: an `EtcdCluster` in the same namespace, or an existing etcd cluster.
   * @default - `endpoints` are used
   */
  readonly cluster?: IEtcdCluster;
  /**
   * Lists client URLs of one or more members of the etcd cluster to back up, such as `https://etcd-0.etcd:2379`.
   * Without a scheme, https is used if `tls` is given, else http.
   * @default - `cluster` is used
   */
  readonly endpoints?: string[];
  /**
   * Gives the agent its TLS settings, if etcd uses TLS. Use it with `endpoints`.
   * @default - plain http
   */
  readonly tls?: EtcdClientTls;
  /**
   * Selects the etcd user to log in as. Use it with `endpoints`.
   * @default - none
   */
  readonly auth?: EtcdAuth;
  /**
   * Names a backup schedule of the cluster, by its id. The snapshot is stored in the same stores, with the same
   * settings.
   * @default - `store` is used
   */
  readonly schedule?: string;
  /**
   * Selects the store for the snapshot.
   * @default - the stores of `schedule` are used
   */
  readonly store?: BackupStore;
  /**
   * Sets the key of a copy of the snapshot within the store. It may contain `{{ .Namespace }}`, `{{ .Name }}`,
   * `{{ .UID }}` and `{{ .CreationTimestamp }}` of this resource. Retention keeps the newest snapshot with this key. It
   * cannot be combined with `prefix`.
   * @default - no copy
   */
  readonly key?: string;
  /**
   * Sets a folder within the store, instead of the store's own folder. It cannot be combined with `key`.
   * @default - the folder of the store
   */
  readonly prefix?: string;
  /**
   * Selects how the snapshot is compressed.
   * @default - the compression of the schedule, else Compression.ZSTD
   */
  readonly compression?: Compression;
  /**
   * Encrypts the snapshot before it is stored. Use it with `store`.
   * @default - no encryption; with `schedule`, the encryption of the schedule
   */
  readonly encryption?: Encryption;
  /**
   * Limits how long the agent waits for a connection to a member.
   * @default Duration.seconds(5)
   */
  readonly dialTimeout?: Duration;
  /**
   * Limits how long the backup may take.
   * @default Duration.hours(1)
   */
  readonly timeout?: Duration;
  /**
   * Names an existing ServiceAccount, for a store with workload identity. The Job needs no permissions in Kubernetes.
   * @default - a ServiceAccount is created if the workload identity of `store` has annotations
   */
  readonly serviceAccountName?: string | INamed;
  /**
   * Sets the image of the Job. `BackupStore.command` requires it.
   * @default - the agent's image
   */
  readonly image?: string;
  /**
   * Sets the CPU and memory of the Job.
   * @default - those of the schedule, else 100m CPU as request, 1 CPU as limit, and 100Mi memory
   */
  readonly resources?: BackupResources;
  /**
   * The backup as its resource has it, in the place of the other properties.
   * @internal
   */
  readonly _written?: EtcdBackupSpec;
}
