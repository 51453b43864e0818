import { kubectl, type Output } from '../../e2e/support/kubectl';
import type { Play } from '../../e2e/watch/play';
import { runningMembers } from './member-versions';

/** Of this cluster's members alone, as others work on the node too; it stays cordoned. */
export function drain(node: string, cluster: string, seconds: number): Promise<Output> {
  const selector = `app.kubernetes.io/instance=${cluster},app.kubernetes.io/component=member`;
  const flags = [`--pod-selector=${selector}`, '--delete-emptydir-data', `--timeout=${seconds}s`];
  return kubectl(['drain', node, ...flags]);
}

/** One member, as a drain does it; the name of its pod. */
export async function evictFollower({ cluster, namespace }: Play): Promise<string> {
  const { name } = (await runningMembers(cluster)).find(({ leads }) => !leads)!;
  const metadata = { name, namespace: namespace.name };
  const eviction = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata });
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${name}/eviction`;
  await namespace.kubectl(['create', '--raw', path, '-f', '-'], eviction);
  return name;
}
