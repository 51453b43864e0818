import type { WalState } from '../../etcd/offline/wal-state.ts';
import { agentVersion } from '../../lib/version.ts';
import type { AgentReason } from '../../protocol/agent-reasons.ts';
import type { AgentStatus, TrustedRoots } from '../../protocol/agent-status.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import type { MemberConfig } from '../member-config.ts';
import type { MemberTransport } from '../transport.ts';
import type { VersionRefusal } from '../version-rule.ts';
import { type VolumeFacts, volumeStatus } from '../volume.ts';
import type { EtcdMetrics } from './etcd-metrics.ts';

/** Result of an observation. */
export interface ServeFinding {
  readonly state: AgentStatus['state'];
  readonly reason?: AgentReason;
  readonly message?: string;
  /** True if the data are the ones that this pod is meant to serve. */
  readonly verified: boolean;
}

export interface ServeFacts {
  readonly finding: ServeFinding;
  readonly volume: VolumeFacts;
  readonly wal?: WalState;
  readonly etcd?: EtcdMetrics;
  /** The newest record seen. */
  readonly record?: RecordDoc;
  readonly recordProblem?: VersionRefusal;
  readonly notAfter?: string;
  readonly roots?: TrustedRoots;
  readonly leaves?: AgentStatus['leaves'];
  readonly revocationLists?: AgentStatus['revocationLists'];
  readonly transport: MemberTransport;
  readonly problems: readonly string[];
}

/** Size of etcd's log files, in bytes. etcd exits when there is no room for the next one. */
const WAL_FILE = 64 * 2 ** 20;
/** With less free space, in bytes, the volume counts as full. */
const FULL = 2 ** 20;

/** Status before the first observation. */
export const initialStatus = (config: MemberConfig): AgentStatus => ({
  ...podStatus(config),
  state: 'Init',
  volume: { walPresent: false, freeBytes: 0, totalBytes: 0, quarantineCount: 0 },
});

const podStatus = ({ pod, podUid, podIp, ordinal, etcdVersion, minEpoch }: MemberConfig) => ({
  ...{ v: 1 as const, pod, podUid, ordinal, agentVersion, etcdBinary: etcdVersion, minEpoch },
  podIp: podIp || undefined,
});

export function serveStatus(config: MemberConfig, facts: ServeFacts): AgentStatus {
  const { finding, volume, record, notAfter, roots, leaves, revocationLists, transport } = facts;
  const etcd = etcdStatus(facts);
  const why = whyOf(config, facts, etcd?.up === true);
  const request = requestOf(volume);
  return {
    ...podStatus(config),
    state: finding.state,
    ...why,
    certificate: notAfter === undefined ? undefined : { notAfter },
    roots,
    leaves,
    revocationLists,
    transport,
    volume: volumeStatus(volume),
    request,
    ...(record && { recordRev: record.rev, ...pastIn(record, volume) }),
    etcd,
  };
}

/** Facts from the record, if it belongs to the cluster whose data the volume holds. */
function pastIn(
  record: RecordDoc,
  { identity: stored }: VolumeFacts,
): Pick<AgentStatus, 'recordVersions' | 'recordPast'> {
  const { clusterUid, epoch, versions, restores, olderRestores, failedRestores, startRevision } = record;
  if (stored.kind !== 'identity' || stored.identity.clusterUid !== clusterUid) return {};
  const { bornOn, finalizedIndex } = versions;
  const found = { bornOn, finalizedIndex };
  return {
    recordVersions: { epoch, ...found },
    recordPast: {
      restores: restores.map(({ id, uid, specHash }) => ({ id, uid, specHash })),
      olderRestores,
      failedRestores,
      startRevision,
    },
  };
}

/** Selects the most important problem to show. */
function whyOf(config: MemberConfig, facts: ServeFacts, up: boolean): Partial<VersionRefusal> {
  const { finding, recordProblem, problems } = facts;
  if (finding.reason !== undefined) return { reason: finding.reason, message: finding.message };
  const down = facts.volume.walPresent && !up ? downReason(config, facts) : undefined;
  const full = facts.volume.freeBytes < FULL ? diskFull(facts) : undefined;
  const message = finding.message ?? problems[0];
  return full ?? down ?? recordProblem ?? (message === undefined ? {} : { message });
}

/** Reason why etcd does not answer, as far as the agent can see it. */
function downReason(config: MemberConfig, facts: ServeFacts): VersionRefusal {
  const { volume, record } = facts;
  const tombstone = record?.tombstones.find(({ memberId }) => memberId === volume.wal?.memberId);
  if (tombstone) {
    const { memberId, why } = tombstone;
    return { reason: 'Removed', message: `member ${memberId} was removed from the cluster (${why})` };
  }
  if (volume.freeBytes < WAL_FILE) return diskFull(facts);
  return {
    reason: 'EtcdDown',
    message: `etcd does not answer at ${config.metricsUrl}; see the log of the etcd container`,
  };
}

const diskFull = ({ volume: { freeBytes, totalBytes } }: ServeFacts): VersionRefusal => ({
  reason: 'DiskFull',
  message: `${freeBytes} of ${totalBytes} bytes of the volume are free; enlarge the volume`,
});

/** Requests a permit while there is no WAL, including while etcd cannot start with the permit that it has. */
function requestOf({ walPresent, volumeId, identity: stored }: VolumeFacts): AgentStatus['request'] {
  const identity = stored.kind === 'identity' ? stored.identity : undefined;
  const isSpent = identity?.state === 'sealed' && identity.volumeId === volumeId;
  if (walPresent || volumeId === undefined || isSpent) return undefined;
  return { volumeId, lastRestoreId: identity?.lastRestoreId };
}

/** Uses the WAL for a member that is down. */
function etcdStatus({ volume, wal, etcd }: ServeFacts): AgentStatus['etcd'] {
  if (!volume.wal || !wal) return undefined;
  const { memberId, clusterId } = volume.wal;
  const identity = volume.identity.kind === 'identity' ? volume.identity.identity : undefined;
  const up = etcd !== undefined && etcd.memberId === memberId;
  if (up) {
    const { memberId: _, ...rest } = etcd;
    return { up, memberId, clusterId, term: wal.term, ...rest };
  }
  return {
    ...{ up, memberId, clusterId, hasLeader: false, isLeader: false, isLearner: false },
    ...{ term: wal.term, committedIndex: wal.commit, appliedIndex: wal.commit },
    ...{ version: identity?.lastVersion ?? '', clusterVersion: identity?.clusterVersion },
    ...{ dbSize: 0, dbInUse: 0, upSince: '' },
  };
}
