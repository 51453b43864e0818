/** A reconciler, which grows, shrinks, upgrades, repairs and restores the clusters of a namespace. */
export interface IEtcdReconciler {
  /** Name of its ServiceAccount, to which each of its clusters grants permissions. */
  readonly serviceAccountName: string;
  /** Name of its Deployment. */
  readonly reconcilerName: string;
}
