import type { RecordDoc } from '../../../protocol/record.ts';
import type { Look } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import { answers, voters } from './facts.ts';
import { agentAt, lasts, statusOf } from './observations.ts';

// High-water marks of members, by which a gate notices that storage has set its volume back.

export function lookAt(v: View): Look {
  const well = voters(v).filter(({ id }) => answers(v, id));
  return {
    at: v.now,
    revision: Math.max(0, ...well.map(({ id }) => statusOf(v, id)?.revision ?? 0)),
    index: Object.fromEntries(
      well.flatMap(({ id, ordinal }) => {
        const index = ordinal === undefined ? undefined : committedBy(v, ordinal, id);
        return index === undefined ? [] : [[id, index]];
      }),
    ),
  };
}

const committedBy = (v: View, ordinal: number, memberId: string): number | undefined => {
  const etcd = agentAt(v, ordinal)?.etcd;
  return etcd?.memberId === memberId ? etcd.committedIndex : undefined;
};

/**
 * The members with new marks, by ordinal. An index that etcd was just writing may be lost in a power cut. One that it had
 * minutes ago, without a break since, and still has, is on the disk. Without a new key nothing is written.
 */
export function newlyReached(v: View): RecordDoc['members'] {
  const { reached: look } = v.o;
  if (!look) return {};
  const { revision } = look;
  const found = Object.entries(v.record.members).filter(([ordinal, { memberId, everVoter, reached }]) => {
    const index = look.index[memberId] ?? 0;
    const isNew = revision > (reached?.revision ?? 1) && index > (reached?.index ?? 0);
    const hasIt = (committedBy(v, Number(ordinal), memberId) ?? 0) >= index;
    return everVoter && isNew && hasIt && lasts(v, v.o.since.healthy[memberId], v.now - look.at);
  });
  return Object.fromEntries(
    found.map(([ordinal, member]) => [
      ordinal,
      { ...member, reached: { index: look.index[member.memberId]!, revision } },
    ]),
  );
}
