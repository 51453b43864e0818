import { RestoreSource } from '../../backup/restore-source';
import type { Document } from '../documents';
import { metadataLabels } from '../metadata';
import type { PlannedRestore } from '../plan';
import { coreosStore } from './store';

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
