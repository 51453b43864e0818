/** Represents a reconciler, which grows, shrinks, upgrades, repairs and restores the clusters of a namespace. */
export interface IEtcdReconciler {
  /** Names its ServiceAccount, to which each of its clusters grants permissions. */
  readonly serviceAccountName: string;
  /** Names its Deployment. */
  readonly reconcilerName: string;
}
