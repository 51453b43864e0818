import { type ApiObject, Chart, Duration, Lazy } from 'cdk8s';
import { Construct } from 'constructs';
import { ports } from '../../etcd/cluster-ports';
import { completeResources } from '../../lib/backup-pod';
import { durationText, milliseconds, secondsProblem } from '../../lib/duration';
import { type JobFields, withPodFields } from '../../lib/pod-fields';
import { alertsOnBackups } from '../../monitoring/alerts/backup-alerts';
import { MonitoringObjects } from '../../monitoring/monitoring-objects';
import { requireFreeId } from '../../validation/construct-id';
import { longestGap } from '../../validation/cron';
import { problemsOf } from '../../validation/problems';
import { type BackupResources, givenResources, resourcesProblems } from '../backup-resources';
import type { BackupMonitoringOptions } from './backup-monitoring-options';
import { type ExporterPodSpec, exportedStores, exporterPod } from './exporter-pod';

/** What is monitored of a schedule. */
export interface MonitoredSchedule {
  readonly cronJobName: string;
  readonly cluster: string;
  readonly schedule: string;
  /** Complete only at synthesis: stores may be added until then. */
  readonly pod: () => Omit<ExporterPodSpec, 'resources'>;
  readonly fields: () => JobFields;
}

type Labels = Readonly<Record<string, string>>;

/** Prometheus adds this label. It is that of kube-state-metrics. */
const cronJobLabel = 'cronjob';

/**
 * Holds what `addMonitoring` has added to a backup schedule: an exporter, which reads the stores every five minutes, and
 * what Prometheus needs to scrape it.
 */
export class EtcdBackupMonitoring extends Construct {
  /** @internal */
  static _of(
    scope: Construct,
    schedule: MonitoredSchedule,
    labels: Labels,
    options: BackupMonitoringOptions,
  ): EtcdBackupMonitoring {
    return new EtcdBackupMonitoring(scope, schedule, labels, options);
  }

  /** This Deployment runs the exporter. It uses the ServiceAccount and the Secrets for the stores of the schedule. */
  readonly deployment: ApiObject;
  /** This Service leads to the exporter. */
  readonly service: ApiObject;
  /** This NetworkPolicy lets Prometheus alone connect to the exporter. */
  readonly networkPolicy: ApiObject;
  /** Lets Prometheus scrape the exporter. It is undefined with another `scrape`. */
  readonly serviceMonitor?: ApiObject;
  /**
   * Holds the alerts: a PrometheusRule, or a ConfigMap without the Prometheus operator. It is undefined with
   * `EtcdAlerts.none()`.
   */
  readonly alerts?: ApiObject;
  /** Holds the dashboard for Grafana: a ConfigMap. It is undefined with `EtcdDashboard.none()`. */
  readonly dashboard?: ApiObject;
  /**
   * Labels that select the pod of the exporter.
   * @internal
   */
  readonly _selector: Labels;
  private readonly objects: MonitoringObjects;

  private constructor(
    scope: Construct,
    private readonly schedule: MonitoredSchedule,
    scheduleLabels: Labels,
    private readonly options: BackupMonitoringOptions,
  ) {
    super(scope, requireFreeId(scope, 'Monitoring'));
    const { cronJobName, cluster } = schedule;
    const { namespace } = Chart.of(this);
    const name = `${cronJobName}-exporter`;
    const selector = { 'app.kubernetes.io/name': 'etcd-backup-exporter', 'app.kubernetes.io/instance': cronJobName };
    this._selector = selector;
    const labels = { ...scheduleLabels, 'app.kubernetes.io/component': 'exporter', ...selector };
    const subject = { title: `etcd ${cluster}, backups of ${cronJobName}`, name: cronJobName };
    this.objects = new MonitoringObjects(this, labels, options);
    this.deployment = this.objects.object('Deployment', 'apps/v1', 'Deployment', name, {
      spec: {
        replicas: 1,
        selector: { matchLabels: selector },
        // Two pods may be unable to share a volume.
        strategy: { type: 'Recreate' },
        template: Lazy.any({ produce: () => this.template(labels) }),
      },
    });
    const scraped = { selector, port: ports.agent, copied: { [cronJobLabel]: cronJobName } };
    this.service = this.objects.service('Service', name, scraped);
    this.networkPolicy = this.objects.policy('NetworkPolicy', name, selector, [ports.agent]);
    [this.serviceMonitor] = this.objects.serviceMonitor('ServiceMonitor', name, this.monitor(selector));
    this.alerts = this.objects.rules(cronJobName, () => ({
      ...subject,
      groups: [
        {
          name: 'etcd-backups',
          alerts: alertsOnBackups({ namespace, cluster, cronJob: cronJobName }, milliseconds(this.maxAge()) / 1_000),
        },
      ],
    }));
    this.dashboard = this.objects.dashboard(cronJobName, {
      ...{ of: 'backup', title: subject.title, namespace },
      chosen: { etcd_cluster: cluster, [cronJobLabel]: cronJobName },
    });
    this.node.addValidation({ validate: () => this.problems() });
  }

  private template(labels: Labels): object {
    const { container, ...fields } = this.schedule.fields();
    return withPodFields(exporterPod({ ...this.podSpec(), labels }), fields, { exporter: container });
  }

  private podSpec(): ExporterPodSpec {
    const pod = this.schedule.pod();
    return { ...pod, resources: exporterResources(exportedStores(pod.stores).length, this.options.resources) };
  }

  private maxAge(): Duration {
    const runs = longestGap(this.schedule.schedule) ?? 0;
    return this.options.maxAge ?? Duration.minutes(Math.max(30, Math.ceil(2 * runs)));
  }

  private monitor(matchLabels: Labels) {
    const relabelings = [{ targetLabel: cronJobLabel, replacement: this.schedule.cronJobName }];
    const interval = this.objects.scrape._interval();
    return {
      selector: { matchLabels },
      // What the exporter says of the namespace and the cluster counts.
      endpoints: [{ port: 'metrics', interval, honorLabels: true, relabelings }],
    };
  }

  private problems(): string[] {
    const { maxAge, resources } = this.options;
    return [
      ...problemsOf(
        ...[this.storesProblem(), secondsProblem('maxAge', maxAge), maxAgeProblem(maxAge), this.nameProblem()],
        this.objects.scrape._tls
          ? 'scrape: tls: the exporter has no certificate, and serves nothing secret; leave tls out'
          : undefined,
      ),
      ...resourcesProblems(resources),
      ...this.objects.problems(),
    ];
  }

  private storesProblem(): string | undefined {
    if (exportedStores(this.schedule.pod().stores).length > 0) return undefined;
    return 'addMonitoring: every store is a directory of the node, and an exporter sees only that of its own node; add another store';
  }

  private nameProblem(): string | undefined {
    const { cronJobName } = this.schedule;
    if (/^[a-z][-a-z0-9]*$/.test(cronJobName)) return undefined;
    return `addMonitoring: '${cronJobName}' cannot begin the name of a Service; set the schedule's name to lower-case letters, digits and '-', beginning with a letter`;
  }
}

const leastAge = Duration.minutes(15);

function maxAgeProblem(maxAge: Duration | undefined): string | undefined {
  if (!maxAge || milliseconds(maxAge) <= 0 || milliseconds(maxAge) >= milliseconds(leastAge)) return undefined;
  return `maxAge: ${durationText(maxAge)} is too short, because the exporter reads each store every five minutes; give at least ${durationText(leastAge)}`;
}

/** Each store is read by a process of its own. */
function exporterResources(stores: number, resources: BackupResources | undefined): ExporterPodSpec['resources'] {
  const amount = 100 * (1 + stores);
  const quantities = { cpu: `${amount}m`, memory: `${amount}Mi` };
  return completeResources(givenResources(resources) ?? {}, { requests: quantities, limits: quantities });
}
