import type { Permit } from '../../../protocol/record.ts';
import type { Effect } from '../../port/effect.ts';
import { implied, rule } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { isSeeded, learners, placed, started, voters } from '../facts/facts.ts';
import { listed, type MemberView, type PlacedMember } from '../facts/member-view.ts';
import { crowdsNobodyOut } from '../facts/places.ts';
import { newlyReached } from '../facts/reached.ts';
import { mayJoin } from '../facts/upgrade-path.ts';
import { initialClusterOf, timestamp, without, write } from './record/write.ts';

// Which member is permitted on which volume, which members have become voters, and how far they have come.

const permitOf = ({ id, permit }: MemberView): Permit | undefined => (permit?.memberId === id ? permit : undefined);

const asksForItsPermit = (learner: MemberView): boolean =>
  learner.request !== undefined && permitOf(learner)?.volumeId === learner.request;

function permit(v: View, learner: PlacedMember, volumeId: string, id = v.o.fresh.id): Permit {
  const { ordinal } = learner;
  return {
    id,
    ordinal,
    volumeId,
    epoch: v.record.epoch,
    mode: 'existing',
    token: v.record.token,
    initialCluster: initialClusterOf(v, listed(v)),
    memberId: learner.id,
    issuedAt: timestamp(v),
  };
}

function issue(v: View, learner: PlacedMember, id: string): Effect {
  const { ordinal } = learner;
  const issued = permit(v, learner, learner.request!, id);
  const { permits, members, epoch, op } = v.record;
  return write(v, {
    permits: { ...permits, [ordinal]: issued },
    members: { ...members, [ordinal]: { memberId: learner.id, volumeId: issued.volumeId, epoch, everVoter: false } },
    op: op?.kind === 'AddLearner' ? undefined : op,
  });
}

const onlyItsOwnOp = (v: View, { ordinal }: PlacedMember): boolean => {
  const { op } = v.record;
  return op === undefined || (op.kind === 'AddLearner' && op.ordinal === ordinal);
};

/** Its data directory names the member, and the member list agrees. */
const attested = (v: View, { id, agent }: PlacedMember): boolean => {
  const identity = agent?.volume.identity;
  return agent?.volume.walPresent === true && identity?.memberId === id && identity.epoch === v.record.epoch;
};

export const recordVoter = rule<PlacedMember>({
  name: 'RecordVoter',
  does: 'WriteRecord',
  from: 'promoting',
  to: 'running',
  each: placed(voters),
  when: {
    'its permit is recorded': (_, m) => m.recorded?.memberId === m.id,
    'it was not a voter before': (_, m) => !m.recorded!.everVoter,
  },
  effect: (v, m) => {
    const { ordinal } = m;
    const { members, permits, op } = v.record;
    return write(v, {
      members: { ...members, [ordinal]: { ...members[ordinal]!, everVoter: true } },
      permits: without(permits, ordinal),
      op: op?.kind === 'Promote' && op.memberId === m.id ? undefined : op,
    });
  },
});

export const noteReached = rule({
  name: 'NoteReached',
  does: 'WriteRecord',
  from: 'running',
  to: 'running',
  when: { 'members have kept what was written since their marks': (v) => Object.keys(newlyReached(v)).length > 0 },
  effect: (v) => write(v, { members: { ...v.record.members, ...newlyReached(v) } }),
});

export const adoptMember = rule<PlacedMember>({
  name: 'AdoptMember',
  does: 'WriteRecord',
  from: 'running',
  to: 'running',
  each: placed(listed),
  when: {
    'epoch seeded': isSeeded,
    'its volume attests for it': attested,
    'the record does not know it': (_, m) => m.recorded?.memberId !== m.id,
    'it is not being removed': (v, m) => v.op('Remove')?.memberId !== m.id,
  },
  effect: (v, m) => {
    const { ordinal } = m;
    const { volumeId, epoch } = m.agent!.volume.identity!;
    const { members, permits } = v.record;
    return write(v, {
      members: { ...members, [ordinal]: { memberId: m.id, volumeId, epoch, everVoter: !m.isLearner } },
      permits: m.isLearner ? { ...permits, [ordinal]: permit(v, m, volumeId) } : without(permits, ordinal),
    });
  },
});

export const issuePermit = rule<PlacedMember>({
  name: 'IssuePermit',
  does: 'WriteRecord',
  from: 'adding',
  to: 'joining',
  each: placed(learners),
  when: {
    'epoch seeded': implied(
      'past a fence the restore is the operation, and before a first seed there is no learner',
      isSeeded,
    ),
    'learner never started': (_, m) => !started(m),
    'no permit ever named it': (_, m) => permitOf(m) === undefined,
  },
  requires: {
    'no other operation': onlyItsOwnOp,
    'its volume requests a permit': (_, m) => m.request !== undefined,
    'its version may join': (v, m) => mayJoin(v, m.ordinal),
    'no voter’s pod waits for its node': (v, m) => crowdsNobodyOut(v, m.ordinal),
  },
  effect: (v, m) => issue(v, m, v.o.fresh.id),
});

export const reissuePermit = rule<PlacedMember>({
  name: 'IssuePermit.again',
  does: 'WriteRecord',
  from: 'joining',
  to: 'joining',
  each: placed(learners),
  when: {
    'learner never started': implied(
      'a volume that had data asks with a new volumeId, which is not its permit’s',
      (_, m) => !started(m),
    ),
    'its volume still requests its permit': (_, m) => asksForItsPermit(m),
    'membership moved since': (v, m) => permitOf(m)!.initialCluster !== initialClusterOf(v, listed(v)),
  },
  effect: (v, m) => issue(v, m, permitOf(m)!.id),
});
