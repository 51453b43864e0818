// Written by `npm run generate` from the interfaces of the public API.
// biome-ignore-all format: one line a property would be long
import {
  AutoCompaction, BackupStore, CaBundle, Cron, Duration, Encryption, EtcdAlerts, EtcdAuth, EtcdClientTls, EtcdDashboard,
  EtcdPermission, EtcdResources, EtcdScrape, EtcdSpread, EtcdTls, EtcdTuning, EtcdVersion, IEtcdCluster, IEtcdReconciler,
  NetworkAccess, OssCredentials, ReplacePolicy, RestoreSource, Retention, S3Credentials, SftpCredentials, Size, SseCustomerKey,
} from './class-types';
import {
  anything, boolean, list, manifestName, manifestText, number, object, objectName, type PropertyTypes, required, shape, stringMap,
  text, withExample,
} from './type-checks';

export const AddStoreOptions: PropertyTypes = { retention: Retention };
export const AgeEncryptionProps: PropertyTypes = { recipients: required(list(text)) };
export const ContainerOptions: PropertyTypes = {
  env: list(object), envFrom: list(object), securityContext: object, volumeMounts: list(object),
};
export const ProbeTimes: PropertyTypes = {
  initialDelaySeconds: number, periodSeconds: number, timeoutSeconds: number, failureThreshold: number,
};
export const AgentContainerOptions: PropertyTypes = {
  ...ContainerOptions, livenessProbe: shape(ProbeTimes), readinessProbe: shape(ProbeTimes), resources: object,
};
export const MonitoringOptions: PropertyTypes = {
  scrape: EtcdScrape, scraper: NetworkAccess, alerts: EtcdAlerts, dashboard: EtcdDashboard, labels: object,
};
export const BackupResources: PropertyTypes = { cpuRequest: text, cpuLimit: text, memoryRequest: Size, memoryLimit: Size };
export const BackupMonitoringOptions: PropertyTypes = {
  ...MonitoringOptions, maxAge: Duration, resources: shape(BackupResources),
};
export const Toleration: PropertyTypes = {
  key: manifestText, operator: text, value: manifestText, effect: text, tolerationSeconds: number,
};
export const PodOptions: PropertyTypes = {
  nodeSelector: object, tolerations: list(shape(Toleration)), priorityClassName: manifestText, affinity: object,
  topologySpreadConstraints: list(object), schedulerName: manifestText, runtimeClassName: manifestText, hostAliases: list(object),
  dnsPolicy: text, dnsConfig: object, securityContext: object, terminationGracePeriodSeconds: number, volumes: list(object),
  initContainers: list(object), labels: object, annotations: object, podLabels: object, podAnnotations: object,
};
export const ObjectOverride: PropertyTypes = { target: required(text), patch: required(object) };
export const JobOptions: PropertyTypes = {
  ...PodOptions, imagePullPolicy: text, imagePullSecrets: list(manifestName), container: shape(ContainerOptions),
  ttlAfterFinished: Duration, overrides: list(shape(ObjectOverride)),
};
export const BackupScheduleOptions: PropertyTypes = {
  ...JobOptions, schedule: required(Cron), store: required(BackupStore), retention: Retention, timeZone: text, compression: text,
  encryption: Encryption, fileName: text, fileNameTimeZone: text, verify: text, name: text, suspend: boolean,
  startingDeadline: Duration, activeDeadline: Duration, timeout: Duration, dialTimeout: Duration, retries: number,
  successfulJobsHistoryLimit: number, failedJobsHistoryLimit: number, resources: shape(BackupResources), image: text,
  serviceAccountName: manifestName, serviceAccountAnnotations: object,
};
export const TlsSwitchOptions: PropertyTypes = { acceptPlaintextFor: Duration };
export const CertManagerTlsProps: PropertyTypes = {
  ...TlsSwitchOptions, alsoTrust: EtcdTls, issuer: required(manifestText), issuerKind: text, peerIssuer: manifestText,
  peerIssuerKind: text, serverNames: list(text), duration: Duration, renewBefore: Duration,
};
export const ClusterOrigin: PropertyTypes = {
  source: required(RestoreSource), identitySecret: manifestName, sha256: text, expectedRevision: number,
  serviceAccountName: manifestName, image: text, resources: shape(BackupResources),
};
export const CommandStoreProps: PropertyTypes = {
  path: required(text), env: stringMap, credentialsSecretName: manifestName, idleTimeout: Duration,
};
export const ControlPlaneCertificates: PropertyTypes = { ca: text, cert: text, key: text };
export const ControlPlaneFiles: PropertyTypes = { directories: list(text), files: list(text), encryption: Encryption };
export const ControlPlaneEtcdBackupProps: PropertyTypes = {
  ...BackupScheduleOptions, cluster: required(text), endpoints: list(text), certificates: shape(ControlPlaneCertificates),
  nodeLabels: list(text), manifestsDirectory: text, etcdService: boolean, dataDir: text, restoreDirectory: text,
  files: shape(ControlPlaneFiles), createNamespace: boolean, keepImage: boolean, _written: anything, _controlPlane: anything,
};
export const DashboardOptions: PropertyTypes = { labels: object, annotations: object };
export const DisruptionBudgetOptions: PropertyTypes = { enabled: boolean, unhealthyPodEvictionPolicy: text };
export const EtcdAlertsOptions: PropertyTypes = { exclude: list(text), labels: stringMap, runbookUrl: text };
export const EtcdAuthKeys: PropertyTypes = { usernameKey: text, passwordKey: text };
export const EtcdBackupProps: PropertyTypes = {
  ...JobOptions, name: text, cluster: IEtcdCluster, endpoints: list(text), tls: EtcdClientTls, auth: EtcdAuth, schedule: text,
  store: BackupStore, key: text, prefix: text, compression: text, encryption: Encryption, dialTimeout: Duration,
  timeout: Duration, serviceAccountName: manifestName, image: text, resources: shape(BackupResources), _written: anything,
};
export const EtcdBackupScheduleProps: PropertyTypes = {
  ...BackupScheduleOptions, cluster: required(text), endpoints: required(list(text)), tls: EtcdClientTls, auth: EtcdAuth,
  _host: anything, _clientEndpoints: anything, _record: anything, _clusterMetadata: anything, _protect: anything,
  _complete: anything, _written: anything, _etcd: anything, _controlPlane: anything,
};
export const EtcdClientOptions: PropertyTypes = {
  can: list(EtcdPermission), userName: text, secretName: objectName, password: boolean, podLabels: object, labels: object,
};
export const EtcdClientProps: PropertyTypes = { ...EtcdClientOptions, cluster: required(IEtcdCluster) };
export const EtcdClientTlsKeys: PropertyTypes = { caKey: text, certKey: text, keyKey: text };
export const EtcdClusterAttributes: PropertyTypes = {
  clusterName: required(text), clientEndpoints: required(list(text)), clientTls: EtcdClientTls, backupEndpoints: list(text),
  backupTls: EtcdClientTls, tls: EtcdTls, reconciler: IEtcdReconciler,
};
export const EtcdVolume: PropertyTypes = {
  size: Size, storageClass: manifestText, ephemeral: boolean, readWriteOncePod: boolean, labels: object, annotations: object,
  selector: object,
};
export const NetworkPeer: PropertyTypes = { podLabels: object, namespace: manifestName, namespaceLabels: object, cidr: text };
export const NetworkDestination: PropertyTypes = { ...NetworkPeer, ports: list(number) };
export const NetworkEgress: PropertyTypes = {
  apiServer: required(list(shape(NetworkDestination))), dns: list(shape(NetworkDestination)),
  stores: list(shape(NetworkDestination)),
};
export const EtcdContainerOptions: PropertyTypes = {
  ...ContainerOptions, startupProbe: shape(ProbeTimes), livenessProbe: shape(ProbeTimes),
};
export const GateContainerOptions: PropertyTypes = { ...ContainerOptions, resources: object };
export const MemberContainers: PropertyTypes = {
  etcd: shape(EtcdContainerOptions), agent: shape(AgentContainerOptions), gate: shape(GateContainerOptions),
};
export const ServiceFields: PropertyTypes = {
  labels: object, annotations: object, loadBalancerClass: manifestText, loadBalancerSourceRanges: list(text),
  externalTrafficPolicy: text,
};
export const ServiceOptions: PropertyTypes = { ...ServiceFields, type: text, internalTrafficPolicy: text, nodePort: number };
export const ExternalService: PropertyTypes = { ordinal: required(number), annotations: object, nodePort: number };
export const ExternalServicesOptions: PropertyTypes = {
  ...ServiceFields, type: required(text), members: list(shape(ExternalService)),
};
export const QuorumRecovery: PropertyTypes = {
  id: required(withExample(text, "an id of your choice, such as '2026-11-21'")), acceptDataLoss: required(boolean),
  survivor: number, identitySecret: manifestName,
};
export const EtcdClusterProps: PropertyTypes = {
  ...PodOptions, name: text, size: number, allowEvenSize: boolean, version: EtcdVersion, image: text, registry: text,
  agentImage: text, imagePullPolicy: text, imagePullSecrets: list(manifestName), volume: shape(EtcdVolume),
  resources: EtcdResources, quota: Size, tuning: EtcdTuning, settings: object, tls: EtcdTls, auth: boolean, clusterDomain: text,
  spread: EtcdSpread, networkAccess: NetworkAccess, metricsAccess: NetworkAccess, egress: shape(NetworkEgress),
  containers: shape(MemberContainers), sidecars: list(object), serviceAccountName: manifestName,
  serviceAccountAnnotations: object, service: shape(ServiceOptions), externalServices: shape(ExternalServicesOptions),
  podDisruptionBudget: shape(DisruptionBudgetOptions), revisionHistoryLimit: number, overrides: list(shape(ObjectOverride)),
  reconciler: IEtcdReconciler, paused: boolean, replace: ReplacePolicy, origin: shape(ClusterOrigin),
  recovery: shape(QuorumRecovery), onShrink: text, onDelete: text, finalBackup: boolean, protect: boolean, backupSchedule: text,
  requireBackupForUpgrade: boolean, onNoSpace: text, _written: anything,
};
export const EtcdConnectOptions: PropertyTypes = { containers: list(text), mountPath: text, envPrefix: text };
export const EtcdCrdsProps: PropertyTypes = { protect: boolean };
export const EtcdEndpointsOptions: PropertyTypes = { name: text, tls: EtcdClientTls, auth: EtcdAuth };
export const EtcdMonitoringProps: PropertyTypes = { ...MonitoringOptions, cluster: required(IEtcdCluster), _written: anything };
export const ReconcilerResources: PropertyTypes = { cpuRequest: text, cpuLimit: text, memoryRequest: Size, memoryLimit: Size };
export const ReconcilerContainerOptions: PropertyTypes = {
  ...ContainerOptions, startupProbe: shape(ProbeTimes), livenessProbe: shape(ProbeTimes), readinessProbe: shape(ProbeTimes),
};
export const EtcdReconcilerProps: PropertyTypes = {
  ...PodOptions, name: text, image: text, registry: text, imagePullPolicy: text, imagePullSecrets: list(manifestName),
  replicas: number, resources: shape(ReconcilerResources), selector: object, metricsAccess: NetworkAccess,
  egress: shape(NetworkEgress), container: shape(ReconcilerContainerOptions), sidecars: list(object),
  serviceAccountName: manifestName, serviceAccountAnnotations: object, revisionHistoryLimit: number,
  overrides: list(shape(ObjectOverride)), _written: anything,
};
export const EtcdResourcesProps: PropertyTypes = { cpuRequest: text, cpuLimit: text, memoryRequest: Size, memoryLimit: Size };
export const EtcdRestoreProps: PropertyTypes = {
  ...ClusterOrigin, ...JobOptions, cluster: required(IEtcdCluster), name: text, safetyBackup: boolean,
  ignoreUnreachablePods: boolean, again: text, _written: anything,
};
export const EtcdTuningProps: PropertyTypes = {
  heartbeatInterval: Duration, electionTimeout: Duration, snapshotCount: number, autoCompaction: AutoCompaction,
};
export const EtcdUserOptions: PropertyTypes = {
  can: required(list(EtcdPermission)), userName: text, name: text, secretName: objectName, password: boolean, labels: object,
};
export const EtcdUserProps: PropertyTypes = { ...EtcdUserOptions, cluster: required(IEtcdCluster), _written: anything };
export const ExternalReconcilerOptions: PropertyTypes = { name: text, serviceAccountName: manifestName };
export const NfsVolume: PropertyTypes = { server: required(text), path: required(text) };
export const FilesystemStoreProps: PropertyTypes = {
  claimName: objectName, nfs: shape(NfsVolume), hostPath: text, directory: text,
};
export const ManagedTlsProps: PropertyTypes = {
  ...TlsSwitchOptions, alsoTrust: EtcdTls, serverNames: list(text), intermediateRotation: text, rootRotation: text,
  intermediateRevocation: text,
};
export const NoTlsProps: PropertyTypes = { previous: EtcdTls };
export const OssSecretOptions: PropertyTypes = { accessKeyIdKey: text, accessKeySecretKey: text };
export const OssStoreProps: PropertyTypes = {
  bucket: required(text), credentials: required(OssCredentials), prefix: text, region: text, endpoint: text, ca: CaBundle,
};
export const ReplaceRequest: PropertyTypes = { ordinal: required(number), memberId: required(text), discardVolume: boolean };
export const RestoreSourceOptions: PropertyTypes = { cluster: text, namespace: manifestName };
export const RetentionTiers: PropertyTypes = {
  last: number, within: Duration, hourly: number, daily: number, weekly: number, monthly: number, yearly: number, minKeep: number,
  timeZone: text,
};
export const S3SecretOptions: PropertyTypes = {
  accessKeyIdKey: text, secretAccessKeyKey: text, sessionTokenKey: text, profile: text,
};
export const S3StoreProps: PropertyTypes = {
  bucket: required(text), credentials: required(S3Credentials), prefix: text, region: text, endpoint: text, pathStyle: boolean,
  ca: CaBundle, serverSideEncryption: text, kmsKeyId: text, sseCustomerKey: SseCustomerKey,
};
export const S3WorkloadIdentityOptions: PropertyTypes = { serviceAccountAnnotations: object };
export const TlsSecrets: PropertyTypes = {
  peer: required(withExample(manifestName, "the name of a Secret, such as 'orders-client'")),
  server: required(withExample(manifestName, "the name of a Secret, such as 'orders-client'")),
  client: required(withExample(manifestName, "the name of a Secret, such as 'orders-client'")), root: manifestName,
  backup: manifestName,
};
export const SecretsTlsProps: PropertyTypes = { ...TlsSecrets, ...TlsSwitchOptions, alsoTrust: EtcdTls };
export const ServiceMonitorOptions: PropertyTypes = { interval: Duration, tls: boolean };
export const SftpSecretKeys: PropertyTypes = {
  usernameKey: text, passwordKey: text, privateKeyKey: text, passphraseKey: text, knownHostsKey: text,
};
export const SftpStoreProps: PropertyTypes = {
  host: required(text), credentials: required(SftpCredentials), port: number, username: text, path: text, hostKey: text,
  legacyAlgorithms: boolean,
};
