import type { Duration } from 'cdk8s';
import { durationText } from '../../lib/duration';
import { type MonitoringOptions, monitoringSpec } from '../../monitoring/monitoring-options';
import type { BackupMonitoringSpec } from '../../resource/types';
import { type BackupResources, givenResources } from '../backup-resources';

/** Configures `addMonitoring` of a backup schedule. */
export interface BackupMonitoringOptions extends MonitoringOptions {
  /**
   * Sets the age of the newest verified backup from which an alert fires: whole seconds, at least 15 minutes, and
   * above the longest time between two runs. A schedule that is suspended raises this alert, too.
   * @default - twice the longest time between two runs of the schedule, and at least half an hour
   */
  readonly maxAge?: Duration;
  /**
   * Sets the CPU and memory of the exporter.
   * @default - 100m CPU and 100Mi memory, and as much again for each store
   */
  readonly resources?: BackupResources;
}

/** The options as a resource has them. */
export function backupMonitoringSpec({ maxAge, resources, ...options }: BackupMonitoringOptions): BackupMonitoringSpec {
  return {
    ...monitoringSpec(options),
    maxAge: maxAge && durationText(maxAge),
    resources: givenResources(resources),
  };
}
