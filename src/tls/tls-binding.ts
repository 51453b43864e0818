import type { INamed, WithNames } from '../validation/named';
import type { CertificateManifest } from './certificates';

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

/** The Secrets and Certificates of one cluster, and the problems with its TLS properties. */
export interface TlsBinding {
  /** Undefined without TLS. */
  readonly secrets?: SecretNames;
  /** The certificates of the peers, the server, the client, root and the backups, in this order. */
  readonly certificates: readonly CertificateManifest[];
  /** Returns the certificate of a user of etcd. Undefined if cert-manager does not issue it. */
  readonly userCertificate?: (secretName: string, userName: string) => CertificateManifest;
  /** Set if the reconciler writes the Secrets. */
  readonly managed?: ManagedTls;
  /** True if the Secrets of peer and server may have a revocation list. */
  readonly mayRevoke?: boolean;
  /** Set while the source of the certificates is changed. */
  readonly trust?: TlsTrust;
  /** True while TLS is switched off: clients are to use http, but the members and backups still need certificates. */
  readonly disabling?: boolean;
  /** For how long clients may use http while TLS is switched on, as the agent reads it. */
  readonly acceptPlaintextFor?: string;
  readonly problems: readonly string[];
}

/** What the reconciler needs to know to issue the certificates of a cluster. */
export interface ManagedTls {
  /** Secret with the authority of the peers. */
  readonly peerAuthority: string;
  /** Secret with the authority of servers and clients. */
  readonly clientAuthority: string;
  readonly serverNames?: readonly string[];
  readonly intermediateRotation?: string;
  readonly rootRotation?: string;
  readonly intermediateRevocation?: string;
}

/** Another source of certificates, whose authorities the members trust too. */
export interface TlsTrust {
  /** Secret with the authorities of both sources, which the reconciler writes. */
  readonly secret: string;
  readonly other: TlsBinding & { readonly secrets: SecretNames };
}
