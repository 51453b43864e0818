/**
 * The record: the state that must outlive the reconciler. One JSON document. Only the lease holder writes it, and each write
 * names the version that it is based on.
 */
export interface RecordDoc {
  v: 1;
  /** Goes up by 1 with every write. Agents ignore a record that is older than the one in their cache. */
  rev: number;
  /** Generated with the first record. Not the uid of the custom resource, which changes when the resource is created again. */
  clusterUid: string;
  /** 0 = never bootstrapped. */
  epoch: number;
  /** Data of an older epoch never serve. A fence raises it; the pod template carries a copy. */
  minEpoch: number;
  /** New for every epoch, never reused. */
  token: string;
  phase: 'Seeding' | 'Running' | 'Restoring';
  /** The reconciler saw the seed of this epoch serve from its own WAL. */
  seeded: boolean;
  clusterId?: string;
  /** By ordinal. At most one valid permit for each. */
  permits: Record<string, Permit>;
  /** By ordinal. */
  members: Record<string, RecordedMember>;
  /** Removed members of this epoch, newest last. */
  tombstones: Tombstone[];
  /** The operation in progress. It is recorded before it starts. */
  op?: Op;
  versions: Versions;
  lastRestoreId?: string;
  lastRecoveryId?: string;
  /** Restores that passed the fence, newest last. Each id is restored at most once. */
  restores: FencedRestore[];
  /** EtcdRestores that are older than the data of this cluster: they are refused, also under another name. */
  olderRestores?: { id: string; specHash: string }[];
  /** Names of EtcdRestores that failed before their fence, newest last. A name is used once. */
  failedRestores?: string[];
  lastBackup?: { id: string; revision: number; sha256: string; at: string };
  /** Highest revision that an epoch started with. A restore goes beyond it, even if no member answers any more. */
  startRevision?: number;
  /** The last operation that failed. It is retried only after a pause. */
  failure?: Failure;
  /** When a NOSPACE alarm was cleared last, and the time before. */
  spaceCleared?: { at: string; before?: string };
  /** The newest requests of `spec.maintenance` that were tried. */
  maintenance?: MaintenanceResults;
  /** How the next start of a member speaks. Unset: with TLS if its pod has certificates. */
  transport?: Transport;
}

export type MaintenanceResults = Partial<Record<MaintenanceKind, MaintenanceResult>>;
export type MaintenanceKind = 'defragment' | 'moveLeader';

export interface MaintenanceResult {
  /** The time that the request names. */
  at: string;
  phase: 'Running' | 'Completed' | 'Failed';
  message: string;
}

/** The schemes at which etcd listens. A member with certificates can call others by either. */
export interface Schemes {
  peers: Scheme;
  clients: Scheme | 'both';
}

export type Scheme = 'http' | 'https';

/** How the members are to speak in the end, and now. */
export interface Transport extends Schemes {
  target: Scheme;
  /** While TLS is switched on: since when clients may use either scheme at every member. */
  since?: string;
  /** While `peers` is http: a member that has not been restarted since may use https with others. */
  hadTls?: true;
}

export interface Permit {
  id: string;
  ordinal: number;
  /** The only volume that may use this permit. */
  volumeId: string;
  epoch: number;
  mode: 'new' | 'existing' | 'restore' | 'salvage';
  token: string;
  /** Lists only this member for `new` and `restore`; otherwise all current members. */
  initialCluster: string;
  /** For `existing`: the id that MemberAdd returned. */
  memberId?: string;
  restore?: { id: string; source: SourceRef; bumpRevision: number };
  /** The token is empty with TLS. */
  salvage?: { token: string };
  /** For people only: no code compares it with a clock. */
  issuedAt: string;
}

/** A plain `.db` snapshot, served over HTTP and protected by a one-time token, or over HTTPS and protected by certificates. */
export interface SourceRef {
  url: string;
  /** Empty with TLS. */
  token: string;
  sha256: string;
}

export interface RecordedMember {
  memberId: string;
  volumeId: string;
  epoch: number;
  everVoter: boolean;
  /** The version on which the reconciler restarted this member once. The restart that installed the version does not count. */
  restartedOn?: string;
  /** High-water mark: see Reached. */
  reached?: Reached;
}

/** How far a member had come, minutes before this was written, so that its volume has had it since. */
export interface Reached {
  /** Raft index that it knew to be committed. */
  index: number;
  /** Newest revision of the cluster then. */
  revision: number;
}

export interface Tombstone {
  memberId: string;
  ordinal: number;
  epoch: number;
  at: string;
  why: string;
}

export interface Versions {
  /** Minor version that the cluster runs, or ran before an upgrade that is half done. */
  current: string;
  /** Minor versions that a gate may start: two while an upgrade is half done. */
  allowedMinors: string[];
  /** Version of the epoch's seed. Unset if unknown. */
  bornOn?: string;
  /** Raft index after which no entry of 3.5 follows. 0 if the epoch began on 3.6 or newer. Unset if unknown. */
  finalizedIndex?: number;
  /** The current upgrade started without a backup. */
  withoutBackup?: boolean;
}

export interface FencedRestore {
  /** See restore-id.ts. */
  id: string;
  uid: string;
  specHash: string;
  at: string;
  /** What was restored, and the safety backup of what was replaced. Retention keeps both as long as its EtcdRestore exists. */
  snapshots?: string[];
}

export interface Failure {
  /** Operation and target, such as `Upgrade 3.7`. */
  of: string;
  reason: string;
  message: string;
  /** Of ClearNoSpace: the newest revision then. With an equal one, no key was deleted since. */
  revision?: number;
}

interface OpBase {
  id: string;
  holder: string;
  startedAt: string;
}

/** Adds a learner with MemberAdd, then issues its permit. */
export interface AddLearnerOp extends OpBase {
  kind: 'AddLearner';
  ordinal: number;
  volumeId: string;
}

export interface PromoteOp extends OpBase {
  kind: 'Promote';
  ordinal: number;
  memberId: string;
}

/**
 * Removes a member: `remove` until the member is gone, then `claim` until its claim is gone. The operation is always
 * completed, never dropped. With an empty memberId only the claim is deleted.
 */
export interface RemoveOp extends OpBase {
  kind: 'Remove';
  ordinal: number;
  memberId: string;
  why: 'Dead' | 'Forced' | 'Learner' | 'Shrink' | 'Roll';
  step: 'remove' | 'claim';
  /** The volume claim to delete after the member. */
  claimUid?: string;
}

/** Restarts one pod. */
export interface DeletePodOp extends OpBase {
  kind: 'DeletePod';
  ordinal: number;
  podUid: string;
  /** Version that ran before the restart. */
  version?: string;
  /** Version that the pod template names. */
  nextVersion: string;
}

/**
 * `Restore`: a restore, the first data of a new cluster from its origin, or the roll of a single member without a
 * persistent volume. `Recover`: the same after a backup of a survivor.
 */
export interface RestoreOp extends OpBase {
  kind: 'Restore' | 'Recover';
  step: RestoreStep;
  args: RestoreArgs;
  /** The operation that was in progress when quorum was lost. It resumes if this one ends before the fence. */
  suspended?: Op;
}

/**
 * `backup` and `salvage` save a survivor, or a single member without a persistent volume. The restore follows: verify,
 * safety backup, fence, drain, seed, restore.
 */
export type RestoreStep =
  | 'backup'
  | 'salvage'
  | 'verify'
  | 'safety'
  | 'fence'
  | 'drain'
  | 'seed'
  | 'restore'
  | 'report';

export interface RestoreArgs {
  /** The same id as in `restores`. */
  id: string;
  uid: string;
  specHash: string;
  source?: RecordedSource;
  identitySecret?: string;
  sha256?: string;
  expectedRevision?: number;
  safetyBackup: boolean;
  /** Set once the safety backup is stored. If unset after `safety`, it was skipped because there was no quorum. */
  safetyBackupId?: string;
  ignoreUnreachablePods: boolean;
  /** Token of the SourceRef; empty with TLS. */
  sourceToken: string;
  /** The snapshot that was verified, and no other, is restored. `id`, and `jobUid` of its Job, are unset by an older release. */
  verified?: { id?: string; sha256: string; sizeBytes: number; revision: number; jobUid?: string };
  /** Highest revision seen before the fence. */
  lastRevision?: number;
  survivor?: { ordinal: number; memberId: string; podUid: string; volumeId: string };
  salvageToken?: string;
  failed?: { reason: string; message: string };
}

/** Location of a snapshot as the custom resource gives it, or a snapshot of one of the cluster's own backup schedules. */
export type RecordedSource = Record<string, unknown>;

/** Takes the backup before a minor upgrade. The restarts are operations of their own. */
export interface UpgradeOp extends OpBase {
  kind: 'Upgrade';
  to: string;
}

export interface ClearNoSpaceOp extends OpBase {
  kind: 'ClearNoSpace';
  step: 'compact' | 'defrag' | 'disarm';
  /** Compact up to this revision. */
  revision: number;
  /** No history is kept, because the newest of it needs too much of the quota. */
  deep?: true;
  /** Members already defragmented. */
  done: string[];
}

export interface DeleteOp extends OpBase {
  kind: 'Delete';
  step: 'backup' | 'scale' | 'claims';
  /** The operation that was interrupted, such as a restore past its fence. It resumes when the cluster is created again. */
  suspended?: Op;
}

/** Defragments the members one by one. */
export interface DefragmentOp extends OpBase {
  kind: 'Defragment';
  /** The time that the request names. */
  at: string;
  /** Only the member of this ordinal. */
  ordinal?: number;
  /** The member that the process `by` is about to defragment. It is tried once. */
  present?: { memberId: string; pod: string; before: number; by: string };
  /** Sizes in bytes. Without `after`: unknown. */
  done: { memberId: string; pod: string; before: number; after?: number }[];
}

/** The process `by` calls etcd once. */
export interface MoveLeaderOp extends OpBase {
  kind: 'MoveLeader';
  /** The time that the request names. */
  at: string;
  by: string;
  /** Member id. */
  to: string;
}

export type Op =
  | AddLearnerOp
  | PromoteOp
  | RemoveOp
  | DeletePodOp
  | RestoreOp
  | UpgradeOp
  | ClearNoSpaceOp
  | DefragmentOp
  | MoveLeaderOp
  | DeleteOp;
export type OpKind = Op['kind'];
