import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { appState } from '../lib/app-state';
import { isAttached } from '../lib/attached';
import type { IEtcdReconciler } from './i-etcd-reconciler';

/** What the registry knows of an `EtcdReconciler`, which another copy of this library may have made. */
export interface RegisteredReconciler extends Construct, IEtcdReconciler {
  /** @internal */
  _selector(): Labels | undefined;
}

export type Labels = Readonly<Record<string, string>>;

interface Registry {
  /** Made by the user, by where they are. One without a namespace stands under two keys. */
  readonly explicit: Map<string, RegisteredReconciler[]>;
  /** Made by a cluster that found none. */
  readonly implicit: Map<string, RegisteredReconciler>;
  /** The first cluster that says that a reconciler of this name is another app's, by namespace and name. */
  readonly external: Map<string, Construct>;
  /** The first cluster of each name that a reconciler serves. */
  readonly served: Map<IEtcdReconciler, Map<string, Construct>>;
  bringing: boolean;
}

/** Notes a new reconciler. One that was made by the user takes the place of the one that a cluster made. */
export function addReconciler(reconciler: RegisteredReconciler): void {
  const registry = registryOf(reconciler);
  const [own, shared = own] = keysOf(reconciler);
  if (registry.bringing) {
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

/** Makes the reconciler of the cluster's namespace, when there is none so far. */
export function bringReconciler(cluster: Construct, make: () => void): void {
  if (reconcilersFor(cluster).length > 0) return;
  const registry = registryOf(cluster);
  registry.bringing = true;
  try {
    make();
  } finally {
    registry.bringing = false;
  }
}

/**
 * The reconcilers of this app that a cluster can have. Charts without a namespace count as one namespace, but one of the
 * cluster's own chart comes first.
 */
export function reconcilersFor(cluster: Construct): RegisteredReconciler[] {
  const { explicit, implicit } = registryOf(cluster);
  const keys = keysOf(cluster);
  for (const key of keys) {
    const found = explicit.get(key)?.filter(isAttached) ?? [];
    if (found.length > 0) return found;
  }
  const brought = implicit.get(keys.at(-1)!);
  return brought && isAttached(brought) ? [brought] : [];
}

/** The user's other reconcilers of the same namespace; without a namespace those of the same chart. */
export function neighboursOf(reconciler: RegisteredReconciler): RegisteredReconciler[] {
  const found = registryOf(reconciler).explicit.get(keysOf(reconciler)[0]) ?? [];
  return found.filter((other) => other !== reconciler && isAttached(other));
}

/** Notes that to this cluster a reconciler is another app's. */
export function addExternal(cluster: Construct, { reconcilerName }: IEtcdReconciler): void {
  const { external } = registryOf(cluster);
  const key = externalKey(cluster, reconcilerName);
  if (!external.has(key)) external.set(key, cluster);
}

/** A cluster to which this reconciler of the app is another app's. */
export function externalTo(cluster: Construct, { reconcilerName }: IEtcdReconciler): Construct | undefined {
  const other = registryOf(cluster).external.get(externalKey(cluster, reconcilerName));
  return other && isAttached(other) ? other : undefined;
}

/** Another cluster of this name that has the same reconciler. */
export function servedNamesake(cluster: Construct, name: string, reconciler: IEtcdReconciler): Construct | undefined {
  const { served } = registryOf(cluster);
  const clusters = served.get(reconciler) ?? new Map<string, Construct>();
  served.set(reconciler, clusters);
  const first = clusters.get(name);
  if (first && first !== cluster && isAttached(first)) return first;
  clusters.set(name, cluster);
  return undefined;
}

function externalKey(cluster: Construct, name: string): string {
  return JSON.stringify([keysOf(cluster)[0], name]);
}

function registryOf(construct: Construct): Registry {
  return appState(construct, 'reconcilers.v1', () => ({
    explicit: new Map(),
    implicit: new Map(),
    external: new Map(),
    served: new Map(),
    bringing: false,
  }));
}

/** Where to look, first to last. */
function keysOf(construct: Construct): [string, ...string[]] {
  const { namespace, node } = Chart.of(construct);
  return namespace === undefined ? [`chart ${node.path}`, 'no namespace'] : [`namespace ${namespace}`];
}
