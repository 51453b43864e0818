import type { EtcdAuth } from '../etcd/etcd-auth';
import type { EtcdClientTls } from '../tls/etcd-client-tls';

/** Options of `EtcdCluster.fromEndpoints`. */
export interface EtcdEndpointsOptions {
  /**
   * The name under which its backups are stored: up to 63 letters, digits, `-`, `_` and `.`.
   * @default - the construct's id
   */
  readonly name?: string;
  /**
   * How to reach an etcd that speaks TLS.
   * @default - plain http
   */
  readonly tls?: EtcdClientTls;
  /**
   * The user to log in as.
   * @default - none: etcd's authentication is off, or the client certificate names the user
   */
  readonly auth?: EtcdAuth;
}

/** What is known of an `EtcdCluster` of another app: its own properties of the same names. */
export interface EtcdClusterAttributes {
  /** Its name. */
  readonly clusterName: string;
  /** The client URL of each member. */
  readonly clientEndpoints: string[];
  /**
   * How clients trust it and are trusted by it: `EtcdClientTls.fromSecret(clientTlsSecretName)`.
   * @default - plain http
   */
  readonly clientTls?: EtcdClientTls;
}
