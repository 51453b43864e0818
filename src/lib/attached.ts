import type { Construct } from 'constructs';

/** Whether a construct is still in its tree: `tryRemoveChild` leaves it, and those below it, as they are. */
export function isAttached(construct: Construct): boolean {
  for (let node = construct.node; node.scope; node = node.scope.node) {
    if (node.scope.node.tryFindChild(node.id)?.node !== node) return false;
  }
  return true;
}
