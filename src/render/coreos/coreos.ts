import type { Document } from '../documents';
import { annotationsLost, metadataLabels } from '../metadata';
import { fieldOfOld } from '../older-operators';
import type { Api, PlannedRestore } from '../plan';
import { coreosBackup } from './backup';
import { coreosCluster } from './cluster';
import { coreosStore } from './store';

/** The first etcd operator, archived in 2020. */
export const coreos: Api = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kinds: { EtcdCluster: coreosCluster, EtcdBackup: coreosBackup, EtcdRestore: coreosRestore },
  fieldOf: fieldOfOld,
  unknownField: (report, path) => report.lost(path, 'is not a field of that API; remove it'),
};

function coreosRestore(document: Document): PlannedRestore | undefined {
  const { name, spec } = document;
  const labels = metadataLabels(document);
  annotationsLost(document);
  const cluster = spec.object('etcdCluster');
  if (!cluster) document.report.error('spec.etcdCluster', 'is missing; give its name');
  const clusterName = cluster?.required('name');
  const source = coreosStore(spec, 'backupStorageType');
  if (!source || !clusterName) return undefined;
  return { kind: 'EtcdRestore', name, document, labels, spec: { clusterName, source }, old: true };
}
