import { logFileBytes } from '../../lib/defaults';
import { type Alert, type AlertScope, conditionIs, series } from './alert';

/** Returns the alerts on what etcd and the agent beside it report of themselves. They also work without a reconciler. */
export function alertsOnMembers(scope: AlertScope): Alert[] {
  const of = (metric: string, ...more: string[]) => series(metric, scope, ...more);
  const quantile = (histogram: string) =>
    `histogram_quantile(0.99, sum by (namespace, etcd_cluster, pod, le) (rate(${of(`${histogram}_bucket`)}[5m])))`;
  const share = `${of('etcd_mvcc_db_total_size_in_bytes')} / ${of('etcd_server_quota_backend_bytes')}`;
  // Without a reconciler there are no conditions.
  const unless = (condition: string, reason?: string) =>
    `unless on (namespace, etcd_cluster) ${conditionIs(scope, condition, 'status="True"', ...(reason ? [`reason="${reason}"`] : []))}`;
  const free = of('etcd_agent_volume_free_bytes');
  const left = `${of('etcd_agent_certificate_expiry_timestamp_seconds')} - time()`;
  return [
    {
      name: 'EtcdLeaderChanges',
      severity: 'warning',
      expr: `max by (namespace, etcd_cluster) (increase(${of('etcd_server_leader_changes_seen_total')}[15m])) >= 5`,
      for: '5m',
      summary: 'The leader changes again and again. Check the disks, the CPU limits and the network of the members.',
    },
    {
      name: 'EtcdDiskSlow',
      severity: 'warning',
      expr: `${quantile('etcd_disk_wal_fsync_duration_seconds')} > 0.5 or ${quantile('etcd_disk_backend_commit_duration_seconds')} > 0.5`,
      for: '10m',
      summary: 'Pod {{ $labels.pod }} takes {{ $value | humanizeDuration }} to write to its disk. Use a faster disk.',
    },
    {
      name: 'EtcdDatabaseAlmostFull',
      severity: 'warning',
      expr: `${share} > 0.8 ${unless('Alarm')}`,
      for: '10m',
      summary:
        'The database of pod {{ $labels.pod }} uses {{ $value | humanizePercentage }} of its quota. At 100 % etcd refuses writes: raise `quota`, or delete keys and compact.',
    },
    {
      name: 'EtcdVolumeAlmostFull',
      severity: 'critical',
      // One that is full has its own alert; those of other members have not.
      expr: `${free} / ${of('etcd_agent_volume_size_bytes')} < 0.1 and (${free} >= ${logFileBytes} or ${free} ${unless('Degraded', 'DiskFull')})`,
      for: '10m',
      summary:
        'The volume of pod {{ $labels.pod }} has {{ $value | humanizePercentage }} of its space left. Free space before etcd stops.',
    },
    {
      name: 'EtcdMemberWaits',
      severity: 'warning',
      expr: `${of('etcd_agent_permit_wait_seconds')} > 900 ${unless('Degraded')}`,
      for: '1m',
      summary:
        'Pod {{ $labels.pod }} has waited for a permit for {{ $value | humanizeDuration }}. Check the reconciler and the status of the cluster.',
    },
    {
      name: 'EtcdCertificateExpires',
      severity: 'critical',
      // Certificates that live for days are renewed days before they expire.
      expr: `${left} < 14 * 86400 and ${left} < ${of('etcd_agent_certificate_lifetime_seconds')} / 5`,
      for: '1h',
      summary:
        'The {{ $labels.certificate }} certificate of pod {{ $labels.pod }} expires in {{ $value | humanizeDuration }} and was not renewed in time. Find out who issues it, and why it does not.',
    },
  ];
}
