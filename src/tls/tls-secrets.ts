import type { INamed, WithNames } from '../validation/named';

/** Names Secrets in the cluster's namespace. Each Secret must have the keys `ca.crt`, `tls.crt` and `tls.key`. */
export interface TlsSecrets {
  /**
   * Names the Secret with the certificate that members use for each other. It needs the usages serverAuth and
   * clientAuth, and the DNS names `<cluster>-<i>.<cluster>-peers.<namespace>.svc.<clusterDomain>` for i from 0 to 6. It
   * must not contain IP addresses, because etcd would check these too.
   */
  readonly peer: string | INamed;
  /**
   * Names the Secret with the certificate that members present to clients. It needs the usages serverAuth and
   * clientAuth, all names that clients use, `localhost` and `127.0.0.1`. etcd accepts client certificates that are
   * signed by its `ca.crt`.
   */
  readonly server: string | INamed;
  /**
   * Names the Secret with a client certificate (usage clientAuth) for clients, and without `root` and `backup` for the
   * reconciler and for backups too.
   */
  readonly client: string | INamed;
  /**
   * Names the Secret with a client certificate (usage clientAuth) whose common name is `root`, for the reconciler and
   * the members. Users of etcd require it, together with `backup`.
   * @default - none: the cluster has no users of etcd
   */
  readonly root?: string | INamed;
  /**
   * Names the Secret with a client certificate (usage clientAuth) whose common name is `<cluster>-backup`, for backups.
   * @default - none: backups use the certificate of `client`
   */
  readonly backup?: string | INamed;
}

/** The names of these Secrets. */
export type SecretNames = WithNames<TlsSecrets>;
