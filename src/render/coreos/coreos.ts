import type { Api } from '../plan';
import { coreosBackup } from './backup';
import { coreosCluster } from './cluster';
import { coreosRestore } from './restore';

/** The first etcd operator, archived in 2020. */
export const coreos: Api = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kinds: { EtcdCluster: coreosCluster, EtcdBackup: coreosBackup, EtcdRestore: coreosRestore },
  unknownField: (report, path) => report.lost(path, `is no field of that API; remove it`),
};
