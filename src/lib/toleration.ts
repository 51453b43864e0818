/** Tolerates a taint of a node, with the fields of Kubernetes' own Toleration. */
export interface Toleration {
  /**
   * Names the key of the taint.
   * @default - every key; `operator` must then be `Exists`
   */
  readonly key?: string;
  /**
   * Sets how the taint's value is compared: `Exists` or `Equal`.
   * @default Equal
   */
  readonly operator?: string;
  /**
   * Sets the value of the taint, for `Equal`.
   * @default - the empty value
   */
  readonly value?: string;
  /**
   * Names the effect of the taint: `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
   * @default - every effect
   */
  readonly effect?: string;
  /**
   * Limits the number of seconds that the pod stays on the node, for `NoExecute`.
   * @default - without limit
   */
  readonly tolerationSeconds?: number;
}
