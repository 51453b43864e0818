import { Cron, Duration } from 'cdk8s';
import { durationText } from '../../lib/duration';
import type { BackupScheduleSpec, ExistingEtcdSpec } from '../../resource/types';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { annotationsLost, metadataLabels } from '../metadata';
import { noteOneBackup } from '../older-operators';
import type { PlannedBackup, PlannedSchedule } from '../plan';
import { coreosStore } from './store';

/** With an interval that operator takes backups periodically; without one it takes a single backup. */
export function coreosBackup(document: Document): PlannedBackup | PlannedSchedule | undefined {
  annotationsLost(document);
  const policy = document.spec.object('backupPolicy');
  const interval = positive(policy, 'backupIntervalInSecond');
  return interval === undefined ? oneBackup(document, policy) : scheduled(document, policy!, interval);
}

function oneBackup(document: Document, policy: Fields | undefined): PlannedBackup | undefined {
  const { name, spec, report } = document;
  const labels = metadataLabels(document);
  const etcd = access(spec);
  const stored = coreosStore(spec, 'storageType');
  const total = timeout(policy);
  if (positive(policy, 'maxBackups') !== undefined)
    policy?.lose('maxBackups', 'has an effect only with backupIntervalInSecond; remove it');
  if (!stored) return undefined;
  noteOneBackup(document);
  report.note(
    'spec.etcdEndpoints',
    'still belong to the old cluster; to back up an EtcdCluster, write spec.clusterName',
  );
  const timeouts = total === undefined ? undefined : { total };
  return { kind: 'EtcdBackup', name, document, labels, spec: { ...etcd, ...stored, compression: 'none', timeouts } };
}

function scheduled(document: Document, policy: Fields, seconds: number): PlannedSchedule | undefined {
  const { name, spec, report } = document;
  const labels = metadataLabels(document);
  const etcd = access(spec);
  const stored = coreosStore(spec, 'storageType', folderOf);
  if (!stored) return undefined;
  const { cron, text, exact } = cronInterval(seconds);
  if (!exact) {
    report.note(
      policy.at('backupIntervalInSecond'),
      `cron cannot express an even interval of ${seconds} s; it becomes ${text}`,
    );
  }
  report.note(
    'spec',
    'becomes a CronJob, whose backups have other object names; the old backups are kept, so delete them by hand when you no longer need them',
  );
  return {
    kind: 'EtcdBackupSchedule',
    // The suffix avoids a clash with the ServiceAccount of a cluster, which has the cluster's name.
    name: name.includes('backup') ? name : `${name}-backup`,
    document,
    endpointsField: spec.at('etcdEndpoints'),
    spec: {
      cluster: name,
      etcd,
      cron,
      stores: [{ ...stored.store, retention: retention(policy) }],
      timeout: timeout(policy),
      labels,
    },
  };
}

function access(spec: Fields): ExistingEtcdSpec {
  const secretName = spec.text('clientTLSSecret');
  const items = [
    { key: 'etcd-client-ca.crt', path: 'ca.crt' },
    { key: 'etcd-client.crt', path: 'tls.crt' },
    { key: 'etcd-client.key', path: 'tls.key' },
  ];
  const tls = secretName === undefined ? undefined : { clientCertificate: true, files: { secretName, items } };
  return { endpoints: spec.strings('etcdEndpoints') ?? [], tls };
}

function timeout(policy: Fields | undefined): string | undefined {
  const seconds = positive(policy, 'timeoutInSecond');
  return seconds === undefined ? undefined : durationText(Duration.seconds(seconds));
}

/** Reads how many backups are kept. */
export function retention(policy: Fields): BackupScheduleSpec['stores'][number]['retention'] {
  const last = positive(policy, 'maxBackups');
  return last === undefined ? undefined : { last };
}

/** Returns the folder of the object: that operator appended a date to the whole path. */
function folderOf(key: string): string | undefined {
  const end = key.lastIndexOf('/');
  return end < 0 ? undefined : key.slice(0, end);
}

/** Reads a number above zero: that operator treats zero and less as not given. */
export function positive(policy: Fields | undefined, key: string): number | undefined {
  const number = policy?.integer(key);
  return number !== undefined && number > 0 ? number : undefined;
}

export interface CronInterval {
  readonly cron: string;
  readonly text: string;
  /** True if it is the requested interval. */
  readonly exact: boolean;
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** A cron schedule repeats evenly only when its step divides the hour, the day or the week. */
const steps = [
  ...[1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30].map((n) => step(n * minute, `${n} min`, { minute: every(n) })),
  ...[1, 2, 3, 4, 6, 8, 12].map((n) => step(n * hour, `${n} h`, { minute: '0', hour: every(n) })),
  step(day, '1 day', { minute: '0', hour: '0' }),
  step(7 * day, '7 days', { minute: '0', hour: '0', weekDay: '0' }),
];

/** Returns the longest interval that cron can express and that is not longer than requested, and at least a minute. */
export function cronInterval(seconds: number): CronInterval {
  const found = steps.filter((candidate) => candidate.seconds <= seconds).at(-1) ?? steps[0]!;
  return { cron: found.cron, text: found.text, exact: found.seconds === seconds };
}

function step(seconds: number, text: string, options: object) {
  return { seconds, text, cron: Cron.schedule(options).expressionString };
}

function every(n: number): string {
  return n === 1 ? '*' : `*/${n}`;
}
