// The panels of a cluster's dashboard: what each shows, and its queries. $namespace and $etcd_cluster are variables of Grafana.
import { from, selector, upTo } from './parts.mjs';

const of = selector('namespace', 'etcd_cluster');
const rate = (metric, ...matchers) => `rate(${of(metric, ...matchers)}[$__rate_interval])`;
const p99 = (histogram) => `histogram_quantile(0.99, sum by (pod, le) (${rate(`${histogram}_bucket`)}))`;
const now = (condition, ...matchers) => of('etcd_cluster_condition', `condition="${condition}"`, ...matchers);

export const rows = [
  {
    title: 'State',
    panels: [
      {
        title: 'Quorum',
        text: 'Whether a quorum of members answers, from the condition QuorumLost of the EtcdCluster.',
        kind: 'stat',
        width: 4,
        queries: [{ expr: `sum(${now('QuorumLost', 'status="False"')}) or vector(0)` }],
        words: { 0: 'lost or unknown', 1: 'yes' },
        thresholds: from(1),
      },
      {
        title: 'Phase',
        text: 'The phase of the EtcdCluster and the reason for it, which the runbook explains.',
        kind: 'stat',
        width: 8,
        queries: [{ expr: of('etcd_cluster_phase'), legend: '{{phase}}: {{reason}}' }],
        shows: 'name',
      },
      {
        title: 'Ready voters',
        text: 'Voting members that answer and have a ready pod.',
        kind: 'stat',
        width: 4,
        queries: [{ expr: of('etcd_cluster_ready_voters') }],
      },
      {
        title: 'Newest verified backup',
        text: 'Time since the newest backup was taken that was read back and compared.',
        kind: 'stat',
        width: 4,
        unit: 's',
        queries: [{ expr: `time() - ${of('etcd_cluster_last_backup_timestamp_seconds')}` }],
        thresholds: upTo(86_400, 172_800),
      },
      {
        title: 'First certificate expires in',
        text: 'The certificate of a member that expires first.',
        kind: 'stat',
        width: 4,
        unit: 's',
        queries: [{ expr: `min(${of('etcd_agent_certificate_expiry_timestamp_seconds')}) - time()` }],
        thresholds: from(14 * 86_400),
      },
      {
        title: 'Conditions that are not as they should be',
        text: 'Conditions with their reason, over time. Nothing here is good.',
        kind: 'timeseries',
        width: 16,
        queries: [
          {
            expr: `${of('etcd_cluster_condition', 'condition=~"Degraded|QuorumLost|Stalled|Alarm"', 'status!="False"')} or ${of('etcd_cluster_condition', 'condition=~"Available|BackupHealthy|CertificatesReady|AuthReady|VersionSafe|TransportReady|Accepted"', 'status!="True"')}`,
            legend: '{{condition}} {{status}}: {{reason}}',
          },
        ],
      },
      {
        title: 'Operation in flight',
        text: 'How long the present operation of the reconciler has been in flight.',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: [
          { expr: `time() - ${of('etcd_cluster_operation_start_timestamp_seconds')}`, legend: '{{operation}}' },
        ],
      },
    ],
  },
  {
    title: 'Members',
    panels: [
      {
        title: 'Leader',
        text: 'Which member leads. A change is an election, in which writes wait for about a second.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: of('etcd_server_is_leader'), legend: '{{pod}}' }],
      },
      {
        title: 'Leader changes in 15 minutes',
        text: 'Changes of the leader that a member has seen. More than a few mean a slow disk, a CPU limit or a bad network.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: `increase(${of('etcd_server_leader_changes_seen_total')}[15m])`, legend: '{{pod}}' }],
      },
      {
        title: 'Members with a leader',
        text: 'Members that know a leader. Fewer than a majority: reads and writes stop.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: `sum(${of('etcd_server_has_leader')})`, legend: 'members' }],
      },
      {
        title: 'Applied raft entries per second',
        text: 'Writes that a member has applied.',
        kind: 'timeseries',
        width: 8,
        unit: 'ops',
        queries: [{ expr: rate('etcd_server_proposals_applied_total'), legend: '{{pod}}' }],
      },
      {
        title: 'Pending proposals',
        text: 'Writes that wait to be committed. Many mean that the members do not keep up.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: of('etcd_server_proposals_pending'), legend: '{{pod}}' }],
      },
      {
        title: 'Failed proposals per second',
        text: 'Writes that failed, for example in an election.',
        kind: 'timeseries',
        width: 8,
        unit: 'ops',
        queries: [{ expr: rate('etcd_server_proposals_failed_total'), legend: '{{pod}}' }],
      },
    ],
  },
  {
    title: 'Disk and size',
    panels: [
      {
        title: 'Log: 99 % of fsyncs take less than',
        text: 'Time to write the raft log to the disk. etcd recommends less than 10 ms.',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: [{ expr: p99('etcd_disk_wal_fsync_duration_seconds'), legend: '{{pod}}' }],
      },
      {
        title: 'Database: 99 % of commits take less than',
        text: 'Time to write the database to the disk. etcd recommends less than 25 ms.',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: [{ expr: p99('etcd_disk_backend_commit_duration_seconds'), legend: '{{pod}}' }],
      },
      {
        title: 'Database and quota',
        text: 'Size of the database, what of it is in use, and the quota at which etcd refuses writes.',
        kind: 'timeseries',
        width: 8,
        unit: 'bytes',
        queries: [
          { expr: of('etcd_mvcc_db_total_size_in_bytes'), legend: '{{pod}}' },
          { expr: of('etcd_mvcc_db_total_size_in_use_in_bytes'), legend: '{{pod}} in use' },
          { expr: `min(${of('etcd_server_quota_backend_bytes')})`, legend: 'quota' },
        ],
      },
      {
        title: 'Free space of the volumes',
        text: 'Share of the volume that is free. etcd stops when its volume is full.',
        kind: 'timeseries',
        width: 8,
        unit: 'percentunit',
        queries: [
          {
            expr: `${of('etcd_agent_volume_free_bytes')} / ${of('etcd_agent_volume_size_bytes')}`,
            legend: '{{pod}}',
          },
        ],
      },
      {
        title: 'Keys',
        text: 'Number of keys.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: of('etcd_debugging_mvcc_keys_total'), legend: '{{pod}}' }],
      },
      {
        title: 'Raft entries behind the leader',
        text: 'How far each member is behind. A small distance is shown as 0.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: of('etcd_cluster_member_lag_entries'), legend: '{{pod}}' }],
      },
    ],
  },
  {
    title: 'Clients and peers',
    panels: [
      {
        title: 'Requests per second',
        text: 'Requests of clients that a member has answered, by method.',
        kind: 'timeseries',
        width: 8,
        unit: 'reqps',
        queries: [
          {
            // etcd reports each of its methods, and each with each code, even if it was never called.
            expr: `sum by (grpc_method) (${rate('grpc_server_handled_total', 'grpc_type="unary"')}) > 0`,
            legend: '{{grpc_method}}',
          },
        ],
      },
      {
        title: 'Failed requests per second',
        text: 'Requests that ended with an error of the server, by method and code. Nothing here is good.',
        kind: 'timeseries',
        width: 8,
        unit: 'reqps',
        queries: [
          {
            expr: `sum by (grpc_method, grpc_code) (${rate('grpc_server_handled_total', 'grpc_code=~"Unavailable|DeadlineExceeded|ResourceExhausted|Internal|Unknown|DataLoss"')}) > 0`,
            legend: '{{grpc_method}}: {{grpc_code}}',
          },
        ],
      },
      {
        title: 'Watchers',
        text: 'Number of watches.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: of('etcd_debugging_mvcc_watcher_total'), legend: '{{pod}}' }],
      },
      {
        title: 'Sent to clients per second',
        text: 'Bytes that a member has sent to clients.',
        kind: 'timeseries',
        width: 8,
        unit: 'Bps',
        queries: [{ expr: rate('etcd_network_client_grpc_sent_bytes_total'), legend: '{{pod}}' }],
      },
      {
        title: 'Between members: 99 % of round trips take less than',
        text: 'Round trips between members. They decide how long a write takes, together with the disks.',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: [{ expr: p99('etcd_network_peer_round_trip_time_seconds'), legend: '{{pod}}' }],
      },
      {
        title: 'Memory',
        text: 'Resident memory of etcd, of the agent beside it and of the reconciler.',
        kind: 'timeseries',
        width: 8,
        unit: 'bytes',
        queries: [{ expr: of('process_resident_memory_bytes'), legend: '{{pod}} {{endpoint}}' }],
      },
    ],
  },
  {
    title: 'Backups and reconciler',
    panels: [
      {
        title: 'Age of the newest verified backup',
        text: 'What would be lost if every volume were lost now.',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: [{ expr: `time() - ${of('etcd_cluster_last_backup_timestamp_seconds')}`, legend: 'age' }],
      },
      {
        title: 'Revisions since the newest verified backup',
        text: 'How many revisions would be lost if every volume were lost now.',
        kind: 'timeseries',
        width: 8,
        queries: [
          {
            expr: `max by (namespace, etcd_cluster) (${of('etcd_debugging_mvcc_current_revision')}) - max by (namespace, etcd_cluster) (${of('etcd_cluster_last_backup_revision')})`,
            legend: 'revisions',
          },
        ],
      },
      {
        title: 'Size of the newest snapshot',
        text: 'Size of the newest snapshot of each schedule.',
        kind: 'timeseries',
        width: 8,
        unit: 'bytes',
        queries: [{ expr: of('etcd_cluster_backup_size_bytes'), legend: '{{schedule}}' }],
      },
      {
        title: 'Failed schedules',
        text: '1 while the newest run of a schedule has failed.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: of('etcd_cluster_backup_run_failed'), legend: '{{schedule}}' }],
      },
      {
        title: 'Actions of the reconciler',
        text: 'What the reconciler has done, by action.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: `increase(${of('etcd_reconciler_actions_done_total')}[5m]) > 0`, legend: '{{action}}' }],
      },
      {
        title: 'Time since the last pass of the reconciler',
        text: 'The reconciler looks at the cluster several times a minute.',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: [{ expr: `time() - ${of('etcd_reconciler_last_pass_timestamp_seconds')}`, legend: 'age' }],
      },
    ],
  },
];
