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

/** Called with `before <rule>` and `after <rule>` around every effect: tests end the process there. */
export type AtPoint = (point: string) => void | Promise<void>;

/** Refused for the moment, which is not a failure: the effect is retried later, and the refusal is reported until then. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
}

/** Everything that the reconciler can observe and do. Reads throw if they fail; writes throw if they are refused or their outcome is unknown. */
export interface Port {
  readonly records: RecordStore;
  readonly clusters: Clusters;
  readonly workload: Workload;
  readonly jobs: Jobs;
  readonly membership: Membership;
  readonly maintenance: Maintenance;
  /** Reads everything again, in a port with a cache. Returns false if it has just done so. */
  lookAgain?(): boolean;
  /** No operation is in flight, so the port may release what only operations need. */
  rest?(): void;
}

export interface RecordStore {
  /** `isListOld`: beside it, the list of what retention keeps is not that of now. The next write replaces it. */
  read(): Promise<{ doc: RecordDoc; rv: string; isListOld?: true } | undefined>;
  /** Fails unless the stored version is basedOn (undefined: unless there is none). */
  write(doc: RecordDoc, basedOn?: string): Promise<void>;
  remove(basedOn: string): Promise<void>;
}

export interface Clusters {
  cluster(): Promise<Cluster | undefined>;
  restores(): Promise<RestoreRequest[]>;
  setFinalizer(basedOn: string): Promise<void>;
  releaseFinalizer(basedOn: string): Promise<void>;
  /** Replaces the whole status. */
  reportStatus(status: ClusterStatus): Promise<void>;
  reportRestore(report: { name: string; uid: string; phase: string; reason: string; message: string }): Promise<void>;
}

/** StatefulSet, pods, volume claims and the agents in the pods. */
export interface Workload {
  statefulSet(): Promise<StatefulSet | undefined>;
  pods(): Promise<Pod[]>;
  claims(): Promise<Claim[]>;
  agent(pod: Pod): Promise<AgentStatus>;
  /** `setBackFrom`: the number to which something else has lowered it, which an Event says. */
  scale(replicas: number, basedOn: string, setBackFrom?: number): Promise<void>;
  annotateEpoch(epoch: number, basedOn: string): Promise<void>;
  annotateRoots(roots: string, basedOn: string): Promise<void>;
  annotateClaim(claim: {
    ordinal: number;
    uid: string;
    clusterUid: string;
    epoch: number;
    basedOn: string;
  }): Promise<void>;
  deletePod(ordinal: number, uid: string): Promise<void>;
  /** Throws NotNow if the eviction is refused, for example by a pod disruption budget. */
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
  /** A linearizable read; clusterId comes from the header of the response. */
  members(): Promise<{ clusterId: string; members: Member[] }>;
  addLearner(peerUrls: readonly string[]): Promise<void>;
  updatePeerUrls(memberId: string, peerUrls: readonly string[]): Promise<void>;
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
