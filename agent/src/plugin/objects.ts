// The fields of Kubernetes objects that the plugin reads beside those of ../kube/objects.ts. All of them may be missing.
import type { KubeObject, ObjectCondition } from '../kube/objects.ts';
import type { ClusterStatus } from '../protocol/cluster-status.ts';
import type { MaintenanceKind } from '../protocol/record.ts';
import { isFuture } from './text.ts';

export interface ClusterObject extends KubeObject {
  readonly spec: {
    readonly size?: number;
    readonly version?: string;
    readonly paused?: boolean;
    readonly replace?: { readonly force?: readonly ForcedReplacement[] };
    readonly backup?: { readonly schedule?: string; readonly schedules?: readonly Schedule[] };
    readonly tls?: object;
    readonly auth?: boolean;
    readonly maintenance?: Partial<Record<MaintenanceKind, { readonly at: string }>>;
  };
  readonly status?: Partial<ClusterStatus>;
}

export interface ForcedReplacement {
  readonly ordinal: number;
  readonly memberId: string;
  readonly discardVolume?: boolean;
}

interface Schedule {
  readonly name: string;
  readonly cron?: string;
  /** Default: <cluster>-<name>. */
  readonly cronJobName?: string;
  /** Each with its retention, which a source of a restore does not have. */
  readonly stores?: readonly (object & { readonly retention?: object })[];
}

interface FollowedStatus {
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly snapshotId?: string;
}

export interface BackupObject extends KubeObject {
  readonly spec: { readonly clusterName?: string; readonly schedule?: string };
  readonly status?: FollowedStatus & {
    readonly snapshotTime?: string;
    readonly snapshotDeletedAt?: string;
    readonly revision?: number;
    readonly sizeBytes?: number;
    readonly verified?: string;
    readonly key?: string;
    readonly jobName?: string;
  };
}

export interface RestoreObject extends KubeObject {
  readonly spec: { readonly clusterName?: string };
  readonly status?: FollowedStatus & {
    readonly safetyBackupId?: string;
    readonly safetyBackupDeletedAt?: string;
    readonly passedOver?: string;
  };
}

export interface UserObject extends KubeObject {
  readonly spec: {
    readonly clusterName?: string;
    readonly userName?: string;
    readonly certificateSecret?: string;
    readonly passwordSecret?: string;
    readonly permissions?: readonly object[];
  };
  readonly status?: {
    readonly conditions?: readonly ObjectCondition[];
    readonly certificate?: { readonly notAfter?: string; readonly renewAt?: string };
  };
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
