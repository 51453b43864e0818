import { ApiObject, Chart } from 'cdk8s';
import type { Construct, IConstruct } from 'constructs';
import { appState, isAttached } from './construct-tree';
import { isProtected } from './gitops';

/** Adds a problem to the app for a Namespace of its own that may be pruned with a protected cluster in it. */
export function requireProtectedNamespace(cluster: Construct): void {
  const { root } = cluster.node;
  // One walk through the app for all clusters: cdk8s validates the whole app once for each chart.
  const clusters = appState(cluster, 'protected-clusters', (): Construct[] => {
    const all: Construct[] = [];
    root.node.addValidation({ validate: () => namespaces(root).flatMap((each) => problems(each, all)) });
    return all;
  });
  clusters.push(cluster);
}

/** The Namespaces of an app. */
function namespaces(construct: IConstruct): ApiObject[] {
  if (ApiObject.isApiObject(construct)) return construct.kind === 'Namespace' ? [construct] : [];
  return construct.node.children.flatMap(namespaces);
}

function problems(namespace: ApiObject, clusters: readonly Construct[]): string[] {
  const inside = clusters.find((each) => Chart.of(each).namespace === namespace.name && isAttached(each));
  if (!inside || isProtected(namespace.metadata.toJson()?.annotations)) return [];
  return [
    `${namespace.node.path}: Argo CD or Flux may delete the Namespace '${namespace.name}', with the volumes of ${inside.node.path}; add PruneProtection.annotations() to its annotations, or set protect: false for the clusters in it`,
  ];
}
