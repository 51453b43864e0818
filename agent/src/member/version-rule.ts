import type { AgentReason } from '../protocol/agent-reasons.ts';
import type { Versions } from '../protocol/record.ts';
import { minorOf, minorsUp } from '../protocol/versions.ts';

export interface Refusal {
  readonly reason: AgentReason;
  readonly message: string;
}

interface MemberVersions {
  /** Full version of the binary beside the agent. */
  readonly binary: string;
  /** That wrote the data last. */
  readonly last: string;
  /** etcd's cluster version, as the sidecar saw it. */
  readonly cluster?: string;
  /** Raft index of the newest snapshot. */
  readonly snapIndex?: number;
  /** Of the record, or of the one seen last. */
  readonly allowed?: Versions;
}

const refused = (message: string): Refusal => ({ reason: 'VersionRefused', message });

/**
 * Whether etcd of this version may start on the data. etcd itself does not see to it: an older one may start without a
 * complaint and break the others, and 3.7 panics on what 3.5 wrote into the raft log.
 */
export function versionRefusal({ binary, last, cluster, snapIndex, allowed }: MemberVersions): Refusal | undefined {
  if (cluster !== undefined && minorsUp(cluster, binary) < 0)
    return refused(`etcd ${binary} can not start: the cluster version is ${cluster} already; use that minor`);
  const step = minorsUp(last, binary);
  if (step === 0) return undefined;
  const what = `etcd ${binary} on data of ${last}`;
  if (Math.abs(step) !== 1) return refused(`${what}: a minor version can not be skipped`);
  if (!allowed) return refused(`${what}: the record, which would have to allow it, could not be read`);
  if (!allowed.allowedMinors.includes(minorOf(binary)))
    return refused(`${what}: the record allows ${allowed.allowedMinors.join(' and ')}`);
  if (step > 0 && minorsUp('3.7', binary) >= 0 && !isSettled(allowed.finalizedIndex, snapIndex))
    return {
      reason: 'NeedsSnapshot',
      message: `${what}: entries that 3.5 wrote may follow the newest raft snapshot (index ${snapIndex ?? 'none'}, needed: above ${allowed.finalizedIndex ?? 'unknown'}), and 3.7 would not start`,
    };
  return undefined;
}

/** On an empty volume: nothing is skipped there. */
export function newMemberRefusal(binary: string, { allowedMinors }: Versions): Refusal | undefined {
  if (allowedMinors.includes(minorOf(binary))) return undefined;
  return refused(`etcd ${binary} on an empty volume: the record allows ${allowedMinors.join(' and ')}`);
}

const isSettled = (finalizedIndex: number | undefined, snapIndex: number | undefined): boolean =>
  finalizedIndex !== undefined && (finalizedIndex === 0 || (snapIndex ?? 0) > finalizedIndex);
