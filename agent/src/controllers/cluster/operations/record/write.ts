import { snapshotsOf } from '../../../../protocol/kept-snapshots.ts';
import type { Op, RecordDoc, RestoreArgs, Tombstone } from '../../../../protocol/record.ts';
import { isOfEtcdRestore } from '../../../../protocol/restore-id.ts';
import type { Effect } from '../../../port/effect.ts';
import { podName } from '../../../port/names.ts';
import type { Job } from '../../../port/observed.ts';
import type { View } from '../../engine/view.ts';
import type { MemberView } from '../../facts/member-view.ts';
import { recorded } from '../../facts/observations.ts';

const tombstonesKept = 64;
const restoresKept = 128;

/** Writes the next version of the record with these fields changed. A field that is undefined is removed. */
export function write(v: View, change: Partial<RecordDoc>): Effect {
  const doc: RecordDoc = { ...v.record, ...change, rev: v.record.rev + 1 };
  const entries = Object.entries(doc).filter(([, value]) => value !== undefined);
  const { record } = v.o;
  return {
    kind: 'WriteRecord',
    doc: Object.fromEntries(entries) as unknown as RecordDoc,
    basedOn: record.known ? record.v?.rv : undefined,
  };
}

export const timestamp = (v: View): string => new Date(v.date).toISOString();

/** The clock of the node of its Job may be ahead. */
export function takenBackup(v: View, backup: NonNullable<Job['backup']>): NonNullable<RecordDoc['lastBackup']> {
  const now = timestamp(v);
  return { ...backup, at: backup.at !== undefined && backup.at < now ? backup.at : now };
}

/** Fields of every new operation. */
export const opBase = (v: View): Pick<Op, 'id' | 'holder' | 'startedAt'> => ({
  id: v.o.fresh.id,
  holder: v.o.holder,
  startedAt: timestamp(v),
});

/**
 * Guards data between a Job and a gate. With TLS, certificates protect them: every reader of the record can read the
 * token.
 */
export const oneTimeToken = (v: View): string => (v.spec.tls ? '' : v.o.fresh.secret);

export const without = <T>(map: Record<string, T>, key: number): Record<string, T> =>
  Object.fromEntries(Object.entries(map).filter(([name]) => name !== String(key)));

/** Tombstones a member, and removes it and its permit from the record. */
export function tombstone(v: View, ordinal: number, memberId: string, why: string): Partial<RecordDoc> {
  const { tombstones, members, permits, epoch } = v.record;
  const tombstone: Tombstone = { memberId, ordinal, epoch, at: timestamp(v), why };
  return {
    tombstones: [...tombstones.filter((other) => other.memberId !== memberId), tombstone].slice(-tombstonesKept),
    members: recorded(v, ordinal)?.memberId === memberId ? without(members, ordinal) : members,
    permits: permits[ordinal]?.memberId === memberId ? without(permits, ordinal) : permits,
  };
}

export function restored(v: View, args: RestoreArgs): RecordDoc['restores'] {
  const { id, uid, specHash } = args;
  const own = isOfEtcdRestore(id) ? { snapshots: snapshotsOf(args) } : {};
  return [...v.record.restores, { id, uid, specHash, at: timestamp(v), ...own }].slice(-restoresKept);
}

/** Names are used once: one that failed does not begin when it is created again. */
export const failed = (v: View, id: string): string[] => [...(v.record.failedRestores ?? []), id].slice(-restoresKept);

/** `initial-cluster` of a joining member: exactly the listed members, with every URL that each has. */
export const initialClusterOf = (v: View, members: readonly MemberView[]): string =>
  members
    .flatMap(({ ordinal, name, peerUrls }) => {
      const known = ordinal === undefined ? name : podName(v.cluster, ordinal);
      return peerUrls.map((url) => `${known}=${url}`);
    })
    .sort()
    .join(',');
