import type { AgentStatus } from '../../protocol/agent-status.ts';
import type { ClusterStatus } from '../../protocol/cluster-status.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import type { JobRequest } from './effect.ts';
import type {
  Alarm,
  Claim,
  Cluster,
  HashResult,
  Job,
  JobKind,
  Member,
  MemberStatus,
  Pod,
  RestoreRequest,
  StatefulSet,
} from './observed.ts';

/** Refused for the moment, which is no failure: it is tried again later, and told until then. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
}

/** All that the reconciler can see and do. Reads throw when they fail; writes throw when refused or when the outcome is unknown. */
export interface Port {
  readonly records: RecordStore;
  readonly clusters: Clusters;
  readonly workload: Workload;
  readonly jobs: Jobs;
  readonly membership: Membership;
  readonly maintenance: Maintenance;
  /** Of one that keeps what it read while nothing changes: reads all of it anew. False: it has just done so. */
  lookAgain?(): boolean;
  /** Nothing is under way: what only that takes is let go. */
  rest?(): void;
}

export interface RecordStore {
  read(): Promise<{ doc: RecordDoc; rv: string } | undefined>;
  /** Fails unless the stored version is basedOn (undefined: unless there is none). */
  write(doc: RecordDoc, basedOn?: string): Promise<void>;
  remove(basedOn: string): Promise<void>;
}

export interface Clusters {
  cluster(): Promise<Cluster | undefined>;
  restores(): Promise<RestoreRequest[]>;
  setFinalizer(basedOn: string): Promise<void>;
  releaseFinalizer(basedOn: string): Promise<void>;
  /** All of it, in place of the one before. */
  reportStatus(status: ClusterStatus): Promise<void>;
  reportRestore(report: { name: string; uid: string; phase: string; reason: string; message: string }): Promise<void>;
}

/** StatefulSet, pods, volume claims and the agents in the pods. */
export interface Workload {
  statefulSet(): Promise<StatefulSet | undefined>;
  pods(): Promise<Pod[]>;
  claims(): Promise<Claim[]>;
  agent(pod: Pod): Promise<AgentStatus>;
  scale(replicas: number, basedOn: string): Promise<void>;
  annotateEpoch(epoch: number, basedOn: string): Promise<void>;
  annotateClaim(claim: {
    ordinal: number;
    uid: string;
    clusterUid: string;
    epoch: number;
    basedOn: string;
  }): Promise<void>;
  deletePod(ordinal: number, uid: string): Promise<void>;
  /** Throws NotNow when it is refused, as by a pod disruption budget that has no room for it. */
  evictPod(ordinal: number, uid: string): Promise<void>;
  deleteClaim(claim: { ordinal: number; uid: string; basedOn?: string }): Promise<void>;
}

export interface Jobs {
  jobs(): Promise<Job[]>;
  create(job: JobRequest): Promise<void>;
  remove(kind: JobKind, uid: string): Promise<void>;
}

/** The only client that changes membership. */
export interface Membership {
  /** Linearizable; clusterId is of the answer's header. */
  members(): Promise<{ clusterId: string; members: Member[] }>;
  addLearner(peerUrl: string): Promise<void>;
  remove(memberId: string): Promise<void>;
  promote(memberId: string): Promise<void>;
  moveLeader(leader: string, to: string): Promise<void>;
}

export interface Maintenance {
  status(memberId: string): Promise<MemberStatus>;
  alarms(): Promise<Alarm[]>;
  compact(revision: number): Promise<void>;
  defrag(memberId: string): Promise<void>;
  disarm(memberId: string, alarm: Alarm['type']): Promise<void>;
  hashKV(members: string[]): Promise<Omit<HashResult, 'of' | 'at'>>;
  leaseChurn(pairs: number): Promise<void>;
}
