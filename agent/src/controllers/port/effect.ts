import type { RecordDoc, RecordedSource } from '../../protocol/record.ts';
import type { JobKind } from './observed.ts';

/**
 * The one external side effect of a pass, as plain data. Every effect can be repeated. An effect that an old lease holder may
 * send late carries what makes it harmless then: a resource version, a UID, or a member id that is never used again. A late
 * MoveLeader costs an election, and a late Defrag a pause of one member.
 */
export type Effect =
  /** Without `basedOn` it creates the record, and fails if one exists. */
  | { kind: 'WriteRecord'; doc: RecordDoc; basedOn?: string }
  | { kind: 'DeleteRecord'; basedOn: string }
  /** `setBackFrom`: something else has lowered the number to this one. */
  | { kind: 'ScaleTo'; replicas: number; basedOn: string; setBackFrom?: number | undefined }
  /** Annotates the pod template. */
  | { kind: 'AnnotateEpoch'; epoch: number; basedOn: string }
  /** Annotates the pod template, so that its pods are restarted. */
  | { kind: 'AnnotateRoots'; roots: string; basedOn: string }
  | { kind: 'AnnotateClaim'; ordinal: number; uid: string; clusterUid: string; epoch: number; basedOn: string }
  /** `evict`: within the pod disruption budget, as a drain does. Otherwise the budget does not count. */
  | { kind: 'DeletePod'; ordinal: number; uid: string; evict?: boolean }
  /** `basedOn`: only if the claim has not changed since it was observed. */
  | { kind: 'DeleteClaim'; ordinal: number; uid: string; basedOn?: string }
  /** Adds a learner. */
  | { kind: 'MemberAdd'; ordinal: number; peerUrls: readonly string[] }
  /** Replaces the peer URLs of a member. */
  | { kind: 'MemberUpdate'; memberId: string; peerUrls: readonly string[] }
  | { kind: 'MemberRemove'; memberId: string }
  | { kind: 'MemberPromote'; memberId: string }
  | { kind: 'MoveLeader'; leader: string; to: string; done?: string }
  | { kind: 'CreateJob'; job: JobRequest }
  | { kind: 'DeleteJob'; job: JobKind; uid: string }
  | { kind: 'Compact'; revision: number; done: string }
  | { kind: 'Defrag'; memberId: string; done: string }
  | { kind: 'Disarm'; memberId: string; alarm: 'NoSpace' | 'Corrupt' }
  /** Only reads. Its result becomes `observed.hash`. */
  | { kind: 'HashKV'; members: string[]; of: string }
  /** Grants and revokes leases: raft entries without a key or a revision. */
  | { kind: 'LeaseChurn'; pairs: number }
  | { kind: 'SetFinalizer'; basedOn: string }
  | { kind: 'ReleaseFinalizer'; basedOn: string }
  | {
      kind: 'ReportRestore';
      name: string;
      uid: string;
      phase: 'Failed' | 'Completed';
      reason: string;
      message: string;
    };

export type EffectKind = Effect['kind'];

/** The task of a Job, whose name is `<cluster>-<kind>`. */
export interface JobRequest {
  kind: JobKind;
  /** Id of its operation, which becomes its annotation. */
  op: string;
  /** Backups: the schedule whose settings apply. */
  schedule?: string;
  /** Backups: the operation restores it next, from the first store of the schedule. */
  restored?: true;
  /** recovery: back up only the endpoint of this ordinal, without a quorum. */
  survivor?: number;
  /** restore: the snapshot to fetch and verify, and the token that guards the served snapshot. */
  restore?: {
    source: RecordedSource;
    /** Its Job runs as `spec.origin` says now. */
    isOrigin?: true;
    identitySecret?: string;
    sha256?: string;
    expectedRevision?: number;
    /** Minor of the etcdutl that does the trial restore. */
    minor: string;
    /** Empty with TLS. */
    token: string;
    /** A snapshot with authentication is refused. */
    refusesAuth?: true;
  };
  /** salvage: where the gate serves its copy, and the cluster id, which the copy itself does not contain. */
  salvage?: { url: string; token: string; sha256: string; clusterId?: string };
}
