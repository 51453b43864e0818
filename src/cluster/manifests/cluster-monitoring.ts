import type { Manifest } from '../../lib/manifest';
import { monitoringManifests } from '../monitoring/cluster-monitoring';
import type { MonitoredCluster } from '../monitoring/monitored-cluster';
import type { ResolvedCluster } from '../resolved-cluster';
import { clusterLabels, monitored } from './cluster-labels';
import { backupTls, clientTls } from './cluster-schedules';

/** Returns the objects of the monitoring of a cluster, with the ids of their constructs. */
export function monitoringOf(cluster: ResolvedCluster): [id: string, Manifest][] {
  if (!cluster.monitoring) return [];
  const objects = monitoringManifests(
    monitoredCluster(cluster, () => cluster.reconcilerName),
    cluster.monitoring,
  );
  return [...objects].map(([id, manifest]) => [`Monitoring/${id}`, manifest]);
}

/** What Prometheus needs to know of a cluster. */
export const monitoredCluster = (cluster: ResolvedCluster, reconciler: () => string): MonitoredCluster => ({
  ...monitored(cluster.name, cluster.namespace),
  labels: clusterLabels(cluster),
  annotations: cluster.annotations,
  reconciler,
  clientTls: clientTls(cluster),
  agentTls: backupTls(cluster),
});
