// The files of crds/. kubectl and cdk8s read YAML 1.1.
import { stringify } from 'yaml';
import { etcdBackup } from './etcd-backup.mjs';
import { etcdCluster } from './etcd-cluster.mjs';
import { etcdRestore } from './etcd-restore.mjs';

/** [[file, content], …] */
export const crdFiles = () =>
  [etcdCluster, etcdBackup, etcdRestore].map((crd) => [
    `${crd.spec.names.plural}.yaml`,
    `# Written by \`npm run crds\`.\n${stringify(crd, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })}`,
  ]);
