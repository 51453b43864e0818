/** What the agent of a pod answers on GET /status. */
export interface AgentStatus {
  v: 1;
  pod: string;
  podUid: string;
  ordinal: number;
  agentVersion: string;
  /** Version that the pod template names. */
  etcdBinary: string;
  /** The gate answers: etcd has not begun. */
  gate?: true;
  state: 'Init' | 'WaitPermit' | 'Preparing' | 'Restoring' | 'Starting' | 'Running' | 'Stalled' | 'Refused' | 'Failed';
  /** VersionRefused, NeedsSnapshot, VersionMismatch, ForeignData, DuplicateMember, … */
  reason?: string;
  /** What the reason is about, for people. */
  message?: string;
  podIp?: string;
  /** Of the certificate that runs out first. */
  certificate?: { notAfter: string };
  volume: {
    walPresent: boolean;
    volumeId?: string;
    identity?: Identity;
    freeBytes: number;
    totalBytes: number;
    quarantineCount: number;
    /** Index of the newest raft snapshot; unset = none. */
    snapIndex?: number;
    /** Bytes left behind by a failed defragmentation. */
    orphanTmp?: number;
  };
  /** The permit request: as long as there is no WAL, also while etcd can not start with the permit that it has. */
  request?: { volumeId: string; lastRestoreId?: string };
  recordRev?: number;
  /** What that record says of its epoch, and an epoch never changes: see Versions. */
  recordVersions?: { epoch: number; bornOn?: string; finalizedIndex?: number };
  /** What that record says of the past, of the cluster whose data there are. */
  recordPast?: { restores: readonly string[]; startRevision?: number };
  minEpoch: number;
  salvage?: { sha256: string; sizeBytes: number; revision: number; lastIndex: number; commit: number; url: string };
  etcd?: {
    up: boolean;
    memberId: string;
    clusterId: string;
    hasLeader: boolean;
    isLeader: boolean;
    isLearner: boolean;
    term: number;
    committedIndex: number;
    appliedIndex: number;
    version: string;
    clusterVersion?: string;
    dbSize: number;
    dbInUse: number;
    /** Bytes that its backend may grow to. */
    quota?: number;
    upSince: string;
  };
}

/** `identity.json` of a volume. */
export interface Identity {
  v: 1;
  clusterUid: string;
  epoch: number;
  token: string;
  ordinal: number;
  volumeId: string;
  permitId: string;
  mode: string;
  memberId?: string;
  clusterId?: string;
  state: 'permitted' | 'sealed';
  lastRestoreId?: string;
  lastVersion: string;
  /** Of the cluster, as serve saw it last. */
  clusterVersion?: string;
  runs: number;
}
