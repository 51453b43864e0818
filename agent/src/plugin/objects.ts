// The fields of Kubernetes objects that the plugin reads beside those of ../kube/objects.ts. All of them may be missing.
import type {
  EtcdBackupSpec,
  EtcdBackupStatus,
  EtcdClusterSpec,
  EtcdRestoreSpec,
  EtcdRestoreStatus,
  EtcdUserSpec,
  EtcdUserStatus,
} from '../../../src/resource/types.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { ClusterStatus } from '../protocol/cluster-status.ts';
import { isFuture } from './text.ts';

export interface ClusterObject extends KubeObject {
  readonly spec: Partial<EtcdClusterSpec>;
  readonly status?: Partial<ClusterStatus>;
}

export interface BackupObject extends KubeObject {
  readonly spec: EtcdBackupSpec;
  readonly status?: EtcdBackupStatus;
}

export interface RestoreObject extends KubeObject {
  readonly spec: Partial<EtcdRestoreSpec>;
  readonly status?: EtcdRestoreStatus;
}

export interface UserObject extends KubeObject {
  readonly spec: Partial<EtcdUserSpec>;
  readonly status?: EtcdUserStatus;
}

export interface ClaimObject extends KubeObject {
  readonly status?: { readonly phase?: string; readonly capacity?: { readonly storage?: string } };
}

/** EtcdBackups and EtcdRestores end in one of these phases. */
export const isOver = ({ status }: { readonly status?: { readonly phase?: string } }): boolean =>
  status?.phase === 'Completed' || status?.phase === 'Failed';

/** Without a status, nobody has begun with it. */
export const isPending = ({ status }: { readonly status?: { readonly phase?: string } }): boolean =>
  (status?.phase ?? 'Pending') === 'Pending';

export const byAge = (a: KubeObject, b: KubeObject): number =>
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp);

/** When the snapshot of a backup was taken; until that is known, when its Job was created or it was asked for. */
export function takenAt({ metadata, status = {} }: BackupObject, now: number): string {
  const taken = status.snapshotTime ?? status.startTime ?? status.completionTime;
  // No snapshot is older than the request for it.
  return taken === undefined || isFuture(taken, now) ? metadata.creationTimestamp : taken;
}

/** Newest first. */
export const byTaken =
  (now: number) =>
  (a: BackupObject, b: BackupObject): number =>
    Date.parse(takenAt(b, now)) - Date.parse(takenAt(a, now));

export const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
