import { common, conditions } from './conditions.mjs';
import { ageColumn, column, crd, reasonColumns } from './crd.mjs';
import { clusterName, flag, object, rules, text, time } from './schema.mjs';
import { restoreFields, restoreRules } from './source.mjs';

const spec = object(
  'Brings a snapshot into an EtcdCluster, in place of its data. Immutable.',
  {
    'clusterName!': clusterName('The EtcdCluster of this namespace whose data is replaced.'),
    ...restoreFields,
    safetyBackup: flag('Takes a backup first, as the schedule of the cluster says.', { default: true }),
    ignoreUnreachablePods: flag(
      'Goes on although a pod on a dead node cannot be seen to have stopped. Should that node live, clients that reach only its pod still write into the old data.',
      { default: false },
    ),
  },
  rules(
    [
      'self == oldSelf',
      'an EtcdRestore happens once and cannot be changed: make another one, with another name',
      { reason: 'FieldValueForbidden' },
    ],
    ...restoreRules,
  ),
);

const status = object('What became of it.', {
  ...common,
  phase: text('Pending, Verifying, BackingUp, Fencing, Draining, Restoring, Regrowing, Completed or Failed.', 64),
  startTime: time('When it began.'),
  completionTime: time('When it was completed or failed.'),
  verifyingTime: time('When the snapshot began to be fetched and checked.'),
  backingUpTime: time('When the safety backup began.'),
  fencingTime: time('When the old data was shut out: from here on there is no way back.'),
  drainingTime: time('When the old pods began to stop.'),
  restoringTime: time('When the first pod began to restore.'),
  regrowingTime: time('When the other members began to join.'),
  snapshotId: text('The snapshot that was found.', 512),
  passedOver: text('What is newer than the snapshot that was found, and why it was not taken.', 32_768),
  safetyBackupId: text('The snapshot that was taken of the replaced data.', 253),
  conditions: conditions('Completed, Failed'),
});

export const etcdRestore = crd({
  kind: 'EtcdRestore',
  plural: 'etcdrestores',
  shortName: 'etcdrs',
  description:
    'A restore into an existing EtcdCluster. It happens once per name: the same name made again does nothing.',
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
