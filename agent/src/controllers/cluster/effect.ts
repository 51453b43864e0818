import type { RecordDoc, RestoreSource } from '../../protocol/record.ts';
import type { JobKind } from './observed.ts';

/**
 * The one external side effect of a pass, as plain data. Each can be repeated, and each that an old lease holder
 * may emit late carries what makes it harmless then: a resource version, a UID, or a member id that is never used again.
 */
export type Effect =
  /** No basedOn: create, fails if there is one. */
  | { kind: 'WriteRecord'; doc: RecordDoc; basedOn?: string }
  | { kind: 'DeleteRecord'; basedOn: string }
  | { kind: 'ScaleTo'; replicas: number; basedOn: string }
  /** Of the pod template. */
  | { kind: 'AnnotateEpoch'; epoch: number; basedOn: string }
  | { kind: 'AnnotatePvc'; ordinal: number; uid: string; clusterUid: string; epoch: number; basedOn: string }
  /** evict: within the pod disruption budget, as a drain does it; else whatever the budget says. */
  | { kind: 'DeletePod'; ordinal: number; uid: string; evict?: boolean }
  /** basedOn: only as it was seen. */
  | { kind: 'DeletePvc'; ordinal: number; uid: string; basedOn?: string }
  /** Always a learner. */
  | { kind: 'MemberAdd'; ordinal: number; peerUrl: string }
  | { kind: 'MemberRemove'; memberId: string }
  | { kind: 'MemberPromote'; memberId: string }
  | { kind: 'MoveLeader'; leader: string; to: string }
  | { kind: 'CreateJob'; job: JobRequest }
  | { kind: 'DeleteJob'; job: JobKind; uid: string }
  | { kind: 'Compact'; revision: number; done: string }
  | { kind: 'Defrag'; memberId: string; done: string }
  | { kind: 'Disarm'; memberId: string; alarm: 'NoSpace' | 'Corrupt' }
  /** A read; its result becomes `observed.hash`. */
  | { kind: 'HashKV'; members: string[]; of: string }
  /** Lease grants and revokes: raft entries without a key or a revision. */
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

/** What a Job of ours is to do; its name is `<cluster>-<kind>`. */
export interface JobRequest {
  kind: JobKind;
  /** The op it belongs to: its annotation. */
  op: string;
  /** Backups: whose settings. */
  schedule?: string;
  /** recovery: the endpoint of this ordinal alone, without a quorum. */
  survivor?: number;
  /** restore: what to fetch and verify, and the token that guards what it serves. */
  restore?: {
    source: RestoreSource;
    identitySecret?: string;
    sha256?: string;
    expectedRevision?: number;
    /** Minor whose etcdutl makes the trial restore. */
    minor: string;
    token: string;
  };
  /** salvage: where the gate serves its copy, and of which etcd it is: the copy itself does not say. */
  salvage?: { url: string; token: string; sha256: string; clusterId?: string };
}
