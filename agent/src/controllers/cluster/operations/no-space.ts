import { formatBytes } from '../../../lib/terminal/progress.ts';
import type { RecordDoc } from '../../../protocol/record.ts';
import { implied, rule, steps } from '../engine/rule.ts';
import type { View } from '../engine/view.ts';
import { alarms, allVotersHealthy, answers, leaderOf, voters } from '../facts/facts.ts';
import type { MemberView } from '../facts/member-view.ts';
import { lasts } from '../facts/observations.ts';
import { opBase, timestamp, write } from './record/write.ts';

// Compact, defragment the followers and then the leader, disarm. Disarmed before space is freed, the alarm is raised again.

/** Shares of the quota: below which writes may go on, and from which no history is kept for readers that are behind. */
const roomy = 0.9;
const ample = 0.5;
/** A defragmentation surely brings a database with less in use below `roomy`. */
const surelyRoomy = 0.85;
const copyFactor = 1.2;
const copyMargin = 192 * 1024 * 1024;

const op = (v: View, step: 'compact' | 'defrag' | 'disarm') => {
  const found = v.op('ClearNoSpace');
  return found?.step === step ? found : undefined;
};

const compaction = (v: View): string => `compact ${v.op('ClearNoSpace')!.id} ${v.op('ClearNoSpace')!.revision}`;
const defragOf = (v: View, member: MemberView): string => `defrag ${v.op('ClearNoSpace')!.id} ${member.id}`;

/** The quota that etcd uses: 3.6 and newer report it in their status, older versions in their metrics. */
const quotaOf = (member: MemberView): number | undefined => member.status?.quota ?? member.agent?.etcd?.quota;

const below = (share: number, bytes: number | undefined, quota: number | undefined): boolean | undefined =>
  bytes === undefined || quota === undefined ? undefined : bytes < share * quota;

/** Undefined: unknown. */
const hasRoom = (member: MemberView): boolean | undefined => below(roomy, member.status?.dbSize, quotaOf(member));
const canGetRoom = (member: MemberView): boolean | undefined =>
  below(surelyRoomy, member.status?.dbInUse, quotaOf(member));

/** Another compaction may still be running in a follower, and the data of all are the same: one that has room is enough. */
const isFull = (v: View, share: number): boolean => {
  const has = voters(v).map((m) => below(share, m.status?.dbInUse, quotaOf(m)));
  return has.includes(false) && !has.includes(true);
};

/** Every write may soon be the last one. */
export const isNearlyFull = (v: View): boolean => voters(v).some((m) => hasRoom(m) === false);

const everyAgentAnswers = (v: View): boolean => voters(v).every((m) => m.agent !== undefined);

/** A defragmentation writes a complete copy next to the database. */
export const canCopy = (member: MemberView): boolean => {
  const free = member.agent?.volume.freeBytes;
  const inUse = member.status?.dbInUse;
  return free !== undefined && inUse !== undefined && free >= copyFactor * inUse + copyMargin;
};

export const followersFirst = (v: View): MemberView[] =>
  [...voters(v)].sort((a, b) => Number(a.id === leaderOf(v)) - Number(b.id === leaderOf(v)));

/** Pages that a defragmentation returns. */
const hasFree = ({ status }: MemberView): boolean => (status?.dbInUse ?? 0) < (status?.dbSize ?? 0);

const toDefrag = (v: View): MemberView[] =>
  followersFirst(v)
    .filter((m) => !v.op('ClearNoSpace')?.done.includes(m.id) && (hasRoom(m) !== true || (hasFree(m) && canCopy(m))))
    .slice(0, 1);

const newestRevision = (v: View): number => Math.max(0, ...voters(v).map(({ status }) => status?.revision ?? 0));

const failed = (v: View, message: string, reason: 'NoSpace' | 'DiskFull' = 'NoSpace') =>
  write(v, { op: undefined, failure: { of: 'ClearNoSpace', reason, message, revision: newestRevision(v) } });

/** Undefined: the use or the quota is unknown. */
const useOf = (member: MemberView | undefined): string | undefined => {
  const [inUse, quota] = [member?.status?.dbInUse, member && quotaOf(member)];
  return inUse === undefined || quota === undefined ? undefined : `${formatBytes(inUse)} of ${formatBytes(quota)}`;
};

const remedy =
  'Delete keys, and space is freed within two minutes; or raise the quota, and writes go on once the members have restarted';

const stillFull = (v: View) => {
  const full = voters(v).find((m) => hasRoom(m) === false);
  if (full) return failed(v, `the current values alone use ${useOf(full) ?? 'too much of the quota'}. ${remedy}`);
  const unknown = voters(v).find((m) => hasRoom(m) === undefined);
  return failed(
    v,
    `the quota of member ${unknown?.id} is unknown, so it may have no room; its agent reads it from the metrics of its etcd, which must be reachable`,
  );
};

/** The alarm came back soon after it was cleared, a moment ago, and the data in use leave too little room: it will again. */
export const spaceIsShort = (v: View): string | undefined => {
  const { at, before } = v.record.spaceCleared ?? {};
  if (before === undefined || !isSoon(v, before, Date.parse(at!)) || !isSoon(v, at!, v.date)) return undefined;
  if (v.spec.onNoSpace === 'Report' || hasFailed(v) || !v.o.alarms.known || !isFull(v, surelyRoomy)) return undefined;
  const use = useOf(voters(v).find((m) => canGetRoom(m) === false));
  const writes = v.o.alarms.v.length > 0 ? 'writes are refused until no alarm is raised' : 'writes go on now';
  return `the alarm NOSPACE came back within minutes of a clearing; ${writes}, but ${use} is in use, so the quota will soon be reached again. Delete keys (they count until their history is compacted, as the reconciler does at each alarm), or raise the quota. This ends by itself when less than ${surelyRoomy * 100} % is in use, or ten minutes after the last clearing`;
};

/** A time in the future comes from a clock that was set back. */
const isSoon = ({ s }: View, time: string, then: number): boolean => Math.abs(then - Date.parse(time)) < s.noSpaceAgain;

const cleared = (v: View): RecordDoc['spaceCleared'] => {
  const before = v.record.spaceCleared?.at;
  return { at: timestamp(v), before };
};

const hasFailed = (v: View): boolean => v.record.failure?.of === 'ClearNoSpace';

/** Nothing but a larger quota or a larger volume, or fewer keys, ends a failure. A deletion is possible under the alarm. */
function hasChanged(v: View): boolean {
  const { reason, revision } = v.record.failure!;
  // What a defragmentation gives is known only after one was tried.
  const mayGetRoom = (m: MemberView) =>
    reason === 'DiskFull' ? below(roomy, m.status?.dbInUse, quotaOf(m)) : canGetRoom(m);
  return (
    voters(v).every((m) => hasRoom(m) || (mayGetRoom(m) && canCopy(m))) ||
    (revision !== newestRevision(v) && lasts(v, v.o.since.failure, v.s.noSpaceBackoff))
  );
}

const backsOff = (v: View): boolean => hasFailed(v) && !hasChanged(v);

/** The reconciler is about to clear the alarm. */
export const willClearSpace = (v: View): boolean =>
  v.spec.onNoSpace === 'CompactDefragDisarm' && alarms(v, 'NoSpace').length > 0 && !backsOff(v);

/** After a failure, a quota that was raised, or somebody else, has given every database room: history may stay. */
const firstStep = (v: View): 'compact' | 'disarm' => (hasFailed(v) && voters(v).every(hasRoom) ? 'disarm' : 'compact');

const isHistoryLeft = (v: View): boolean => {
  const { deep, done } = op(v, 'defrag')!;
  return !deep && done.length === 0;
};

export const clearNoSpaceSteps = [
  ...steps(
    { when: { 'op ClearNoSpace': (v) => v.op('ClearNoSpace') !== undefined }, from: 'clearing space', to: 'running' },
    [
      rule({
        name: 'ClearNoSpace.done',
        does: 'WriteRecord',
        requires: { 'no alarm is raised': (v) => v.o.alarms.known && alarms(v, 'NoSpace').length === 0 },
        effect: (v) => write(v, { op: undefined, failure: undefined, spaceCleared: cleared(v) }),
      }),
      rule({
        name: 'ClearNoSpace.drop',
        does: 'WriteRecord',
        requires: {
          'a voter or its agent does not answer': (v) =>
            voters(v).some(({ id }) => !answers(v, id)) || !everyAgentAnswers(v),
        },
        effect: (v) => write(v, { op: undefined }),
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
    rule({
      name: 'ClearNoSpace.deeper',
      does: 'WriteRecord',
      to: 'clearing space',
      when: { 'nothing is defragmented, and history is left': (v) => isHistoryLeft(v) },
      requires: { 'more than half of the quota is in use': (v) => isFull(v, ample) },
      effect: (v) =>
        write(v, {
          op: { ...v.op('ClearNoSpace')!, step: 'compact', revision: newestRevision(v), deep: true },
        }),
    }),
    rule({
      name: 'ClearNoSpace.useless',
      does: 'WriteRecord',
      to: 'running',
      requires: { 'no defragmentation gives room': (v) => isFull(v, roomy) },
      effect: stillFull,
    }),
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
      effect: (v, m) =>
        failed(
          v,
          `the volume of member ${m.id} has no room for a copy of its database, which a defragmentation needs; make the volume larger, and writes go on`,
          'DiskFull',
        ),
    }),
    rule({
      name: 'ClearNoSpace.defragmented',
      does: 'WriteRecord',
      to: 'clearing space',
      requires: {
        'every voter is, or has room and nothing to return': (v) => voters(v).length > 0 && toDefrag(v).length === 0,
      },
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
      requires: {
        'a database has no room, or its quota is unknown': (v) => voters(v).some((m) => hasRoom(m) !== true),
      },
      effect: stillFull,
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
    'what it lacked when it failed has changed': (v) => !backsOff(v),
    'all voters healthy': allVotersHealthy,
    'every agent answers': implied(
      'ClearNoSpace.drop, above, ends at once what began without; beside it, so that nothing begins',
      everyAgentAnswers,
    ),
  },
  effect: (v) =>
    write(v, {
      op: {
        ...opBase(v),
        ...{ kind: 'ClearNoSpace', step: firstStep(v), done: [] },
        revision: Math.max(0, newestRevision(v) - v.s.keepRevisions),
      },
    }),
});
