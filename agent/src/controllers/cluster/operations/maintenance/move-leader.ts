import { podName } from '../../names.ts';
import { healthy, leaderOf } from '../../plan/facts.ts';
import { listed } from '../../plan/member-view.ts';
import { rule, steps } from '../../plan/rule.ts';
import type { View } from '../../plan/view.ts';
import { opBase } from '../../plan/write.ts';
import { begin, disturbance, due, end, giveUp, isDisturbed, voterAt, whole } from './request.ts';

// Makes another member the leader, because somebody asks for it.

const op = (v: View) => v.op('MoveLeader');
const call = (v: View): string => `move the leader ${op(v)!.id}`;
const target = (v: View): string => {
  const ordinal = listed(v).find(({ id }) => id === op(v)!.to)?.ordinal;
  return ordinal === undefined ? `member ${op(v)!.to}` : podName(v.cluster, ordinal);
};

/** The answer is lost: the call failed, or another process has begun and may have called. */
const isTried = (v: View): boolean => v.o.failed.includes(call(v)) || op(v)!.holder !== v.o.holder;

export const moveLeaderSteps = steps(
  { when: { 'op MoveLeader': (v) => op(v) !== undefined }, from: 'moving the leader' },
  [
    rule({
      name: 'MoveLeader.done',
      does: 'WriteRecord',
      to: 'running',
      requires: { 'it leads': (v) => v.o.done.includes(call(v)) || leaderOf(v) === op(v)!.to },
      effect: (v) => end(v, 'moveLeader', 'Completed', `${target(v)} leads`),
    }),
    rule({
      name: 'MoveLeader.stop',
      does: 'WriteRecord',
      to: 'running',
      requires: {
        'it was tried, or a member does not answer': (v) => isTried(v) || isDisturbed(v),
      },
      effect: (v) =>
        end(v, 'moveLeader', 'Failed', isTried(v) ? (v.o.error ?? 'the reconciler was restarted') : disturbance(v)),
    }),
    rule({
      name: 'MoveLeader.call',
      does: 'MoveLeader',
      to: 'moving the leader',
      requires: {
        'there is a leader, and the next one is healthy': (v) => leaderOf(v) !== undefined && healthy(v, op(v)!.to),
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
    requires: whole,
    effect: (v) => {
      // MoveLeader.giveUp, above, has given up what names no voter.
      const { id } = voterAt(v, due(v, 'moveLeader')!.ordinal)!;
      return begin(v, 'moveLeader', { ...opBase(v), kind: 'MoveLeader', to: id });
    },
  }),
];
