import type {
  BackupPodResources,
  BackupPodSecret,
  BackupPodStore,
  BackupPodTls,
} from '../../../../src/lib/backup-pod.ts';
import type { KubeObject, ObjectMeta } from '../../kube/objects.ts';
import { type OutcomeCondition, outcomeConditions } from '../../protocol/outcome-conditions.ts';

export interface EtcdBackupObject extends KubeObject {
  readonly spec: EtcdBackupSpec;
  readonly status?: Partial<BackupStatus>;
}

/** The CRD requires exactly one of clusterName and endpoints, and exactly one of schedule and store. */
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
  readonly resources?: BackupPodResources;
}

export type BackupPhase = 'Pending' | 'BackingUp' | 'Completed' | 'Failed';

export interface BackupStatus {
  readonly observedGeneration?: number;
  readonly phase: BackupPhase;
  readonly reason: string;
  readonly message: string;
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly snapshotTime?: string;
  readonly source: string;
  readonly snapshotId?: string;
  readonly key?: string;
  readonly revision?: number;
  readonly sizeBytes?: number;
  readonly sha256?: string;
  readonly verified?: string;
  readonly jobName?: string;
  /** Ids of the snapshots that the retention of this run deleted in its first store. */
  readonly deletedSnapshots?: readonly string[];
  /** When another run deleted the snapshot. RFC 3339. */
  readonly snapshotDeletedAt?: string;
  readonly conditions: readonly OutcomeCondition[];
}

/** Returns true if the backup has ended: its status never changes again. */
export const isFinal = ({ status }: { readonly status?: Partial<BackupStatus> | undefined }): boolean =>
  status?.phase === 'Completed' || status?.phase === 'Failed';

/** The Job of a scheduled run that this EtcdBackup mirrors. Undefined if the EtcdBackup requests a Job of its own. */
export const mirroredJob = ({
  metadata,
}: EtcdBackupObject): { readonly name: string; readonly uid: string } | undefined =>
  metadata.ownerReferences?.find(({ kind, apiVersion }) => kind === 'Job' && apiVersion === 'batch/v1');

export const sourceOf = ({ spec }: EtcdBackupObject): string => spec.clusterName ?? spec.endpoints?.[0] ?? '';

/** Folder of the snapshot in the store. */
export const folderOf = ({
  metadata,
  spec,
}: {
  readonly metadata: ObjectMeta;
  readonly spec: EtcdBackupSpec;
}): string => spec.clusterName ?? metadata.name;

/** Explains why an EtcdBackup without a snapshot cannot be restored. */
export function whyNotRestored(backup: EtcdBackupObject | undefined): string {
  if (!backup) return 'does not exist';
  const { phase, reason, message } = backup.status ?? {};
  if (phase === 'Completed') return 'does not name its snapshot: name the snapshot and its store in the EtcdRestore';
  if (phase === 'Failed') return `failed, so there is no snapshot to restore: ${message ?? reason}`;
  return `has not completed: ${message ?? reason ?? phase ?? 'no reconciler has reported its status'}`;
}

/** Reason and message of a status. */
export interface Why {
  readonly reason: string;
  readonly message: string;
}

/** Builds the complete status. Facts that are not in `facts` are removed from it. */
export function backupStatus(
  { backup, now }: { readonly backup: EtcdBackupObject; readonly now: string },
  phase: BackupPhase,
  { reason, message }: Why,
  facts: Partial<BackupStatus>,
): BackupStatus {
  const { generation } = backup.metadata;
  const outcome = { phase, reason, message, observedGeneration: generation };
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    phase,
    reason,
    message,
    source: sourceOf(backup),
    ...facts,
    conditions: outcomeConditions(outcome, backup.status?.conditions, now),
  };
}
