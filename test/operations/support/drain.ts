import { kubectl, type Output } from '../../e2e/support/kubectl';
import type { Play } from '../../e2e/watch/play';
import { runningMembers } from './member-versions';

/** Drains only this cluster's members, because other suites use the node too. The node stays cordoned. */
export function drain(node: string, cluster: string, seconds: number): Promise<Output> {
  const selector = `app.kubernetes.io/instance=${cluster},app.kubernetes.io/component=member`;
  const flags = [`--pod-selector=${selector}`, '--delete-emptydir-data', `--timeout=${seconds}s`];
  return kubectl(['drain', node, ...flags]);
}

/** Evicts one member like a drain, and returns the name of its pod. */
export async function evictFollower({ cluster, namespace }: Play): Promise<string> {
  const { name } = (await runningMembers(cluster)).find(({ leads }) => !leads)!;
  const metadata = { name, namespace: namespace.name };
  const eviction = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata });
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${name}/eviction`;
  await namespace.kubectl(['create', '--raw', path, '-f', '-'], eviction);
  return name;
}
