import type { WalState } from '../../etcd/offline/wal-state.ts';
import { agentVersion } from '../../lib/version.ts';
import type { AgentReason } from '../../protocol/agent-reasons.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import type { MemberConfig } from '../member-config.ts';
import type { Refusal } from '../version-rule.ts';
import { type VolumeFacts, volumeStatus } from '../volume.ts';
import type { EtcdMetrics } from './etcd-metrics.ts';

/** What a look came to. */
export interface Finding {
  readonly state: AgentStatus['state'];
  readonly reason?: AgentReason;
  readonly message?: string;
  /** The data are those that this pod is meant to serve. */
  readonly verified: boolean;
}

export interface ServeFacts {
  readonly finding: Finding;
  readonly volume: VolumeFacts;
  readonly wal?: WalState;
  readonly etcd?: EtcdMetrics;
  /** The newest record seen. */
  readonly record?: RecordDoc;
  readonly problem?: Refusal;
  readonly notAfter?: string;
  readonly complaints: readonly string[];
}

/** etcd writes its log in files of this size, and ends when there is no room for the next. */
const WAL_FILE = 64 * 2 ** 20;
const NOTHING = 2 ** 20;

/** Before anything was looked at. */
export const initialStatus = (config: MemberConfig): AgentStatus => ({
  ...podStatus(config),
  state: 'Init',
  volume: { walPresent: false, freeBytes: 0, totalBytes: 0, quarantineCount: 0 },
});

const podStatus = ({ pod, podUid, podIp, ordinal, etcdVersion, minEpoch }: MemberConfig) => ({
  ...{ v: 1 as const, pod, podUid, ordinal, agentVersion, etcdBinary: etcdVersion, minEpoch },
  ...(podIp && { podIp }),
});

export function serveStatus(config: MemberConfig, facts: ServeFacts): AgentStatus {
  const { finding, volume, record, notAfter } = facts;
  const etcd = etcdStatus(facts);
  const why = whyOf(config, facts, etcd?.up === true);
  const request = requestOf(volume);
  return {
    ...podStatus(config),
    state: finding.state,
    ...why,
    ...(notAfter !== undefined && { certificate: { notAfter } }),
    volume: volumeStatus(volume),
    ...(request && { request }),
    ...(record && { recordRev: record.rev, ...pastIn(record, volume) }),
    ...(etcd && { etcd }),
  };
}

/** Of the cluster whose data there are. */
function pastIn(
  record: RecordDoc,
  { identity: stored }: VolumeFacts,
): Pick<AgentStatus, 'recordVersions' | 'recordPast'> {
  const { clusterUid, epoch, versions, restores, startRevision } = record;
  if (stored.kind !== 'identity' || stored.identity.clusterUid !== clusterUid) return {};
  const { bornOn, finalizedIndex } = versions;
  const found = { ...(bornOn !== undefined && { bornOn }), ...(finalizedIndex !== undefined && { finalizedIndex }) };
  return {
    recordVersions: { epoch, ...found },
    recordPast: { restores: restores.map(({ id }) => id), ...(startRevision !== undefined && { startRevision }) },
  };
}

/** The one thing that a person should know first. */
function whyOf(config: MemberConfig, facts: ServeFacts, up: boolean): Partial<Refusal> {
  const { finding, problem, complaints } = facts;
  if (finding.reason !== undefined) return { reason: finding.reason, message: finding.message };
  const down = facts.volume.walPresent && !up ? downReason(config, facts) : undefined;
  const full = facts.volume.freeBytes < NOTHING ? diskFull(facts) : undefined;
  const message = finding.message ?? complaints[0];
  return full ?? down ?? problem ?? (message === undefined ? {} : { message });
}

/** Why etcd does not answer, as far as it can be known from outside. */
function downReason(config: MemberConfig, facts: ServeFacts): Refusal {
  const { volume, record } = facts;
  const buried = record?.tombstones.find(({ memberId }) => memberId === volume.wal?.memberId);
  if (buried)
    return { reason: 'Removed', message: `member ${buried.memberId} was removed from the cluster (${buried.why})` };
  if (volume.freeBytes < WAL_FILE) return diskFull(facts);
  return { reason: 'EtcdDown', message: `etcd does not answer at ${config.metricsUrl}; see the log of its container` };
}

const diskFull = ({ volume: { freeBytes, totalBytes } }: ServeFacts): Refusal => ({
  reason: 'DiskFull',
  message: `the volume has ${freeBytes} of ${totalBytes} bytes left; make it larger`,
});

/** As long as there is no WAL, also while etcd can not start with the permit that it has. */
function requestOf({ walPresent, volumeId, identity: stored }: VolumeFacts): AgentStatus['request'] {
  const identity = stored.kind === 'identity' ? stored.identity : undefined;
  const isSpent = identity?.state === 'sealed' && identity.volumeId === volumeId;
  if (walPresent || volumeId === undefined || isSpent) return undefined;
  return { volumeId, ...(identity?.lastRestoreId !== undefined && { lastRestoreId: identity.lastRestoreId }) };
}

/** Of a member that is down: what its WAL says. */
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
