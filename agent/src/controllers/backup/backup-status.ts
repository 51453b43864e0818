import { type BackupPhase, type BackupStatus, type EtcdBackupObject, sourceOf } from './backup-object.ts';

/** In one word and one line. */
export interface Why {
  readonly reason: string;
  readonly message: string;
}

/** Whole: what is not named in `facts` is no longer told. */
export function backupStatus(
  { backup, now }: { readonly backup: EtcdBackupObject; readonly now: string },
  phase: BackupPhase,
  { reason, message }: Why,
  facts: Partial<BackupStatus>,
): BackupStatus {
  const { generation } = backup.metadata;
  const holds = (type: 'Completed' | 'Failed') => {
    const status = phase === type ? ('True' as const) : ('False' as const);
    const old = backup.status?.conditions?.find((each) => each.type === type);
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now;
    return {
      type,
      status,
      reason,
      message,
      lastTransitionTime,
      ...(generation !== undefined && { observedGeneration: generation }),
    };
  };
  return {
    ...(generation !== undefined && { observedGeneration: generation }),
    phase,
    reason,
    message,
    source: sourceOf(backup),
    ...facts,
    conditions: [holds('Completed'), holds('Failed')],
  };
}
