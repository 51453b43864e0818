/** Lists the kinds of issuer that cert-manager has. */
export enum IssuerKind {
  /** Selects an issuer in the cluster's own namespace. */
  ISSUER = 'Issuer',
  /** Selects an issuer for all namespaces. */
  CLUSTER_ISSUER = 'ClusterIssuer',
}
