import type { Api } from '../plan';
import { ownBackup } from './backup';
import { ownCluster } from './cluster';
import { ownRestore } from './restore';

/** The custom resources of this project. */
export const own: Api = {
  apiVersion: 'cdk8s-etcd.dev/v1alpha1',
  kinds: { EtcdCluster: ownCluster, EtcdBackup: ownBackup, EtcdRestore: ownRestore },
  unknownField: (report, path, meant) =>
    report.error(path, `is no field; ${meant === undefined ? 'remove it' : `did you mean ${meant}?`}`),
};
