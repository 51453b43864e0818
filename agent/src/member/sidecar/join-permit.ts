import type { Identity } from '../../protocol/agent-status.ts';
import type { Permit, RecordDoc } from '../../protocol/record.ts';
import type { MemberConfig } from '../member-config.ts';
import { newMemberRefusal } from '../version-rule.ts';

/** Returns the permit with which a volume may join now. Pass only a record that was just read. Never a permit for a new cluster. */
export function joinPermit(
  { ordinal, minEpoch, etcdVersion }: MemberConfig,
  volumeId: string | undefined,
  doc: RecordDoc | undefined,
): Permit | undefined {
  const permit = doc?.permits[ordinal];
  if (permit?.mode !== 'existing' || permit.ordinal !== ordinal || permit.volumeId !== volumeId) return undefined;
  if (permit.epoch !== doc!.epoch || permit.epoch < minEpoch) return undefined;
  return newMemberRefusal(etcdVersion, doc!.versions) ? undefined : permit;
}

/** Builds the identity of a volume that joins with this permit. */
export function permittedIdentity(permit: Permit, { clusterUid }: RecordDoc, before: Identity): Identity {
  const { id: permitId, epoch, token, ordinal, volumeId, mode, memberId } = permit;
  const { lastRestoreId, lastVersion } = before;
  return {
    ...{ v: 1, clusterUid, epoch, token, ordinal, volumeId, permitId, mode, state: 'permitted' },
    memberId,
    lastRestoreId,
    ...{ lastVersion, runs: 0 },
  };
}

export const usesPermit = (identity: Identity, { id, volumeId, memberId }: Permit): boolean =>
  identity.permitId === id && identity.volumeId === volumeId && identity.memberId === memberId;
