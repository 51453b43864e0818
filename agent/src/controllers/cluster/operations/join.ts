import type { AddLearnerOp } from '../../../protocol/record.ts';
import { implied, rule, steps } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import {
  allVotersHealthy,
  canAdd,
  foreignMember,
  isWanted,
  lagOf,
  learners,
  memberAt,
  placed,
  wantedSize,
} from '../facts/facts.ts';
import type { MemberView, PlacedMember } from '../facts/member-view.ts';
import { lasts, podAt, recorded, requestOf } from '../facts/observations.ts';
import { joiningUrls } from '../facts/transport.ts';
import { mayJoin } from '../facts/upgrade-path.ts';
import { opBase, write } from './record/write.ts';

// A pod with an empty volume becomes a voter: added as a learner, permitted on that one volume, promoted when in sync.
const wantedOrdinals = (v: View): number[] => [...Array(wantedSize(v)).keys()];

const resolves = (v: View, ordinal: number): boolean => {
  const pod = podAt(v, ordinal);
  return pod?.running === true && pod.resolves.known && pod.resolves.v;
};

/** The learner of the operation can be added now, for the volume that the operation names. */
const addable = (v: View, { ordinal, volumeId }: AddLearnerOp): boolean =>
  isWanted(v, ordinal) &&
  foreignMember(v) === undefined &&
  learners(v).length === 0 &&
  canAdd(v) &&
  requestOf(v, ordinal) === volumeId &&
  mayJoin(v, ordinal);

const inSync = (v: View, memberId: string): boolean =>
  lagOf(v, memberId) <= v.s.promoteLag && lasts(v, v.o.since.inSync[memberId], v.s.promoteGap);

/** The learner runs on the volume of its permit. */
const runsThere = (v: View, { id, agent }: MemberView): boolean => {
  const identity = agent?.volume.identity;
  return (
    agent?.volume.walPresent === true &&
    identity?.memberId === id &&
    identity.volumeId === recorded(v, identity.ordinal)?.volumeId
  );
};

const promotable = (v: View, learner: MemberView): boolean =>
  inSync(v, learner.id) && allVotersHealthy(v) && runsThere(v, learner);

const promoted = (v: View): MemberView | undefined => learners(v).find(({ id }) => id === v.op('Promote')?.memberId);

export const addLearnerSteps = [
  ...steps({ when: { 'op AddLearner': (v) => v.op('AddLearner') !== undefined }, from: 'adding' }, [
    rule({
      name: 'AddLearner.call',
      does: 'MemberAdd',
      to: 'adding',
      requires: {
        'no member has its address': (v) => v.o.members.known && memberAt(v, v.op('AddLearner')!.ordinal) === undefined,
        'it can be added': (v) => addable(v, v.op('AddLearner')!),
      },
      effect: (v) => {
        const { ordinal } = v.op('AddLearner')!;
        return { kind: 'MemberAdd', ordinal, peerUrls: joiningUrls(v, ordinal) };
      },
    }),
    rule({
      name: 'AddLearner.drop',
      does: 'WriteRecord',
      to: 'running',
      effect: (v) => write(v, { op: undefined }),
    }),
  ]),
];

export const promoteSteps = [
  rule({
    name: 'Promote.call',
    does: 'MemberPromote',
    from: 'promoting',
    to: 'promoting',
    when: { 'op Promote, of a learner': (v) => promoted(v) !== undefined },
    requires: {
      'it can be promoted': (v) => promotable(v, promoted(v)!),
    },
    effect: (v) => ({ kind: 'MemberPromote', memberId: v.op('Promote')!.memberId }),
  }),
  rule({
    name: 'Promote.drop',
    does: 'WriteRecord',
    from: 'promoting',
    to: 'joining',
    when: { 'op Promote': (v) => v.op('Promote') !== undefined },
    effect: (v) => write(v, { op: undefined }),
  }),
];

export const promoteLearner = rule<PlacedMember>({
  name: 'PromoteLearner',
  does: 'WriteRecord',
  from: 'joining',
  to: 'promoting',
  each: placed(learners),
  requires: {
    'it runs on its permitted volume': implied(
      'in sync it has started, and only the volume of its permit can start it',
      runsThere,
    ),
    'in sync': (v, m) => inSync(v, m.id),
    'all voters healthy': allVotersHealthy,
  },
  effect: (v, m) => write(v, { op: { ...opBase(v), kind: 'Promote', ordinal: m.ordinal, memberId: m.id } }),
});

export const addLearner = rule<number>({
  name: 'AddLearner',
  does: 'WriteRecord',
  from: 'running',
  to: 'adding',
  each: wantedOrdinals,
  when: { 'wanted ordinal without a member': (v, i) => memberAt(v, i) === undefined },
  requires: {
    'its volume requests a permit': (v, i) => requestOf(v, i) !== undefined,
    'its version may join': mayJoin,
    'its name resolves to its IP': resolves,
    'no learner': (v) => learners(v).length === 0,
    'etcd would accept one': canAdd,
  },
  effect: (v, i) => write(v, { op: { ...opBase(v), kind: 'AddLearner', ordinal: i, volumeId: requestOf(v, i)! } }),
});
