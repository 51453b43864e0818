import { JsonPatch } from 'cdk8s';
import type { EtcdMonitoring } from '../../../src';
import type { Parts } from '../../e2e/support/member-cluster';
import { addNightly } from '../../e2e/support/orders-backups';
import type { S3 } from '../../e2e/support/s3';
import { shortened } from './shortened';

/** How much shorter the durations of the alerts are. */
export const factor = 10;

/** Adds the monitoring, as a user does, but for the durations of its alerts. */
export function addMonitoring({ cluster }: Pick<Parts, 'cluster'>): EtcdMonitoring {
  const monitoring = cluster.addMonitoring();
  const { groups } = monitoring.alerts!.toJson().spec;
  monitoring.alerts!.addJsonPatch(JsonPatch.replace('/spec/groups', shortened(groups, factor)));
  return monitoring;
}

/** The same with a backup schedule. */
export const withBackups =
  (s3: () => S3) =>
  (parts: Parts): void => {
    addNightly(parts.cluster, s3().store());
    addMonitoring(parts);
  };
