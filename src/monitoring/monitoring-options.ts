import type { NetworkAccess } from '../lib/network-access';
import type { ClusterMonitoringSpec } from '../resource/types';
import type { EtcdAlerts } from './etcd-alerts';
import type { EtcdDashboard } from './etcd-dashboard';
import type { EtcdScrape } from './etcd-scrape';

/** Configures `addMonitoring`. */
export interface MonitoringOptions {
  /**
   * Decides how Prometheus finds what it scrapes.
   * @default EtcdScrape.serviceMonitors()
   */
  readonly scrape?: EtcdScrape;
  /**
   * Selects the pods of Prometheus, which may connect to the metrics.
   * @default - every pod with the label `app.kubernetes.io/name: prometheus`, in any namespace
   */
  readonly scraper?: NetworkAccess;
  /**
   * Decides which alerts a PrometheusRule contains.
   * @default EtcdAlerts.all()
   */
  readonly alerts?: EtcdAlerts;
  /**
   * Decides how Grafana gets a dashboard.
   * @default EtcdDashboard.configMap()
   */
  readonly dashboard?: EtcdDashboard;
  /**
   * Adds labels to the ServiceMonitors and the PrometheusRule. Prometheus often selects them by a label, for example by
   * `release: kube-prometheus-stack`.
   * @default - only the standard labels, `app.kubernetes.io/…`
   */
  readonly labels?: { readonly [name: string]: string };
}

/** The options as a resource has them. */
export function monitoringSpec({
  scrape,
  scraper,
  alerts,
  dashboard,
  labels,
}: MonitoringOptions): ClusterMonitoringSpec {
  return {
    scrape: scrape?._scrape(),
    scraper: scraper?._spec(),
    alerts: alerts?._alerts(),
    dashboard: dashboard?._dashboard(),
    labels,
  };
}
