import { ownBackup } from './own-backup';
import { ownCluster } from './own-cluster';
import { ownRestore } from './own-restore';
import type { Api } from './plan';

/** The custom resources of this project. */
export const own: Api = {
  apiVersion: 'cdk8s-etcd.dev/v1alpha1',
  kinds: { EtcdCluster: ownCluster, EtcdBackup: ownBackup, EtcdRestore: ownRestore },
  unknownField: (report, path, meant) =>
    report.error(path, `is no field; ${meant === undefined ? 'remove it' : `did you mean ${meant}?`}`),
};
