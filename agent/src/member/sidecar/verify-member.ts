import type { WalIdentity } from '../../etcd/offline/wal.ts';
import type { Identity } from '../../protocol/agent-status.ts';
import type { RecordDoc } from '../../protocol/record.ts';

export type Verdict =
  | { readonly kind: 'ours' }
  /** The record does not name this member yet, and no other place either. */
  | { readonly kind: 'unknown'; readonly message: string }
  /** Certain: these data have no place in the cluster. */
  | { readonly kind: 'split'; readonly message: string };

/** Whether the member that the WAL begins with is the one that this volume was meant for. */
export function verifyMember(wal: WalIdentity, identity: Identity, record: RecordDoc | undefined): Verdict {
  const { memberId, clusterId } = wal;
  const known = record?.clusterUid === identity.clusterUid && record.epoch === identity.epoch ? record : undefined;
  if (known?.clusterId !== undefined && known.clusterId !== clusterId) {
    return split(`the WAL is of etcd cluster ${clusterId}, and the record names ${known.clusterId}`);
  }
  if (identity.clusterId !== undefined && identity.clusterId !== clusterId)
    return split(`the WAL is of etcd cluster ${clusterId}, and this volume held ${identity.clusterId}`);
  const elsewhere = Object.entries(known?.members ?? {}).find(
    ([, member]) => member.memberId === memberId && member.volumeId !== identity.volumeId,
  );
  if (elsewhere) return split(`member ${memberId} is recorded on another volume, of ordinal ${elsewhere[0]}`);
  const meant = meantFor(identity, known);
  // The id of a first member comes from its URL and token: nobody could name it before.
  const isSeed = identity.mode === 'new' || identity.mode === 'restore';
  if (meant.includes(memberId) || (isSeed && meant.length === 0)) return { kind: 'ours' };
  return { kind: 'unknown', message: `the record does not yet name member ${memberId}, which the WAL is of` };
}

const split = (message: string): Verdict => ({ kind: 'split', message });

/** etcd takes its id from its URL: a learner that was added again meanwhile has the id of a newer permit. */
function meantFor(identity: Identity, record: RecordDoc | undefined): string[] {
  const { memberId, volumeId, ordinal } = identity;
  const named = [record?.permits[ordinal], record?.members[ordinal]].filter((each) => each?.volumeId === volumeId);
  return [memberId, ...named.map((each) => each?.memberId)].filter((id) => id !== undefined);
}
