import { type ApiObject, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { MonitoringObjects } from '../../monitoring/monitoring-objects';
import { inside, propProblems, withFound } from '../../resource/prop-problems';
import { fieldProblems } from '../../resource/resource-problems';
import type { BackupMonitoringSpec } from '../../resource/types';
import { requireFreeId } from '../../validation/construct-id';
import { resourcesPropNames } from '../backup-resources';
import {
  backupMonitoringManifests,
  backupMonitoringProblems,
  exporterSelector,
  type MonitoredSchedule,
} from './backup-monitoring-manifests';

/**
 * Holds what `addMonitoring` has added to a backup schedule: an exporter, which reads the stores every five minutes, and
 * what Prometheus needs to scrape it.
 */
export class EtcdBackupMonitoring extends Construct {
  /** @internal */
  static _of(
    scope: Construct,
    schedule: Omit<MonitoredSchedule, 'namespace'>,
    spec: BackupMonitoringSpec,
  ): EtcdBackupMonitoring {
    return new EtcdBackupMonitoring(scope, schedule, spec);
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
  readonly _selector: { readonly [name: string]: string };
  /** @internal */
  readonly _spec: BackupMonitoringSpec;

  private constructor(scope: Construct, schedule: Omit<MonitoredSchedule, 'namespace'>, spec: BackupMonitoringSpec) {
    super(scope, requireFreeId(scope, 'Monitoring'));
    this._selector = exporterSelector(schedule.cronJobName);
    this._spec = spec;
    const monitored = { ...schedule, namespace: Chart.of(this).namespace };
    const objects = new MonitoringObjects(this, () => backupMonitoringManifests(monitored, spec));
    this.deployment = objects.get('Deployment')!;
    this.service = objects.get('Service')!;
    this.networkPolicy = objects.get('NetworkPolicy')!;
    this.serviceMonitor = objects.get('ServiceMonitor');
    this.alerts = objects.get('Alerts');
    this.dashboard = objects.get('Dashboard');
    this.node.addValidation({
      validate: () => {
        const own = [...backupMonitoringProblems(monitored, spec), ...objects.problems()];
        const found = fieldProblems('EtcdBackupSchedule', 'spec.monitoring', spec);
        return withFound(own, propProblems(found, inside('resources', resourcesPropNames)));
      },
    });
  }
}
