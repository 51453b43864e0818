import type { View } from '../engine/view.ts';
import { claimAt, podAt, podsOf, recorded } from './observations.ts';

/** Ordinals of the other voters whose volumes are on the node of this pod. */
function votersOnNodeOf(v: View, ordinal: number): number[] {
  const node = podAt(v, ordinal)?.node;
  if (node === undefined) return [];
  const others = Object.keys(v.record.members).map(Number);
  return others.filter((at) => at !== ordinal && recorded(v, at)?.everVoter && claimAt(v, at)?.node === node);
}

/** A voter's pod cannot be scheduled because this pod is on the node of its volume. */
export const crowdsOut = (v: View, ordinal: number): boolean =>
  votersOnNodeOf(v, ordinal).some((at) => podAt(v, at)?.unschedulable === true);

/** Certain: every voter with a volume on its node has a pod that is scheduled. */
export const crowdsNobodyOut = (v: View, ordinal: number): boolean =>
  v.o.claims.known &&
  votersOnNodeOf(v, ordinal).every((at) => podsOf(v).some((pod) => pod.ordinal === at && !pod.unschedulable));
