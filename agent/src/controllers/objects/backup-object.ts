import type { EtcdBackupSpec, EtcdBackupStatus } from '../../../../src/resource/types.ts';
import type { KubeObject, ObjectMeta } from '../../kube/objects.ts';
import { type OutcomeCondition, outcomeConditions } from '../../protocol/outcome-conditions.ts';

export interface EtcdBackupObject extends KubeObject {
  readonly spec: EtcdBackupSpec;
  readonly status?: Partial<BackupStatus>;
}

export type BackupPhase = 'Pending' | 'BackingUp' | 'Completed' | 'Failed';

export interface BackupStatus extends EtcdBackupStatus {
  readonly phase: BackupPhase;
  readonly reason: string;
  readonly message: string;
  readonly source: string;
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
    observedGeneration: generation,
    phase,
    reason,
    message,
    source: sourceOf(backup),
    ...facts,
    conditions: outcomeConditions(outcome, backup.status?.conditions, now),
  };
}
