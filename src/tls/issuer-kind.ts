/** The two kinds of issuers that cert-manager has. */
export enum IssuerKind {
  /** One of the cluster's own namespace. */
  ISSUER = 'Issuer',
  /** One for every namespace. */
  CLUSTER_ISSUER = 'ClusterIssuer',
}
