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
   * The name of the resource: a Kubernetes name of at most 52 characters. An EtcdBackup cannot be changed: for another
   * backup take another name.
   * @default - `<cluster>-<id>`, or the construct's id with `endpoints`
   */
  readonly name?: string;
  /**
   * What to back up: a cluster of the same namespace, or somebody else's.
   * @default - `endpoints`
   */
  readonly cluster?: IEtcdCluster;
  /**
   * What to back up: client URLs of one or more members, such as `https://etcd-0.etcd:2379`. Without a scheme it is https
   * when `tls` is given, else http.
   * @default - `cluster`
   */
  readonly endpoints?: string[];
  /**
   * With `endpoints`: how to reach an etcd that speaks TLS.
   * @default - plain http
   */
  readonly tls?: EtcdClientTls;
  /**
   * With `endpoints`: the user to log in as.
   * @default - none
   */
  readonly auth?: EtcdAuth;
  /**
   * A backup schedule of the cluster, by its id: the snapshot goes to the same stores, with the same settings.
   * @default - `store`
   */
  readonly schedule?: string;
  /**
   * Where the snapshot goes.
   * @default - `schedule`
   */
  readonly store?: BackupStore;
  /**
   * The exact key of the snapshot within the store. It may hold `{{ .Namespace }}`, `{{ .Name }}`, `{{ .UID }}` and
   * `{{ .CreationTimestamp }}` of this resource. Retention leaves such a snapshot alone.
   * @default - under the cluster's name, as the backups of a schedule
   */
  readonly key?: string;
  /**
   * The folder within the store, in place of the store's own. Excludes `key`.
   * @default - the store's
   */
  readonly prefix?: string;
  /**
   * How the snapshot is compressed.
   * @default - as the schedule says, else Compression.ZSTD
   */
  readonly compression?: Compression;
  /**
   * With `store`: encrypts the snapshot before it is stored.
   * @default - none; with `schedule` as that says
   */
  readonly encryption?: Encryption;
  /**
   * How long to wait for a connection to a member.
   * @default Duration.seconds(5)
   */
  readonly dialTimeout?: Duration;
  /**
   * How long the backup may take.
   * @default Duration.hours(1)
   */
  readonly timeout?: Duration;
  /**
   * A ServiceAccount that exists already, for a store with workload identity. The Job needs no right in Kubernetes.
   * @default - one is made when the workload identity of `store` has annotations for it
   */
  readonly serviceAccountName?: string;
  /**
   * The image of the Job, for `BackupStore.command`.
   * @default - the agent's
   */
  readonly image?: string;
  /**
   * Labels of the resource, beside the standard ones.
   * @default - `app.kubernetes.io/…` alone
   */
  readonly labels?: { readonly [name: string]: string };
}
