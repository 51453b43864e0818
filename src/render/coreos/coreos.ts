import { RestoreSource } from '../../backup/restore-source';
import type { Document } from '../documents';
import { metadataLabels } from '../metadata';
import type { Api, PlannedRestore } from '../plan';
import { coreosBackup } from './backup';
import { coreosCluster } from './cluster';
import { coreosStore } from './store';

/** The first etcd operator, archived in 2020. */
export const coreos: Api = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kinds: { EtcdCluster: coreosCluster, EtcdBackup: coreosBackup, EtcdRestore: coreosRestore },
  unknownField: (report, path) => report.lost(path, 'is not a field of that API; remove it'),
};

export function coreosRestore(document: Document): PlannedRestore | undefined {
  const { spec } = document;
  const labels = metadataLabels(document);
  const cluster = spec.object('etcdCluster');
  if (!cluster) document.report.error('spec.etcdCluster', 'is missing; give its name');
  const clusterName = cluster?.required('name');
  const stored = coreosStore(spec, 'backupStorageType');
  if (!stored || !clusterName) return undefined;
  const origin = { source: RestoreSource.key(stored.store, stored.key) };
  return { becomes: 'restore', document, labels, clusterName, origin, old: true };
}
