// The type of every property of the public interfaces. A property that is `anything` is validated by another check.
import {
  anything,
  boolean,
  instance,
  list,
  manifestMap,
  manifestName,
  manifestText,
  number,
  object,
  objectName,
  type PropertyTypes,
  required,
  shape,
  stringMap,
  text,
  withExample,
} from './type-checks';

const size = instance('a Size', 'toKibibytes', 'for example Size.gibibytes(8)');
const duration = instance('a Duration', 'toMilliseconds', 'for example Duration.minutes(5)');
const store = instance('a BackupStore', '_definition', 'for example BackupStore.s3({ … })');
const encryption = instance('an Encryption', '_spec', 'Encryption.age({ … })');
const cluster = instance('an IEtcdCluster', 'clientEndpoints', 'the construct of a cluster');
const peer: PropertyTypes = {
  podLabels: manifestMap,
  namespace: manifestName,
  namespaceLabels: manifestMap,
  cidr: text,
};
const destinations = list(shape({ ...peer, ports: list(number) }));
const egress = shape({ apiServer: required(destinations), dns: destinations, stores: destinations });
const networkAccess = instance('a NetworkAccess', '_peers', 'for example NetworkAccess.peers({ … })');
const caBundle = instance('a CaBundle', '_files', "for example CaBundle.fromSecret('NAME')");
const clientTls = instance('an EtcdClientTls', '_pod', "for example EtcdClientTls.fromSecret('NAME')");
const etcdTls = instance(
  'an EtcdTls',
  '_spec',
  "for example EtcdTls.managed() or EtcdTls.certManager({ issuer: 'NAME' })",
);
const reconciler = instance('an IEtcdReconciler', 'reconcilerName', 'the construct, or EtcdReconciler.external()');
const retention = instance('a Retention', '_policy', 'for example Retention.last(7)');
const source = instance('a RestoreSource', '_spec', "for example RestoreSource.backup('NAME')");

const quantities: PropertyTypes = { cpuRequest: text, cpuLimit: text, memoryRequest: size, memoryLimit: size };
const toleration = {
  key: manifestText,
  operator: text,
  value: manifestText,
  effect: text,
  tolerationSeconds: number,
};
const overrides = list(shape({ target: required(text), patch: required(object) }));
const pod: PropertyTypes = {
  overrides,
  imagePullPolicy: text,
  imagePullSecrets: list(anything),
  priorityClassName: manifestText,
  nodeSelector: object,
  tolerations: list(shape(toleration)),
  affinity: object,
  topologySpreadConstraints: list(object),
  schedulerName: manifestText,
  runtimeClassName: manifestText,
  hostAliases: list(object),
  dnsPolicy: text,
  dnsConfig: object,
  securityContext: object,
  terminationGracePeriodSeconds: number,
  volumes: list(object),
  initContainers: list(object),
  labels: object,
  annotations: manifestMap,
  podLabels: manifestMap,
  podAnnotations: object,
};
const container: PropertyTypes = {
  env: list(object),
  envFrom: list(object),
  securityContext: object,
  volumeMounts: list(object),
};
const probe = shape({
  initialDelaySeconds: number,
  periodSeconds: number,
  timeoutSeconds: number,
  failureThreshold: number,
});
const workload: PropertyTypes = {
  sidecars: list(object),
  serviceAccountName: manifestName,
  serviceAccountAnnotations: manifestMap,
  revisionHistoryLimit: number,
};
const access: PropertyTypes = {
  endpoints: list(anything),
  tls: clientTls,
  auth: instance('an EtcdAuth', '_files', "EtcdAuth.fromSecret('NAME')"),
};
const origin: PropertyTypes = {
  source: required(source),
  identitySecret: manifestName,
  sha256: text,
  expectedRevision: number,
  serviceAccountName: manifestName,
  image: text,
  resources: shape(quantities),
};

export const scrapeTypes: PropertyTypes = { interval: duration, tls: boolean };

export const alertsTypes: PropertyTypes = { exclude: list(text), labels: stringMap, runbookUrl: text };

export const dashboardTypes: PropertyTypes = { labels: manifestMap, annotations: manifestMap };

export const monitoringTypes: PropertyTypes = {
  scrape: instance('an EtcdScrape', '_scrape', 'for example EtcdScrape.serviceMonitors()'),
  scraper: networkAccess,
  dashboard: instance('an EtcdDashboard', '_dashboard', 'for example EtcdDashboard.configMap()'),
  alerts: instance('an EtcdAlerts', '_alerts', 'for example EtcdAlerts.all()'),
  labels: object,
};

export const backupMonitoringTypes: PropertyTypes = {
  ...monitoringTypes,
  maxAge: duration,
  resources: shape(quantities),
};

export const etcdMonitoringTypes: PropertyTypes = {
  ...monitoringTypes,
  cluster: required(cluster),
  _written: anything,
};

const service: PropertyTypes = {
  type: text,
  labels: manifestMap,
  annotations: manifestMap,
  loadBalancerClass: manifestText,
  loadBalancerSourceRanges: list(text),
  externalTrafficPolicy: text,
};

export const clusterTypes: PropertyTypes = {
  ...pod,
  ...workload,
  service: shape({ ...service, internalTrafficPolicy: text, nodePort: number }),
  externalServices: shape({
    ...service,
    type: required(text),
    members: list(shape({ ordinal: required(number), annotations: manifestMap, nodePort: number })),
  }),
  podDisruptionBudget: shape({ enabled: boolean, unhealthyPodEvictionPolicy: text }),
  containers: shape({
    etcd: shape({ ...container, startupProbe: probe, livenessProbe: probe }),
    agent: shape({ ...container, livenessProbe: probe, readinessProbe: probe }),
    gate: shape(container),
  }),
  name: text,
  size: number,
  allowEvenSize: boolean,
  version: instance('an EtcdVersion', 'minor', "for example EtcdVersion.V3_6 or EtcdVersion.of('3.6.16')"),
  image: text,
  registry: text,
  agentImage: text,
  volume: shape({
    size,
    storageClass: manifestText,
    ephemeral: boolean,
    readWriteOncePod: boolean,
    labels: manifestMap,
    annotations: manifestMap,
    selector: object,
  }),
  resources: instance('an EtcdResources', '_spec', 'EtcdResources.SMALL or EtcdResources.of({ … })'),
  quota: size,
  tuning: instance('an EtcdTuning', '_spec', 'EtcdTuning.WAN or EtcdTuning.of({ … })'),
  settings: object,
  tls: etcdTls,
  auth: boolean,
  clusterDomain: text,
  spread: instance('an EtcdSpread', '_spec', 'for example EtcdSpread.REQUIRED_ZONES'),
  networkAccess,
  metricsAccess: networkAccess,
  egress,
  reconciler,
  paused: boolean,
  replace: instance('a ReplacePolicy', '_spec', 'for example ReplacePolicy.manual({ … })'),
  origin: shape(origin),
  recovery: shape({
    id: required(withExample(text, "an id of your choice, such as '2026-11-21'")),
    acceptDataLoss: required(boolean),
    survivor: number,
    identitySecret: manifestName,
  }),
  onShrink: text,
  onDelete: text,
  finalBackup: boolean,
  protect: boolean,
  backupSchedule: text,
  requireBackupForUpgrade: boolean,
  onNoSpace: text,
  _written: anything,
};

export const crdsTypes: PropertyTypes = { protect: boolean };

export const reconcilerTypes: PropertyTypes = {
  ...pod,
  ...workload,
  container: shape({ ...container, startupProbe: probe, livenessProbe: probe, readinessProbe: probe }),
  name: text,
  image: text,
  registry: text,
  replicas: number,
  resources: shape(quantities),
  selector: object,
  metricsAccess: networkAccess,
  egress,
  _written: anything,
};

export const externalReconcilerTypes: PropertyTypes = { name: text, serviceAccountName: manifestName };

export const scheduleOptionsTypes: PropertyTypes = {
  ...pod,
  schedule: required(
    instance('a Cron', 'expressionString', "for example Cron.hourly() or Cron.schedule({ minute: '17' })"),
  ),
  store: required(store),
  retention,
  timeZone: text,
  compression: text,
  encryption,
  fileName: text,
  fileNameTimeZone: text,
  verify: text,
  name: text,
  suspend: boolean,
  startingDeadline: duration,
  activeDeadline: duration,
  timeout: duration,
  dialTimeout: duration,
  retries: number,
  successfulJobsHistoryLimit: number,
  failedJobsHistoryLimit: number,
  resources: shape(quantities),
  image: text,
  serviceAccountName: manifestName,
  serviceAccountAnnotations: manifestMap,
  container: shape(container),
  ttlAfterFinished: duration,
};

export const scheduleTypes: PropertyTypes = {
  ...scheduleOptionsTypes,
  ...access,
  endpoints: required(list(anything)),
  cluster: anything,
  _host: anything,
  _clientEndpoints: anything,
  _record: anything,
  _clusterLabels: anything,
  _protect: anything,
  _complete: anything,
  _written: anything,
  _controlPlane: anything,
};

export const addStoreTypes: PropertyTypes = { store: required(store), retention };

const paths = list(text);
export const controlPlaneTypes: PropertyTypes = {
  ...scheduleOptionsTypes,
  cluster: anything,
  endpoints: list(anything),
  certificates: shape({ ca: text, cert: text, key: text }),
  nodeLabels: list(text),
  manifestsDirectory: text,
  etcdService: boolean,
  dataDir: text,
  restoreDirectory: text,
  files: shape({ directories: paths, files: paths, encryption }),
  createNamespace: boolean,
  keepImage: boolean,
  _controlPlane: anything,
};

export const backupTypes: PropertyTypes = {
  ...access,
  name: text,
  cluster,
  schedule: text,
  store,
  key: text,
  prefix: text,
  compression: text,
  encryption,
  dialTimeout: duration,
  timeout: duration,
  serviceAccountName: manifestName,
  image: text,
  resources: shape(quantities),
  labels: object,
};

export const restoreTypes: PropertyTypes = {
  ...origin,
  cluster: required(cluster),
  name: text,
  safetyBackup: boolean,
  ignoreUnreachablePods: boolean,
  again: text,
  labels: object,
};

const permission = instance('an EtcdPermission', '_permission', "for example EtcdPermission.readWrite('/api/')");
export const userOptionsTypes: PropertyTypes = {
  can: required(list(permission)),
  userName: text,
  name: text,
  secretName: objectName,
  password: boolean,
  labels: object,
};
export const userTypes: PropertyTypes = { ...userOptionsTypes, cluster: required(cluster) };
export const clientOptionsTypes: PropertyTypes = {
  can: list(permission),
  userName: text,
  secretName: objectName,
  password: boolean,
  podLabels: manifestMap,
  labels: object,
};
export const clientTypes: PropertyTypes = { ...clientOptionsTypes, cluster: required(cluster) };
export const connectTypes: PropertyTypes = { containers: list(text), mountPath: text, envPrefix: text };
export const prefixTypes: PropertyTypes = { prefix: required(text) };
export const keyTypes: PropertyTypes = { key: required(text) };
export const rangeTypes: PropertyTypes = { start: required(text), end: required(text) };

export const sourceTypes: PropertyTypes = { store: required(store), cluster: text, namespace: manifestName };

export const attributesTypes: PropertyTypes = {
  clusterName: required(text),
  clientEndpoints: required(list(text)),
  clientTls,
  backupEndpoints: list(text),
  backupTls: clientTls,
  tls: etcdTls,
  reconciler,
};

export const endpointsTypes: PropertyTypes = { name: text, tls: access.tls!, auth: access.auth! };

export const s3StoreTypes: PropertyTypes = {
  bucket: anything,
  credentials: required(
    instance(
      'an S3Credentials',
      '_profile',
      "S3Credentials.fromSecret('NAME'), or S3Credentials.workloadIdentity() for none",
    ),
  ),
  prefix: text,
  region: text,
  endpoint: text,
  pathStyle: boolean,
  ca: caBundle,
  serverSideEncryption: text,
  kmsKeyId: text,
  sseCustomerKey: instance('an SseCustomerKey', '_files', "SseCustomerKey.fromSecret('NAME')"),
};
export const s3SecretTypes: PropertyTypes = {
  accessKeyIdKey: text,
  secretAccessKeyKey: text,
  sessionTokenKey: text,
  profile: text,
};
export const s3IdentityTypes: PropertyTypes = { serviceAccountAnnotations: manifestMap };

export const ossStoreTypes: PropertyTypes = {
  bucket: required(text),
  credentials: required(instance('an OssCredentials', '_files', "OssCredentials.fromSecret('NAME')")),
  prefix: text,
  region: text,
  endpoint: text,
  ca: caBundle,
};
export const ossSecretTypes: PropertyTypes = { accessKeyIdKey: text, accessKeySecretKey: text };

export const sftpStoreTypes: PropertyTypes = {
  host: anything,
  credentials: required(instance('an SftpCredentials', '_files', "SftpCredentials.fromSecret('NAME')")),
  port: number,
  username: text,
  path: text,
  hostKey: text,
  legacyAlgorithms: boolean,
};
export const sftpSecretTypes: PropertyTypes = {
  usernameKey: text,
  passwordKey: text,
  privateKeyKey: text,
  passphraseKey: text,
  knownHostsKey: text,
};

export const filesystemStoreTypes: PropertyTypes = {
  claimName: objectName,
  nfs: shape({ server: text, path: text }),
  hostPath: text,
  directory: text,
};

export const commandStoreTypes: PropertyTypes = {
  path: text,
  env: stringMap,
  credentialsSecretName: manifestName,
  idleTimeout: duration,
};

export const retentionTypes: PropertyTypes = {
  last: number,
  within: duration,
  hourly: number,
  daily: number,
  weekly: number,
  monthly: number,
  yearly: number,
  minKeep: number,
  timeZone: text,
};

export const ageTypes: PropertyTypes = { recipients: required(list(anything)) };
export const authTypes: PropertyTypes = { usernameKey: text, passwordKey: text };
export const clientTlsTypes: PropertyTypes = { caKey: text, certKey: text, keyKey: text };
export const clientCaTypes: PropertyTypes = { ca: required(caBundle) };
export const resourcesTypes: PropertyTypes = quantities;

export const tuningTypes: PropertyTypes = {
  heartbeatInterval: duration,
  electionTimeout: duration,
  snapshotCount: number,
  autoCompaction: instance('an AutoCompaction', '_spec', 'for example AutoCompaction.periodic(Duration.hours(1))'),
};
export const periodicTypes: PropertyTypes = { retention: required(duration) };

const tlsSourceTypes: PropertyTypes = { acceptPlaintextFor: duration, alsoTrust: etcdTls };
export const noTlsTypes: PropertyTypes = { previous: etcdTls };
export const certManagerTypes: PropertyTypes = {
  ...tlsSourceTypes,
  issuer: manifestText,
  issuerKind: text,
  peerIssuer: manifestText,
  peerIssuerKind: text,
  serverNames: list(text),
  duration,
  renewBefore: duration,
};
export const managedTlsTypes: PropertyTypes = {
  ...tlsSourceTypes,
  serverNames: list(text),
  intermediateRotation: text,
  rootRotation: text,
  intermediateRevocation: text,
};
const secret = required(withExample(manifestName, "the name of a Secret, such as 'orders-client'"));
export const tlsSecretsTypes: PropertyTypes = {
  ...tlsSourceTypes,
  peer: secret,
  server: secret,
  client: secret,
  root: manifestName,
  backup: manifestName,
};

export const peersTypes: PropertyTypes = { peers: list(shape(peer)) };

const request = shape({ ordinal: number, memberId: required(text), discardVolume: boolean });
export const replaceTypes: PropertyTypes = { force: list(request) };
