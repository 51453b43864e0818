// Returns the files of crds/. They are YAML 1.1, which kubectl and cdk8s read.
import { stringify } from 'yaml';
import { etcdBackup } from './etcd-backup.mjs';
import { etcdCluster } from './etcd-cluster.mjs';
import { etcdRestore } from './etcd-restore.mjs';
import { etcdUser } from './etcd-user.mjs';

/** [[file, content], …] */
export const resources = [etcdCluster, etcdBackup, etcdRestore, etcdUser];

export const crdFiles = () =>
  resources.map((crd) => [
    `${crd.spec.names.plural}.yaml`,
    `# Written by \`npm run generate\`.\n${stringify(crd, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })}`,
  ]);
