/** Who grows, shrinks, upgrades, repairs and restores the clusters of a namespace. */
export interface IEtcdReconciler {
  /** The name of its ServiceAccount, which each of its clusters grants the rights to it. */
  readonly serviceAccountName: string;
  /** The name of its Deployment. */
  readonly reconcilerName: string;
}
