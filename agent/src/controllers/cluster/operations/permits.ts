import type { Permit } from '../../../protocol/record.ts';
import type { Effect } from '../effect.ts';
import type { Member } from '../observed.ts';
import { agentAt, isSeeded, learners, listed, ordinalOf, recorded, requestOf, started, voters } from '../plan/facts.ts';
import { crowdsNobodyOut } from '../plan/places.ts';
import { implied, rule } from '../plan/rule.ts';
import { mayJoin } from '../plan/upgrade-path.ts';
import type { View } from '../plan/view.ts';
import { initialClusterOf, timestamp, without, write } from '../plan/write.ts';

// Who is permitted on which volume, and who is a voter by now.

const permitOf = (v: View, learner: Member): Permit | undefined => {
  const permit = v.record.permits[ordinalOf(v, learner) ?? -1];
  return permit?.memberId === learner.id ? permit : undefined;
};

const asksForItsPermit = (v: View, learner: Member): boolean => {
  const volumeId = requestOf(v, ordinalOf(v, learner) ?? -1);
  return volumeId !== undefined && permitOf(v, learner)?.volumeId === volumeId;
};

function permit(v: View, learner: Member, volumeId: string, id = v.o.fresh.id): Permit {
  const ordinal = ordinalOf(v, learner)!;
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

function issue(v: View, learner: Member, id: string): Effect {
  const ordinal = ordinalOf(v, learner)!;
  const issued = permit(v, learner, requestOf(v, ordinal)!, id);
  const { permits, members, epoch, op } = v.record;
  return write(v, {
    permits: { ...permits, [ordinal]: issued },
    members: { ...members, [ordinal]: { memberId: learner.id, volumeId: issued.volumeId, epoch, everVoter: false } },
    op: op?.kind === 'AddLearner' ? undefined : op,
  });
}

const onlyItsOwnOp = (v: View, ordinal: number | undefined): boolean => {
  const { op } = v.record;
  return op === undefined || (op.kind === 'AddLearner' && op.ordinal === ordinal);
};

/** Its data directory says which member it is, and the list agrees. */
const attested = (v: View, member: Member): boolean => {
  const volume = agentAt(v, ordinalOf(v, member) ?? -1)?.volume;
  const identity = volume?.identity;
  return volume?.walPresent === true && identity?.memberId === member.id && identity.epoch === v.record.epoch;
};

export const recordVoter = rule<Member>({
  name: 'RecordVoter',
  does: 'WriteRecord',
  from: 'promoting',
  to: 'running',
  each: voters,
  when: {
    'its permit is recorded': (v, m) => recorded(v, ordinalOf(v, m) ?? -1)?.memberId === m.id,
    'it was no voter before': (v, m) => !recorded(v, ordinalOf(v, m)!)!.everVoter,
  },
  effect: (v, m) => {
    const ordinal = ordinalOf(v, m)!;
    const { members, permits, op } = v.record;
    return write(v, {
      members: { ...members, [ordinal]: { ...members[ordinal]!, everVoter: true } },
      permits: without(permits, ordinal),
      op: op?.kind === 'Promote' && op.memberId === m.id ? undefined : op,
    });
  },
});

export const adoptMember = rule<Member>({
  name: 'AdoptMember',
  does: 'WriteRecord',
  from: 'running',
  to: 'running',
  each: listed,
  when: {
    'epoch seeded': isSeeded,
    'its volume attests for it': attested,
    'the record does not know it': (v, m) => recorded(v, ordinalOf(v, m)!)?.memberId !== m.id,
    'it is not being removed': (v, m) => v.op('Remove')?.memberId !== m.id,
  },
  effect: (v, m) => {
    const ordinal = ordinalOf(v, m)!;
    const { volumeId, epoch } = agentAt(v, ordinal)!.volume.identity!;
    const { members, permits } = v.record;
    return write(v, {
      members: { ...members, [ordinal]: { memberId: m.id, volumeId, epoch, everVoter: !m.isLearner } },
      permits: m.isLearner ? { ...permits, [ordinal]: permit(v, m, volumeId) } : without(permits, ordinal),
    });
  },
});

export const issuePermit = rule<Member>({
  name: 'IssuePermit',
  does: 'WriteRecord',
  from: 'adding',
  to: 'joining',
  each: learners,
  when: {
    'epoch seeded': implied(
      'past a fence the restore is the operation, and before a first seed there is no learner',
      isSeeded,
    ),
    'learner never started': (_, m) => !started(m),
    'no permit ever named it': (v, m) => permitOf(v, m) === undefined,
  },
  requires: {
    'no other operation': (v, m) => onlyItsOwnOp(v, ordinalOf(v, m)),
    'its volume requests a permit': (v, m) => requestOf(v, ordinalOf(v, m) ?? -1) !== undefined,
    'its version may join': (v, m) => mayJoin(v, ordinalOf(v, m) ?? -1),
    'no voter’s pod waits for its node': (v, m) => crowdsNobodyOut(v, ordinalOf(v, m) ?? -1),
  },
  effect: (v, m) => issue(v, m, v.o.fresh.id),
});

export const reissuePermit = rule<Member>({
  name: 'IssuePermit.again',
  does: 'WriteRecord',
  from: 'joining',
  to: 'joining',
  each: learners,
  when: {
    'learner never started': implied(
      'a volume that had data asks with a new volumeId, which is not its permit’s',
      (_, m) => !started(m),
    ),
    'its volume still requests its permit': asksForItsPermit,
    'membership moved since': (v, m) => permitOf(v, m)!.initialCluster !== initialClusterOf(v, listed(v)),
  },
  effect: (v, m) => issue(v, m, permitOf(v, m)!.id),
});
