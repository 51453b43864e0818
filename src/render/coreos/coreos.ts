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
  fieldOf,
  unknownField: (report, path) => report.lost(path, 'is not a field of that API; remove it'),
};

/** Where a field of the new cluster comes from in `spec.pod`. */
const fromPod: Readonly<Record<string, string>> = {
  ...{ nodeSelector: 'nodeSelector', tolerations: 'tolerations', affinity: 'affinity', resources: 'resources' },
  ...{ securityContext: 'securityContext', podAnnotations: 'annotations', clusterDomain: 'ClusterDomain' },
  ...{ quota: 'etcdEnv', settings: 'etcdEnv', tuning: 'etcdEnv', containers: 'etcdEnv' },
  storage: 'persistentVolumeClaimSpec',
};

function fieldOf(path: string): string {
  const [, field = '', below = ''] = /^spec[.](\w+)(.*)$/.exec(path) ?? [];
  const old = Object.hasOwn(fromPod, field) ? fromPod[field]! : undefined;
  if (old === undefined) return fieldOfOld(path);
  const isSame = old !== 'etcdEnv' && old !== fromPod.storage;
  return `spec.pod.${old}${isSame ? below : ''}`;
}

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
