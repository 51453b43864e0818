import type { Condition } from './condition.ts';
import type { MaintenanceKind, MaintenanceResult } from './record.ts';

/** Status of the EtcdCluster resource. Unknown fields are left out. */
export interface ClusterStatus {
  observedGeneration?: number;
  phase: string;
  reason: string;
  message: string;
  epoch?: number;
  /** Hex. */
  clusterId?: string;
  clusterUid?: string;
  /** Number of pods that the cluster should have now. */
  size?: number;
  voters?: number;
  readyVoters?: number;
  /** Pod of the member that is being added. */
  learner?: string;
  /** Pod of the leader. */
  leader?: string;
  /** etcd's cluster version, on which all members agree. */
  version?: string;
  /** Lowest version that a member runs. */
  minVersion?: string;
  lastBackup?: {
    id: string;
    at: string;
    schedule?: string;
    revision?: number;
    sizeBytes?: number;
    sha256?: string;
    verified?: string;
  };
  lastRestoreId?: string;
  /** The operation in progress. */
  operation?: ReportedOperation;
  /** The newest operation that ended. */
  lastOperation?: ReportedOperation;
  /** What the next action waits for, once it has waited for some time, and since when that action waits. */
  waiting?: { for: string; since: string };
  /** The newest requests of `spec.maintenance`. */
  maintenance?: Partial<Record<MaintenanceKind, ReportedMaintenance>>;
  /** The certificates that the reconciler issues. */
  certificates?: readonly ReportedCertificate[];
  /** Who wrote this status: the Lease that it holds, and its version. */
  reconciler?: { lease: string; version: string };
  /** Time of this status. It is written again when it gets old, even if nothing else changed. */
  observedAt?: string;
  members: ReportedMember[];
  conditions: ReportedCondition[];
}

/** A change of the cluster from its beginning until the cluster is Ready again. */
export interface ReportedOperation {
  /** The reason of condition Progressing with which it began. */
  type: string;
  /** The size or version that is its goal. */
  target?: string;
  startedAt: string;
  endedAt?: string;
  /** Unset while it is in progress. Superseded: it gave way to another, or was given up. */
  outcome?: 'Completed' | 'Failed' | 'Superseded';
  /** In the order in which they began. Steps that took less than one pass may be missing. */
  steps: ReportedStep[];
  /** What follows, as far as it is known. Unset in an operation that ended. */
  next?: string[];
}

export interface ReportedMaintenance {
  /** The time that the request names. */
  readonly at: string;
  readonly phase: MaintenanceResult['phase'] | 'Waiting';
  readonly message: string;
  /** The newest request that was tried, while this one waits. */
  readonly last?: Readonly<MaintenanceResult>;
}

export type StepKind =
  | ('Start' | 'Add' | 'CatchUp' | 'Promote' | 'Restart' | 'BecomeHealthy' | 'Remove' | 'DeleteClaim')
  | ('BackUp' | 'Salvage' | 'Verify' | 'Fence' | 'StopPods' | 'Seed' | 'Restore' | 'Report')
  | ('Compact' | 'Defragment' | 'Disarm' | 'MoveLeader' | 'RaiseVersion' | 'SwitchTransport' | 'DeleteClaims');

export interface ReportedStep {
  name: string;
  /** Unset by an older release. */
  kind?: StepKind;
  startedAt: string;
  /** Unset: it is in progress. */
  endedAt?: string;
}

export interface ReportedCertificate {
  /** Of an authority: that of its intermediate. */
  secret: string;
  notAfter: string;
  /** Unset if it will not be renewed as things are. */
  renewAt?: string;
  /** First 16 hex digits of the SHA-256 of the root that it comes with. */
  root?: string;
  /** Of an authority: the serial numbers of the intermediates that it has revoked, in hex. */
  revoked?: readonly string[];
}

export interface ReportedMember {
  ordinal: number;
  pod: string;
  memberId?: string;
  role?: 'Leader' | 'Follower' | 'Learner';
  version?: string;
  healthy: boolean;
  dbSize?: number;
  /** Share of its volume that is in use, in percent. */
  volumeUse?: number;
  lag?: number;
  /** The roots that its etcd read when it started, as `root` of a certificate. Unset: unknown. */
  loaded?: { peerRoot?: string; clientRoot?: string };
  reason?: string;
}

export interface ReportedCondition extends Condition {
  lastTransitionTime: string;
  observedGeneration?: number;
}
