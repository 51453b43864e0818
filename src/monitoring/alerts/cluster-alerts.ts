import type { AlertGroup, AlertScope } from './alert';
import { alertsOnConditions } from './condition-alerts';
import { alertsOnMembers } from './member-alerts';
import { alertsOnReconciler } from './reconciler-alerts';

/**
 * Returns the alerts about an EtcdCluster.
 *
 * @param reconciler name of its reconciler
 */
export const clusterAlerts = (scope: AlertScope, reconciler: string): AlertGroup[] => [
  { name: 'etcd-conditions', alerts: alertsOnConditions(scope) },
  { name: 'etcd-members', alerts: alertsOnMembers(scope) },
  { name: 'etcd-reconciler', alerts: alertsOnReconciler(scope, reconciler) },
];
