import { type Alert, type AlertScope, series } from './alert';

/** A store counts as down if no read worked for so long. The exporter reads every five minutes. */
const DOWN = '20m';

/** Returns the alerts on what the exporter reports of the stores of a backup schedule. `maxAge` in seconds. */
export function alertsOnBackups(scope: AlertScope, maxAge: number): Alert[] {
  const labels = ['namespace', 'etcd_cluster', 'cronjob', 'store'].join(', ');
  const of = (metric: string) => series(metric, scope);
  const verified = of('etcd_backup_last_verified_timestamp_seconds');
  const newest = `max by (${labels}) (${verified})`;
  const hadOne = `max by (${labels}) (max_over_time(${verified}[7d])) > 0`;
  const isDown = `max by (${labels}) (max_over_time(${of('etcd_backup_store_up')}[${DOWN}])) == 0`;
  // A store that cannot be read is one cause, and one alert.
  const unlessDown = `unless on (${labels}) (${isDown})`;
  return [
    {
      name: 'EtcdBackupMetricsMissing',
      severity: 'critical',
      expr: `absent(${of('etcd_backup_store_up')})`,
      for: '15m',
      summary: 'Nothing watches the backups: Prometheus does not reach their exporter. Check its pod and its log.',
    },
    {
      name: 'EtcdBackupStoreDown',
      severity: 'critical',
      expr: isDown,
      for: '10m',
      summary: 'The store {{ $labels.store }} cannot be read. The log of the exporter says why.',
    },
    {
      name: 'EtcdBackupTooOld',
      severity: 'critical',
      expr: `time() - (${newest} > 0) > ${maxAge} ${unlessDown}`,
      for: '10m',
      summary:
        'The newest verified backup in {{ $labels.store }} is {{ $value | humanizeDuration }} old. Read the log of the last Job of the schedule.',
    },
    {
      name: 'EtcdBackupsGone',
      severity: 'critical',
      expr: `${newest} == 0 and on (${labels}) (${hadOne}) ${unlessDown}`,
      for: '10m',
      summary:
        'The verified backups in {{ $labels.store }} are gone. Find out who deleted them, and take a backup now.',
    },
    {
      name: 'EtcdBackupNone',
      severity: 'critical',
      // A restart of the exporter does not begin the time anew.
      expr: `max by (${labels}) (last_over_time(${verified}[15m])) == 0 unless on (${labels}) (${hadOne}) ${unlessDown}`,
      // A new schedule has its first run within this time.
      for: `${maxAge}s`,
      summary: 'There is no verified backup in {{ $labels.store }}. Read the log of the last Job of the schedule.',
    },
  ];
}
