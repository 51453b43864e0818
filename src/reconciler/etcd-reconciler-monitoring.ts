import { type ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { ports } from '../etcd/cluster-ports';
import { alertsOnReconcilerItself } from '../monitoring/alerts/reconciler-itself-alerts';
import { MonitoringObjects } from '../monitoring/monitoring-objects';
import type { MonitoringOptions } from '../monitoring/monitoring-options';
import { requireFreeId } from '../validation/construct-id';
import { reconcilerLabels, reconcilerSelectorLabels } from './reconciler-pod';

/** What is monitored of a reconciler. */
interface MonitoredReconciler {
  readonly name: string;
  readonly replicas: number;
  readonly labels?: { readonly [name: string]: string };
}

/** Prometheus adds this label. */
const reconcilerLabel = 'reconciler';

/** Holds what `addMonitoring` has added to a reconciler. */
export class EtcdReconcilerMonitoring extends Construct {
  /** @internal */
  static _of(scope: Construct, reconciler: MonitoredReconciler, options: MonitoringOptions): EtcdReconcilerMonitoring {
    return new EtcdReconcilerMonitoring(scope, reconciler, options);
  }

  /** Lets Prometheus scrape the reconciler. It is undefined with another `scrape`. */
  readonly serviceMonitor?: ApiObject;
  /** This Service leads Prometheus to the reconciler by annotations. It is undefined with another `scrape`. */
  readonly service?: ApiObject;
  /** This NetworkPolicy lets Prometheus connect. It is undefined if nobody may. */
  readonly networkPolicy?: ApiObject;
  /**
   * Holds the alerts: a PrometheusRule, or a ConfigMap without the Prometheus operator. It is undefined with
   * `EtcdAlerts.none()`.
   */
  readonly alerts?: ApiObject;
  /** Holds the dashboard for Grafana: a ConfigMap. It is undefined with `EtcdDashboard.none()`. */
  readonly dashboard?: ApiObject;

  private constructor(scope: Construct, { name, replicas, labels }: MonitoredReconciler, options: MonitoringOptions) {
    super(scope, requireFreeId(scope, 'Monitoring'));
    const { namespace } = Chart.of(this);
    const selector = reconcilerSelectorLabels(name);
    const objects = new MonitoringObjects(this, reconcilerLabels(name, labels), options);
    // A cluster called `etcd` has objects that are called etcd-reconciler and etcd-reconciler-metrics.
    const own = `${name}-scrape`;
    const scraped = { selector, port: ports.agent, copied: { [reconcilerLabel]: name } };
    [this.serviceMonitor] = objects.serviceMonitor('ServiceMonitor', own, reconcilerMonitor(name, objects));
    [this.service] = objects.annotatedService('Service', own, scraped);
    [this.networkPolicy] = objects.access('NetworkPolicy', own, selector, [ports.agent]);
    const title = `etcd reconciler ${name}`;
    const alerts = alertsOnReconcilerItself({ namespace, reconciler: name }, replicas);
    this.alerts = objects.rules(name, () => ({
      ...{ name, title },
      groups: [{ name: 'etcd-reconciler-itself', alerts }],
    }));
    this.dashboard = objects.dashboard(name, {
      ...{ of: 'reconciler', title, namespace },
      chosen: { [reconcilerLabel]: name },
    });
    this.node.addValidation({
      validate: () => [
        ...(objects.scrape._tls
          ? ['scrape: tls: the reconciler has no certificate for its metrics; leave tls out']
          : []),
        ...objects.problems(),
      ],
    });
  }
}

function reconcilerMonitor(name: string, { scrape }: MonitoringObjects) {
  return {
    selector: { matchLabels: reconcilerSelectorLabels(name) },
    endpoints: [
      {
        port: 'metrics',
        interval: scrape._interval(),
        relabelings: [{ targetLabel: reconcilerLabel, replacement: name }],
        // What is about a cluster belongs to the monitoring of that cluster, and would be there twice.
        metricRelabelings: [{ sourceLabels: ['etcd_cluster'], regex: '.+', action: 'drop' as const }],
      },
    ],
  };
}
