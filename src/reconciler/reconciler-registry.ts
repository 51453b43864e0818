import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { appState, isAttached } from '../lib/construct-tree';
import type { Labels } from '../lib/manifest';
import type { IEtcdReconciler } from './i-etcd-reconciler';

/**
 * The members of an `EtcdReconciler` that the registry uses. Another copy of this library may have created the
 * construct.
 */
export interface RegisteredReconciler extends Construct, IEtcdReconciler {
  /** @internal */
  _selector(): Labels | undefined;
  /**
   * The number of clusters for which its limit of CPU suffices. Another copy of this library may not know it.
   * @internal
   */
  _mostClusters?(): number;
}

interface Registry {
  /** Reconcilers that the user created, by their place. A reconciler without a namespace has two keys. */
  readonly explicit: Map<string, RegisteredReconciler[]>;
  /** Reconcilers that a cluster created because there was none. */
  readonly implicit: Map<string, RegisteredReconciler>;
  /** The first cluster that uses a reconciler as external, by namespace and name of the reconciler. */
  readonly external: Map<string, Construct>;
  /** The first cluster of each name that a reconciler manages. */
  readonly served: Map<IEtcdReconciler, Map<string, Construct>>;
  /** True while a cluster creates its reconciler. */
  creatingImplicit: boolean;
}

/** Records a new reconciler. A reconciler that the user created replaces the one that a cluster created. */
export function addReconciler(reconciler: RegisteredReconciler): void {
  const registry = registryOf(reconciler);
  const [own, shared = own] = keysOf(reconciler);
  if (registry.creatingImplicit) {
    registry.implicit.set(shared, reconciler);
    return;
  }
  for (const key of new Set([own, shared])) {
    const others = registry.explicit.get(key);
    if (others) others.push(reconciler);
    else registry.explicit.set(key, [reconciler]);
  }
  const implicit = registry.implicit.get(shared);
  implicit?.node.scope?.node.tryRemoveChild(implicit.node.id);
  registry.implicit.delete(shared);
}

/** Creates the reconciler of the cluster's namespace if there is none so far. */
export function createReconcilerIfNone(cluster: Construct, create: () => void): void {
  if (reconcilersFor(cluster).length > 0) return;
  const registry = registryOf(cluster);
  registry.creatingImplicit = true;
  try {
    create();
  } finally {
    registry.creatingImplicit = false;
  }
}

/**
 * Returns the reconcilers of this app that could manage a cluster. Charts without a namespace count as one namespace,
 * but a reconciler in the cluster's own chart takes precedence.
 */
export function reconcilersFor(cluster: Construct): RegisteredReconciler[] {
  const { explicit, implicit } = registryOf(cluster);
  const keys = keysOf(cluster);
  for (const key of keys) {
    const found = explicit.get(key)?.filter(isAttached) ?? [];
    if (found.length > 0) return found;
  }
  const created = implicit.get(keys.at(-1)!);
  return created && isAttached(created) ? [created] : [];
}

/** Returns true if a cluster created this reconciler because there was none. */
export function isImplicit(reconciler: RegisteredReconciler): boolean {
  return registryOf(reconciler).implicit.get(keysOf(reconciler).at(-1)!) === reconciler;
}

/** Returns the user's other reconcilers in the same namespace, or in the same chart if it has no namespace. */
export function neighborsOf(reconciler: RegisteredReconciler): RegisteredReconciler[] {
  const found = registryOf(reconciler).explicit.get(keysOf(reconciler)[0]) ?? [];
  return found.filter((other) => other !== reconciler && isAttached(other));
}

/** Records that this cluster uses a reconciler as external. */
export function addExternal(cluster: Construct, { reconcilerName }: IEtcdReconciler): void {
  const { external } = registryOf(cluster);
  const key = externalKey(cluster, reconcilerName);
  if (!external.has(key)) external.set(key, cluster);
}

/** Returns a cluster that uses this reconciler of the app as external. */
export function externalTo(cluster: Construct, { reconcilerName }: IEtcdReconciler): Construct | undefined {
  const other = registryOf(cluster).external.get(externalKey(cluster, reconcilerName));
  return other && isAttached(other) ? other : undefined;
}

/** Returns another cluster with this name that has the same reconciler. */
export function servedNamesake(cluster: Construct, name: string, reconciler: IEtcdReconciler): Construct | undefined {
  const { served } = registryOf(cluster);
  const clusters = served.get(reconciler) ?? new Map<string, Construct>();
  served.set(reconciler, clusters);
  const first = clusters.get(name);
  if (first && first !== cluster && isAttached(first)) return first;
  clusters.set(name, cluster);
  return undefined;
}

/** The clusters that are known to have this reconciler. */
export const servedBy = (cluster: Construct, reconciler: IEtcdReconciler): readonly Construct[] => [
  ...(registryOf(cluster).served.get(reconciler)?.values() ?? []),
];

function externalKey(cluster: Construct, name: string): string {
  return JSON.stringify([keysOf(cluster)[0], name]);
}

function registryOf(construct: Construct): Registry {
  return appState(construct, 'reconcilers.v1', () => ({
    explicit: new Map(),
    implicit: new Map(),
    external: new Map(),
    served: new Map(),
    creatingImplicit: false,
  }));
}

/** Returns the keys to look up, in the order of precedence. */
function keysOf(construct: Construct): [string, ...string[]] {
  const { namespace, node } = Chart.of(construct);
  return namespace === undefined ? [`chart ${node.path}`, 'no namespace'] : [`namespace ${namespace}`];
}
