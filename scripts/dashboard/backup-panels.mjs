// The panels of a backup schedule's dashboard, for an etcd without a reconciler. The exporter reports what they show.
import { from, selector } from './parts.mjs';

const of = selector('namespace', 'etcd_cluster', 'cronjob');

export const rows = [
  {
    title: 'Backups',
    panels: [
      {
        title: 'Stores that can be read',
        text: 'Whether the last read of the store worked. What the other panels show is what the last read that worked found.',
        kind: 'stat',
        width: 12,
        queries: [{ expr: of('etcd_backup_store_up'), legend: '{{store}}' }],
        words: { 0: 'no', 1: 'yes' },
        thresholds: from(1),
      },
      {
        title: 'Newest verified backup',
        text: 'Time since the newest backup was taken that was read back and compared. No value: there is none.',
        kind: 'stat',
        width: 12,
        unit: 's',
        queries: [{ expr: `time() - (${of('etcd_backup_last_verified_timestamp_seconds')} > 0)`, legend: '{{store}}' }],
      },
      {
        title: 'Age of the newest verified backup',
        text: 'What would be lost if every member were lost now.',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: [{ expr: `time() - (${of('etcd_backup_last_verified_timestamp_seconds')} > 0)`, legend: '{{store}}' }],
      },
      {
        title: 'Size of the newest snapshot',
        text: 'Size of the newest verified snapshot: the database, and what the store holds of it.',
        kind: 'timeseries',
        width: 8,
        unit: 'bytes',
        queries: [
          { expr: of('etcd_backup_last_snapshot_size_bytes'), legend: '{{store}}' },
          { expr: of('etcd_backup_last_snapshot_stored_bytes'), legend: '{{store}} stored' },
        ],
      },
      {
        title: 'Duration of the newest backup',
        text: 'How long it took to take and store the newest verified snapshot.',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: [{ expr: of('etcd_backup_last_snapshot_duration_seconds'), legend: '{{store}}' }],
      },
      {
        title: 'Snapshots',
        text: 'Number of snapshots in the store, verified or not.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: of('etcd_backup_snapshots'), legend: '{{store}}' }],
      },
      {
        title: 'Revision of the newest verified backup',
        text: 'It rises with each backup, unless nothing is written to etcd.',
        kind: 'timeseries',
        width: 8,
        queries: [{ expr: of('etcd_backup_last_verified_revision'), legend: '{{store}}' }],
      },
      {
        title: 'Time since the last read of the store',
        text: 'The exporter reads each store every five minutes.',
        kind: 'timeseries',
        width: 8,
        unit: 's',
        queries: [{ expr: `time() - ${of('etcd_backup_store_last_read_timestamp_seconds')}`, legend: '{{store}}' }],
      },
    ],
  },
];
