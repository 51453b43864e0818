import { formatBytes } from '../../../../lib/terminal/progress.ts';
import { withoutUndefined } from '../../../../lib/without-undefined.ts';
import type { DefragmentOp } from '../../../../protocol/record.ts';
import { podName } from '../../../port/names.ts';
import { implied, rule, steps } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import { alarms, allVotersHealthy, hasReadyPod, isLost, quorumLostLong, voters } from '../../facts/facts.ts';
import type { MemberView } from '../../facts/member-view.ts';
import { lasts, podsOf } from '../../facts/observations.ts';
import { canCopy, followersFirst, willClearSpace } from '../no-space.ts';
import { opBase, write } from '../record/write.ts';
import { leads, otherLeader } from '../remove.ts';
import { outdated } from '../restart.ts';
import { final, requests } from '../restore/operation.ts';
import { begin, disturbance, due, end, giveUp, isDisturbed, isDown, podOf, ready } from './request.ts';

// Gives the free space of the databases back to the volumes, because somebody asks for it. A member does not answer while it
// is defragmented, so the leader gives up its role first. etcd does not stop a defragmentation whose caller is gone.

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
const isMoved = (v: View): boolean => v.o.done.includes(move(v)) || move(v) in v.o.failed;

/** The answer is lost: the call failed, or another process began and may have called. */
const isTried = (v: View): boolean => call(v) in v.o.failed || op(v)!.present?.by !== v.o.self;

/** The member that was tried may still be defragmented, and does not answer then. */
function isStuck(v: View): boolean {
  if (voters(v).some((m) => isLost(v, m))) return true;
  const { present } = op(v)!;
  if (!present || !isTried(v)) return isDisturbed(v);
  const isAnotherDown = voters(v).some((m) => m.id !== present.memberId && isDown(v, m));
  return quorumLostLong(v) || isAnotherDown || lasts(v, v.o.since.unwell, v.s.defragmentLate);
}

/** A defragmentation waits for the end of a snapshot, and every write waits with it. */
const noBackup = (v: View): boolean => v.cluster.backups?.running === undefined;

/** What comes before a defragmentation. */
export function moreUrgent(v: View): string | undefined {
  if (!noBackup(v)) return 'a backup is being taken';
  if (v.cluster.deleting) return 'the cluster is being deleted';
  if (willClearSpace(v)) return 'alarm NOSPACE is raised';
  if (alarms(v, 'Corrupt').length > 0) return 'alarm CORRUPT is raised';
  if (podsOf(v).some((pod) => outdated(v, pod))) return 'pods are to be restarted';
  if (requests(v).some((request) => !final(request))) return 'an EtcdRestore is requested';
  return undefined;
}

/** Why it ends between two members. */
const whyOver = (v: View): string | undefined =>
  v.spec.maintenance?.defragment?.at === op(v)!.at ? moreUrgent(v) : 'it is no longer asked for';

/** Writes stop while the leader is defragmented. */
const shouldNotLead = (v: View, m: MemberView): boolean => leads(v, m.id) && otherLeader(v, m.id) !== undefined;

/** Clients reach every member, also the one that was the last. */
const areReady = (v: View): boolean => allVotersHealthy(v) && voters(v).every(hasReadyPod);

const sizes = (v: View): string =>
  op(v)!
    .done.map(({ pod, before, after }) => {
      const size = after === undefined ? 'an unknown size' : formatBytes(after);
      return `${pod}: ${formatBytes(before)} to ${size}`;
    })
    .join(', ');

const failed = (v: View, why: string) =>
  end(v, op(v)!, 'Failed', [why, sizes(v) && `defragmented: ${sizes(v)}`].filter(Boolean).join('; '));

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
    requires: { 'a member is not well': isStuck },
    effect: (v) => failed(v, disturbance(v)),
  }),
  rule({
    name: 'Defragment.lost',
    does: 'WriteRecord',
    to: 'running',
    when: { 'a member was next': (v) => op(v)?.present !== undefined },
    requires: {
      'it was tried, and nobody knows the result': isTried,
      'every voter answers again': allVotersHealthy,
    },
    effect: (v) => {
      const why = v.o.failed[call(v)] ?? 'the reconciler was restarted';
      return failed(v, `${why}; whether ${op(v)!.present!.pod} is defragmented is not known`);
    },
  }),
  rule({
    name: 'Defragment.call',
    does: 'Defrag',
    to: 'defragmenting',
    when: {
      'a member is next, and was not tried': implied(
        'without one nobody is called, and what was tried ended above',
        (v) => op(v)?.present !== undefined && !isTried(v),
      ),
    },
    requires: {
      'every voter is healthy, and its pod is ready': areReady,
      'nothing has come between': (v) => {
        const member = presentOf(v);
        return member !== undefined && whyOver(v) === undefined && canCopy(member) && !shouldNotLead(v, member);
      },
    },
    effect: (v) => ({ kind: 'Defrag', memberId: op(v)!.present!.memberId, done: call(v) }),
  }),
  rule({
    // What keeps the call is not waited for: it may be a backup.
    name: 'Defragment.back',
    does: 'WriteRecord',
    to: 'defragmenting',
    when: { 'a member is next, and was not tried': (v) => op(v)?.present !== undefined && !isTried(v) },
    effect: (v) => change(v, { present: undefined }),
  }),
  rule({
    name: 'Defragment.done',
    does: 'WriteRecord',
    to: 'running',
    when: { 'op Defragment': (v) => op(v) !== undefined },
    requires: { 'no member is left': (v) => v.o.members.known && membersLeft(v).length === 0 },
    effect: (v) => {
      const { done, ordinal } = op(v)!;
      if (done.length === 0) return failed(v, `${podName(v.cluster, ordinal ?? 0)} is no longer a voting member`);
      return end(v, op(v)!, 'Completed', sizes(v));
    },
  }),
  rule({
    name: 'Defragment.giveWay',
    does: 'WriteRecord',
    to: 'running',
    when: { 'op Defragment, between two members': (v) => op(v) !== undefined && op(v)!.present === undefined },
    requires: { 'something is more urgent, or it is no longer asked for': (v) => whyOver(v) !== undefined },
    effect: (v) => failed(v, `it gave way: ${whyOver(v)}`),
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
  rule<MemberView>({
    name: 'Defragment.moveLeader',
    does: 'MoveLeader',
    to: 'defragmenting',
    each: next,
    requires: {
      'it leads, another can, that was not tried, and every voter is healthy': (v, m) =>
        shouldNotLead(v, m) && !isMoved(v) && areReady(v),
    },
    effect: (v, m) => ({ kind: 'MoveLeader', leader: m.id, to: otherLeader(v, m.id)!, done: move(v) }),
  }),
  rule<MemberView>({
    name: 'Defragment.leads',
    does: 'WriteRecord',
    to: 'running',
    each: next,
    requires: { 'it still leads, or again': (v, m) => shouldNotLead(v, m) && isMoved(v) },
    effect: (v, m) =>
      failed(v, `${podOf(v, m)} leads, and writes would stop: ${v.o.failed[move(v)] ?? 'it was elected again'}`),
  }),
  rule<MemberView>({
    name: 'Defragment.next',
    does: 'WriteRecord',
    to: 'defragmenting',
    each: next,
    requires: {
      'every voter is healthy, and its pod is ready': areReady,
      'its volume has room for a copy': (_, m) => canCopy(m),
    },
    effect: (v, m) =>
      change(v, { present: { memberId: m.id, pod: podOf(v, m), before: m.status?.dbSize ?? 0, by: v.o.self } }),
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
    requires: { ...ready, 'nothing is more urgent': (v) => moreUrgent(v) === undefined },
    effect: (v) => {
      const { at, ordinal } = due(v, 'defragment')!;
      const only = ordinal !== undefined && { ordinal };
      return begin(v, { ...opBase(v), kind: 'Defragment', at, ...only, done: [] });
    },
  }),
];
