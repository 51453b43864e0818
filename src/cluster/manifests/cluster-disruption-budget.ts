import { memberSelector } from './cluster-labels';

/** The PodDisruptionBudgetSpec: one member at a time, whatever the size. */
export function disruptionBudget(cluster: string): object {
  return { maxUnavailable: 1, selector: { matchLabels: memberSelector(cluster) } };
}
