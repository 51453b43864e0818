import type { WalIdentity } from '../../etcd/offline/wal.ts';
import type { Identity } from '../../protocol/agent-status.ts';
import type { RecordDoc } from '../../protocol/record.ts';

export type MemberVerdict =
  | { readonly kind: 'ours' }
  /** The record lists neither this member here nor the member anywhere else. */
  | { readonly kind: 'unknown'; readonly message: string }
  /** The data certainly do not belong on this volume. */
  | { readonly kind: 'split'; readonly message: string };

/** Checks that the member in the WAL is the one that this volume was prepared for. */
export function verifyMember(wal: WalIdentity, identity: Identity, record: RecordDoc | undefined): MemberVerdict {
  const { memberId, clusterId } = wal;
  const known = record?.clusterUid === identity.clusterUid && record.epoch === identity.epoch ? record : undefined;
  if (known?.clusterId !== undefined && known.clusterId !== clusterId) {
    return split(`the write-ahead log belongs to etcd cluster ${clusterId}, but the record names ${known.clusterId}`);
  }
  if (identity.clusterId !== undefined && identity.clusterId !== clusterId)
    return split(
      `the write-ahead log belongs to etcd cluster ${clusterId}, but this volume held ${identity.clusterId}`,
    );
  const other = Object.entries(known?.members ?? {}).find(
    ([, member]) => member.memberId === memberId && member.volumeId !== identity.volumeId,
  );
  if (other) return split(`the record lists member ${memberId} on another volume, of ordinal ${other[0]}`);
  const expected = expectedIds(identity, known);
  // etcd derives the id of a first member from its URL and token, so the permit could not name it.
  const isSeed = identity.mode === 'new' || identity.mode === 'restore';
  if (expected.includes(memberId) || (isSeed && expected.length === 0)) return { kind: 'ours' };
  return {
    kind: 'unknown',
    message: `the write-ahead log belongs to member ${memberId}, which the record does not list yet`,
  };
}

const split = (message: string): MemberVerdict => ({ kind: 'split', message });

/** Includes the ids in the record: a learner that was added again meanwhile has the id of a newer permit. */
function expectedIds(identity: Identity, record: RecordDoc | undefined): string[] {
  const { memberId, volumeId, ordinal } = identity;
  const named = [record?.permits[ordinal], record?.members[ordinal]].filter((each) => each?.volumeId === volumeId);
  return [memberId, ...named.map((each) => each?.memberId)].filter((id) => id !== undefined);
}
