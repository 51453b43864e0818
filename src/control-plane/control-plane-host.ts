import type { ScheduleSpec } from '../backup/schedule-manifests';
import type { BackupPodHost } from '../lib/backup-pod';
import { qualifiedNameProblem } from '../lib/labels';
import type { ControlPlaneSpec } from '../resource/types';
import { EtcdClientTls } from '../tls/etcd-client-tls';

/** Paths, labels and taints of a control-plane node as kubeadm sets them up. */
export const controlPlaneDefaults = {
  endpoints: ['https://127.0.0.1:2379'],
  nodeLabels: ['node-role.kubernetes.io/control-plane'],
  /** The second taint is on nodes that were created before Kubernetes 1.24. */
  taints: ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'],
  manifestsDirectory: '/etc/kubernetes/manifests',
  dataDir: '/var/lib/etcd',
  restoreDirectory: '/etc/etcd-restore',
  certificates: {
    ca: '/etc/kubernetes/pki/etcd/ca.crt',
    cert: '/etc/kubernetes/pki/etcd/healthcheck-client.crt',
    key: '/etc/kubernetes/pki/etcd/healthcheck-client.key',
  },
  directories: ['/etc/kubernetes/pki'],
} as const;

export function backupHost({ nodeLabels, manifestsDirectory, etcdService, files }: ControlPlaneSpec): BackupPodHost {
  return {
    nodeLabels: nodeLabels ?? controlPlaneDefaults.nodeLabels,
    etcdManifest: etcdService
      ? undefined
      : `${manifestsDirectory ?? controlPlaneDefaults.manifestsDirectory}/etcd.yaml`,
    etcdProcess: etcdService,
    extraPaths: files && extraPaths(files),
    extraAgeRecipients: files?.encryption?.age.recipients,
  };
}

export function extraPaths({
  directories,
  files,
}: NonNullable<ControlPlaneSpec['files']>): NonNullable<BackupPodHost['extraPaths']> {
  return [
    ...(directories ?? controlPlaneDefaults.directories).map((path) => ({ path, type: 'Directory' as const })),
    ...(files ?? []).map((path) => ({ path, type: 'File' as const })),
  ];
}

export function hostTls({ certificates }: ControlPlaneSpec): EtcdClientTls {
  const { ca, cert, key } = controlPlaneDefaults.certificates;
  return EtcdClientTls._fromHost(certificates?.ca ?? ca, certificates?.cert ?? cert, certificates?.key ?? key);
}

/** By convention the taint of such a node has the same name as its label. */
export function hostTolerations(
  { nodeLabels }: ControlPlaneSpec,
  tolerations: ScheduleSpec['tolerations'] = [],
): NonNullable<ScheduleSpec['tolerations']> {
  // An invalid name is skipped here: it is reported as a problem of `nodeLabels`.
  const taints = (nodeLabels ?? controlPlaneDefaults.taints).filter((label) => !qualifiedNameProblem('', label));
  return [...taints.map((key) => ({ key, operator: 'Exists' as const })), ...tolerations];
}
