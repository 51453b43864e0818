import type { AgentReason } from '../protocol/agent-reasons.ts';
import type { Versions } from '../protocol/record.ts';
import { minorOf, minorsUp } from '../protocol/versions.ts';

export interface VersionRefusal {
  readonly reason: AgentReason;
  readonly message: string;
}

interface MemberVersions {
  /** Full version of the etcd binary in this pod. */
  readonly binary: string;
  /** Version that last wrote the data. */
  readonly last: string;
  /** etcd's cluster version, as the sidecar last saw it. */
  readonly cluster?: string;
  /** Raft index of the newest raft snapshot. */
  readonly snapIndex?: number;
  /** From the current record, otherwise from the cached one. */
  readonly allowed?: Versions;
}

const refused = (message: string): VersionRefusal => ({ reason: 'VersionRefused', message });

/**
 * Returns why etcd of this version must not start on the data, or undefined if it may. etcd itself does not check this: an
 * older version may start without an error and break the other members, and 3.7 panics on entries of 3.5 in the raft log.
 */
export function versionRefusal({
  binary,
  last,
  cluster,
  snapIndex,
  allowed,
}: MemberVersions): VersionRefusal | undefined {
  if (cluster !== undefined && minorsUp(cluster, binary) < 0)
    return refused(`etcd ${binary} cannot start: the cluster version is already ${cluster}; use that minor version`);
  const step = minorsUp(last, binary);
  if (step === 0) return undefined;
  const start = `etcd ${binary} cannot start on data of ${last}`;
  if (Math.abs(step) !== 1) return refused(`${start}: a minor version cannot be skipped`);
  if (!allowed) return refused(`${start}: the record must allow it, and could not be read`);
  if (!allowed.allowedMinors.includes(minorOf(binary)))
    return refused(`${start}: the record allows ${allowed.allowedMinors.join(' and ')}`);
  if (step > 0 && minorsUp('3.7', binary) >= 0 && !isFlushed(allowed.finalizedIndex, snapIndex))
    return {
      reason: 'NeedsSnapshot',
      message: `${start}: entries that 3.5 wrote may follow the newest raft snapshot (index ${snapIndex ?? 'none'}, needed: above ${allowed.finalizedIndex ?? 'unknown'}), and 3.7 would not start`,
    };
  return undefined;
}

/** Checks the version of a new member, whose volume is empty. */
export function newMemberRefusal(binary: string, { allowedMinors }: Versions): VersionRefusal | undefined {
  if (allowedMinors.includes(minorOf(binary))) return undefined;
  return refused(`etcd ${binary} cannot start on an empty volume: the record allows ${allowedMinors.join(' and ')}`);
}

const isFlushed = (finalizedIndex: number | undefined, snapIndex: number | undefined): boolean =>
  finalizedIndex !== undefined && (finalizedIndex === 0 || (snapIndex ?? 0) > finalizedIndex);
