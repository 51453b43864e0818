import type { IConstruct } from 'constructs';

/**
 * Something that all constructs of an app share. It lies at the root of the tree under a symbol, so that two copies of
 * this library in one app share it too: change the key when its shape changes.
 */
export function appState<State>(construct: IConstruct, key: string, make: () => State): State {
  const symbol = Symbol.for(`cdk8s-etcd.${key}`);
  const root = construct.node.root as unknown as Record<symbol, State | undefined>;
  const state = root[symbol] ?? make();
  // Not enumerable, so that nobody's deep comparison or printing of an app meets it.
  if (!root[symbol]) Object.defineProperty(root, symbol, { value: state });
  return state;
}
