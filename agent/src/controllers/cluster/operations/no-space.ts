import { alarms, allVotersHealthy, answers, leaderOf, voters } from '../plan/facts.ts';
import type { MemberView } from '../plan/member-view.ts';
import { lasts } from '../plan/observations.ts';
import { implied, rule, steps } from '../plan/rule.ts';
import type { View } from '../plan/view.ts';
import { opBase, timestamp, write } from '../plan/write.ts';

// Compact, defragment the followers and then the leader, disarm. Disarmed before space is freed, the alarm is raised again.

const roomy = 0.9;
const copyFactor = 1.2;
const copyMargin = 192 * 1024 * 1024;

const op = (v: View, step: 'compact' | 'defrag' | 'disarm') => {
  const found = v.op('ClearNoSpace');
  return found?.step === step ? found : undefined;
};

const compaction = (v: View): string => `compact ${v.op('ClearNoSpace')!.id}`;
const defragOf = (v: View, member: MemberView): string => `defrag ${v.op('ClearNoSpace')!.id} ${member.id}`;

/** The quota that etcd uses: 3.6 and newer report it in their status, older versions in their metrics. */
const quotaOf = (member: MemberView): number | undefined => member.status?.quota ?? member.agent?.etcd?.quota;

/** Undefined: unknown. */
const hasRoom = (member: MemberView): boolean | undefined => {
  const size = member.status?.dbSize;
  const quota = quotaOf(member);
  return size === undefined || quota === undefined ? undefined : size < roomy * quota;
};

const everyAgentAnswers = (v: View): boolean => voters(v).every((m) => m.agent !== undefined);

/** A defragmentation writes a complete copy next to the database. */
export const canCopy = (member: MemberView): boolean => {
  const free = member.agent?.volume.freeBytes;
  const inUse = member.status?.dbInUse;
  return free !== undefined && inUse !== undefined && free >= copyFactor * inUse + copyMargin;
};

export const followersFirst = (v: View): MemberView[] =>
  [...voters(v)].sort((a, b) => Number(a.id === leaderOf(v)) - Number(b.id === leaderOf(v)));

const toDefrag = (v: View): MemberView[] =>
  followersFirst(v)
    .filter(({ id }) => !v.op('ClearNoSpace')?.done.includes(id))
    .slice(0, 1);

const failed = (v: View, message: string) =>
  write(v, { op: undefined, failure: { of: 'ClearNoSpace', reason: 'NoSpace', message } });

/** A database that is full again so soon is filled faster than it is cleared, or its quota is too small. */
export const clearedJustNow = (v: View): boolean => {
  const { spaceClearedAt } = v.record;
  // Another process may have written this time, with a clock that is ahead.
  return spaceClearedAt !== undefined && Math.abs(v.date - Date.parse(spaceClearedAt)) < v.s.noSpaceBackoff;
};

const backsOff = (v: View): boolean =>
  clearedJustNow(v) || (v.record.failure?.of === 'ClearNoSpace' && !lasts(v, v.o.since.failure, v.s.noSpaceBackoff));

/** The reconciler is about to clear the alarm. */
export const willClearSpace = (v: View): boolean =>
  v.spec.onNoSpace === 'CompactDefragDisarm' && alarms(v, 'NoSpace').length > 0 && !backsOff(v);

const revision = (v: View): number =>
  Math.max(0, Math.max(...voters(v).map(({ status }) => status?.revision ?? 0)) - v.s.keepRevisions);

export const clearNoSpaceSteps = [
  ...steps(
    { when: { 'op ClearNoSpace': (v) => v.op('ClearNoSpace') !== undefined }, from: 'clearing space', to: 'running' },
    [
      rule({
        name: 'ClearNoSpace.drop',
        does: 'WriteRecord',
        requires: {
          'a voter or its agent does not answer': (v) =>
            voters(v).some(({ id }) => !answers(v, id)) || !everyAgentAnswers(v),
        },
        effect: (v) => write(v, { op: undefined }),
      }),
      rule({
        name: 'ClearNoSpace.done',
        does: 'WriteRecord',
        requires: { 'no alarm is raised': (v) => v.o.alarms.known && alarms(v, 'NoSpace').length === 0 },
        effect: (v) =>
          write(v, {
            op: undefined,
            failure: undefined,
            // In an earlier step, someone else disarmed the alarm.
            spaceClearedAt: op(v, 'disarm') ? timestamp(v) : v.record.spaceClearedAt,
          }),
      }),
    ],
  ),
  ...steps(
    { when: { 'step compact': (v) => op(v, 'compact') !== undefined }, from: 'clearing space', to: 'clearing space' },
    [
      rule({
        name: 'ClearNoSpace.compact',
        does: 'Compact',
        requires: { 'not compacted yet': (v) => !v.o.done.includes(compaction(v)) },
        effect: (v) => ({ kind: 'Compact', revision: v.op('ClearNoSpace')!.revision, done: compaction(v) }),
      }),
      rule({
        name: 'ClearNoSpace.compacted',
        does: 'WriteRecord',
        effect: (v) => write(v, { op: { ...v.op('ClearNoSpace')!, step: 'defrag' } }),
      }),
    ],
  ),
  ...steps({ when: { 'step defrag': (v) => op(v, 'defrag') !== undefined }, from: 'clearing space' }, [
    rule<MemberView>({
      name: 'ClearNoSpace.defragged',
      does: 'WriteRecord',
      to: 'clearing space',
      each: toDefrag,
      requires: { 'this one is defragmented': (v, m) => v.o.done.includes(defragOf(v, m)) },
      effect: (v, { id }) => {
        const found = v.op('ClearNoSpace')!;
        return write(v, { op: { ...found, done: [...found.done, id] } });
      },
    }),
    rule<MemberView>({
      name: 'ClearNoSpace.defrag',
      does: 'Defrag',
      to: 'clearing space',
      each: toDefrag,
      requires: { 'all voters healthy': allVotersHealthy, 'its volume has room for a copy': (_, m) => canCopy(m) },
      effect: (v, m) => ({ kind: 'Defrag', memberId: m.id, done: defragOf(v, m) }),
    }),
    rule<MemberView>({
      name: 'ClearNoSpace.noRoom',
      does: 'WriteRecord',
      to: 'running',
      each: toDefrag,
      requires: {
        'its agent is known': implied(
          'ClearNoSpace.drop, above, ends the operation once an agent does not answer',
          (_, m) => m.agent !== undefined,
        ),
        'its volume has no room for a copy': (_, m) => !canCopy(m),
      },
      effect: (v, m) => failed(v, `the volume of member ${m.id} has no room to defragment; make it larger`),
    }),
    rule({
      name: 'ClearNoSpace.defragmented',
      does: 'WriteRecord',
      to: 'clearing space',
      requires: { 'every voter is': (v) => voters(v).length > 0 && toDefrag(v).length === 0 },
      effect: (v) => write(v, { op: { ...v.op('ClearNoSpace')!, step: 'disarm' } }),
    }),
  ]),
  ...steps({ when: { 'step disarm': (v) => op(v, 'disarm') !== undefined }, from: 'clearing space' }, [
    rule({
      name: 'ClearNoSpace.disarm',
      does: 'Disarm',
      to: 'clearing space',
      requires: {
        'an alarm is raised': (v) => alarms(v, 'NoSpace').length > 0,
        'every database has room': (v) => voters(v).length > 0 && voters(v).every((m) => hasRoom(m) === true),
      },
      effect: (v) => ({ kind: 'Disarm', memberId: alarms(v, 'NoSpace')[0]!.memberId, alarm: 'NoSpace' }),
    }),
    rule({
      name: 'ClearNoSpace.full',
      does: 'WriteRecord',
      to: 'running',
      requires: { 'a database has no room': (v) => voters(v).some((m) => hasRoom(m) === false) },
      effect: (v) => failed(v, 'still full after compaction and defragmentation; delete keys or raise the quota'),
    }),
  ]),
];

export const clearNoSpace = rule({
  name: 'ClearNoSpace',
  does: 'WriteRecord',
  from: 'running',
  to: 'clearing space',
  when: {
    'alarm NOSPACE': (v) => alarms(v, 'NoSpace').length > 0,
    'policy CompactDefragDisarm': (v) => v.spec.onNoSpace === 'CompactDefragDisarm',
  },
  requires: {
    'it did not fail just now': (v) => !backsOff(v),
    'all voters healthy': allVotersHealthy,
    'every agent answers': implied(
      'ClearNoSpace.drop, above, ends at once what began without; beside it, so that nothing begins',
      everyAgentAnswers,
    ),
  },
  effect: (v) =>
    write(v, { op: { ...opBase(v), kind: 'ClearNoSpace', step: 'compact', revision: revision(v), done: [] } }),
});
