import type { Document } from '../documents';
import { annotationsLost, metadataLabels } from '../metadata';
import { type OldFields, oldField } from '../older-operators';
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

const fields: OldFields = [
  [/^spec[.](name|cluster)$/, 'metadata.name'],
  [/^spec[.]clusterName/, 'spec.etcdCluster.name'],
  [/^spec[.](size|allowEvenSize)/, 'spec.size'],
  [/^spec[.]image/, 'spec.repository'],
  [/^spec[.](version|paused)/, 'spec.$1'],
  [/^spec[.](labels|nodeSelector|tolerations|affinity|resources|securityContext)/, 'spec.pod.$1'],
  [/^spec[.]podAnnotations/, 'spec.pod.annotations'],
  [/^spec[.]clusterDomain/, 'spec.pod.ClusterDomain'],
  [/^spec[.]storage.*/, 'spec.pod.persistentVolumeClaimSpec'],
  [/^spec[.]quota/, 'spec.pod.etcdEnv: ETCD_QUOTA_BACKEND_BYTES'],
  [/^spec[.]tuning[.]heartbeatInterval/, 'spec.pod.etcdEnv: ETCD_HEARTBEAT_INTERVAL'],
  [/^spec[.]tuning[.]electionTimeout/, 'spec.pod.etcdEnv: ETCD_ELECTION_TIMEOUT'],
  [/^spec[.]tuning[.]snapshotCount/, 'spec.pod.etcdEnv: ETCD_SNAPSHOT_COUNT'],
  [/^spec[.]tuning[.]autoCompaction.*/, 'spec.pod.etcdEnv: ETCD_AUTO_COMPACTION_RETENTION'],
  [/^spec[.](tuning|settings|containers).*/, 'spec.pod.etcdEnv'],
  [/^spec[.](?:etcd[.])?endpoints/, 'spec.etcdEndpoints'],
  [/^spec[.](?:etcd[.])?tls[.]files.*/, 'spec.clientTLSSecret'],
  [/^spec[.]tls.*/, 'spec.TLS.static'],
  [/^spec[.](timeout|timeouts[.]total)$/, 'spec.backupPolicy.timeoutInSecond'],
  [/^spec[.]cron/, 'spec.backupPolicy.backupIntervalInSecond'],
  [/^spec[.]stores\[0\][.]retention.*/, 'spec.backupPolicy.maxBackups'],
  [/^spec[.](?:store|stores\[0\]|source[.]store)[.](s3|oss)[.](?:bucket|prefix)/, 'spec.$1.path'],
  [/^spec[.](?:store|stores\[0\]|source[.]store)[.]s3[.]credentials.*/, 'spec.s3.awsSecret'],
  [/^spec[.](?:store|stores\[0\]|source[.]store)[.]oss[.]credentials.*/, 'spec.oss.ossSecret'],
  [/^spec[.](?:store|stores\[0\]|source[.]store)[.](s3|oss)/, 'spec.$1'],
  [/^spec[.]backup(?:[.]schedules\[0\])?[.]stores\[0\][.]s3[.]bucket/, 'spec.backup.s3.s3Bucket'],
  [/^spec[.]backup(?:[.]schedules\[0\])?[.]stores\[0\][.]s3[.]prefix/, 'spec.backup.s3.prefix'],
  [/^spec[.]backup(?:[.]schedules\[0\])?[.]stores\[0\][.]s3[.]credentials.*/, 'spec.backup.s3.awsSecret'],
  [/^spec[.]backup.*/, 'spec.backup'],
  [/^spec[.](store|stores|source)$/, 'spec'],
];

function fieldOf(path: string, { kind, spec }: Document): string {
  if (/^spec[.](source[.])?key$/.test(path))
    return `spec.${spec.text(kind === 'EtcdRestore' ? 'backupStorageType' : 'storageType')?.toLowerCase()}.path`;
  // The labels of its pods are those of the cluster.
  return oldField(kind === 'EtcdBackup' ? [[/^spec[.]labels/, 'metadata.labels'], ...fields] : fields, path);
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
