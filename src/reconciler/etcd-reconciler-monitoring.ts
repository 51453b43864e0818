import { type ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { ports } from '../etcd/cluster-ports';
import type { Labels, Manifests } from '../lib/manifest';
import { alertsOnReconcilerItself } from '../monitoring/alerts/reconciler-itself-alerts';
import { alertsProblems } from '../monitoring/etcd-alerts';
import { MonitoringManifests } from '../monitoring/monitoring-manifests';
import { MonitoringObjects, monitoringProblems } from '../monitoring/monitoring-objects';
import { propProblems, withFound } from '../resource/prop-problems';
import { fieldProblems } from '../resource/resource-problems';
import type { ClusterMonitoringSpec, MonitoringSpec } from '../resource/types';
import { requireFreeId } from '../validation/construct-id';
import { reconcilerLabels, reconcilerSelectorLabels } from './reconciler-pod';

/** What is monitored of a reconciler. */
interface MonitoredReconciler {
  readonly name: string;
  readonly replicas: number;
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

/** Prometheus adds this label. */
const reconcilerLabel = 'reconciler';

/** Holds what `addMonitoring` has added to a reconciler. */
export class EtcdReconcilerMonitoring extends Construct {
  /** @internal */
  static _of(scope: Construct, reconciler: MonitoredReconciler, spec: MonitoringSpec): EtcdReconcilerMonitoring {
    return new EtcdReconcilerMonitoring(scope, reconciler, spec);
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

  /** @internal */
  readonly _spec: MonitoringSpec;

  private constructor(scope: Construct, reconciler: MonitoredReconciler, spec: MonitoringSpec) {
    super(scope, requireFreeId(scope, 'Monitoring'));
    this._spec = spec;
    const monitored = { ...reconciler, namespace: Chart.of(this).namespace };
    const objects = new MonitoringObjects(this, () => reconcilerMonitoring(monitored, spec));
    this.serviceMonitor = objects.get('ServiceMonitor');
    this.service = objects.get('Service');
    this.networkPolicy = objects.get('NetworkPolicy');
    this.alerts = objects.get('Alerts');
    this.dashboard = objects.get('Dashboard');
    this.node.addValidation({
      validate: () => {
        const own = [...reconcilerMonitoringProblems(monitored, spec), ...objects.problems()];
        return withFound(own, propProblems(fieldProblems('EtcdReconciler', 'spec.monitoring', spec)));
      },
    });
  }
}

interface MonitoredInNamespace extends MonitoredReconciler {
  readonly namespace?: string;
}

/** Returns the objects that monitor a reconciler. */
export function reconcilerMonitoring(
  { name, namespace, labels, annotations, ...reconciler }: MonitoredInNamespace,
  spec: MonitoringSpec,
): Manifests {
  const selector = reconcilerSelectorLabels(name);
  const make = new MonitoringManifests({ labels: reconcilerLabels(name, labels), annotations }, spec);
  // A cluster called `etcd` has objects that are called etcd-reconciler and etcd-reconciler-metrics.
  const own = `${name}-scrape`;
  const chosen = { [reconcilerLabel]: name };
  const scraped = { selector, port: ports.agent, copied: chosen };
  const title = `etcd reconciler ${name}`;
  return new Map([
    ...make.serviceMonitor('ServiceMonitor', own, reconcilerMonitor(name, make.interval)),
    ...make.annotatedService('Service', own, scraped),
    ...make.access('NetworkPolicy', own, selector, [ports.agent]),
    ...make.rules(name, { name, title, groups: alertGroupsOf({ name, namespace, ...reconciler }) }),
    ...make.dashboard(name, { of: 'reconciler', title, namespace, chosen }),
  ]);
}

const alertGroupsOf = ({ name, namespace, replicas }: MonitoredInNamespace) => [
  { name: 'etcd-reconciler-itself', alerts: alertsOnReconcilerItself({ namespace, reconciler: name }, replicas) },
];

/** Problems with the monitoring of a reconciler, whoever wrote it. */
function reconcilerMonitoringProblems(reconciler: MonitoredInNamespace, spec: ClusterMonitoringSpec): string[] {
  return [
    ...(spec.scrape?.tls ? ['scrape: tls: the reconciler has no certificate for its metrics; leave tls out'] : []),
    ...monitoringProblems(spec),
    ...alertsProblems(spec.alerts, alertGroupsOf(reconciler)),
  ];
}

function reconcilerMonitor(name: string, interval: string | undefined) {
  return {
    selector: { matchLabels: reconcilerSelectorLabels(name) },
    endpoints: [
      {
        port: 'metrics',
        interval,
        relabelings: [{ targetLabel: reconcilerLabel, replacement: name }],
        // What is about a cluster belongs to the monitoring of that cluster, and would be there twice.
        metricRelabelings: [{ sourceLabels: ['etcd_cluster'], regex: '.+', action: 'drop' as const }],
      },
    ],
  };
}
