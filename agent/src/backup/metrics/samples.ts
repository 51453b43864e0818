import type { NamedCluster } from '../catalog/identity/folder.ts';
import type { Newest } from '../catalog/select.ts';

/** Every metric with its help text. All are gauges, because a run has ended when its metrics are read. */
export const families = {
  etcd_backup_last_run_timestamp_seconds: 'When the last run of the command ended.',
  etcd_backup_last_run_exit_code: 'Exit code of the last run of the command; 0 is success.',
  etcd_backup_last_run_duration_seconds: 'How long the last run of the command took.',
  etcd_backup_last_run_phase_duration_seconds: 'How long each phase of the last run took.',
  etcd_backup_last_run_copied_snapshots: 'Snapshots that the last run copied to the store.',
  etcd_backup_last_run_deleted_snapshots: 'Snapshots that retention deleted in the last run.',
  etcd_backup_last_run_deferred_snapshots: 'Snapshots that retention left for the next run.',
  etcd_backup_last_run_failed_snapshots: 'Snapshots that the last run found damaged or could not copy.',
  etcd_backup_last_verified_timestamp_seconds: 'When the newest verified snapshot was taken; 0 when there is none.',
  etcd_backup_last_snapshot_size_bytes: 'Size of the newest verified snapshot, database and checksum.',
  etcd_backup_last_snapshot_stored_bytes: 'Size of the newest verified snapshot in the store.',
  etcd_backup_snapshots: 'Snapshots in the store, verified or not.',
  etcd_backup_database_size_bytes: 'Size of the database when it was last backed up, free pages included.',
  etcd_backup_database_in_use_bytes: 'Size of the database when it was last backed up, without free pages.',
} as const;

export interface Sample {
  readonly name: keyof typeof families;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export const gauge = (name: Sample['name'], labels: Sample['labels'], value: number): Sample => ({
  name,
  labels,
  value,
});

export const seconds = (time: string): number => Date.parse(time) / 1000;

/** Labels of a cluster. The namespace comes first, so that the labels of no other cluster begin with the same text. */
export const clusterLabels = ({ cluster, namespace }: NamedCluster): Record<string, string> =>
  namespace ? { namespace, cluster } : { cluster };

/** Samples of one store, from its snapshots. */
export function storeSamples(
  named: NamedCluster,
  store: string,
  { newest, own }: Pick<Newest, 'newest' | 'own'>,
): Sample[] {
  const labels = { ...clusterLabels(named), store };
  const manifest = newest?.manifest;
  return [
    gauge('etcd_backup_snapshots', labels, own.length),
    gauge('etcd_backup_last_verified_timestamp_seconds', labels, manifest ? seconds(manifest.createdAt) : 0),
    ...(manifest ? sizeSamples(labels, manifest) : []),
  ];
}

export function sizeSamples(
  labels: Sample['labels'],
  { content, object }: { content: { sizeBytes: number }; object: { sizeBytes: number } },
): Sample[] {
  return [
    gauge('etcd_backup_last_snapshot_size_bytes', labels, content.sizeBytes),
    gauge('etcd_backup_last_snapshot_stored_bytes', labels, object.sizeBytes),
  ];
}

export function retentionSamples(
  command: string,
  { store, ...named }: NamedCluster & { store: string },
  { deleted, deferred }: { deleted: readonly string[]; deferred: number },
): Sample[] {
  const labels = { command, ...clusterLabels(named), store };
  return [
    gauge('etcd_backup_last_run_deleted_snapshots', labels, deleted.length),
    gauge('etcd_backup_last_run_deferred_snapshots', labels, deferred),
  ];
}
