import { type Sample, sample, samples } from '../lib/metrics/sample.ts';
import type { AgentStatus } from '../protocol/agent-status.ts';

const states: readonly AgentStatus['state'][] = [
  ...(['Init', 'WaitPermit', 'Preparing', 'Restoring', 'Starting', 'Running', 'Stalled', 'Refused', 'Failed'] as const),
];

/** From when and until when a certificate is valid, ms. */
export interface Validity {
  readonly from: number;
  readonly to: number;
}

/** The certificates on disk, as far as they exist and can be read. */
export interface CertificateTimes {
  readonly peer?: Validity | undefined;
  readonly server?: Validity | undefined;
  readonly client?: Validity | undefined;
}

/** Times that /status does not contain. */
export interface AgentTimes {
  /** When the record was last read, ms. */
  readonly recordReadAt?: number;
  /** Since when the volume has been waiting for a permit, ms. */
  readonly waitingSince?: number;
  readonly certificates?: CertificateTimes;
  readonly now: number;
}

/** The agent's metrics. etcd serves its own. */
export function agentSamples(status: AgentStatus, times: AgentTimes): Sample[] {
  const { volume, recordRev, etcd, reason, agentVersion, etcdBinary } = status;
  const { recordReadAt, waitingSince, certificates = {}, now } = times;
  const since = (time: number | undefined) => (time === undefined ? undefined : (now - time) / 1000);
  return [
    sample('etcd_agent_info', { version: agentVersion, etcd: etcdBinary }, 1),
    ...states.map((state) => sample('etcd_agent_state', { state }, Number(state === status.state))),
    ...(reason === undefined ? [] : [sample('etcd_agent_reason', { reason }, 1)]),
    ...samples('etcd_agent_epoch', {}, volume.identity?.epoch),
    ...samples('etcd_agent_record_revision', {}, recordRev),
    ...samples('etcd_agent_record_age_seconds', {}, since(recordReadAt)),
    sample('etcd_agent_permit_wait_seconds', {}, since(waitingSince) ?? 0),
    ...samples('etcd_agent_etcd_up', {}, etcd && Number(etcd.up)),
    sample('etcd_agent_volume_free_bytes', {}, volume.freeBytes),
    sample('etcd_agent_volume_size_bytes', {}, volume.totalBytes),
    sample('etcd_agent_quarantine_directories', {}, volume.quarantineCount),
    ...(['peer', 'server', 'client'] as const).flatMap((certificate) => {
      const found = certificates[certificate];
      if (!found) return [];
      const { from, to } = found;
      return [
        sample('etcd_agent_certificate_expiry_timestamp_seconds', { certificate }, to / 1000),
        sample('etcd_agent_certificate_lifetime_seconds', { certificate }, (to - from) / 1000),
      ];
    }),
  ];
}
