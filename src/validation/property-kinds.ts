// What every property of the public interfaces has to be. What is `anything` has a check of its own.
import {
  anything,
  boolean,
  instance,
  type Kinds,
  like,
  list,
  number,
  object,
  required,
  shape,
  text,
  texts,
} from './kinds';

const size = instance('a Size', 'toKibibytes', 'Size.gibibytes(8), say');
const duration = instance('a Duration', 'toMilliseconds', 'Duration.minutes(5), say');
const store = instance('a BackupStore', '_definition', 'BackupStore.s3({ … }), say');
const encryption = instance('an Encryption', '_recipients', 'Encryption.age({ … })');
const cluster = instance('an IEtcdCluster', 'clientEndpoints', 'the construct of a cluster');
const networkAccess = instance('a NetworkAccess', '_peers', 'NetworkAccess.from({ … }), say');
const caBundle = instance('a CaBundle', '_files', "CaBundle.fromSecret('NAME'), say");
const clientTls = instance('an EtcdClientTls', '_pod', "EtcdClientTls.fromSecret('NAME'), say");
const retention = instance('a Retention', '_policy', 'Retention.last(7), say');
const source = instance('a RestoreSource', '_spec', "RestoreSource.backup('NAME'), say");

const quantities: Kinds = { cpuRequest: text, cpuLimit: text, memoryRequest: size, memoryLimit: size };
const toleration = { key: text, operator: anything, value: text, effect: anything, tolerationSeconds: number };
const pod: Kinds = {
  imagePullPolicy: text,
  imagePullSecrets: list(anything),
  priorityClassName: text,
  nodeSelector: object,
  tolerations: list(shape(toleration)),
  labels: object,
};
const access: Kinds = {
  endpoints: list(anything),
  tls: clientTls,
  auth: instance('an EtcdAuth', '_files', "EtcdAuth.fromSecret('NAME')"),
};
const origin: Kinds = {
  source: required(source),
  identitySecret: text,
  sha256: text,
  expectedRevision: number,
  serviceAccountName: text,
  image: text,
};

export const clusterKinds: Kinds = {
  ...pod,
  name: text,
  size: number,
  allowEvenSize: boolean,
  version: instance('an EtcdVersion', 'minor', "EtcdVersion.V3_6 or EtcdVersion.of('3.6.16'), say"),
  image: text,
  registry: text,
  agentImage: text,
  volume: shape({ size, storageClass: text, ephemeral: boolean, readWriteOncePod: boolean }),
  resources: instance('an EtcdResources', '_requirements', 'EtcdResources.SMALL or EtcdResources.of({ … })'),
  quota: size,
  tuning: instance('an EtcdTuning', '_settings', 'EtcdTuning.WAN or EtcdTuning.of({ … })'),
  settings: object,
  tls: instance('an EtcdTls', '_bind', "EtcdTls.certManager({ issuer: 'NAME' }), say"),
  clusterDomain: text,
  spread: instance('an EtcdSpread', '_constraints', 'EtcdSpread.REQUIRED_ZONES, say'),
  networkAccess,
  metricsAccess: networkAccess,
  podAnnotations: object,
  reconciler: instance('an IEtcdReconciler', 'reconcilerName', 'the construct, or EtcdReconciler.external()'),
  paused: boolean,
  replace: instance('a ReplacePolicy', '_spec', 'ReplacePolicy.manual({ … }), say'),
  origin: shape(origin),
  recovery: shape({
    id: like(text, "an id of your choice, such as '2026-11-21'"),
    acceptDataLoss: boolean,
    survivor: number,
    identitySecret: text,
  }),
  onShrink: anything,
  onDelete: anything,
  finalBackup: boolean,
  backupSchedule: text,
  requireBackupForUpgrade: boolean,
  onNoSpace: anything,
};

export const reconcilerKinds: Kinds = {
  ...pod,
  name: text,
  image: text,
  registry: text,
  replicas: number,
  resources: shape(quantities),
  selector: object,
  metricsAccess: networkAccess,
};

export const externalReconcilerKinds: Kinds = { name: text, serviceAccountName: text };

export const scheduleOptionsKinds: Kinds = {
  ...pod,
  schedule: required(instance('a Cron', 'expressionString', "Cron.hourly() or Cron.schedule({ minute: '17' }), say")),
  store: required(store),
  retention,
  timeZone: text,
  compression: anything,
  encryption,
  fileName: text,
  fileNameTimeZone: text,
  verify: anything,
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
  serviceAccountName: text,
};

export const scheduleKinds: Kinds = {
  ...scheduleOptionsKinds,
  ...access,
  endpoints: required(list(anything)),
  cluster: anything,
  _host: anything,
};

export const addStoreKinds: Kinds = { store: required(store), retention };

const paths = list(text);
export const controlPlaneKinds: Kinds = {
  ...scheduleOptionsKinds,
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
};

export const backupKinds: Kinds = {
  ...access,
  name: text,
  cluster,
  schedule: text,
  store,
  key: text,
  prefix: text,
  compression: anything,
  encryption,
  dialTimeout: duration,
  timeout: duration,
  serviceAccountName: text,
  image: text,
  labels: object,
};

export const restoreKinds: Kinds = {
  ...origin,
  cluster: required(cluster),
  name: text,
  safetyBackup: boolean,
  ignoreUnreachablePods: boolean,
  labels: object,
};

export const sourceKinds: Kinds = { store: required(store), cluster: text, namespace: text };

export const attributesKinds: Kinds = {
  clusterName: required(text),
  clientEndpoints: required(list(text)),
  clientTls,
};

export const endpointsKinds: Kinds = { name: text, tls: access.tls!, auth: access.auth! };

export const s3StoreKinds: Kinds = {
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
  serverSideEncryption: anything,
  kmsKeyId: text,
  sseCustomerKey: instance('an SseCustomerKey', '_files', "SseCustomerKey.fromSecret('NAME')"),
};
export const s3SecretKinds: Kinds = {
  accessKeyIdKey: text,
  secretAccessKeyKey: text,
  sessionTokenKey: text,
  profile: text,
};
export const s3IdentityKinds: Kinds = { serviceAccountAnnotations: texts };

export const ossStoreKinds: Kinds = {
  bucket: required(text),
  credentials: required(instance('an OssCredentials', '_files', "OssCredentials.fromSecret('NAME')")),
  prefix: text,
  region: text,
  endpoint: text,
  ca: caBundle,
};
export const ossSecretKinds: Kinds = { accessKeyIdKey: text, accessKeySecretKey: text };

export const sftpStoreKinds: Kinds = {
  host: anything,
  credentials: required(instance('an SftpCredentials', '_files', "SftpCredentials.fromSecret('NAME')")),
  port: number,
  username: text,
  path: text,
  hostKey: text,
  legacyAlgorithms: boolean,
};
export const sftpSecretKinds: Kinds = {
  usernameKey: text,
  passwordKey: text,
  privateKeyKey: text,
  passphraseKey: text,
  knownHostsKey: text,
};

export const filesystemStoreKinds: Kinds = {
  claimName: text,
  nfs: shape({ server: text, path: text }),
  hostPath: text,
  directory: text,
};

export const commandStoreKinds: Kinds = {
  path: text,
  env: texts,
  credentialsSecretName: text,
  idleTimeout: duration,
};

export const retentionKinds: Kinds = {
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

export const ageKinds: Kinds = { recipients: required(list(anything)) };
export const authKinds: Kinds = { usernameKey: text, passwordKey: text };
export const clientTlsKinds: Kinds = { caKey: text, certKey: text, keyKey: text };
export const clientCaKinds: Kinds = { ca: required(caBundle) };
export const resourcesKinds: Kinds = quantities;

export const tuningKinds: Kinds = {
  heartbeatInterval: duration,
  electionTimeout: duration,
  snapshotCount: number,
  autoCompaction: instance('an AutoCompaction', '_settings', 'AutoCompaction.periodic(Duration.hours(1)), say'),
};
export const periodicKinds: Kinds = { retention: required(duration) };

export const certManagerKinds: Kinds = {
  issuer: text,
  issuerKind: anything,
  peerIssuer: text,
  peerIssuerKind: anything,
  duration,
  renewBefore: duration,
};
const secret = required(like(text, "the name of a Secret, such as 'orders-client'"));
export const tlsSecretsKinds: Kinds = { peer: secret, server: secret, client: secret };

const peer = shape({ podLabels: texts, namespace: text, namespaceLabels: texts, cidr: text });
export const peersKinds: Kinds = { peers: list(peer) };

const request = shape({ ordinal: number, memberId: required(text), discardVolume: boolean });
export const replaceKinds: Kinds = { force: list(request) };
