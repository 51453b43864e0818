import type {
  CertificateStatus,
  ConditionStatus,
  CurrentOperation,
  EtcdClusterStatus,
  EtcdMemberStatus,
  LastOperation,
  MaintenanceOutcome,
  OperationStep,
} from '../../../src/resource/types.ts';
import type { Condition } from './condition.ts';
import type { MaintenanceKind, MaintenanceResult } from './record.ts';

/** Status of the EtcdCluster resource. Unknown fields are left out. */
export interface ClusterStatus extends Writable<EtcdClusterStatus> {
  phase: string;
  reason: string;
  message: string;
  operation?: ReportedOperation;
  lastOperation?: ReportedOperation;
  maintenance?: Partial<Record<MaintenanceKind, ReportedMaintenance>>;
  members: ReportedMember[];
  conditions: ReportedCondition[];
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A change of the cluster from its beginning until the cluster is Ready again. */
export interface ReportedOperation extends Writable<CurrentOperation & LastOperation> {
  /** Unset while it is in progress. Superseded: it gave way to another, or was given up. */
  outcome?: 'Completed' | 'Failed' | 'Superseded';
  steps: ReportedStep[];
}

export interface ReportedMaintenance extends MaintenanceOutcome {
  readonly phase: MaintenanceResult['phase'] | 'Waiting';
  readonly last?: Readonly<MaintenanceResult>;
}

export type StepKind =
  | ('Start' | 'Add' | 'CatchUp' | 'Promote' | 'Restart' | 'BecomeHealthy' | 'Remove' | 'DeleteClaim')
  | ('BackUp' | 'Salvage' | 'Verify' | 'Fence' | 'StopPods' | 'Seed' | 'Restore' | 'Report')
  | ('Compact' | 'Defragment' | 'Disarm' | 'MoveLeader' | 'RaiseVersion' | 'SwitchTransport' | 'DeleteClaims');

export interface ReportedStep extends Writable<OperationStep> {
  /** Unset by an older release. */
  kind?: StepKind;
}

/** Of an authority: that of its intermediate. */
export type ReportedCertificate = Writable<CertificateStatus>;

export interface ReportedMember extends Writable<EtcdMemberStatus> {
  pod: string;
  role?: 'Leader' | 'Follower' | 'Learner';
  healthy: boolean;
}

export interface ReportedCondition
  extends Condition,
    Writable<Pick<ConditionStatus, 'lastTransitionTime' | 'observedGeneration'>> {}
