import { agentVersion } from '../../lib/version.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import type { MemberConfig } from '../member-config.ts';
import type { VersionRefusal } from '../version-rule.ts';
import { type VolumeFacts, volumeStatus } from '../volume.ts';
import type { Salvage } from './salvage.ts';

/** State of the gate that /status reports. */
export interface GateView {
  readonly state: AgentStatus['state'];
  readonly why?: VersionRefusal;
  /** Unset until the volume could be read. */
  readonly volume?: VolumeFacts;
  readonly recordRev?: number;
  readonly transport?: AgentStatus['transport'];
  readonly salvage?: Salvage & { readonly permitId: string };
}

/** Reported before the volume has been read. Without a `request` this does not count as evidence of a lost volume. */
const unread: AgentStatus['volume'] = { walPresent: false, freeBytes: 0, totalBytes: 0, quarantineCount: 0 };

const requesting: readonly AgentStatus['state'][] = ['WaitPermit', 'Preparing', 'Restoring', 'Starting'];

export function gateStatus(config: MemberConfig, view: GateView): AgentStatus {
  const { state, why, volume, recordRev, transport, salvage } = view;
  return {
    v: 1,
    pod: config.pod,
    podUid: config.podUid,
    ordinal: config.ordinal,
    agentVersion,
    etcdBinary: config.etcdVersion,
    gate: true,
    state,
    ...why,
    volume: volume ? volumeStatus(volume) : unread,
    ...(volume && requesting.includes(state) && requestOf(volume)),
    recordRev,
    transport,
    minEpoch: config.minEpoch,
    salvage: salvage && { ...salvage, url: salvageUrl(config) },
  };
}

function requestOf({ walPresent, volumeId, identity }: VolumeFacts): Pick<AgentStatus, 'request'> {
  if (walPresent || volumeId === undefined) return {};
  const lastRestoreId = identity.kind === 'identity' ? identity.identity.lastRestoreId : undefined;
  return { request: { volumeId, lastRestoreId } };
}

/** Uses the IP address, because the DNS name of a pod that is not ready may not resolve. */
function salvageUrl({ peerTlsDir, serverTlsDir, podIp, listen }: MemberConfig): string {
  const host = podIp.includes(':') ? `[${podIp}]` : podIp;
  return `${(peerTlsDir ?? serverTlsDir) === undefined ? 'http' : 'https'}://${host}:${listen.port}/salvage`;
}
