import type { BackupPodSecret, BackupPodStore, BackupPodTls } from '../../../../src/lib/backup-pod.ts';
import type { KubeObject, ObjectMeta } from '../../kube/objects.ts';

export interface EtcdBackupObject extends KubeObject {
  readonly spec: EtcdBackupSpec;
  readonly status?: Partial<BackupStatus>;
}

/** The CRD sees to it that there is one of clusterName and endpoints, and one of schedule and store. */
export interface EtcdBackupSpec {
  readonly clusterName?: string;
  readonly endpoints?: readonly string[];
  readonly tls?: BackupPodTls;
  readonly auth?: BackupPodSecret;
  readonly schedule?: string;
  readonly store?: BackupPodStore;
  readonly key?: string;
  readonly prefix?: string;
  readonly compression?: string;
  readonly encryption?: { readonly age?: { readonly recipients: readonly string[] } };
  readonly timeouts?: { readonly dial?: string; readonly total?: string };
  readonly serviceAccountName?: string;
  readonly image?: string;
}

export type BackupPhase = 'Pending' | 'BackingUp' | 'Completed' | 'Failed';

export interface BackupStatus {
  readonly observedGeneration?: number;
  readonly phase: BackupPhase;
  readonly reason: string;
  readonly message: string;
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly source: string;
  readonly snapshotId?: string;
  readonly key?: string;
  readonly revision?: number;
  readonly sizeBytes?: number;
  readonly sha256?: string;
  readonly verified?: string;
  readonly jobName?: string;
  readonly conditions: readonly BackupCondition[];
}

export interface BackupCondition {
  readonly type: 'Completed' | 'Failed';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** Nothing is changed any more. */
export const isFinal = ({ status }: { readonly status?: Partial<BackupStatus> | undefined }): boolean =>
  status?.phase === 'Completed' || status?.phase === 'Failed';

/** A run of a schedule, which this only tells of; undefined when a Job is to be made. */
export const mirroredJob = ({
  metadata,
}: EtcdBackupObject): { readonly name: string; readonly uid: string } | undefined =>
  metadata.ownerReferences?.find(({ kind, apiVersion }) => kind === 'Job' && apiVersion === 'batch/v1');

export const sourceOf = ({ spec }: EtcdBackupObject): string => spec.clusterName ?? spec.endpoints?.[0] ?? '';

/** The folder of its snapshot within the store. */
export const folderOf = ({
  metadata,
  spec,
}: {
  readonly metadata: ObjectMeta;
  readonly spec: EtcdBackupSpec;
}): string => spec.clusterName ?? metadata.name;

/** Of one that names no snapshot. */
export function whyNotRestored(backup: EtcdBackupObject | undefined): string {
  if (!backup) return 'is not there';
  const { phase, reason, message } = backup.status ?? {};
  if (phase === 'Completed')
    return 'does not say which snapshot it made: name that, with its store, in the EtcdRestore';
  if (phase === 'Failed') return `failed, and made no snapshot to restore: ${message ?? reason}`;
  return `is not completed: ${message ?? reason ?? phase ?? 'no reconciler has reported on it'}`;
}
