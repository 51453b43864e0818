import type { Condition } from './condition.ts';

/** Status of the EtcdCluster resource: it leaves out what is not known. */
export interface ClusterStatus {
  observedGeneration?: number;
  phase: string;
  reason: string;
  message: string;
  epoch?: number;
  /** Hex. */
  clusterId?: string;
  clusterUid?: string;
  /** Pods that there should be now. */
  size?: number;
  voters?: number;
  readyVoters?: number;
  /** Pod of the member that is being added. */
  learner?: string;
  /** Pod of the leader. */
  leader?: string;
  /** Of the cluster: what all members agree on. */
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
  /** When this was written: it is, again, when it gets old. */
  observedAt?: string;
  members: ReportedMember[];
  conditions: ReportedCondition[];
}

export interface ReportedMember {
  ordinal: number;
  pod: string;
  memberId?: string;
  role?: 'Leader' | 'Follower' | 'Learner';
  version?: string;
  healthy: boolean;
  dbSize?: number;
  lag?: number;
  reason?: string;
}

export interface ReportedCondition extends Condition {
  lastTransitionTime: string;
  observedGeneration?: number;
}
