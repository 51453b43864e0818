/** What the series of one thing have as labels. */
export interface AlertScope {
  /** Undefined if the chart has none: the rules then select the things of this name in all namespaces. */
  readonly namespace?: string;
  /** Name of the etcd cluster. */
  readonly cluster?: string;
  /** CronJob of the backup schedule. */
  readonly cronJob?: string;
  /** Name of the reconciler. */
  readonly reconciler?: string;
}

/** An alerting rule. */
export interface Alert {
  readonly name: string;
  readonly severity: 'critical' | 'warning';
  /** PromQL. */
  readonly expr: string;
  /** How long `expr` has to hold, such as `5m`. */
  readonly for: string;
  /** What to do, in one sentence. It may contain Prometheus' templates. */
  readonly summary: string;
  /** Labels beside `severity`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Page and anchor below docs/operations/. It may contain Prometheus' templates. Default: its heading in alerts.md. */
  readonly runbook?: string;
}

/** Rules that Prometheus evaluates one after the other. */
export interface AlertGroup {
  readonly name: string;
  readonly alerts: readonly Alert[];
}

/** Returns a selector of a metric, such as `etcd_server_has_leader{namespace="shop",etcd_cluster="orders"}`. */
export function series(metric: string, scope: AlertScope, ...more: readonly string[]): string {
  return `${metric}{${[...scopeMatchers(scope), ...more].join(',')}}`;
}

/** Returns a selector of a condition, such as `etcd_cluster_condition{…,condition="Degraded",status="True"}`. */
export const conditionIs = (scope: AlertScope, condition: string, ...more: readonly string[]): string =>
  series('etcd_cluster_condition', scope, `condition="${condition}"`, ...more);

function scopeMatchers({ namespace, cluster, cronJob, reconciler }: AlertScope): string[] {
  const labels = { namespace, etcd_cluster: cluster, cronjob: cronJob, reconciler };
  return Object.entries(labels).flatMap(([label, value]) => (value === undefined ? [] : [`${label}="${value}"`]));
}
