import { Construct, type IConstruct } from 'constructs';

/**
 * State that all constructs of an app share. It is stored at the root of the tree under a global symbol, so that two
 * copies of this library in one app share it too: change `key` when the shape of the state changes.
 */
export function appState<State>(construct: IConstruct, key: string, create: () => State): State {
  const symbol = Symbol.for(`cdk8s-etcd.${key}`);
  const root = construct.node.root as unknown as Record<symbol, State | undefined>;
  const state = root[symbol] ?? create();
  // Not enumerable, so that comparing or printing an app does not include it.
  if (!root[symbol]) Object.defineProperty(root, symbol, { value: state });
  return state;
}

/** Returns a construct below another one in which ids are free: a user and a backup schedule may have the same id. */
export function folderIn(construct: Construct, id: string): Construct {
  const found = construct.node.tryFindChild(id);
  return found ? (found as Construct) : new Construct(construct, id);
}

/** Returns true if a construct is still in its tree: `tryRemoveChild` does not mark it or the constructs below it. */
export function isAttached(construct: Construct): boolean {
  for (let node = construct.node; node.scope; node = node.scope.node) {
    if (node.scope.node.tryFindChild(node.id)?.node !== node) return false;
  }
  return true;
}
