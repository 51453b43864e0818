/** The record: what must outlive the reconciler. One JSON document, written only by the lease holder, each write based on the version read. */
export interface RecordDoc {
  v: 1;
  /** +1 per write; agents drop a record older than their cache. */
  rev: number;
  /** Minted with the first record; not the custom resource's uid, which changes when it is made again. */
  clusterUid: string;
  /** 0 = never bootstrapped. */
  epoch: number;
  /** Data of an older epoch never serves; raised by a fence, and mirrored in the pod template. */
  minEpoch: number;
  /** Fresh for every epoch, never used twice. */
  token: string;
  phase: 'Seeding' | 'Running' | 'Restoring';
  /** The reconciler saw the seed of this epoch serve from its own WAL. */
  seeded: boolean;
  clusterId?: string;
  /** By ordinal; at most one live permit each. */
  permits: Record<string, Permit>;
  /** By ordinal. */
  members: Record<string, RecordedMember>;
  /** Removed members of this epoch, newest last. */
  tombstones: Tombstone[];
  /** What is being done: written before it is done. */
  op?: Op;
  versions: Versions;
  lastRestoreId?: string;
  lastRecoveryId?: string;
  /** Restores that passed the fence, newest last: each id is restored once, ever. */
  restores: FencedRestore[];
  lastBackup?: { id: string; revision: number; sha256: string; at: string };
  /** The highest revision that an epoch began with: a restore goes beyond it, also where nobody answers any more. */
  startRevision?: number;
  /** The newest operation that failed; it is not tried again before a pause. */
  failure?: Failure;
  /** When a ClearNoSpace last succeeded. */
  spaceClearedAt?: string;
}

export interface Permit {
  id: string;
  ordinal: number;
  /** The one volume that may use it. */
  volumeId: string;
  epoch: number;
  mode: 'new' | 'existing' | 'restore' | 'salvage';
  token: string;
  /** Self only for new and restore; else the whole live member list. */
  initialCluster: string;
  /** existing: from MemberAdd. */
  memberId?: string;
  restore?: { id: string; source: SourceRef; bumpRevision: number };
  salvage?: { token: string };
  /** For people; never compared with a clock. */
  issuedAt: string;
}

/** One plain .db over HTTP, guarded by a one-time token. */
export interface SourceRef {
  url: string;
  token: string;
  sha256: string;
}

export interface RecordedMember {
  memberId: string;
  volumeId: string;
  epoch: number;
  everVoter: boolean;
  /** The version on which the reconciler restarted it once; the restart that brought the version does not count. */
  restartedOn?: string;
}

export interface Tombstone {
  memberId: string;
  ordinal: number;
  epoch: number;
  at: string;
  why: string;
}

export interface Versions {
  /** Minor that the cluster runs, or ran before a half-done upgrade. */
  current: string;
  /** Minors that a gate may start: two of them while an upgrade is half done. */
  allowedMinors: string[];
  /** Version of the epoch's seed; unset = unknown. */
  bornOn?: string;
  /** Raft index after which no entry of 3.5 follows; 0 = born on 3.6 or newer; unset = unknown. */
  finalizedIndex?: number;
  /** This upgrade went ahead without a backup. */
  withoutBackup?: boolean;
}

export interface FencedRestore {
  /** EtcdRestore name, `origin:<clusterUid>`, `recovery:<id>` or `roll:<op id>`. */
  id: string;
  uid: string;
  specHash: string;
  at: string;
}

export interface Failure {
  /** What failed: the operation and its target, such as `Upgrade 3.7`. */
  of: string;
  reason: string;
  message: string;
}

interface OpBase {
  id: string;
  holder: string;
  startedAt: string;
}

/** MemberAdd of a learner, then its permit. */
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

/** Completed, never dropped: `remove` until the member is gone, then `claim` until its claim is. Without a memberId: the claim alone. */
export interface RemoveOp extends OpBase {
  kind: 'Remove';
  ordinal: number;
  memberId: string;
  why: 'Dead' | 'Forced' | 'Learner' | 'Shrink' | 'Roll';
  step: 'remove' | 'claim';
  /** The volume claim to delete after it. */
  claimUid?: string;
}

/** Restart of one pod. */
export interface DeletePodOp extends OpBase {
  kind: 'DeletePod';
  ordinal: number;
  podUid: string;
  /** Version that ran before, and that the template names. */
  version?: string;
  nextVersion: string;
}

/** Restore (R1–R9), origin, roll of an ephemeral single member; Recover: the same behind a backup of a survivor. */
export interface RestoreOp extends OpBase {
  kind: 'Restore' | 'Recover';
  step: RestoreStep;
  args: RestoreArgs;
  /** What the slot held when quorum was lost; put back if this one ends before the fence. */
  suspended?: Op;
}

/** `backup`, `salvage`: of a survivor or of an ephemeral single member. Then R1 verify, R2 safety, R3 fence, R4–R5 drain, R6 seed, R7–R8 restore. */
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
  /** As in `restores`. */
  id: string;
  uid: string;
  specHash: string;
  source?: RestoreSource;
  identitySecret?: string;
  sha256?: string;
  expectedRevision?: number;
  safetyBackup: boolean;
  /** Once it is stored; unset past `safety`: it was left out for want of a quorum. */
  safetyBackupId?: string;
  ignoreUnreachablePods: boolean;
  /** Of the SourceRef. */
  sourceToken: string;
  /** What R1 verified. */
  verified?: { sha256: string; sizeBytes: number; revision: number };
  /** Highest revision seen before the fence. */
  lastRevision?: number;
  survivor?: { ordinal: number; memberId: string; podUid: string; volumeId: string };
  salvageToken?: string;
  failed?: { reason: string; message: string };
}

/** Where a snapshot is, as the custom resource says it, or a snapshot of the cluster's own backup schedule. */
export type RestoreSource = Record<string, unknown>;

/** Backup before a minor upgrade; the restarts are operations of their own. */
export interface UpgradeOp extends OpBase {
  kind: 'Upgrade';
  to: string;
}

export interface ClearNoSpaceOp extends OpBase {
  kind: 'ClearNoSpace';
  step: 'compact' | 'defrag' | 'disarm';
  /** Compact up to this revision. */
  revision: number;
  /** Members already defragmented. */
  done: string[];
}

export interface DeleteOp extends OpBase {
  kind: 'Delete';
  step: 'backup' | 'scale' | 'claims' | 'record';
  /** What the slot held and could not go on, as a restore past its fence: it does when the cluster is made again. */
  suspended?: Op;
}

export type Op = AddLearnerOp | PromoteOp | RemoveOp | DeletePodOp | RestoreOp | UpgradeOp | ClearNoSpaceOp | DeleteOp;
export type OpKind = Op['kind'];
