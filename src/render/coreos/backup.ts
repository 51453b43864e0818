import { Duration } from 'cdk8s';
import { Compression } from '../../backup/compression';
import { Retention } from '../../backup/retention';
import { EtcdClientTls } from '../../tls/etcd-client-tls';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { cronInterval } from '../interval';
import { metadataLabels } from '../metadata';
import { noteOneBackup } from '../old-backup';
import type { PlannedBackup, PlannedSchedule } from '../plan';
import { coreosStore } from './store';

/** With an interval that operator went on making backups, without one it made one. */
export function coreosBackup(document: Document): PlannedBackup | PlannedSchedule | undefined {
  const policy = document.spec.object('backupPolicy');
  const interval = positive(policy, 'backupIntervalInSecond');
  return interval === undefined ? oneBackup(document, policy) : scheduled(document, policy!, interval);
}

function oneBackup(document: Document, policy: Fields | undefined): PlannedBackup | undefined {
  const { spec, report } = document;
  const etcd = access(spec);
  const stored = coreosStore(spec, 'storageType');
  const timeout = positive(policy, 'timeoutInSecond');
  if (positive(policy, 'maxBackups') !== undefined)
    policy?.lose('maxBackups', 'is of use only with backupIntervalInSecond; remove it');
  if (!stored) return undefined;
  noteOneBackup(document);
  report.note(
    'spec.etcdEndpoints',
    'are still those of the old cluster; for a backup of an EtcdCluster write spec.clusterName',
  );
  return {
    becomes: 'backup',
    document,
    labels: metadataLabels(document),
    ...etcd,
    ...stored,
    compression: Compression.NONE,
    timeout: timeout === undefined ? undefined : Duration.seconds(timeout),
  };
}

function scheduled(document: Document, policy: Fields, seconds: number): PlannedSchedule | undefined {
  const { spec, report } = document;
  const etcd = access(spec);
  const stored = coreosStore(spec, 'storageType', folderOf);
  const timeout = positive(policy, 'timeoutInSecond');
  const count = positive(policy, 'maxBackups');
  if (!stored) return undefined;
  const { cron, text, exact } = cronInterval(seconds);
  if (!exact) {
    report.note(policy.at('backupIntervalInSecond'), `cron has no even schedule of ${seconds} s; it becomes ${text}`);
  }
  report.note(
    'spec',
    'becomes a CronJob, with object names of its own; the old backups stay as they are, so delete them by hand when they are needed no more',
  );
  return {
    becomes: 'schedule',
    document,
    endpointsField: spec.at('etcdEndpoints'),
    ...etcd,
    options: {
      labels: metadataLabels(document),
      schedule: cron,
      store: stored.store,
      retention: count === undefined ? undefined : Retention.last(count),
      timeout: timeout === undefined ? undefined : Duration.seconds(timeout),
    },
  };
}

function access(spec: Fields): { readonly endpoints: string[]; readonly tls?: EtcdClientTls } {
  const secret = spec.text('clientTLSSecret');
  const keys = { caKey: 'etcd-client-ca.crt', certKey: 'etcd-client.crt', keyKey: 'etcd-client.key' };
  return {
    endpoints: spec.strings('etcdEndpoints') ?? [],
    tls: secret === undefined ? undefined : EtcdClientTls.fromSecret(secret, keys),
  };
}

/** The folder of the object: that operator put a date behind the whole path. */
function folderOf(key: string): string | undefined {
  const end = key.lastIndexOf('/');
  return end < 0 ? undefined : key.slice(0, end);
}

/** That operator takes zero and less for none. */
function positive(policy: Fields | undefined, key: string): number | undefined {
  const number = policy?.integer(key);
  return number !== undefined && number > 0 ? number : undefined;
}
