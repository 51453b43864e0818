import type { AgentStatus } from '../../protocol/agent-status.ts';
import type { ClusterStatus } from '../../protocol/cluster-status.ts';
import type { Known } from '../../protocol/known.ts';
import type { RecordDoc, RestoreSource } from '../../protocol/record.ts';

/** Everything that plan() knows. Read in this order: record, cluster, then the rest, so nothing is older than the record. */
export interface Observed {
  cluster: Known<Cluster | undefined>;
  record: Known<{ doc: RecordDoc; rv: string } | undefined>;
  statefulSet: Known<StatefulSet | undefined>;
  pods: Known<Pod[]>;
  claims: Known<Claim[]>;
  /** By ordinal, for each pod that there is. */
  agents: Record<number, Known<AgentStatus>>;
  /** A linearizable read: known means that a quorum answered. */
  members: Known<Member[]>;
  /** By member id. */
  status: Record<string, Known<MemberStatus>>;
  alarms: Known<Alarm[]>;
  jobs: Known<Job[]>;
  restores: Known<RestoreRequest[]>;
  since: Since;
  /** Outcome of HashKV, kept in memory. */
  hash?: HashResult;
  /** Keys of the effects that succeeded under the present op, kept in memory (a lost one is repeated). */
  done: string[];
  /** An eviction that was refused not long ago. */
  refused?: Refusal;
  /** Passes in a row that ended with an error. */
  failures: number;
  /** The last of those: which rule, and why. */
  error?: string;
  holder: string;
  fresh: Fresh;
}

export interface Refusal {
  /** The last time, ms. */
  at: number;
  /** The first time of this pod, without a long pause. */
  since: number;
  podUid: string;
  message: string;
}

/** Random values of this pass; each is used at most once. */
export interface Fresh {
  /** Of an op, a permit. */
  id: string;
  clusterUid: string;
  /** 128 bit, of an epoch. */
  token: string;
  /** 256 bit, of a SourceRef. */
  secret: string;
}

/** When something was first seen without a break, in ms; memory of this process, so a restart waits again. */
export interface Since {
  /** By member id: answers, has a leader, lags little. */
  healthy: Record<string, number>;
  /** By member id: unhealthy. */
  down: Record<string, number>;
  /** By ordinal: the same evidence of a lost volume. */
  evidence: Record<number, number>;
  /** By member id: learner within promoteLag. */
  inSync: Record<string, number>;
  quorumLost?: number;
  /** By ordinal: there is no pod where there should be one, or its agent does not answer. */
  silent?: Record<number, number>;
  /** The record cannot be read. */
  blind?: number;
  /** `record.failure` as it is. */
  failure?: number;
  /** By UID: a Job that failed. */
  jobFailed: Record<string, number>;
  /** By UID: a Job whose pod has not started. */
  jobWaits?: Record<string, number>;
  /** This process holds the lease. */
  holder: number;
}

/** The EtcdCluster resource. */
export interface Cluster {
  name: string;
  namespace: string;
  uid: string;
  rv: string;
  /** Of the spec; unset where nobody counts. */
  generation?: number;
  /** DNS domain of the Kubernetes cluster; undefined: not known yet. */
  domain?: string;
  /** By ordinal, where there is no DNS; default the names of the pods. */
  peerUrls?: readonly string[];
  /** It, or its namespace. */
  deleting: boolean;
  finalizer: boolean;
  /** The annotation cdk8s-etcd.dev/skip-final-backup. */
  skipFinalBackup: boolean;
  /** The reconciler or the namespace is going: finalizers are released without their work. */
  reconcilerGoing: boolean;
  spec: ClusterSpec;
  status: Partial<ClusterStatus>;
  /** Unset where nobody mirrors them. */
  backups?: ClusterBackups;
}

/** What its schedules and EtcdBackups came to. */
export interface ClusterBackups {
  /** The newest good one. */
  last?: NonNullable<ClusterStatus['lastBackup']>;
  /** A schedule whose newest run failed. */
  failed?: { schedule: string; message: string };
  /** A schedule the pod of whose newest run does not start. */
  waits?: { schedule: string; message: string };
  /** Of the schedule that is due first: when its newest good backup is too old, ms; the time of that backup. */
  due?: { schedule: string; cronJob: string; at: number; last?: string };
}

export interface ClusterSpec {
  size: number;
  allowEvenSize: boolean;
  version: string;
  paused: boolean;
  tls: boolean;
  ephemeral: boolean;
  replace: { policy: 'OnVolumeLoss' | 'Manual'; force: ReplaceRequest[] };
  origin?: OriginRequest;
  recovery?: RecoveryRequest;
  onShrink: 'Retain' | 'Delete';
  onDelete: 'Retain' | 'Delete';
  /** Name of the backup schedule whose settings operations use. */
  schedule?: string;
  requiredForUpgrade: boolean;
  finalBackupRequired: boolean;
  onNoSpace: 'Report' | 'CompactDefragDisarm';
}

export interface ReplaceRequest {
  ordinal: number;
  memberId: string;
  discardVolume: boolean;
}

export interface OriginRequest {
  source: RestoreSource;
  identitySecret?: string;
  sha256?: string;
  expectedRevision?: number;
}

export interface RecoveryRequest {
  id: string;
  action: string;
  acceptDataLoss: boolean;
  survivor?: number;
  identitySecret?: string;
}

export interface StatefulSet {
  replicas: number;
  rv: string;
  updateRevision: string;
  /** The controller has seen the newest generation. */
  observed: boolean;
  /** Annotation cdk8s-etcd.dev/epoch of the pod template; 0 = none. */
  minEpoch: number;
  /** ETCD_VERSION of the pod template. */
  version: string;
  /** What the tag of its image says; unset where it says nothing. */
  imageVersion?: string;
  /** Fewer pods than it should have, and why, in Kubernetes' words; for the status alone. */
  lacks?: { why?: string };
}

export interface Pod {
  ordinal: number;
  uid: string;
  revision: string;
  /** Has an IP and its init phase has begun. */
  running: boolean;
  /** A container of it runs, or has run: there may be something on an ephemeral volume. */
  began: boolean;
  ready: boolean;
  deleting: boolean;
  /** Its peer name resolves to its IP. */
  resolves: Known<boolean>;
  /** Where it was put. */
  node?: string;
  /** No node takes it. */
  unschedulable?: true;
  /** What keeps it from running, in Kubernetes' words; for the status alone. */
  problem?: string;
}

export interface Claim {
  ordinal: number;
  uid: string;
  rv: string;
  deleting: boolean;
  clusterUid?: string;
  epoch?: number;
  /** For which its volume was made, where that waits for the first pod. */
  node?: string;
}

export interface Member {
  id: string;
  /** Empty: never started. */
  name: string;
  peerUrl: string;
  isLearner: boolean;
}

/** etcd's own Status. */
export interface MemberStatus {
  clusterId: string;
  version: string;
  /** Member id; empty = none. */
  leader: string;
  raftTerm: number;
  raftIndex: number;
  appliedIndex: number;
  revision: number;
  dbSize: number;
  dbInUse: number;
  quota?: number;
  clusterVersion?: string;
  downgradeEnabled?: boolean;
}

export interface Alarm {
  memberId: string;
  type: 'NoSpace' | 'Corrupt';
}

export type JobKind = 'pre-upgrade' | 'final' | 'safety' | 'recovery' | 'restore' | 'salvage';

export interface Job {
  kind: JobKind;
  uid: string;
  /** Annotation cdk8s-etcd.dev/op. */
  op: string;
  state: 'Running' | 'Succeeded' | 'Failed';
  deleting: boolean;
  message?: string;
  /** No container of it has begun: why. */
  waits?: string;
  /** A backup that succeeded: it is in the store, verified. */
  backup?: { id: string; revision: number; sha256: string };
  /** The restore Job verified its snapshot and serves it. */
  serving?: { url: string; sha256: string; sizeBytes: number; revision: number; highestRevision?: number };
}

/** An EtcdRestore of this cluster. */
export interface RestoreRequest {
  name: string;
  uid: string;
  createdAt: number;
  specHash: string;
  source: RestoreSource;
  identitySecret?: string;
  sha256?: string;
  expectedRevision?: number;
  safetyBackup: boolean;
  ignoreUnreachablePods: boolean;
  /** Of its status. */
  phase?: string;
}

export interface HashResult {
  /** Which members, on which starts, were compared: see fingerprint(). */
  of: string;
  at: number;
  equal: boolean;
  /** Those that differ from the majority. */
  minority: string[];
  /** Why nothing could be compared: then `equal` proves nothing. */
  inconclusive?: string;
}
