import type { IEtcdCluster } from '../backup/i-etcd-cluster';
import type { EtcdPermission } from '../users/etcd-permission';
import type { INamed } from '../validation/named';

/** Configures a client of `EtcdCluster.addClient`. */
export interface EtcdClientOptions {
  /**
   * Lists what the client may read and write. It then gets a user of etcd of its own, with a certificate or a password
   * of its own. With the first user, etcd's authentication is switched on.
   * @default - no user: the client presents the certificate that all clients of the cluster share
   */
  readonly can?: EtcdPermission[];
  /**
   * Names the user in etcd. It needs `can`.
   * @default - the construct's id
   */
  readonly userName?: string;
  /**
   * Names the Secret with the user's certificate, or with its password. It needs `can`.
   * @default - `<cluster>-user-<id>`, with a password `<cluster>-user-<id>-password`
   */
  readonly secretName?: string | INamed;
  /**
   * Gives the user a password instead of a certificate. It needs `can`.
   * @default false
   */
  readonly password?: boolean;
  /**
   * Selects the client's pods, to which the members' network policy must open. `connect` adds these labels to the pods
   * of the workload. Give them for pods that this app does not create.
   * @default - a label of the client, `client.cdk8s-etcd.dev/<cluster>-<id>: 'true'`
   */
  readonly podLabels?: { readonly [name: string]: string };
  /**
   * Adds labels to the client's objects.
   * @default - only the standard labels, `app.kubernetes.io/…`
   */
  readonly labels?: { readonly [name: string]: string };
}

/** Configures an `EtcdClient`. */
export interface EtcdClientProps extends EtcdClientOptions {
  /** Selects the cluster. An `EtcdCluster` must be in the same namespace. */
  readonly cluster: IEtcdCluster;
}

/** Configures `EtcdClient.connect`. */
export interface EtcdConnectOptions {
  /**
   * Names the containers that use etcd. Names of init containers count, too.
   * @default - every container, and no init container
   */
  readonly containers?: string[];
  /**
   * Sets the directory in the containers with `ca.crt`, `tls.crt` and `tls.key`.
   * @default - `/etc/etcd-client/<cluster>-<id>`
   */
  readonly mountPath?: string;
  /**
   * Sets how the names of the variables begin: `<prefix>_ENDPOINTS`, `<prefix>_CACERT`, `<prefix>_CERT` and
   * `<prefix>_KEY`, and with a password `<prefix>_USER` and `<prefix>_PASSWORD`.
   * @default ETCDCTL, whose variables etcdctl reads
   */
  readonly envPrefix?: string;
}
