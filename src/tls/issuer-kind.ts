/** Kinds of issuer that cert-manager has. */
export enum IssuerKind {
  /** An issuer in the cluster's own namespace. */
  ISSUER = 'Issuer',
  /** An issuer for all namespaces. */
  CLUSTER_ISSUER = 'ClusterIssuer',
}
