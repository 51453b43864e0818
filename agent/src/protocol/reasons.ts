const renderCommand =
  'kubectl get etcdcluster <name> -n <namespace> -o yaml | kubectl etcd render - --no-reconciler | kubectl apply --server-side -f -';

/** Every reason of a condition, with its message. docs/operations/runbook.md has a heading for each reason. */
export const reasons = {
  // Normal
  Serving: 'a quorum answers',
  UpToDate: 'size, version and template match the spec, and every member is healthy',
  Idle: 'no change is in progress',
  AllMembersHealthy: 'every member answers',
  Joining: 'the present members are healthy; others will join',
  NoAlarm: 'etcd raises no alarm',
  QuorumAvailable: 'a quorum answers',
  NoActionRequired: 'the reconciler does not wait for a decision',
  SpecAccepted: 'every request of the spec is possible',
  // In progress
  NotUpToDate: 'size, version or template do not match the spec yet, or a member is not healthy',
  Bootstrapping: 'a new cluster is being started; it has not reached its size yet',
  Growing: 'members are being added',
  Shrinking: 'the highest member is being removed',
  Replacing: 'a member that lost its volume is being replaced',
  RollingRestart: 'pods are being restarted one by one',
  Upgrading: 'a new minor version is being rolled out',
  PreparingRestore: 'a restore is being prepared; the cluster is not changed yet',
  Restoring: 'a snapshot is being restored',
  Recovering: 'a survivor is being backed up and restored',
  ClearingNoSpace: 'the database is being compacted and defragmented',
  Defragmenting: 'the members are being defragmented one by one, as spec.maintenance asks',
  MovingLeader: 'another member is becoming the leader, as spec.maintenance asks',
  FlushingRaftLog: 'entries that etcd 3.5 may have written are leaving the raft log',
  Deleting: 'the cluster is being deleted',
  Paused: 'spec.paused is set; nothing is changed',
  OperationInFlight: 'an operation waits for what it needs',
  Starting: 'a member is being restarted; quorum is kept',
  // Degraded
  MemberDown: 'a member does not answer; quorum is kept',
  VolumeLost: 'a member lost its volume; quorum is kept',
  VolumeSetBack: 'the volume of a member was set back to an earlier state; etcd does not start on it',
  LearnerStuck: 'a new member does not catch up',
  VersionRefused: 'a pod has a version that may not start on its data',
  ForeignData: 'a volume holds data of another cluster',
  MemberBlocked: 'the agent of a pod reports what blocks it; its reasons are in docs/clusters/member-pods.md',
  PodNotRunning: 'the pod of a missing member does not run, or its agent does not answer',
  PodNotReady:
    'etcd answers, but Kubernetes does not count the pod as ready, so no Service leads to it; kubectl describe pod says why',
  AgentUnreachable: 'the agent of a pod does not answer, and its pod is not ready',
  DiskFull: 'a volume is full, and etcd does not run on it',
  DiskPressure: 'a volume has less than a tenth of its space free',
  SpaceShort: 'the alarm NOSPACE comes back within minutes, because too much of the quota is in use',
  VersionOutdated: 'etcd 3.4 below 3.4.29 is outdated; upgrade',
  StateUnknown: 'the state cannot be observed',
  NoReadyPod: 'etcd answers the reconciler, but no voter that answers has a ready pod, so no Service leads to a member',
  // Quorum
  QuorumUnknown: 'quorum cannot be observed',
  QuorumLost: 'no quorum answers',
  MajorityDown: 'a majority of members does not answer; nothing is changed',
  MajorityVolumesLost:
    'a majority of volumes is lost; nothing is changed. Recover from a survivor (spec.recovery), or restore a backup',
  VolumesSetBack:
    'the volumes of a majority are lost, or were set back to an earlier state, on which etcd does not start; nothing is changed. Restore a backup, or set spec.recovery with acceptDataLoss and, as survivor, the member with the newest data',
  AllVolumesLost: 'every volume is lost; a restore is required',
  SeedLost: 'the only member lost its volume; a restore is required',
  // Alarms
  NoSpace: 'alarm NOSPACE is raised; writes are refused',
  Corrupt: 'alarm CORRUPT is raised; writes are refused',
  // Stalled: a person must act
  ManifestsMissing: `there is no StatefulSet of this name: an EtcdCluster is only the desired state. Apply its manifests again. If you have none, make them from this resource: ${renderCommand}`,
  RecordLost: 'the record is gone and cannot be rebuilt from the members that answer; see the runbook',
  RecordUnreadable: 'the record exists but cannot be read; nothing is changed until it is repaired; see the runbook',
  ForeignMember:
    'is at the address of no pod of this cluster, or of a pod that has another member; until it is removed, no member is added or restarted',
  PassFailed: 'the reconciler met an error that it does not expect; see its log',
  RecordRolledBack: 'the record is older than the one that the agents have read',
  UpgradeRefused: 'the version of the spec cannot be reached from the present version',
  VersionMismatch: 'a pod runs another version than its template names',
  EphemeralSingle: 'the only member would lose its volume; add a backup schedule so that it can be restarted',
  BackupFailed: 'a backup that is required first failed',
  RestoreBlocked: 'the snapshot to restore is not served',
  CorruptAlarm: 'the data of members differ, or alarm CORRUPT is raised; name the bad member in replace.force',
  DuplicateMember: 'one member id on two volumes',
  AuthEnabled:
    'etcd authentication is enabled, and the reconciler has no certificate of root: give it one with EtcdTls.managed(), EtcdTls.certManager() or root and backup of EtcdTls.fromSecrets() (spec.tls.rootSecret), or run etcdctl auth disable',
  AuthRefused: 'spec.auth and users need a certificate of root (spec.tls.rootSecret)',
  EvictionRefused: 'Kubernetes refuses to evict a pod that must be restarted',
  OtherReconciler: 'another reconciler follows this cluster, so this one changes nothing, and writes no status',
  ActionFailing: 'the next action fails repeatedly',
  OldPodsRemain: 'pods of the old epoch still exist',
  // Backups
  LastBackupSucceeded: 'there is a good backup, and no schedule failed in its newest run',
  BackupOverdue: 'a backup schedule has produced no good backup for longer than two of its runs',
  LastBackupFailed: 'the newest run of a backup schedule failed',
  BackupPending: 'the pod of the newest run of a backup schedule does not start',
  NoSchedule: 'there is no backup schedule',
  UpgradedWithoutBackup: 'a minor upgrade was done without a backup',
  SnapshotRefused: 'the snapshot cannot be verified; nothing was changed',
  StoreRefused: 'the store refuses what is asked of it; only a correction helps',
  StoreUnreachable: 'the store does not answer',
  BadConfiguration: 'the agent cannot use its configuration; only a correction helps',
  // Certificates
  CertificatesValid: 'every certificate of the cluster is valid, and is renewed in time',
  Issuing: 'certificates are being issued',
  WaitingForSecrets: 'a Secret for certificates does not exist',
  AuthorityLost: 'the Secret of an authority is empty, but certificates of it are in use',
  AuthorityInvalid: 'the Secret of an authority cannot be used; it is never overwritten',
  ForeignCertificate: 'a Secret holds a certificate of another root; it is not overwritten',
  RotatingRoot: 'a root is being replaced',
  RevokingIntermediates: 'earlier intermediates are being revoked',
  RootNotLoaded: 'a member still trusts a root that its files no longer hold; it must be restarted',
  CannotWrite: 'the Secret of a certificate cannot be written',
  TlsRefused: 'spec.tls cannot be followed',
  RootExpiring: 'a root ends within a year',
  Expired: 'a certificate has expired',
  ClockDiffers: 'the clocks of the reconciler and the API server differ; no certificate is made or renewed',
  NotYetValid: 'a certificate is not valid yet; a clock differs',
  // TLS on and off
  Tls: 'members and clients use TLS',
  Plaintext: 'members and clients use http',
  SwitchingTransport: 'TLS is being switched on or off',
  PlaintextAccepted: 'clients may use http beside https',
  // Authentication
  AuthenticationOn: 'authentication is on in etcd',
  AuthenticationOff:
    'authentication is off in etcd, and nothing asks for it: everybody with a client certificate may read and write everything',
  AuthNotSwitchedOn:
    'authentication is off, although it is asked for: everybody with a client certificate may read and write everything',
  AuthNotSwitchedOff: 'authentication is on, although spec.auth is false',
  OnlyRoot:
    'authentication is on, and etcd has no user but root, so every client is refused; create EtcdUsers, or set spec.auth to false',
  RootCertificateUnusable: 'the certificate of root cannot be used',
  // Advisories
  NoAdvisory: 'no vulnerability of the version of etcd is known to this release',
  KnownVulnerabilities: 'etcd has known vulnerabilities',
  // Requested, but not possible
  SizeRefused: 'the size of the spec is not possible',
  VersionUnsupported: 'the version of the spec is not supported',
  VersionTooOld: 'the version of the spec, or the version that runs, is too old',
  TemplateMismatch: 'the pod template does not fit the EtcdCluster',
  ManifestsOutdated: `the manifests were made from another spec, so the objects of the cluster may not be as this one says. Take a change by kubectl patch back, or make it where the manifests come from, and apply those. If you have only this resource: ${renderCommand}`,
  JobRefused: 'fields or overrides of the spec make Jobs that cannot work',
  MinorSkipped: 'a minor version cannot be skipped',
  DowngradeRefused: 'the version of the spec is below the version of the data',
  UpgradeHalfDone: 'another upgrade is half done',
  RestartRequired: 'members must be restarted on their version before this upgrade',
  ReplaceTargetNotFound: 'replace.force names a member that is at another ordinal',
  RecoveryNotAcknowledged: 'a recovery loses data; set acceptDataLoss: true',
  SurvivorUnreachable: 'no survivor can be chosen; an agent that may hold newer data does not answer',
  FinalBackupNeedsSchedule: 'finalBackup.required needs a backup schedule',
} as const satisfies Record<string, string>;

export type Reason = keyof typeof reasons;

/** What is wrong, in a condition's words. */
export interface Problem {
  readonly reason: Reason;
  readonly message: string;
}

export const followedByAnother = (lease: string): string =>
  `${reasons.OtherReconciler}: the reconciler with the Lease ${lease}`;
