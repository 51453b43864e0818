import { coreosBackup } from './coreos-backup';
import { coreosCluster } from './coreos-cluster';
import { coreosRestore } from './coreos-restore';
import type { Api } from './plan';

/** The first etcd operator, archived in 2020. */
export const coreos: Api = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kinds: { EtcdCluster: coreosCluster, EtcdBackup: coreosBackup, EtcdRestore: coreosRestore },
  unknownField: (report, path) => report.lost(path, `is no field of that API; remove it`),
};
