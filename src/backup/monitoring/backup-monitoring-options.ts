import type { Duration } from 'cdk8s';
import type { MonitoringOptions } from '../../monitoring/monitoring-options';
import type { BackupResources } from '../backup-resources';

/** Configures `addMonitoring` of a backup schedule. */
export interface BackupMonitoringOptions extends MonitoringOptions {
  /**
   * Sets the age of the newest verified backup from which an alert fires: whole seconds, and at least 15 minutes. A
   * schedule that is suspended raises this alert, too.
   * @default - twice the longest time between two runs of the schedule, and at least half an hour
   */
  readonly maxAge?: Duration;
  /**
   * Sets the CPU and memory of the exporter.
   * @default - 100m CPU and 100Mi memory, and as much again for each store
   */
  readonly resources?: BackupResources;
}
