import type { FencedRestore, RecordDoc, Schemes } from './record.ts';

/** Response of the agent in a member's pod to GET /status. */
export interface AgentStatus {
  v: 1;
  pod: string;
  podUid: string;
  ordinal: number;
  agentVersion: string;
  /** etcd version that the pod template names. */
  etcdBinary: string;
  /** Set while the gate answers, before etcd starts. */
  gate?: true;
  state: 'Init' | 'WaitPermit' | 'Preparing' | 'Restoring' | 'Starting' | 'Running' | 'Stalled' | 'Refused' | 'Failed';
  /** One of `agentReasons`. A string, because a newer agent may report others. */
  reason?: string;
  /** Details of the reason, for people. */
  message?: string;
  podIp?: string;
  /** The certificate that expires first. */
  certificate?: { notAfter: string };
  /** The schemes of the etcd that runs or is about to start. Unset while the gate does not know them. */
  transport?: Schemes & { hasCertificates: boolean };
  /** Unset without TLS. */
  roots?: TrustedRoots;
  /** First 16 hex digits of the SHA-256 of the certificates on disk, which etcd reads at each connection. */
  leaves?: { peer?: string; client?: string };
  /** As `leaves`, of the revocation lists. `none`: etcd was started without one. Unset: none can be read. */
  revocationLists?: { peer?: string; client?: string };
  volume: {
    walPresent: boolean;
    volumeId?: string;
    identity?: Identity;
    freeBytes: number;
    totalBytes: number;
    quarantineCount: number;
    /** Index of the newest raft snapshot. Unset if there is none. */
    snapIndex?: number;
    /** Bytes left behind by a failed defragmentation. */
    orphanTmp?: number;
  };
  /** The permit request. Present while there is no WAL, including while etcd cannot start with the permit that it has. */
  request?: { volumeId: string; lastRestoreId?: string };
  recordRev?: number;
  /** Facts about the epoch in that record, which never change: see Versions. */
  recordVersions?: { epoch: number; bornOn?: string; finalizedIndex?: number };
  /** History in that record, if the record belongs to the cluster whose data this volume holds. */
  recordPast?: {
    restores: readonly Pick<FencedRestore, 'id' | 'uid' | 'specHash'>[];
    olderRestores?: RecordDoc['olderRestores'];
    failedRestores?: RecordDoc['failedRestores'];
    startRevision?: number;
  };
  minEpoch: number;
  /** `permitId`: for which it was made. Two snapshots of the same data differ. */
  salvage?: {
    permitId: string;
    sha256: string;
    sizeBytes: number;
    revision: number;
    lastIndex: number;
    commit: number;
    url: string;
  };
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
    /** Maximum size of the backend, in bytes. */
    quota?: number;
    upSince: string;
  };
}

/** The authorities whose certificates the member accepts: of other members, and of clients. */
export interface TrustedRoots {
  peer?: TrustedRoot;
  client?: TrustedRoot;
}

/** First 16 hex digits of the SHA-256 of the root in a `ca.crt`; of several, each, with `+` between them. */
export interface TrustedRoot {
  /** Current content of the file. Unset if it cannot be read. */
  onDisk?: string;
  /** Content that etcd read when it started. Unset if unknown. */
  loaded?: string;
}

/** Content of `identity.json` on a volume. */
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
  /** etcd's cluster version, as the sidecar last saw it. */
  clusterVersion?: string;
  runs: number;
}
