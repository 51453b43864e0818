/** A taint that a pod tolerates; the fields are Kubernetes' own. */
export interface Toleration {
  /**
   * The taint's key.
   * @default - every key; `operator` must then be `Exists`
   */
  readonly key?: string;
  /**
   * `Exists` or `Equal`.
   * @default Equal
   */
  readonly operator?: string;
  /**
   * The taint's value, for `Equal`.
   * @default - the empty value
   */
  readonly value?: string;
  /**
   * `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
   * @default - every effect
   */
  readonly effect?: string;
  /**
   * For `NoExecute`: how many seconds the pod stays on the node.
   * @default - for ever
   */
  readonly tolerationSeconds?: number;
}
