// Returns the files of crds/. They are YAML 1.1, which kubectl and cdk8s read.
import { stringify } from 'yaml';
import { isApplied } from './crd.mjs';
import { etcdBackup } from './etcd-backup.mjs';
import { etcdBackupSchedule } from './etcd-backup-schedule.mjs';
import { etcdCluster } from './etcd-cluster.mjs';
import { etcdReconciler } from './etcd-reconciler.mjs';
import { etcdRestore } from './etcd-restore.mjs';
import { etcdUser } from './etcd-user.mjs';

/** Every kind. */
export const resources = [etcdCluster, etcdBackup, etcdRestore, etcdUser, etcdBackupSchedule, etcdReconciler];

/** [[file, content], …] */
export const crdFiles = () =>
  resources
    .filter(isApplied)
    .map((crd) => [
      `${crd.spec.names.plural}.yaml`,
      `# Written by \`npm run generate\`.\n${stringify(crd, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })}`,
    ]);
