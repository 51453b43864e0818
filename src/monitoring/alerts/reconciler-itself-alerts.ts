import { type Alert, type AlertScope, series } from './alert';

/**
 * Returns the alerts on a reconciler itself, from a scrape of its own. What it does to a cluster is the matter of that
 * cluster's alerts.
 */
export function alertsOnReconcilerItself(scope: AlertScope, replicas: number): Alert[] {
  const leader = series('etcd_reconciler_leader', scope);
  const each = 'namespace, reconciler';
  const leads = `max by (${each}) (${leader})`;
  // Each monitored cluster of this reconciler has an alert of its own if nobody looks after it.
  const reported = series('ALERTS', scope, 'alertname="EtcdReconcilerDown"');
  return [
    {
      name: 'EtcdReconcilerInactive',
      severity: 'critical',
      expr: `(absent(${leader}) or ${leads} == 0) unless on (namespace) ${reported}`,
      for: '10m',
      summary:
        'No pod of the reconciler holds its Lease, so nothing is repaired. Check its Deployment, its Lease and its log.',
    },
    {
      name: 'EtcdReconcilerNotSynced',
      severity: 'warning',
      expr: `min by (${each}, resource) (${series('etcd_reconciler_synced', scope)}) == 0 and on (${each}) ${leads} == 1`,
      for: '15m',
      summary:
        'The reconciler cannot watch {{ $labels.resource }}, so it reacts late. Its log says why: often a right is missing, or a CRD.',
    },
    ...(replicas > 1
      ? [
          {
            name: 'EtcdReconcilerStandbyDown',
            severity: 'warning' as const,
            expr: `count by (${each}) (${leader}) < ${replicas} and on (${each}) ${leads} == 1`,
            for: '15m',
            summary: 'The reconciler runs without its second pod. Check its Deployment.',
          },
        ]
      : []),
  ];
}
