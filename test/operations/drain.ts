import { kubectl, type Output } from '../e2e/kubectl';

/** Of this cluster's members alone, as others work on the node too; it stays cordoned. */
export function drain(node: string, cluster: string, seconds: number): Promise<Output> {
  const selector = `app.kubernetes.io/instance=${cluster},app.kubernetes.io/component=member`;
  const flags = [`--pod-selector=${selector}`, '--delete-emptydir-data', `--timeout=${seconds}s`];
  return kubectl(['drain', node, ...flags]);
}
