// The schema of a backup schedule.
import { overrides } from './overrides.mjs';
import {
  annotations,
  backupContainer,
  dnsRule,
  furtherLabels,
  images,
  metadata,
  placement,
  podAnnotations,
  podFields,
  podRules,
} from './pods.mjs';
import {
  choice,
  duration,
  flag,
  integer,
  list,
  matching,
  named,
  object,
  objectName,
  rules,
  text,
  timeZone,
  withDefault,
} from './schema.mjs';
import { jobIdentity, scheduledStore } from './store.mjs';

export const encryption = named(
  'EncryptionSpec',
  object('Encrypts the snapshot before it is stored.', {
    'age!': object(
      'Encrypts with age. Only the secret key of a recipient can decrypt the snapshot.',
      { 'recipients!': list('The public keys, age1….', text('A public key.', 2100), 1, 16) },
      rules([
        "self.recipients.all(recipient, recipient.startsWith('age1'))",
        'recipients must be public keys, age1…, as `age-keygen -y` prints them: never write a secret key here',
      ]),
    ),
  }),
);
export const compression = withDefault('zstd', choice('The compression of the snapshot.', ['none', 'gzip', 'zstd']));

/** What the pods of a Job have. */
const jobPods = { ...images, ...placement, ...podFields, container: backupContainer, ...metadata, podAnnotations };

/** What the Job of an EtcdBackup or an EtcdRestore has: what is missing, it has of its cluster. */
export const jobFields = {
  ...jobPods,
  serviceAccountAnnotations: annotations(
    'The annotations of a ServiceAccount for the Job, for a store with workload identity. The constructs and `cdk8s-etcd render` create it as `<name>-backup` for an EtcdBackup, as `<name>-restore` for an EtcdRestore.',
  ),
  labels: furtherLabels('Further labels of the Job and its pods.'),
  ttlSecondsAfterFinished: integer(
    'After how many seconds the Job is deleted once it has ended. Default: a week.',
    600,
    31_536_000,
  ),
  overrides: overrides('JobOverrideSpec', ['BackupPods']),
};

/** The fields of a schedule, whatever it backs up. */
export const scheduleFields = (store, leastJobs) => ({
  'cron!': text('The schedule in the format of a CronJob: minute, hour, day of month, month, day of week.', 128, {
    minLength: 1,
  }),
  timeZone: timeZone('The time zone of cron. Default: the time zone of the controller manager, usually UTC.'),
  'stores!': list('The stores for the backups. Each store has its own retention.', store, 1, 8),
  compression,
  encryption,
  verify: withDefault(
    'read',
    choice('How thoroughly a backup is verified before it counts as good.', ['stream', 'read', 'open']),
  ),
  dialTimeout: withDefault('5s', duration('How long to wait for a connection to a member.')),
  timeout: duration('The time after which the agent aborts an attempt. Default: depends on the size of the database.'),
  fileName: text(
    'The pattern of the names of copies of the snapshots, such as orders-%Y%m%d-%H%M%S. Default: no copies.',
    128,
    { minLength: 1 },
  ),
  fileNameTimeZone: withDefault('UTC', timeZone('The time zone of fileName.')),
  suspend: withDefault(false, flag('Suspends the schedule. A run can still be started by hand.')),
  startingDeadline: withDefault('1h', duration('How late a run may start, more than 10s, before it is skipped.')),
  activeDeadline: withDefault('6h', duration('The time after which Kubernetes ends a run, with its retries.')),
  retries: withDefault(3, integer('How often a failed run is retried.', 0, 100)),
  successfulJobsHistoryLimit: withDefault(
    3,
    integer(
      `How many finished Jobs are kept${leastJobs > 0 ? ', at least one, whose result the reconciler reads' : ''}.`,
      leastJobs,
      100,
    ),
  ),
  failedJobsHistoryLimit: withDefault(
    3,
    integer(`How many failed Jobs are kept${leastJobs > 0 ? ', at least one' : ''}.`, leastJobs, 100),
  ),
  ...jobIdentity,
  serviceAccountName: objectName(
    'An existing ServiceAccount, also for the other Jobs that use this schedule. Default: a ServiceAccount without permissions that is created with the CronJob, and has its name.',
    'ServiceAccount',
  ),
  serviceAccountAnnotations: annotations(
    'The annotations of the ServiceAccount that is created, for a workload identity.',
  ),
  ...jobPods,
  labels: furtherLabels('Further labels of the objects and pods of the schedule.'),
  ttlSecondsAfterFinished: integer(
    `After how many seconds a Job that has ended is deleted. Default: the limits of the history${leastJobs > 0 ? ', and a week for the other Jobs that use this schedule' : ''}.`,
    600,
    31_536_000,
  ),
  overrides: overrides('BackupOverrideSpec', ['BackupPods', 'CronJobs', 'ServiceAccounts']),
});

export const scheduleRules = [
  ...podRules,
  dnsRule,
  [
    '!self.stores.exists(store, has(store.command)) || has(self.image)',
    'a command store needs image: give an image with its executables and the agent',
    { fieldPath: '.image', reason: 'FieldValueRequired' },
  ],
];

export const schedule = named(
  'BackupScheduleSpec',
  object(
    'A backup schedule, with its CronJob.',
    {
      'name!': matching(
        'The name of the schedule.',
        63,
        /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
        "is not a valid name of a schedule: use letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
      ),
      cronJobName: text('The name of its CronJob. Default: <cluster>-<name>.', 52),
      ...scheduleFields(scheduledStore, 1),
    },
    rules(...scheduleRules),
  ),
);
