import type { Claim, Pod } from '../observed.ts';
import { evidenceLasts, isWanted } from '../plan/facts.ts';
import { claimAt, podsOf, requestOf } from '../plan/observations.ts';
import { crowdsOut } from '../plan/places.ts';
import { implied, rule } from '../plan/rule.ts';
import { imageFits } from '../plan/upgrade-path.ts';
import type { View } from '../plan/view.ts';

// A new volume may be made on the node that holds a member's, whose pod then finds no place. The empty one goes.

const isEmpty = (v: View, { ordinal }: Pod): boolean => requestOf(v, ordinal) !== undefined;

/** Of a volume that never held a voter. */
const newClaim = (v: View, { ordinal }: Pod): Claim | undefined => {
  const claim = claimAt(v, ordinal);
  return claim?.clusterUid === undefined ? claim : undefined;
};

export const freeNode = [
  rule<Pod>({
    name: 'FreeNode.claim',
    does: 'DeletePvc',
    from: 'running',
    to: 'running',
    each: podsOf,
    when: {
      'its volume is empty': implied('nobody gets a permit where a voter’s pod waits; beside a late one', isEmpty),
      'a voter’s pod waits for its node': (v, { ordinal }) => crowdsOut(v, ordinal),
      'its claim is new, and stays': (v, pod) => newClaim(v, pod)?.deleting === false,
    },
    requires: { 'two sights of the evidence': evidenceLasts },
    effect: (v, pod) => {
      const { ordinal, uid, rv } = newClaim(v, pod)!;
      return { kind: 'DeletePvc', ordinal, uid, basedOn: rv };
    },
  }),
  rule<Pod>({
    name: 'FreeNode.pod',
    does: 'DeletePod',
    from: 'running',
    to: 'running',
    each: podsOf,
    when: {
      'its volume is empty': isEmpty,
      'its claim is being deleted': (v, { ordinal }) => claimAt(v, ordinal)?.deleting === true,
      'its ordinal is wanted': (v, { ordinal }) => isWanted(v, ordinal),
      'it is not being deleted': (_, pod) => !pod.deleting,
    },
    requires: { 'the image is of the version that the template says': imageFits },
    effect: (_, { ordinal, uid }) => ({ kind: 'DeletePod', ordinal, uid }),
  }),
];
