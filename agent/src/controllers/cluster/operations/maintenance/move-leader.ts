import type { MoveLeaderOp } from '../../../../protocol/record.ts';
import { rule, steps } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import { allVotersHealthy, leaderOf, voters } from '../../facts/facts.ts';
import { opBase } from '../record/write.ts';
import { begin, disturbance, due, end, giveUp, isDisturbed, podOf, ready, voterAt } from './request.ts';

// Makes another member the leader, because somebody asks for it.

const op = (v: View) => v.op('MoveLeader');
const call = (v: View): string => `move the leader ${op(v)!.id}`;
const target = (v: View) => voters(v).find(({ id }) => id === op(v)!.to);
const isGone = (v: View): boolean => v.o.members.known && target(v) === undefined;

const targetName = (v: View): string => nextLeader(v, op(v)!);

export const nextLeader = (v: View, { to }: Pick<MoveLeaderOp, 'to'>): string =>
  podOf(v, voters(v).find(({ id }) => id === to) ?? { id: to, ordinal: undefined });

/** The answer is lost: the call failed, or another process began and may have called. */
const isTried = (v: View): boolean => call(v) in v.o.failed || op(v)!.by !== v.o.self;

function whyStopped(v: View): string {
  if (isTried(v)) return v.o.failed[call(v)] ?? 'the reconciler was restarted, so the result is not known';
  return isGone(v) ? `${targetName(v)} is no longer a voting member` : disturbance(v);
}

export const moveLeaderSteps = steps(
  { when: { 'op MoveLeader': (v) => op(v) !== undefined }, from: 'moving the leader' },
  [
    rule({
      name: 'MoveLeader.done',
      does: 'WriteRecord',
      to: 'running',
      requires: { 'it leads': (v) => v.o.done.includes(call(v)) || leaderOf(v) === op(v)!.to },
      effect: (v) =>
        end(v, op(v)!, 'Completed', `${targetName(v)} ${leaderOf(v) === op(v)!.to ? 'leads' : 'was made the leader'}`),
    }),
    rule({
      name: 'MoveLeader.stop',
      does: 'WriteRecord',
      to: 'running',
      requires: {
        'it was tried, its target is gone, or a member is not well': (v) => isTried(v) || isGone(v) || isDisturbed(v),
      },
      effect: (v) => end(v, op(v)!, 'Failed', whyStopped(v)),
    }),
    rule({
      name: 'MoveLeader.call',
      does: 'MoveLeader',
      to: 'moving the leader',
      requires: {
        'there is a leader, and every voter is healthy': (v) => leaderOf(v) !== undefined && allVotersHealthy(v),
      },
      effect: (v) => ({ kind: 'MoveLeader', leader: leaderOf(v)!, to: op(v)!.to, done: call(v) }),
    }),
  ],
);

export const moveLeader = [
  giveUp({ name: 'MoveLeader.giveUp', kind: 'moveLeader' }),
  rule({
    name: 'MoveLeader',
    does: 'WriteRecord',
    from: 'running',
    to: 'moving the leader',
    when: { 'it is asked for, and its time has come': (v) => due(v, 'moveLeader') !== undefined },
    requires: ready,
    effect: (v) => {
      const { at, ordinal } = due(v, 'moveLeader')!;
      // MoveLeader.giveUp, above, has given up what names no voter.
      const { id } = voterAt(v, ordinal)!;
      return begin(v, { ...opBase(v), kind: 'MoveLeader', at, by: v.o.self, to: id });
    },
  }),
];
