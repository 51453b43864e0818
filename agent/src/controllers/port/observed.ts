import type { EtcdClusterSpec, EtcdRestoreSpec } from '../../../../src/resource/types.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import type { ClusterStatus, ReportedCertificate } from '../../protocol/cluster-status.ts';
import type { Known } from '../../protocol/known.ts';
import type { Problem, Reason } from '../../protocol/reasons.ts';
import type { MaintenanceKind, RecordDoc, RecordedSource } from '../../protocol/record.ts';

/** Everything that plan() knows. The record is read first, then the cluster, then the rest, so nothing is older than the record. */
export interface Observed {
  cluster: Known<Cluster | undefined>;
  record: Known<{ doc: RecordDoc; rv: string; isListOld?: true } | undefined>;
  statefulSet: Known<StatefulSet | undefined>;
  pods: Known<Pod[]>;
  claims: Known<Claim[]>;
  /** By ordinal, for each existing pod. */
  agents: Record<number, Known<AgentStatus>>;
  /** A linearizable read: known means that a quorum answered. */
  members: Known<Member[]>;
  /** By member id. */
  status: Record<string, Known<MemberStatus>>;
  alarms: Known<Alarm[]>;
  jobs: Known<Job[]>;
  restores: Known<RestoreRequest[]>;
  since: Since;
  /** Result of HashKV, kept in memory. */
  hash?: HashResult;
  /** Keys of the effects that succeeded under the present operation, kept in memory. An effect whose key is lost is repeated. */
  done: string[];
  /** Errors of the effects that failed under the present operation, by their keys. */
  failed: Record<string, string>;
  /** An earlier look at the members, old enough for marks. */
  reached?: Look;
  /** An eviction that was refused recently. */
  refused?: RefusalTimes;
  /** Passes in a row that ended with an error. */
  failures: number;
  /** The last of those errors, with its rule. */
  error?: string;
  holder: string;
  /** Random, new for each process, and for each time that one begins to follow the cluster. */
  self: string;
  fresh: Fresh;
  /** Wall clock, ms, for what people wait for. The monotonic clock of plan() keeps an error that it had at the start. */
  date?: number;
}

/** How far the voters had come at one time. */
export interface Look {
  at: number;
  /** Newest revision. */
  revision: number;
  /** By member id: the raft index that it knew to be committed. */
  index: Record<string, number>;
}

export interface RefusalTimes {
  /** Time of the last refusal, ms. */
  at: number;
  /** Time of the first refusal for this pod without a long pause, ms. */
  since: number;
  podUid: string;
  message: string;
}

/** Random values for this pass; each is used at most once. */
export interface Fresh {
  /** Id of an operation or a permit. */
  id: string;
  clusterUid: string;
  /** Token of an epoch, 128 bit. */
  token: string;
  /** Token of a SourceRef, 256 bit. */
  secret: string;
}

/** Times since when a fact has been observed without a break, ms. Kept in memory, so a restart waits again. */
export interface Since {
  /** By member id: it answers, has a leader and a small lag. */
  healthy: Record<string, number>;
  /** By member id: it is not healthy. */
  down: Record<string, number>;
  /** By ordinal: the same evidence of a lost volume is reported. */
  evidence: Record<number, number>;
  /** By member id: the learner is within promoteLag. */
  inSync: Record<string, number>;
  quorumLost?: number;
  /** By ordinal: a pod that should exist does not, or its agent does not answer. */
  silent?: Record<number, number>;
  /** By UID of the pod: its member answers, and Kubernetes does not count it as ready. */
  unready?: Record<string, number>;
  /** The record cannot be read. */
  blind?: number;
  /** Not every voter is healthy. */
  unwell?: number;
  /** The manifests were made from another spec. */
  outdated?: number;
  /** `record.failure` has not changed. */
  failure?: number;
  /** By UID: the Job has failed. */
  jobFailed: Record<string, number>;
  /** By UID: the pod of the Job has not started. */
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
  /** metadata.generation; unset where it does not exist. */
  generation?: number;
  /** DNS domain of the Kubernetes cluster; undefined: unknown yet. */
  domain?: string;
  /** Peer URLs by ordinal, where there is no DNS. Default: made from the names of the pods. */
  peerUrls?: readonly string[];
  /** The resource or its namespace is being deleted. */
  deleting: boolean;
  finalizer: boolean;
  /** The annotation cdk8s-etcd.dev/skip-final-backup is set. */
  skipFinalBackup: boolean;
  /** The reconciler or the namespace is being deleted, so finalizers are released without their work. */
  reconcilerGoing: boolean;
  /** Lease of another reconciler that keeps the status up to date. */
  followedBy?: string;
  spec: ClusterSpec;
  /** What the same says of its present spec. Unset in test worlds. */
  madeFrom?: string;
  /** The mistake that its fields and overrides make in its Jobs. */
  jobProblem?: string;
  status: Partial<ClusterStatus>;
  /** Unset where EtcdBackups are not mirrored. */
  backups?: ClusterBackups;
  /** Unset if another program writes the certificates. */
  certificates?: CertificateReport;
  /** Unset unless the source of the certificates is being changed. */
  trust?: TrustReport;
  /** Unset without a certificate of root, unless authentication is asked for or was seen on. */
  authentication?: AuthReport;
}

/** What etcd's authentication is, and what it should be. */
export interface AuthReport {
  isWanted: boolean;
  /** Undefined while etcd could not be asked. */
  seen?: {
    isEnabled: boolean;
    /** There are users beside root. */
    hasUsers: boolean;
    /** How long ago, ms. */
    age: number;
  };
  /** What keeps the reconciler from asking etcd, and needs a person. */
  refusal?: { reason: Reason; message: string };
  /** What keeps etcd from what is wanted, or the reconciler from asking it. */
  why?: string;
  /** Number of users that were deleted because no EtcdUser has them, while no other is left. */
  removed: number;
}

/**
 * Knowledge of the reconciler about the certificates that it issues. Times are on the wall clock, which determines
 * their validity.
 */
export interface CertificateReport {
  now: number;
  /** The Secrets, in the order of the status. */
  secrets: readonly string[];
  /** Secrets that the newest pass read, and that contain a certificate. */
  certificates: readonly SeenCertificate[];
  /** Last known authority in a Secret, from this process or from the status. */
  authorities: readonly ReportedCertificate[];
  /** Secrets that the newest pass did not read, and why; before the first pass, all of them. */
  unread: readonly { readonly secret: string; readonly why: string }[];
  /** Result of the newest pass and, if it did not read everything, of the last complete one. */
  problems: readonly Problem[];
  /** When the Secrets were last looked at, and how long ago that was. */
  looked?: { readonly at: number; readonly age: number };
  /** How long ago every Secret was read, ms. */
  goodAge?: number;
  /** The roots in every `ca.crt`, as the template's annotation names them, while a member has not loaded them. */
  rootsToLoad?: string;
}

/** Whether the authorities of both sources of certificates are in one Secret. */
export interface TrustReport {
  /** It has had those of both, so pods may be made with it. */
  isComplete: boolean;
  /** What keeps it from having those of both as they are now; undefined: nothing, or it was not read yet. */
  why?: string;
}

/** Whose certificates members show each other and accept, by the names of their Secrets. */
export interface PeerTrust {
  own: string;
  trusted: readonly string[];
}

export type SeenCertificate = ReportedCertificate & {
  readonly span: { readonly notBefore: number; readonly notAfter: number };
};

/** State of its schedules and EtcdBackups. */
export interface ClusterBackups {
  /** The newest good backup. */
  last?: NonNullable<ClusterStatus['lastBackup']>;
  /** An EtcdBackup that is being taken. */
  running?: string;
  /** A schedule whose newest run failed. */
  failed?: { schedule: string; message: string };
  /** A schedule whose newest run has a pod that does not start. */
  waits?: { schedule: string; message: string };
  /** The schedule that is due first; `at`: when its newest good backup becomes too old, ms; `last`: the time of that backup. */
  due?: { schedule: string; cronJob: string; at: number; last?: string };
}

/** An object of the spec. */
type Of<Name extends keyof EtcdClusterSpec> = NonNullable<EtcdClusterSpec[Name]>;
/** Fields that always have a value, because their default has been applied. */
type Filled<Fields> = { -readonly [Name in keyof Fields]-?: NonNullable<Fields[Name]> };

/** What plan() needs of a spec: its fields, with their defaults, and what follows from them. */
export interface ClusterSpec
  extends Filled<Pick<EtcdClusterSpec, 'size' | 'allowEvenSize' | 'version' | 'paused'>>,
    Filled<Pick<Of<'storage'>, 'ephemeral'>>,
    Filled<Pick<Of<'pvcPolicy'>, 'onShrink' | 'onDelete'>>,
    Filled<Pick<Of<'backup'>, 'requiredForUpgrade'>>,
    Filled<Pick<Of<'maintenance'>, 'onNoSpace'>>,
    Pick<EtcdClusterSpec, 'auth'> {
  replace: Filled<Pick<Of<'replace'>, 'policy'>> & { force: Filled<NonNullable<Of<'replace'>['force']>[number]>[] };
  origin?: Requested<Of<'origin'>>;
  recovery?: RecoveryRequest;
  maintenance?: Pick<Of<'maintenance'>, MaintenanceKind>;
  /** Size of each volume, as a quantity. */
  volumeSize?: Of<'storage'>['size'];
  /** Name of the backup schedule whose settings operations use: the first, unless one is named. */
  schedule?: Of<'backup'>['schedule'];
  finalBackupRequired: Of<'finalBackup'>['required'];
  /** The pods have certificates. */
  tls: boolean;
  /** The members are to give up TLS; the certificates stay until all have. */
  disablingTls?: boolean;
  /** For how long clients may use http beside https while TLS is switched on, ms. Default: a day. */
  acceptPlaintextFor?: number;
  /** There is a Secret for the certificate of root. */
  rootTls?: boolean;
  /** The Secrets that the members must mount, if the reconciler issues the certificates. */
  tlsSecrets?: { peer: string; server: string };
  /** The Secrets of peers that the members trust, while the source of the certificates is changed. */
  alsoTrusts?: readonly string[];
}

/** What somebody asks for once. `ordinal` is the member that is meant. Of a defragmentation, default: all. */
export type MaintenanceRequest = NonNullable<Of<'maintenance'>[MaintenanceKind]>;

/** What is restored. The source has the settings of its Job. */
type Requested<Spec> = { source: RecordedSource } & Pick<
  Spec,
  keyof Spec & ('identitySecret' | 'sha256' | 'expectedRevision')
>;

/** Its only action is RestoreFromSurvivor. */
export type RecoveryRequest = Omit<Of<'recovery'>, 'action'>;

export interface StatefulSet {
  replicas: number;
  rv: string;
  updateRevision: string;
  /** The controller has seen the newest generation. */
  observed: boolean;
  /** Annotation cdk8s-etcd.dev/epoch of the pod template; 0 = none. */
  minEpoch: number;
  /** Annotation cdk8s-etcd.dev/roots of the pod template: the roots for which its pods were last restarted. */
  roots?: string;
  /** ETCD_VERSION of the pod template. */
  version: string;
  /** Version in the tag of its image; unset if the tag names none. */
  imageVersion?: string;
  /** Secrets of the certificates that its pods mount. Unset in test worlds, where `spec.tls` alone counts. */
  tlsSecrets?: { peer?: string; server?: string };
  /** Unset without TLS, and in test worlds. */
  peers?: PeerTrust;
  /** The spec that its manifests were made from, as `madeFrom` says it. Unset in those of an earlier release. */
  madeFrom?: string;
  /** It has fewer pods than it should have; `why` quotes Kubernetes. Only for the status. */
  lacks?: { why?: string };
}

export interface Pod {
  ordinal: number;
  uid: string;
  revision: string;
  /** It has an IP, and its init phase has begun. */
  running: boolean;
  /** One of its containers runs or has run, so an ephemeral volume may hold data. */
  began: boolean;
  ready: boolean;
  deleting: boolean;
  /** Its peer name resolves to its IP. */
  resolves: Known<boolean>;
  /** Name of its node. */
  node?: string;
  /** Unset without TLS, and in test worlds. */
  peers?: PeerTrust;
  /** It cannot be scheduled. */
  unschedulable?: true;
  /** Why it does not run, as Kubernetes reports it. Only for the status. */
  problem?: string;
}

export interface Claim {
  ordinal: number;
  uid: string;
  rv: string;
  deleting: boolean;
  clusterUid?: string;
  epoch?: number;
  /** The node for which its volume was created, if that waited for the first pod. */
  node?: string;
  /** What it asks for, as a quantity. */
  size?: string;
}

export interface Member {
  id: string;
  /** Empty if it never started. */
  name: string;
  peerUrls: readonly string[];
  isLearner: boolean;
}

/** etcd's own Status. */
export interface MemberStatus {
  clusterId: string;
  version: string;
  /** Member id; empty if there is none. */
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
  /** Exit code of its last pod. */
  exitCode?: number;
  /** Generation of the EtcdCluster from which it was made. */
  generation?: number;
  /** Why none of its containers has begun. */
  waits?: string;
  /** The backup that it stored and verified. `at`: when its snapshot was taken, RFC 3339, by the clock of its node. */
  backup?: { id: string; revision: number; sha256: string; at?: string };
  /** The snapshot that the restore Job has verified and serves. */
  serving?: {
    url: string;
    /** Unset in test worlds. */
    id?: string;
    sha256: string;
    sizeBytes: number;
    revision: number;
    /** Where it lies, if an EtcdBackup named it. */
    backup?: Readonly<Record<string, unknown>>;
    /** The highest later revision that its store knows. */
    highestRevision?: number;
  };
}

/** An EtcdRestore of this cluster. */
export type RestoreRequest = Requested<EtcdRestoreSpec> &
  Filled<Pick<EtcdRestoreSpec, 'safetyBackup' | 'ignoreUnreachablePods'>> & {
    name: string;
    uid: string;
    createdAt: number;
    specHash: string;
    /** Ids of snapshots that its spec or its status names. */
    snapshots?: string[];
    /** Phase of its status. */
    phase?: string;
    /** It is being deleted. */
    deleting?: true;
  };

export interface HashResult {
  /** The members and pods that were compared; see fingerprint(). */
  of: string;
  at: number;
  equal: boolean;
  /** Members that differ from the majority. */
  minority: string[];
  /** Why nothing could be compared, so that `equal` proves nothing. */
  inconclusive?: string;
}
