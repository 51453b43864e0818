/** A taint that a pod tolerates, with the fields of Kubernetes' own Toleration. */
export interface Toleration {
  /**
   * Key of the taint.
   * @default - every key; `operator` must then be `Exists`
   */
  readonly key?: string;
  /**
   * How the taint's value is compared: `Exists` or `Equal`.
   * @default Equal
   */
  readonly operator?: string;
  /**
   * Value of the taint, for `Equal`.
   * @default - the empty value
   */
  readonly value?: string;
  /**
   * Effect of the taint: `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
   * @default - every effect
   */
  readonly effect?: string;
  /**
   * For `NoExecute`: the number of seconds that the pod stays on the node.
   * @default - without limit
   */
  readonly tolerationSeconds?: number;
}
