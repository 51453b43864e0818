import type { Condition } from './condition.ts';
import type { ReportedRequest } from './requests.ts';

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
  /** The certificates that the reconciler issues. */
  certificates?: readonly ReportedCertificate[];
  /** What annotations ask for, and what came of it. */
  requests?: readonly ReportedRequest[];
  /** Time of this status. It is written again when it gets old, even if nothing else changed. */
  observedAt?: string;
  members: ReportedMember[];
  conditions: ReportedCondition[];
}

export interface ReportedCertificate {
  /** Of an authority: that of its intermediate. */
  secret: string;
  notAfter: string;
  /** Unset if it will not be renewed as things are. */
  renewAt?: string;
  /** First 16 hex digits of the SHA-256 of the root that it comes with. */
  root?: string;
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
  /** The roots that its etcd read when it started, as `root` of a certificate. Unset: unknown. */
  loaded?: { peerRoot?: string; clientRoot?: string };
  reason?: string;
}

export interface ReportedCondition extends Condition {
  lastTransitionTime: string;
  observedGeneration?: number;
}
