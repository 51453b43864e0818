import { type Alert, type AlertScope, conditionIs, series } from './alert';

/**
 * Returns the alerts on the reconciler of a cluster: without it, the conditions of the cluster are of the past.
 *
 * @param reconciler its name
 */
export function alertsOnReconciler(scope: AlertScope, reconciler: string): Alert[] {
  const of = (metric: string, ...more: string[]) => series(metric, scope, ...more);
  const lastPass = of('etcd_reconciler_last_pass_timestamp_seconds');
  return [
    {
      name: 'EtcdReconcilerDown',
      severity: 'critical',
      // Only the reconciler that holds the Lease has a time of a pass.
      expr: `absent(${lastPass}) or time() - max by (namespace, etcd_cluster) (${lastPass}) > 300`,
      for: '10m',
      summary:
        'No reconciler has looked after the cluster for ten minutes. Members serve, but nothing is repaired. Check its pod, its Lease and its log.',
      // The alert on that reconciler itself is silent then, and that on another one is not.
      labels: { reconciler },
    },
    {
      name: 'EtcdOperationStuck',
      severity: 'warning',
      expr: `time() - ${of('etcd_cluster_operation_start_timestamp_seconds')} > 3600`,
      for: '1m',
      summary:
        'The operation {{ $labels.operation }} has been in flight for {{ $value | humanizeDuration }}. See in the status what it waits for.',
    },
    {
      name: 'EtcdMetricsMissing',
      severity: 'critical',
      // Without a pod there are none: then the condition has its own alert.
      expr: `absent(${of('etcd_server_has_leader')}) unless on (etcd_cluster) ${conditionIs(scope, 'Available', 'status="False"')}`,
      for: '15m',
      summary: 'Prometheus has no metrics of any member. Check the scrape target, and who may connect to port 2381.',
    },
    {
      name: 'EtcdAgentMetricsMissing',
      severity: 'critical',
      // The alerts on volumes, certificates and permits would stay silent.
      expr: `count by (namespace, etcd_cluster) (${of('etcd_server_has_leader')} unless on (namespace, pod) ${of('etcd_agent_volume_size_bytes')}) > 0`,
      for: '15m',
      summary:
        'Prometheus scrapes the etcd of {{ $value }} members, and not the agent beside it. Check its target: with TLS it is https, and Prometheus must trust its authority.',
    },
  ];
}
