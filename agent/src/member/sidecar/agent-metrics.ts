import { escaped } from '../../backup/metrics/textfile.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';

const states: readonly AgentStatus['state'][] = [
  ...(['Init', 'WaitPermit', 'Preparing', 'Restoring', 'Starting', 'Running', 'Stalled', 'Refused', 'Failed'] as const),
];

/** What /status does not tell. */
export interface AgentTimes {
  /** When the record was last read, ms. */
  readonly recordReadAt?: number;
  /** Since when the volume waits for a permit, ms. */
  readonly waitingSince?: number;
  readonly now: number;
}

type Row = readonly [name: string, help: string, values: readonly Value[]];
type Value = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Gauges of the protocol, for Prometheus; etcd has its own. */
export function agentMetrics(status: AgentStatus, times: AgentTimes): string {
  return rows(status, times)
    .filter(([, , values]) => values.length > 0)
    .map(([name, help, values]) => {
      const lines = values.map(([labels, value]) => `${name}${braces(labels)} ${value}\n`).join('');
      return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines}`;
    })
    .join('');
}

function rows(status: AgentStatus, { recordReadAt, waitingSince, now }: AgentTimes): Row[] {
  const { volume, recordRev, certificate, etcd, reason } = status;
  const since = (time: number | undefined) => (time === undefined ? undefined : (now - time) / 1000);
  const expiry = certificate && Date.parse(certificate.notAfter) / 1000;
  const up = etcd && Number(etcd.up);
  const state = states.map((each): Value => [{ state: each }, Number(each === status.state)]);
  return [
    ['etcd_agent_info', 'Always 1.', [[{ version: status.agentVersion, etcd: status.etcdBinary }, 1]]],
    ['etcd_agent_state', 'What the agent does: 1 for that one.', state],
    ['etcd_agent_reason', 'Why it does not get further.', reason === undefined ? [] : [[{ reason }, 1]]],
    ['etcd_agent_epoch', 'Epoch of the data.', one(volume.identity?.epoch)],
    ['etcd_agent_record_revision', 'The newest record seen.', one(recordRev)],
    ['etcd_agent_record_age_seconds', 'Since the record was last read.', one(since(recordReadAt))],
    ['etcd_agent_permit_wait_seconds', 'Since the volume waits for leave to start.', one(since(waitingSince) ?? 0)],
    ['etcd_agent_etcd_up', 'Whether etcd answers on its metrics port.', one(up)],
    ['etcd_agent_volume_free_bytes', 'Free space of the volume.', one(volume.freeBytes)],
    ['etcd_agent_volume_size_bytes', 'Size of the volume.', one(volume.totalBytes)],
    ['etcd_agent_quarantine_directories', 'Former data kept in quarantine/.', one(volume.quarantineCount)],
    ['etcd_agent_certificate_expiry_timestamp_seconds', 'When the first certificate runs out.', one(expiry)],
  ];
}

const one = (value: number | undefined): Value[] => (value === undefined ? [] : [[{}, value]]);

function braces(labels: Value[0]): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}
