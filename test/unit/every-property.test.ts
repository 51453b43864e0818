// A valid value of every property of every public interface. Each must be accepted, and must change what synth writes: a
// property that is declared but not known, or not read, fails here.
import { ApiObject, Chart, Cron, Duration, Size, Testing } from 'cdk8s';
import {
  AutoCompaction,
  BackupStore,
  CaBundle,
  Compression,
  ControlPlaneEtcdBackup,
  DeletionPolicy,
  Encryption,
  EtcdAlerts,
  EtcdAuth,
  EtcdBackup,
  EtcdClient,
  EtcdClientTls,
  EtcdCluster,
  EtcdDashboard,
  EtcdMonitoring,
  EtcdPermission,
  EtcdReconciler,
  EtcdResources,
  EtcdRestore,
  EtcdScrape,
  EtcdSpread,
  EtcdTls,
  EtcdTuning,
  EtcdUser,
  EtcdVersion,
  ImagePullPolicy,
  IssuerKind,
  NetworkAccess,
  NoSpacePolicy,
  OssCredentials,
  OverrideTarget,
  ReplacePolicy,
  RestoreSource,
  Retention,
  S3Credentials,
  ServerSideEncryption,
  SftpCredentials,
  SseCustomerKey,
  VerificationLevel,
} from '../../src';
import { type Any, drivers, type Make, propertiesOf } from '../interfaces';
import { s3 } from '../synth';

/** A value that is valid only together with other properties, or with objects of the same chart. */
class Beside {
  constructor(
    readonly others: Any,
    readonly value: unknown,
    readonly make?: Make,
  ) {}
}
const beside = (others: object, value: unknown, make?: Make) => new Beside(others, value, make);

/** Into a cluster with schedules. */
const withSchedules: Make = (chart, props) => {
  const cluster = new EtcdCluster(chart, 'subject', props);
  cluster.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  cluster.addBackupSchedule('weekly', { schedule: Cron.weekly(), store: s3 });
  return cluster;
};
/** With the Pod that restores, which is a file for the nodes. */
const withRestorePod: Make = (chart, props) => {
  const backup = drivers.ControlPlaneEtcdBackupProps!(chart, props) as ControlPlaneEtcdBackup;
  return new ApiObject(chart, 'pod', { apiVersion: 'v1', kind: 'Pod', spec: { yaml: backup.restorePodYaml() } });
};
/** Into a backup beside such a cluster. */
const backupOf: Make = (chart, { endpoints: _, ...props }) =>
  new EtcdBackup(chart, 'backup', { ...props, cluster: props.cluster && withSchedules(chart, {}) });
const restoreOf: Make = (chart, { cluster: name }) => {
  const cluster = new EtcdCluster(chart, name ?? 'orders');
  cluster.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  return new EtcdRestore(chart, 'restore', { cluster, source: RestoreSource.backup('b') });
};
const userOf: Make = (chart, { cluster: name }) =>
  new EtcdUser(chart, 'user', { cluster: new EtcdCluster(chart, name ?? 'orders'), can: [] });
const clientOf: Make = (chart, { cluster: name }) =>
  new EtcdClient(chart, 'client', { cluster: new EtcdCluster(chart, name ?? 'orders'), can: [] });
const monitoringOf: Make = (chart, { cluster: name }) =>
  new EtcdMonitoring(chart, 'monitoring', { cluster: new EtcdCluster(chart, name ?? 'orders') });
/** An imported cluster shows in its users. */
const userOfImported: Make = (chart, attributes) => {
  const cluster = drivers.EtcdClusterAttributes!(chart, { clientEndpoints: ['https://a:2379'], ...attributes }) as Any;
  return new EtcdUser(chart, 'user', { cluster, can: [] });
};
const onNode: Make = (chart, filesystem) =>
  new ControlPlaneEtcdBackup(chart, 'subject', {
    cluster: 'prod',
    schedule: Cron.daily(),
    store: BackupStore.filesystem(filesystem),
  });

/** An etcd that something else created shows in its schedules alone. */
const seenBySchedule =
  (make: Make): Make =>
  (chart, props) => {
    const etcd = make(chart, props) as Any;
    etcd.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
    return etcd;
  };
const byItsSchedule: readonly string[] = ['EtcdEndpointsOptions', 'EtcdClusterAttributes'];

const labels = { 'example.com/team': 'shop' };
const monitoringOptions = {
  scrape: EtcdScrape.annotations(),
  scraper: NetworkAccess.peers({ namespace: 'monitoring' }),
  alerts: EtcdAlerts.none(),
  dashboard: EtcdDashboard.none(),
  labels,
};
const tolerations = [{ key: 'etcd', operator: 'Exists' }];
const encryption = Encryption.age({ recipients: ['age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh'] });
const volume = BackupStore.filesystem({ claimName: 'c' });
const egress = { apiServer: [{ cidr: '10.0.0.1/32' }] };
const named = EtcdClientTls.fromSecret('other');
const auth = EtcdAuth.fromSecret('root');
const hundredDays = Duration.days(100);
const switching = { acceptPlaintextFor: Duration.hours(7) };
const source = {
  ...switching,
  alsoTrust: EtcdTls.fromSecrets({ peer: 'p3', server: 's3', client: 'c3', root: 'r3', backup: 'b3' }),
};
const tlsSecrets = { peer: 'p2', server: 's2', client: 'c2', root: 'r2', backup: 'b2' };

const podOptions = {
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations,
  priorityClassName: 'etcd',
  affinity: { podAntiAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
  schedulerName: 'own',
  runtimeClassName: 'sandboxed',
  hostAliases: [{ ip: '10.0.0.9', hostnames: ['kms.example.com'] }],
  dnsPolicy: 'ClusterFirst',
  dnsConfig: { searches: ['example.com'] },
  securityContext: { runAsNonRoot: true },
  terminationGracePeriodSeconds: 90,
  volumes: [{ name: 'own', emptyDir: {} }],
  initContainers: [{ name: 'own', image: 'r/own:1' }],
  labels,
  annotations: labels,
  podLabels: labels,
  podAnnotations: labels,
};
const pod = { ...podOptions, imagePullPolicy: ImagePullPolicy.ALWAYS, imagePullSecrets: ['registry'] };
const container = {
  env: [{ name: 'TZ', value: 'Europe/Berlin' }],
  envFrom: [{ secretRef: { name: 'own' } }],
  securityContext: { readOnlyRootFilesystem: true },
  volumeMounts: [{ name: 'own', mountPath: '/own' }],
};
const resources = { requests: { cpu: '20m' }, limits: { memory: '7Gi' } };
const probe = { initialDelaySeconds: 7, periodSeconds: 7, timeoutSeconds: 7, failureThreshold: 7 };
const service = {
  labels,
  annotations: labels,
  loadBalancerClass: 'example.com/internal',
  loadBalancerSourceRanges: ['10.0.0.0/8'],
  externalTrafficPolicy: 'Local',
};
const workload = {
  sidecars: [{ name: 'own', image: 'r/own:1' }],
  serviceAccountName: 'own',
  serviceAccountAnnotations: labels,
  revisionHistoryLimit: 7,
};
const quantities = {
  cpuRequest: '123m',
  cpuLimit: '3',
  memoryRequest: Size.mebibytes(900),
  memoryLimit: Size.gibibytes(20),
};
const origin = {
  source: RestoreSource.backup('other'),
  identitySecret: 'age',
  sha256: 'a'.repeat(64),
  expectedRevision: 42,
  serviceAccountName: beside({ source: RestoreSource.snapshot(s3, 'id') }, 'restore'),
  image: beside({ source: RestoreSource.snapshot(s3, 'id') }, 'r/agent:1'),
  resources: { memoryLimit: Size.gibibytes(3) },
};
const overrideOf = (target: OverrideTarget) => [{ target, patch: { metadata: { annotations: { a: 'b' } } } }];
const job = {
  ...pod,
  container: beside({ volumes: podOptions.volumes }, container),
  ttlAfterFinished: Duration.hours(7),
  overrides: overrideOf(OverrideTarget.BACKUP_PODS),
};
const schedule = {
  schedule: Cron.weekly(),
  store: volume,
  retention: Retention.last(7),
  timeZone: 'Europe/Berlin',
  compression: Compression.GZIP,
  encryption,
  fileName: 'orders-%Y%m%d-%H%M%S',
  fileNameTimeZone: beside({ fileName: 'orders-%Y%m%d-%H%M%S' }, 'Europe/Berlin'),
  verify: VerificationLevel.READ,
  name: 'other',
  suspend: true,
  startingDeadline: Duration.minutes(7),
  activeDeadline: Duration.hours(7),
  timeout: Duration.minutes(7),
  dialTimeout: Duration.seconds(7),
  retries: 1,
  successfulJobsHistoryLimit: 7,
  failedJobsHistoryLimit: 7,
  resources: { memoryLimit: Size.mebibytes(300) },
  image: 'r/agent:1',
  serviceAccountName: 'backup',
  serviceAccountAnnotations: labels,
  ...job,
};
const peer = {
  podLabels: { app: 'client' },
  namespace: 'monitoring',
  namespaceLabels: { team: 'shop' },
  cidr: beside({ podLabels: undefined }, '10.0.0.0/8'),
};

const userOptions = {
  can: [EtcdPermission.readAll()],
  userName: 'other',
  name: 'other',
  secretName: 'other',
  password: true,
  labels,
};

const can = [EtcdPermission.readAll()];
const clientOptions = {
  can,
  userName: beside({ can }, 'other'),
  secretName: beside({ can }, 'other'),
  password: beside({ can }, true),
  podLabels: { app: 'client' },
  labels,
};

const values: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ServiceFields: service,
  ServiceOptions: { ...service, type: 'NodePort', internalTrafficPolicy: 'Local', nodePort: 30_079 },
  ExternalServicesOptions: { ...service, type: 'NodePort', members: [{ ordinal: 1, annotations: labels }] },
  ExternalService: {
    ordinal: beside({ annotations: labels }, 1),
    annotations: labels,
    nodePort: 30_079,
  },
  DisruptionBudgetOptions: { enabled: false, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  PodOptions: podOptions,
  ContainerOptions: container,
  EtcdContainerOptions: { ...container, startupProbe: probe, livenessProbe: probe },
  AgentContainerOptions: { ...container, livenessProbe: probe, readinessProbe: probe, resources },
  GateContainerOptions: { ...container, resources },
  ReconcilerContainerOptions: { ...container, startupProbe: probe, livenessProbe: probe, readinessProbe: probe },
  MemberContainers: { etcd: container, agent: container, gate: container },
  ProbeTimes: probe,
  EtcdClusterProps: {
    ...pod,
    ...workload,
    containers: beside({ volumes: podOptions.volumes }, { etcd: container }),
    service: { type: 'NodePort' },
    externalServices: { type: 'NodePort' },
    podDisruptionBudget: { enabled: false },
    overrides: overrideOf(OverrideTarget.MEMBER_PODS),
    name: 'other',
    size: 5,
    allowEvenSize: true,
    version: EtcdVersion.V3_5,
    image: 'r/etcd:v3.6.15',
    registry: 'registry.example.com',
    agentImage: 'r/agent:1',
    volume: { size: Size.gibibytes(20) },
    resources: EtcdResources.XLARGE,
    quota: Size.gibibytes(1),
    tuning: EtcdTuning.WAN,
    settings: { 'log-level': 'warn' },
    tls: EtcdTls.none(),
    auth: true,
    clusterDomain: 'example.local',
    spread: EtcdSpread.NONE,
    networkAccess: NetworkAccess.anywhere(),
    metricsAccess: NetworkAccess.anywhere(),
    egress,
    reconciler: EtcdReconciler.external({ name: 'other' }),
    paused: true,
    replace: ReplacePolicy.manual(),
    origin: { source: RestoreSource.backup('b') },
    recovery: beside({}, { id: 'a', acceptDataLoss: true }, withSchedules),
    onShrink: DeletionPolicy.DELETE,
    onDelete: beside({}, DeletionPolicy.DELETE, withSchedules),
    finalBackup: beside({}, true, withSchedules),
    backupSchedule: beside({}, 'weekly', withSchedules),
    requireBackupForUpgrade: true,
    protect: false,
    onNoSpace: NoSpacePolicy.REPORT,
  },
  EtcdCrdsProps: { protect: false },
  EtcdVolume: {
    size: Size.gibibytes(20),
    storageClass: 'fast',
    ephemeral: true,
    readWriteOncePod: true,
    labels,
    annotations: labels,
    selector: { matchLabels: labels },
  },
  ClusterOrigin: origin,
  QuorumRecovery: {
    id: 'other',
    acceptDataLoss: beside({ acceptDataLoss: false }, true),
    survivor: 1,
    identitySecret: 'age',
  },
  ReplaceRequest: { ordinal: 1, memberId: 'cd', discardVolume: true },
  EtcdResourcesProps: quantities,
  EtcdTuningProps: {
    heartbeatInterval: beside({ electionTimeout: Duration.seconds(3) }, Duration.millis(300)),
    electionTimeout: Duration.seconds(3),
    snapshotCount: 12_345,
    autoCompaction: AutoCompaction.periodic(Duration.hours(7)),
  },
  TlsSwitchOptions: switching,
  NoTlsProps: { previous: EtcdTls.managed() },
  ManagedTlsProps: {
    ...source,
    serverNames: ['etcd.example.com'],
    intermediateRotation: '2026-11-21',
    rootRotation: '2026-11-21',
    intermediateRevocation: '2026-11-21',
  },
  CertManagerTlsProps: {
    ...source,
    issuer: 'other',
    issuerKind: IssuerKind.CLUSTER_ISSUER,
    peerIssuer: 'other',
    serverNames: ['etcd.example.com', '192.0.2.7'],
    peerIssuerKind: beside({ peerIssuer: 'other' }, IssuerKind.CLUSTER_ISSUER),
    duration: hundredDays,
    renewBefore: Duration.days(7),
  },
  TlsSecrets: tlsSecrets,
  SecretsTlsProps: { ...tlsSecrets, ...source },
  NetworkPeer: peer,
  NetworkEgress: {
    apiServer: [{ cidr: '10.0.0.2/32' }],
    dns: [{ cidr: '10.0.0.3/32' }],
    stores: [{ cidr: '10.0.0.4/32' }],
  },
  NetworkDestination: { ...peer, ports: [6443] },
  Toleration: {
    key: 'etcd',
    operator: beside({ key: 'etcd' }, 'Equal'),
    value: beside({ key: 'etcd', operator: 'Equal' }, 'v'),
    effect: 'NoSchedule',
    tolerationSeconds: beside({ effect: 'NoExecute' }, 60),
  },
  BackupScheduleOptions: schedule,
  EtcdBackupScheduleProps: { ...schedule, cluster: 'other', endpoints: ['other:2379'], tls: named, auth },
  AddStoreOptions: { retention: Retention.last(7) },
  BackupResources: quantities,
  S3StoreProps: {
    bucket: 'other',
    credentials: S3Credentials.fromSecret('other'),
    prefix: 'etcd',
    region: 'other',
    endpoint: 'https://minio:9000',
    pathStyle: true,
    ca: beside({ endpoint: 'https://minio:9000' }, CaBundle.fromSecret('ca')),
    serverSideEncryption: ServerSideEncryption.AES256,
    kmsKeyId: beside({ serverSideEncryption: ServerSideEncryption.KMS }, 'alias/etcd'),
    sseCustomerKey: SseCustomerKey.fromSecret('sse'),
  },
  OssStoreProps: {
    bucket: 'other',
    credentials: OssCredentials.fromSecret('other'),
    prefix: 'etcd',
    region: 'other',
    endpoint: 'https://oss.example.com',
    ca: beside({ endpoint: 'https://oss.example.com' }, CaBundle.fromSecret('ca')),
  },
  SftpStoreProps: {
    host: 'other',
    credentials: SftpCredentials.fromSecret('other'),
    port: 2222,
    username: 'backup',
    path: '/backup',
    hostKey: `SHA256:${'A'.repeat(43)}`,
    legacyAlgorithms: true,
  },
  FilesystemStoreProps: {
    claimName: 'other',
    nfs: beside({ claimName: undefined }, { server: 's', path: '/p' }),
    hostPath: beside({}, '/b', onNode),
    directory: 'etcd',
  },
  NfsVolume: { server: 'other', path: '/other' },
  CommandStoreProps: {
    path: '/opt/other',
    env: { BUCKET: 'b' },
    credentialsSecretName: 'own',
    idleTimeout: Duration.minutes(7),
  },
  S3SecretOptions: {
    accessKeyIdKey: beside({ secretAccessKeyKey: 'secret' }, 'id'),
    secretAccessKeyKey: beside({ accessKeyIdKey: 'id' }, 'secret'),
    sessionTokenKey: beside({ accessKeyIdKey: 'id', secretAccessKeyKey: 'secret' }, 'token'),
    profile: 'backup',
  },
  S3WorkloadIdentityOptions: { serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn' } },
  OssSecretOptions: {
    accessKeyIdKey: beside({ accessKeySecretKey: 'secret' }, 'id'),
    accessKeySecretKey: beside({ accessKeyIdKey: 'id' }, 'secret'),
  },
  SftpSecretKeys: {
    usernameKey: beside({ passwordKey: 'p', knownHostsKey: 'h' }, 'u'),
    passwordKey: beside({ usernameKey: 'u', knownHostsKey: 'h' }, 'p'),
    privateKeyKey: beside({ usernameKey: 'u', knownHostsKey: 'h' }, 'k'),
    passphraseKey: beside({ usernameKey: 'u', privateKeyKey: 'k', knownHostsKey: 'h' }, 'f'),
    knownHostsKey: beside({ usernameKey: 'u', passwordKey: 'p' }, 'h'),
  },
  EtcdAuthKeys: { usernameKey: beside({ passwordKey: 'p' }, 'u'), passwordKey: beside({ usernameKey: 'u' }, 'p') },
  EtcdClientTlsKeys: { caKey: 'ca', certKey: 'cert', keyKey: 'key' },
  RetentionTiers: {
    last: 7,
    within: Duration.days(7),
    hourly: 7,
    daily: 7,
    weekly: 7,
    monthly: 7,
    yearly: 7,
    minKeep: 2,
    timeZone: beside({ daily: 7 }, 'Europe/Berlin'),
  },
  AgeEncryptionProps: { recipients: ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'] },
  ControlPlaneEtcdBackupProps: {
    ...schedule,
    dnsPolicy: beside({ dnsConfig: { nameservers: ['10.0.0.10'] } }, 'None'),
    securityContext: { runAsUser: 0 },
    cluster: 'other',
    endpoints: ['https://127.0.0.1:12379'],
    certificates: { ca: '/other/ca.crt' },
    nodeLabels: ['etcd'],
    manifestsDirectory: '/other/manifests',
    etcdService: true,
    dataDir: beside({}, '/other/data', withRestorePod),
    restoreDirectory: beside({}, '/other/restore', withRestorePod),
    files: beside({ encryption }, { directories: ['/etc/kubernetes/pki'] }),
    createNamespace: true,
    keepImage: false,
  },
  ControlPlaneCertificates: { ca: '/o/ca.crt', cert: '/o/tls.crt', key: '/o/tls.key' },
  ControlPlaneFiles: {
    directories: ['/etc/other'],
    files: ['/etc/other.conf'],
    encryption: beside(
      { directories: ['/etc/other'] },
      Encryption.age({ recipients: ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'] }),
    ),
  },
  EtcdBackupProps: {
    name: 'other',
    cluster: beside({ store: s3 }, true, backupOf),
    schedule: beside({ cluster: true, schedule: 'nightly' }, 'weekly', backupOf),
    endpoints: ['other:2379'],
    tls: named,
    auth,
    store: volume,
    key: 'a.db',
    prefix: 'releases',
    compression: Compression.GZIP,
    encryption,
    dialTimeout: Duration.seconds(7),
    timeout: Duration.minutes(7),
    serviceAccountName: 'backup',
    image: 'r/agent:1',
    resources: { memoryLimit: Size.gibibytes(3) },
    ...job,
  },
  JobOptions: job,
  EtcdRestoreProps: {
    ...origin,
    ...job,
    cluster: beside({}, 'other', restoreOf),
    name: 'other',
    safetyBackup: false,
    ignoreUnreachablePods: true,
    again: '2026-11-27',
  },
  RestoreSourceOptions: { cluster: 'other', namespace: 'other' },
  EtcdReconcilerProps: {
    ...pod,
    ...workload,
    container: beside({ volumes: podOptions.volumes }, container),
    overrides: overrideOf(OverrideTarget.RECONCILER_PODS),
    name: 'other',
    image: 'r/agent:1',
    registry: 'registry.example.com',
    replicas: 2,
    resources: { cpuRequest: '123m' },
    selector: labels,
    metricsAccess: NetworkAccess.anywhere(),
    egress,
  },
  ObjectOverride: { target: OverrideTarget.STATEFUL_SET, patch: { metadata: { annotations: { a: 'c' } } } },
  ReconcilerResources: quantities,
  ExternalReconcilerOptions: { name: 'other', serviceAccountName: 'other' },
  EtcdEndpointsOptions: { name: 'other', tls: named, auth },
  EtcdClusterAttributes: {
    clusterName: 'other',
    clientEndpoints: ['other:2379'],
    clientTls: named,
    backupEndpoints: ['other:2382'],
    backupTls: beside({ clientEndpoints: ['https://a:2379'], clientTls: EtcdClientTls.fromSecret('c') }, named),
    tls: beside({ clientTls: named }, EtcdTls.certManager({ issuer: 'ca' }), userOfImported),
    reconciler: beside({ clientTls: named }, EtcdReconciler.external({ name: 'other' }), userOfImported),
  },
  MonitoringOptions: monitoringOptions,
  EtcdMonitoringProps: { ...monitoringOptions, cluster: beside({}, 'other', monitoringOf) },
  BackupMonitoringOptions: { ...monitoringOptions, maxAge: Duration.hours(7), resources: { cpuRequest: '123m' } },
  EtcdAlertsOptions: { exclude: ['EtcdSpecRefused'], labels, runbookUrl: 'https://wiki.example.com/etcd' },
  DashboardOptions: { labels, annotations: { grafana_folder: 'etcd' } },
  ServiceMonitorOptions: { interval: Duration.seconds(15), tls: true },
  EtcdClientOptions: clientOptions,
  EtcdClientProps: { ...clientOptions, cluster: beside({}, 'other', clientOf) },
  EtcdConnectOptions: { containers: ['proxy'], mountPath: '/tls', envPrefix: 'ETCD' },
  EtcdUserOptions: userOptions,
  EtcdUserProps: { ...userOptions, cluster: beside({}, 'other', userOf) },
};

/** Returns what an app writes, or its mistakes. */
function written(make: Make, props: object): { readonly manifests?: object; readonly mistakes?: string } {
  const app = Testing.app();
  const chart = new Chart(app, 'shop', { namespace: 'shop' });
  try {
    make(chart, props);
    return { manifests: app.charts.flatMap((each) => each.toJson()) };
  } catch (error) {
    return { mistakes: (error as Error).message };
  }
}

test('every property has a value here', () => {
  const names = (of: object) => Object.keys(of).sort();
  for (const of of Object.keys(drivers)) {
    const declared = Object.fromEntries(propertiesOf(of).map(({ name }) => [name, true]));
    expect([of, names(values[of] ?? {})]).toEqual([of, names(declared)]);
  }
});

const cases = Object.entries(values).flatMap(([of, each]) =>
  Object.entries(each).map(([property, given]) => {
    const { others, value, make } = given instanceof Beside ? given : new Beside({}, given);
    const driver = byItsSchedule.includes(of) ? seenBySchedule(drivers[of]!) : drivers[of]!;
    return { of, property, others, value, make: make ?? driver };
  }),
);

test.each(cases)('$of: $property is accepted, and changes the manifests', ({ property, others, value, make }) => {
  const changed = written(make, { ...others, [property]: value });
  expect(changed.mistakes).toBeUndefined();
  expect(changed).not.toEqual(written(make, others));
});

const takesObjects = cases.filter(({ of, property }) =>
  propertiesOf(of).some(({ name, type }) => name === property && type.includes('INamed')),
);

test('objects are taken where a name is', () => {
  expect(takesObjects.length).toBeGreaterThan(20);
});

test.each(takesObjects)('$of: $property takes an object for its name', ({ property, others, value, make }) => {
  const named = (name: unknown) => ({ name });
  const object = Array.isArray(value) ? value.map(named) : named(value);
  expect(written(make, { ...others, [property]: object })).toEqual(written(make, { ...others, [property]: value }));
});
