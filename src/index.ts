export type { BackupResources } from './backup/backup-resources';
export type { ClusterOrigin } from './backup/cluster-origin';
export { Compression } from './backup/compression';
export { type AgeEncryptionProps, Encryption } from './backup/encryption';
export { EtcdBackup } from './backup/etcd-backup';
export type { EtcdBackupProps } from './backup/etcd-backup-props';
export { EtcdBackupSchedule } from './backup/etcd-backup-schedule';
export type {
  AddStoreOptions,
  BackupScheduleOptions,
  EtcdBackupScheduleProps,
} from './backup/etcd-backup-schedule-props';
export type { EtcdRestoreProps } from './backup/etcd-restore';
export { EtcdRestore } from './backup/etcd-restore';
export type { IEtcdCluster } from './backup/i-etcd-cluster';
export type { JobOptions } from './backup/job-options';
export type { BackupMonitoringOptions } from './backup/monitoring/backup-monitoring-options';
export { EtcdBackupMonitoring } from './backup/monitoring/etcd-backup-monitoring';
export { RestoreSource, type RestoreSourceOptions } from './backup/restore-source';
export { Retention, type RetentionTiers } from './backup/retention';
export { VerificationLevel } from './backup/verification-level';
export { EtcdClient } from './clients/etcd-client';
export type { EtcdClientOptions, EtcdClientProps, EtcdConnectOptions } from './clients/etcd-client-props';
export { DeletionPolicy, NoSpacePolicy, ReplacePolicy, type ReplaceRequest } from './cluster/cluster-policies';
export { EtcdCluster } from './cluster/etcd-cluster';
export type { EtcdClusterProps } from './cluster/etcd-cluster-props';
export { EtcdCrds, type EtcdCrdsProps } from './cluster/etcd-crds';
export { EtcdResources, type EtcdResourcesProps } from './cluster/etcd-resources';
export { EtcdSpread } from './cluster/etcd-spread';
export type { EtcdVolume } from './cluster/etcd-volume';
export type { EtcdClusterAttributes, EtcdEndpointsOptions } from './cluster/external-etcd-cluster';
export { EtcdMonitoring } from './cluster/monitoring/etcd-monitoring';
export type { EtcdMonitoringProps } from './cluster/monitoring/etcd-monitoring-props';
export type { QuorumRecovery } from './cluster/quorum-recovery';
export type {
  DisruptionBudgetOptions,
  ExternalService,
  ExternalServicesOptions,
  ServiceFields,
  ServiceOptions,
} from './cluster/service-options';
export { AutoCompaction, EtcdTuning, type EtcdTuningProps } from './cluster/settings/etcd-tuning';
export { ControlPlaneEtcdBackup } from './control-plane/control-plane-etcd-backup';
export type {
  ControlPlaneCertificates,
  ControlPlaneEtcdBackupProps,
  ControlPlaneFiles,
} from './control-plane/control-plane-etcd-backup-props';
export { EtcdAuth, type EtcdAuthKeys } from './etcd/etcd-auth';
export { EtcdVersion } from './etcd/etcd-version';
export { ImagePullPolicy } from './lib/image-pull-policy';
export { NetworkAccess, type NetworkPeer } from './lib/network-access';
export type { NetworkDestination, NetworkEgress } from './lib/network-egress';
export type {
  AgentContainerOptions,
  ContainerOptions,
  EtcdContainerOptions,
  GateContainerOptions,
  MemberContainers,
  PodOptions,
  ProbeTimes,
  ReconcilerContainerOptions,
} from './lib/pods/pod-options';
export { PruneProtection } from './lib/prune-protection';
export type { Toleration } from './lib/toleration';
export { EtcdAlerts, type EtcdAlertsOptions } from './monitoring/etcd-alerts';
export { type DashboardOptions, EtcdDashboard } from './monitoring/etcd-dashboard';
export { EtcdScrape, type ServiceMonitorOptions } from './monitoring/etcd-scrape';
export type { MonitoringOptions } from './monitoring/monitoring-options';
export { type ObjectOverride, OverrideTarget } from './overrides/overrides';
export { EtcdReconciler } from './reconciler/etcd-reconciler';
export { EtcdReconcilerMonitoring } from './reconciler/etcd-reconciler-monitoring';
export type {
  EtcdReconcilerProps,
  ExternalReconcilerOptions,
  ReconcilerResources,
} from './reconciler/etcd-reconciler-props';
export type { IEtcdReconciler } from './reconciler/i-etcd-reconciler';
export { BackupStore } from './stores/backup-store';
export type { CommandStoreProps } from './stores/command-store';
export type { FilesystemStoreProps, NfsVolume } from './stores/filesystem-store';
export { OssCredentials, type OssSecretOptions } from './stores/oss-credentials';
export type { OssStoreProps } from './stores/oss-store';
export { S3Credentials, type S3SecretOptions, type S3WorkloadIdentityOptions } from './stores/s3-credentials';
export { ServerSideEncryption, SseCustomerKey } from './stores/s3-encryption';
export type { S3StoreProps } from './stores/s3-store';
export { SftpCredentials, type SftpSecretKeys } from './stores/sftp-credentials';
export type { SftpStoreProps } from './stores/sftp-store';
export { CaBundle } from './tls/ca-bundle';
export { EtcdClientTls, type EtcdClientTlsKeys } from './tls/etcd-client-tls';
export {
  type CertManagerTlsProps,
  EtcdTls,
  type ManagedTlsProps,
  type NoTlsProps,
  type SecretsTlsProps,
  type TlsSwitchOptions,
} from './tls/etcd-tls';
export { IssuerKind } from './tls/issuer-kind';
export type { TlsSecrets } from './tls/tls-secrets';
export { EtcdPermission } from './users/etcd-permission';
export { EtcdUser } from './users/etcd-user';
export type { EtcdUserOptions, EtcdUserProps } from './users/etcd-user-props';
export type { INamed } from './validation/named';
