import type { ScheduleSpec } from '../backup/schedule-manifests';
import type { BackupPodHost } from '../lib/backup-pod';
import { qualifiedNameProblem } from '../lib/labels';
import { defaults } from '../resource/defaults';
import type { ControlPlaneSpec } from '../resource/types';
import { EtcdClientTls } from '../tls/etcd-client-tls';

/** What kubeadm sets up. */
export const controlPlaneDefaults = defaults.ControlPlaneSpec;

/** The second taint is on nodes that were created before Kubernetes 1.24. */
const usualTaints = [...controlPlaneDefaults.nodeLabels, 'node-role.kubernetes.io/master'];

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
    ...(directories ?? controlPlaneDefaults.files.directories).map((path) => ({ path, type: 'Directory' as const })),
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
  const taints = (nodeLabels ?? usualTaints).filter((label) => !qualifiedNameProblem('', label));
  return [...taints.map((key) => ({ key, operator: 'Exists' as const })), ...tolerations];
}
