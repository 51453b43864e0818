import { common, conditions } from './conditions.mjs';
import { ageColumn, column, crd, reasonColumns } from './crd.mjs';
import { jobAccountRule, podRules } from './pods.mjs';
import { jobFields } from './schedule.mjs';
import { clusterName, flag, object, rules, text, time } from './schema.mjs';
import { restoreFields, restoreRules } from './source.mjs';

const spec = object(
  'The restore: replaces the data of an EtcdCluster with a snapshot. Immutable.',
  {
    'clusterName!': clusterName('The EtcdCluster of this namespace whose data is replaced.'),
    ...restoreFields,
    ...jobFields,
    safetyBackup: flag(
      'Takes a backup first, with the settings of the backup schedule of the cluster. What clients write after it was begun is in no backup.',
      {
        default: true,
      },
    ),
    ignoreUnreachablePods: flag(
      'Continues even if it cannot be confirmed that a pod on an unreachable node has stopped. If that node is still running, clients that reach only its pod keep writing to the old data.',
      { default: false },
    ),
    again: text(
      'Any text, such as the date. A restore of which an earlier one, under another name, had the same spec is refused, because it was probably renamed. Set another text to restore the same backup once more.',
      63,
    ),
  },
  rules(
    [
      'self == oldSelf',
      'an EtcdRestore happens once and cannot be changed: create another one with another name',
      { reason: 'FieldValueForbidden' },
    ],
    ...podRules,
    jobAccountRule,
    ...restoreRules,
  ),
);

const status = object('The state and the result of the restore.', {
  ...common,
  phase: text('Pending, Verifying, BackingUp, Fencing, Draining, Restoring, Regrowing, Completed or Failed.', 64),
  startTime: time('The time at which the restore started.'),
  completionTime: time('The time at which it was completed or failed.'),
  verifyingTime: time('The time at which the download and the verification of the snapshot started.'),
  backingUpTime: time('The time at which the safety backup started.'),
  fencingTime: time('The time at which the old data was fenced off. From then on the restore cannot be cancelled.'),
  drainingTime: time('The time at which the old pods started to stop.'),
  restoringTime: time('The time at which the first pod started to restore.'),
  regrowingTime: time('The time at which the other members started to join.'),
  snapshotId: text('The snapshot that is restored.', 512),
  passedOver: text('Snapshots that are newer than the restored one, and why they were not used.', 32_768),
  safetyBackupId: text('The id of the snapshot of the replaced data.', 253),
  safetyBackupDeletedAt: time('The time at which the retention of a backup deleted that snapshot.'),
  conditions: conditions('Completed, Failed, Ready, Reconciling, Stalled'),
});

export const etcdRestore = crd({
  kind: 'EtcdRestore',
  plural: 'etcdrestores',
  shortName: 'etcdrs',
  description:
    'A restore into an existing EtcdCluster. It happens once: a second EtcdRestore with the same name does nothing, and one with the same spec is refused.',
  nameLength: 63,
  spec,
  status,
  columns: [
    column('Phase', '.status.phase'),
    column('Cluster', '.spec.clusterName'),
    column('Snapshot', '.status.snapshotId'),
    ageColumn,
    ...reasonColumns,
  ],
});
