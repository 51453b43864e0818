import { escaped } from '../backup/metrics/textfile.ts';
import type { AgentStatus } from '../protocol/agent-status.ts';

const states: readonly AgentStatus['state'][] = [
  ...(['Init', 'WaitPermit', 'Preparing', 'Restoring', 'Starting', 'Running', 'Stalled', 'Refused', 'Failed'] as const),
];

/** Times that /status does not contain. */
export interface AgentTimes {
  /** When the record was last read, ms. */
  readonly recordReadAt?: number;
  /** Since when the volume has been waiting for a permit, ms. */
  readonly waitingSince?: number;
  readonly now: number;
}

type Row = readonly [name: string, help: string, values: readonly Value[]];
type Value = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Renders the agent's gauges for Prometheus. etcd serves its own metrics. */
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
    ['etcd_agent_state', 'State of the agent: 1 for the current state.', state],
    [
      'etcd_agent_reason',
      'Reason why the agent cannot continue: 1 for the current reason.',
      reason === undefined ? [] : [[{ reason }, 1]],
    ],
    ['etcd_agent_epoch', 'Epoch of the data.', one(volume.identity?.epoch)],
    ['etcd_agent_record_revision', 'Revision of the newest record seen.', one(recordRev)],
    ['etcd_agent_record_age_seconds', 'Time since the record was last read.', one(since(recordReadAt))],
    [
      'etcd_agent_permit_wait_seconds',
      'How long the volume has been waiting for a permit; 0 if it is not waiting.',
      one(since(waitingSince) ?? 0),
    ],
    ['etcd_agent_etcd_up', 'Whether etcd answers on its metrics port.', one(up)],
    ['etcd_agent_volume_free_bytes', 'Free space of the volume.', one(volume.freeBytes)],
    ['etcd_agent_volume_size_bytes', 'Size of the volume.', one(volume.totalBytes)],
    ['etcd_agent_quarantine_directories', 'Number of directories in quarantine/.', one(volume.quarantineCount)],
    ['etcd_agent_certificate_expiry_timestamp_seconds', 'Earliest expiry of a certificate.', one(expiry)],
  ];
}

const one = (value: number | undefined): Value[] => (value === undefined ? [] : [[{}, value]]);

function braces(labels: Value[0]): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}
