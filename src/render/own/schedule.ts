import { Cron } from 'cdk8s';
import { Compression } from '../../backup/compression';
import { Encryption } from '../../backup/encryption';
import type { BackupScheduleOptions } from '../../backup/etcd-backup-schedule-props';
import { Retention } from '../../backup/retention';
import { VerificationLevel } from '../../backup/verification-level';
import type { BackupStore } from '../../stores/backup-store';
import type { Fields } from '../fields';
import type { ScheduleOfCluster } from '../plan';
import { durationField, quantitiesOf } from '../units';
import { ownStore } from './store';

/** Reads `backup` of a cluster. */
export function ownSchedules(backup: Fields, cluster: string): ScheduleOfCluster[] {
  const names = new Set<string>();
  return backup.objects('schedules').flatMap((fields) => {
    const schedule = ownSchedule(fields, cluster);
    if (!schedule) return [];
    const problem = names.has(schedule.id)
      ? `'${schedule.id}' is used twice; give each schedule its own name`
      : nameProblem(schedule.id);
    if (problem) fields.report.error(fields.at('name'), problem);
    names.add(schedule.id);
    return [schedule];
  });
}

function ownSchedule(fields: Fields, cluster: string): ScheduleOfCluster | undefined {
  const id = fields.required('name');
  const cron = fields.required('cron');
  const [first, ...more] = fields.objects('stores').flatMap((store) => scheduledStore(store) ?? []);
  const name = fields.text('cronJobName');
  const serviceAccountName = fields.text('serviceAccountName');
  // The ServiceAccount that is created with the CronJob. If it has a workload identity, its annotations are unknown
  // here.
  const isMade = serviceAccountName === (name ?? `${cluster}-${id}`) && ![first, ...more].some(needsIdentity);
  const options: Omit<BackupScheduleOptions, 'store'> = {
    schedule: cronOf(fields, cron),
    timeZone: fields.text('timeZone'),
    name,
    compression: fields.oneOf('compression', Object.values(Compression)),
    encryption: ownEncryption(fields),
    verify: fields.oneOf('verify', Object.values(VerificationLevel)),
    dialTimeout: durationField(fields, 'dialTimeout'),
    timeout: durationField(fields, 'timeout'),
    serviceAccountName: isMade ? undefined : serviceAccountName,
    image: fields.text('image'),
    resources: quantitiesOf(fields.object('resources')),
  };
  if (first) return { id, path: fields.path, options: { ...options, ...first }, stores: more };
  if (!fields.has('stores')) fields.report.error(fields.at('stores'), 'is missing; give at least one');
  return undefined;
}

/** Problem with the name of a schedule, or undefined. Its CronJob's name contains it. */
function nameProblem(name: string): string | undefined {
  if (name === '' || /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) return undefined;
  return `'${name}' is not a valid name of a schedule; use lower-case letters, digits, '-' and '.'`;
}

function needsIdentity(scheduled: { store: BackupStore } | undefined): boolean {
  const s3 = scheduled?.store._definition().pod.s3;
  return s3 !== undefined && s3.credentials === undefined;
}

function scheduledStore(fields: Fields): { store: BackupStore; retention?: Retention } | undefined {
  const retention = ownRetention(fields.object('retention'));
  const store = ownStore(fields);
  return store && { store, retention };
}

function ownRetention(fields: Fields | undefined): Retention | undefined {
  if (!fields) return undefined;
  const count = (key: string) => {
    const value = fields.integer(key);
    if (value === undefined || value >= 1) return value;
    fields.report.error(fields.at(key), `${value} keeps nothing; give at least 1, or remove it`);
    return undefined;
  };
  const keeps = {
    last: count('last'),
    within: durationField(fields, 'within'),
    hourly: count('hourly'),
    daily: count('daily'),
    weekly: count('weekly'),
    monthly: count('monthly'),
    yearly: count('yearly'),
  };
  const [minKeep, timeZone] = [count('minKeep'), fields.text('timeZone')];
  const retention = Retention.tiers({ ...keeps, minKeep, timeZone });
  for (const problem of retention._problems()) fields.report.error(fields.path, problem);
  return retention;
}

/** Reads the public keys of an encryption. */
export function ownEncryption(fields: Fields): Encryption | undefined {
  const encryption = fields.object('encryption');
  if (!encryption) return undefined;
  const age = encryption.object('age');
  if (!age) encryption.report.error(encryption.at('age'), 'is missing; give it with its recipients');
  return Encryption.age({ recipients: age?.strings('recipients') ?? [] });
}

const descriptors: { readonly [descriptor: string]: string } = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

function cronOf(fields: Fields, text: string): Cron {
  const words = (Object.hasOwn(descriptors, text) ? descriptors[text]! : text).split(/\s+/).filter(Boolean);
  if (text !== '' && words.length !== 5) {
    fields.report.error(
      fields.at('cron'),
      `'${text}' is not a valid schedule; give 5 fields: minute, hour, day of month, month, day of week`,
    );
  }
  const [minute, hour, day, month, weekDay] = words;
  return Cron.schedule({ minute, hour, day, month, weekDay });
}
