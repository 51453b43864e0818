import { formatBytes } from '../../../../lib/terminal/progress.ts';
import { withoutUndefined } from '../../../../lib/without-undefined.ts';
import type { DefragmentOp } from '../../../../protocol/record.ts';
import { podName } from '../../names.ts';
import { allVotersHealthy, voters } from '../../plan/facts.ts';
import type { MemberView } from '../../plan/member-view.ts';
import { rule, steps } from '../../plan/rule.ts';
import type { View } from '../../plan/view.ts';
import { opBase, write } from '../../plan/write.ts';
import { canCopy, followersFirst } from '../no-space.ts';
import { leads, otherLeader } from '../remove.ts';
import { begin, disturbance, due, end, giveUp, isDisturbed, whole } from './request.ts';

// Gives the free space of the databases back to the volumes, because somebody asks for it. A member does not answer while it
// is defragmented, so the leader gives up its role first.

const op = (v: View): DefragmentOp | undefined => v.op('Defragment');
const change = (v: View, next: Partial<DefragmentOp>) => write(v, { op: { ...op(v)!, ...next } });

const presentOf = (v: View): MemberView | undefined => voters(v).find(({ id }) => id === op(v)?.present?.memberId);

/** The members that are still to be defragmented, in their order. */
export function membersLeft(v: View): MemberView[] {
  const found = op(v);
  if (!found) return [];
  const { ordinal, done } = found;
  return followersFirst(v).filter(
    (m) => (ordinal ?? m.ordinal) === m.ordinal && !done.some(({ memberId }) => memberId === m.id),
  );
}

/** The first of them, between two calls. */
const next = (v: View): MemberView[] => (op(v)?.present ? [] : membersLeft(v).slice(0, 1));

const call = (v: View): string => `defragment ${op(v)!.id} ${op(v)!.present?.memberId}`;
const move = (v: View): string => `move the leader ${op(v)!.id}`;
const isMoved = (v: View): boolean => v.o.done.includes(move(v)) || v.o.failed.includes(move(v));

/** The answer is lost: the call failed, or another process has begun and may have called. */
const isTried = (v: View): boolean => v.o.failed.includes(call(v)) || op(v)!.present?.by !== v.o.holder;

const podOf = (v: View, { id, ordinal }: MemberView): string =>
  ordinal === undefined ? `member ${id}` : podName(v.cluster, ordinal);

const sizes = (v: View): string =>
  op(v)!
    .done.map(
      ({ pod, before, after }) =>
        `${pod}: ${formatBytes(before)} to ${after === undefined ? 'an unknown size' : formatBytes(after)}`,
    )
    .join(', ');

const failed = (v: View, why: string) =>
  end(v, 'defragment', 'Failed', [why, sizes(v) && `defragmented: ${sizes(v)}`].filter(Boolean).join('; '));

/** A defragmentation would wait for the end of a snapshot, and let every write wait meanwhile. */
const noBackup = { 'no backup is being taken': (v: View) => v.cluster.backups?.running === undefined };

export const defragmentSteps = steps({ from: 'defragmenting' }, [
  rule({
    name: 'Defragment.defragmented',
    does: 'WriteRecord',
    to: 'defragmenting',
    when: { 'a member was next': (v) => op(v)?.present !== undefined },
    requires: { 'it is defragmented': (v) => v.o.done.includes(call(v)) },
    effect: (v) => {
      const { done, present } = op(v)!;
      const { by: _, ...member } = present!;
      return change(v, {
        present: undefined,
        done: [...done, withoutUndefined({ ...member, after: presentOf(v)?.status?.dbSize })],
      });
    },
  }),
  rule({
    name: 'Defragment.stop',
    does: 'WriteRecord',
    to: 'running',
    when: { 'op Defragment': (v) => op(v) !== undefined },
    requires: { 'a member does not answer': isDisturbed },
    effect: (v) => failed(v, disturbance(v)),
  }),
  rule({
    name: 'Defragment.lost',
    does: 'WriteRecord',
    to: 'running',
    when: { 'a member was next': (v) => op(v)?.present !== undefined },
    requires: { 'it was tried, and nobody knows the result': isTried },
    effect: (v) =>
      failed(
        v,
        `${v.o.error ?? 'the reconciler was restarted'}; whether ${op(v)!.present!.pod} is defragmented is not known`,
      ),
  }),
  rule({
    name: 'Defragment.call',
    does: 'Defrag',
    to: 'defragmenting',
    when: { 'a member is next': (v) => op(v)?.present !== undefined },
    requires: { 'every voter is healthy': allVotersHealthy },
    effect: (v) => ({ kind: 'Defrag', memberId: op(v)!.present!.memberId, done: call(v) }),
  }),
  rule<MemberView>({
    name: 'Defragment.moveLeader',
    does: 'MoveLeader',
    to: 'defragmenting',
    each: next,
    requires: {
      'it leads, and another can': (v, m) => leads(v, m.id) && otherLeader(v, m.id) !== undefined,
      'that was not tried': (v) => !isMoved(v),
    },
    effect: (v, m) => ({ kind: 'MoveLeader', leader: m.id, to: otherLeader(v, m.id)!, done: move(v) }),
  }),
  rule<MemberView>({
    name: 'Defragment.next',
    does: 'WriteRecord',
    to: 'defragmenting',
    each: next,
    requires: {
      'every voter is healthy': allVotersHealthy,
      ...noBackup,
      'its volume has room for a copy': (_, m) => canCopy(m),
    },
    effect: (v, m) =>
      change(v, { present: { memberId: m.id, pod: podOf(v, m), before: m.status?.dbSize ?? 0, by: v.o.holder } }),
  }),
  rule<MemberView>({
    name: 'Defragment.noRoom',
    does: 'WriteRecord',
    to: 'running',
    each: next,
    requires: {
      'its volume is known, and has no room for a copy': (_, m) =>
        m.agent !== undefined && m.status !== undefined && !canCopy(m),
    },
    effect: (v, m) => failed(v, `the volume of ${podOf(v, m)} has no room for a copy of its database; make it larger`),
  }),
  rule({
    name: 'Defragment.done',
    does: 'WriteRecord',
    to: 'running',
    when: { 'op Defragment': (v) => op(v) !== undefined },
    requires: { 'no member is left': (v) => v.o.members.known && membersLeft(v).length === 0 },
    effect: (v) => end(v, 'defragment', 'Completed', sizes(v)),
  }),
]);

export const defragment = [
  giveUp({ name: 'Defragment.giveUp', kind: 'defragment' }),
  rule({
    name: 'Defragment',
    does: 'WriteRecord',
    from: 'running',
    to: 'defragmenting',
    when: { 'it is asked for, and its time has come': (v) => due(v, 'defragment') !== undefined },
    requires: {
      ...whole,
      ...noBackup,
    },
    effect: (v) => {
      const { ordinal } = due(v, 'defragment')!;
      const only = ordinal !== undefined && { ordinal };
      return begin(v, 'defragment', { ...opBase(v), kind: 'Defragment', ...only, done: [] });
    },
  }),
];
