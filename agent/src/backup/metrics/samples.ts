import { type Sample, sample, seconds } from '../../lib/metrics/sample.ts';
import type { NamedCluster } from '../catalog/identity/folder.ts';
import type { Newest } from '../catalog/select.ts';

interface ClusterLabels {
  readonly namespace?: string | undefined;
  readonly etcd_cluster: string;
}

/** Labels of a cluster. Without a namespace the label does not exist. */
export const clusterLabels = ({ cluster, namespace }: NamedCluster): ClusterLabels =>
  namespace ? { namespace, etcd_cluster: cluster } : { etcd_cluster: cluster };

export type StoreLabels = ClusterLabels & { readonly store: string };

/** Samples of one store, from its snapshots. */
export function storeSamples(
  named: NamedCluster,
  store: string,
  { newest, own }: Pick<Newest, 'newest' | 'own'>,
): Sample[] {
  const labels = { ...clusterLabels(named), store };
  const manifest = newest?.manifest;
  return [
    sample('etcd_backup_snapshots', labels, own.length),
    sample('etcd_backup_last_verified_timestamp_seconds', labels, manifest ? seconds(manifest.createdAt) : 0),
    ...(manifest ? sizeSamples(labels, manifest) : []),
  ];
}

export function sizeSamples(
  labels: StoreLabels,
  { content, object }: { content: { sizeBytes: number }; object: { sizeBytes: number } },
): Sample[] {
  return [
    sample('etcd_backup_last_snapshot_size_bytes', labels, content.sizeBytes),
    sample('etcd_backup_last_snapshot_stored_bytes', labels, object.sizeBytes),
  ];
}

export function retentionSamples(
  command: string,
  { store, ...named }: NamedCluster & { store: string },
  { deleted, deferred }: { deleted: readonly string[]; deferred: number },
): Sample[] {
  const labels = { command, ...clusterLabels(named), store };
  return [
    sample('etcd_backup_last_run_deleted_snapshots', labels, deleted.length),
    sample('etcd_backup_last_run_deferred_snapshots', labels, deferred),
  ];
}
