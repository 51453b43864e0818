import type { RemoveOp } from '../../../protocol/record.ts';
import type { Effect } from '../../port/effect.ts';
import { rule, steps } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import {
  healthy,
  isForced,
  isGone,
  isListed,
  lagOf,
  leaderOf,
  placed,
  removalDue,
  safeRemove,
  voters,
} from '../facts/facts.ts';
import type { PlacedMember } from '../facts/member-view.ts';
import { claimAt, lasts } from '../facts/observations.ts';
import { opBase, tombstone, write } from './record/write.ts';

// A removal: its intent is recorded first; any later reconciler completes it (protocol.md: IntentFirst).
export const intendRemoval = (v: View, member: PlacedMember, why: RemoveOp['why'], claimUid?: string): Effect =>
  write(v, {
    op: {
      ...opBase(v),
      kind: 'Remove',
      ordinal: member.ordinal,
      memberId: member.id,
      why,
      step: 'remove',
      claimUid,
    },
  });

const discards = (v: View, member: PlacedMember): boolean =>
  v.spec.replace.force.some((request) => request.memberId === member.id && request.discardVolume);

/** The claim of the member's volume, if replace.force asks to discard it. */
export const claimToDiscard = (v: View, member: PlacedMember): string | undefined =>
  discards(v, member) ? member.claim?.uid : undefined;

export const isClaimKnown = (v: View, member: PlacedMember): boolean => !discards(v, member) || v.o.claims.known;

const removal = (v: View, step: RemoveOp['step']): RemoveOp | undefined => {
  const op = v.op('Remove');
  return op?.step === step ? op : undefined;
};

const isVoter = (v: View, memberId: string): boolean => voters(v).some(({ id }) => id === memberId);

/** The healthy voter that lags least, to lead in place of this one. */
export const otherLeader = (v: View, memberId: string): string | undefined =>
  voters(v)
    .filter(({ id }) => id !== memberId && healthy(v, id))
    .sort((a, b) => lagOf(v, a.id) - lagOf(v, b.id))[0]?.id;

export const leads = (v: View, memberId: string): boolean => leaderOf(v) === memberId;

function finish(v: View): Effect {
  const op = v.op('Remove')!;
  const next: RemoveOp | undefined = op.claimUid ? { ...op, step: 'claim' } : undefined;
  return write(v, { ...tombstone(v, op.ordinal, op.memberId, op.why), op: next });
}

const claimOfRemoval = (v: View) => {
  const op = removal(v, 'claim');
  const claim = op && claimAt(v, op.ordinal);
  return claim && claim.uid === op.claimUid && !claim.deleting ? claim : undefined;
};

export const removeSteps = [
  ...steps({ when: { 'op Remove': (v) => removal(v, 'remove') !== undefined }, from: 'removing' }, [
    rule({
      name: 'Remove.moveLeader',
      does: 'MoveLeader',
      to: 'removing',
      when: {
        'the member leads': (v) => leads(v, v.op('Remove')!.memberId),
        'another voter can lead': (v) => otherLeader(v, v.op('Remove')!.memberId) !== undefined,
      },
      effect: (v) => {
        const { memberId } = v.op('Remove')!;
        return { kind: 'MoveLeader', leader: memberId, to: otherLeader(v, memberId)! };
      },
    }),
    rule({
      name: 'Remove.call',
      does: 'MemberRemove',
      to: 'removing',
      when: {
        'it is a member': (v) => isListed(v, v.op('Remove')!.memberId),
      },
      requires: {
        'the voters that stay are healthy and a quorum, or it is a learner': (v) =>
          !isVoter(v, v.op('Remove')!.memberId) || safeRemove(v, v.op('Remove')!.memberId),
        'lease held for long enough': (v) => lasts(v, v.o.since.holder, v.s.lease),
      },
      effect: (v) => ({ kind: 'MemberRemove', memberId: v.op('Remove')!.memberId }),
    }),
    rule({
      name: 'Remove.finish',
      does: 'WriteRecord',
      to: 'running',
      requires: { 'it is no longer a member': (v) => isGone(v, v.op('Remove')!.memberId) },
      effect: finish,
    }),
    rule<PlacedMember>({
      name: 'Remove.yield',
      does: 'WriteRecord',
      to: 'removing',
      each: placed(voters),
      when: {
        'it is not safe now': (v) => isListed(v, v.op('Remove')!.memberId) && !safeRemove(v, v.op('Remove')!.memberId),
      },
      requires: {
        'another removal is due': removalDue,
        'claims are known': isClaimKnown,
        'the voters that stay are healthy and a quorum': (v, m) => safeRemove(v, m.id),
      },
      effect: (v, m) => intendRemoval(v, m, isForced(v, m) ? 'Forced' : 'Dead', claimToDiscard(v, m)),
    }),
  ]),
  ...steps({ from: 'removing' }, [
    rule({
      name: 'Remove.claim',
      does: 'DeleteClaim',
      to: 'removing',
      when: { 'op Remove, its claim is still there': (v) => claimOfRemoval(v) !== undefined },
      effect: (v) => {
        const { ordinal, uid } = claimOfRemoval(v)!;
        return { kind: 'DeleteClaim', ordinal, uid };
      },
    }),
    rule({
      name: 'Remove.end',
      does: 'WriteRecord',
      to: 'running',
      when: { 'op Remove, its claim goes too': (v) => removal(v, 'claim') !== undefined },
      requires: { 'claims are known': (v) => v.o.claims.known },
      effect: (v) => write(v, { op: undefined }),
    }),
  ]),
];
