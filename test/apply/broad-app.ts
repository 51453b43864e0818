// Uses every option of the library at least once, so that a real API server validates all of them.
import { Chart, Cron, Duration, Size, Testing } from 'cdk8s';
import {
  BackupStore,
  CaBundle,
  Compression,
  DeletionPolicy,
  Encryption,
  EtcdAuth,
  EtcdBackup,
  EtcdClientTls,
  EtcdCluster,
  EtcdPermission,
  EtcdReconciler,
  EtcdResources,
  EtcdRestore,
  EtcdSpread,
  EtcdTls,
  EtcdTuning,
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
import type { Manifest } from '../synth';

const app = Testing.app();
const labels = { 'example.com/team': 'shop' };
const tolerations = [{ key: 'etcd', operator: 'Exists', effect: 'NoSchedule' }];

const s3 = BackupStore.s3({
  bucket: 'backups',
  prefix: 'etcd/eu',
  endpoint: 'https://minio.storage:9000',
  ca: CaBundle.fromConfigMap('storage-ca'),
  credentials: S3Credentials.fromSecret('s3', {
    accessKeyIdKey: 'id',
    secretAccessKeyKey: 'key',
    sessionTokenKey: 't',
  }),
});
const aws = BackupStore.s3({
  bucket: 'far-away',
  region: 'eu-west-1',
  pathStyle: false,
  credentials: S3Credentials.workloadIdentity({ serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn' } }),
  serverSideEncryption: ServerSideEncryption.KMS,
  kmsKeyId: 'alias/etcd',
});
const sse = BackupStore.s3({
  bucket: 'own-key',
  region: 'eu-west-1',
  credentials: S3Credentials.fromSecret('shared-files', { profile: 'backup' }),
  sseCustomerKey: SseCustomerKey.fromSecret('sse'),
});
const oss = BackupStore.oss({
  bucket: 'backups',
  region: 'eu-central-1',
  credentials: OssCredentials.fromSecret('oss', { accessKeyIdKey: 'id', accessKeySecretKey: 'secret' }),
});
const sftp = BackupStore.sftp({
  host: 'backup.example.com',
  port: 2222,
  path: '/backup/etcd',
  hostKey: 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  credentials: SftpCredentials.fromSecret('sftp', { usernameKey: 'user', privateKeyKey: 'key', passphraseKey: 'pass' }),
});
const volume = BackupStore.filesystem({ claimName: 'etcd-backup', directory: 'etcd/eu' });
const own = BackupStore.command({
  path: '/opt/store',
  env: { BUCKET: 'backups' },
  credentialsSecretName: 'own',
  idleTimeout: Duration.minutes(5),
});
const encryption = Encryption.age({ recipients: ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'] });

const egress = {
  apiServer: [{ cidr: '10.1.0.1/32', ports: [6443] }],
  dns: [{ cidr: '169.254.20.10/32' }, { namespace: 'kube-system', podLabels: { 'k8s-app': 'kube-dns' } }],
  stores: [{ namespace: 'storage', podLabels: { app: 's3' }, ports: [443, 9000] }, { cidr: 'fd00::/8' }],
};

const chart = new Chart(app, 'shop', { namespace: 'shop' });
/** A container, an init container, a volume and a variable more, and a user less. */
const pods = (main: string) => {
  const capabilities = { drop: ['ALL'] };
  const securityContext = { allowPrivilegeEscalation: false, capabilities };
  const container = { image: 'registry.example.com/side:1', securityContext };
  const spool = { name: 'spool', mountPath: '/spool' };
  return {
    metadata: { annotations: { 'example.com/side': 'true' } },
    spec: {
      securityContext: { runAsUser: null, fsGroup: 70_000 },
      containers: [
        { name: main, env: [{ name: 'EXAMPLE', value: '1' }], volumeMounts: [spool] },
        { ...container, name: 'side', volumeMounts: [spool] },
      ],
      initContainers: [{ ...container, name: 'first' }],
      volumes: [{ name: 'spool', emptyDir: {} }],
      dnsConfig: { options: [{ name: 'timeout', value: '1' }] },
    },
  };
};

new EtcdReconciler(chart, 'reconciler', {
  overrides: [
    { target: OverrideTarget.RECONCILER_PODS, patch: pods('reconciler') },
    { target: OverrideTarget.DEPLOYMENT, patch: { spec: { strategy: { type: 'Recreate' } } } },
  ],
  replicas: 2,
  selector: { 'example.com/team': 'shop' },
  metricsAccess: NetworkAccess.peers({ namespace: 'monitoring', podLabels: { app: 'prometheus' } }),
  egress,
  imagePullPolicy: ImagePullPolicy.ALWAYS,
  imagePullSecrets: ['registry'],
  labels,
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations,
  priorityClassName: 'system-cluster-critical',
});

const orders = new EtcdCluster(chart, 'orders', {
  size: 5,
  version: EtcdVersion.of('3.5.35'),
  registry: 'registry.example.com/mirror',
  imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT,
  imagePullSecrets: ['registry'],
  volume: { size: Size.gibibytes(20), storageClass: 'standard' },
  resources: EtcdResources.SMALL,
  quota: Size.gibibytes(4),
  tuning: EtcdTuning.WAN,
  settings: { 'max-request-bytes': 10_485_760, 'log-level': 'warn' },
  tls: EtcdTls.certManager({
    issuer: 'shop-ca',
    issuerKind: IssuerKind.CLUSTER_ISSUER,
    peerIssuer: 'shop-peers',
    duration: Duration.days(60),
    renewBefore: Duration.days(20),
  }),
  spread: EtcdSpread.REQUIRED_ZONES,
  networkAccess: NetworkAccess.peers({ cidr: '10.0.0.0/8' }, { namespaceLabels: { team: 'shop' }, podLabels: {} }),
  metricsAccess: NetworkAccess.anywhere(),
  egress,
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations,
  labels,
  podAnnotations: { 'example.com/scrape': 'true' },
  overrides: [
    { target: OverrideTarget.MEMBER_PODS, patch: pods('etcd') },
    { target: OverrideTarget.BACKUP_PODS, patch: pods('backup') },
    { target: OverrideTarget.CLAIMS, patch: { metadata: { annotations: { 'example.com/keep': 'true' } } } },
    { target: OverrideTarget.STATEFUL_SET, patch: { spec: { revisionHistoryLimit: 3 } } },
    { target: OverrideTarget.MEMBER_SERVICES, patch: { spec: { type: 'LoadBalancer', clusterIP: null } } },
    { target: OverrideTarget.POD_DISRUPTION_BUDGET, patch: { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } } },
    { target: OverrideTarget.SERVICE_ACCOUNTS, patch: { secrets: [{ name: 'registry' }] } },
    {
      target: OverrideTarget.CRON_JOBS,
      patch: { spec: { jobTemplate: { metadata: { annotations: { 'example.com/team': 'shop' } } } } },
    },
  ],
  replace: ReplacePolicy.manual({ ordinal: 1, memberId: '8e9e05c52164694d', discardVolume: true }),
  onShrink: DeletionPolicy.DELETE,
  onDelete: DeletionPolicy.DELETE,
  requireBackupForUpgrade: true,
  onNoSpace: NoSpacePolicy.REPORT,
  recovery: { id: '2026-11-21-zone-b', acceptDataLoss: true, survivor: 2, identitySecret: 'age' },
  origin: {
    source: RestoreSource.snapshot(s3, 'etcd-snapshot-20261121-023807-3f9c2a', { cluster: 'orders-old' }),
    identitySecret: 'age',
    sha256: 'a'.repeat(64),
    expectedRevision: 42,
  },
});
const hourly = orders.addBackupSchedule('hourly', {
  schedule: Cron.hourly(),
  timeZone: 'Europe/Berlin',
  store: s3,
  retention: Retention.tiers({ last: 3, within: Duration.days(2), hourly: 24, daily: 7, timeZone: 'Etc/UTC' }),
  compression: Compression.GZIP,
  encryption,
  verify: VerificationLevel.READ,
  timeout: Duration.minutes(90),
  dialTimeout: Duration.seconds(3),
});
for (const store of [aws, sse, oss, sftp, volume]) hourly.addStore(store);
orders.addBackupSchedule('own', {
  schedule: Cron.daily(),
  store: own,
  image: 'registry.example.com/agent:1',
  verify: VerificationLevel.OPEN,
});

new EtcdCluster(chart, 'cache', {
  size: 4,
  allowEvenSize: true,
  image: 'quay.io/coreos/etcd:v3.7.3',
  volume: { size: Size.gibibytes(4), ephemeral: true },
  tls: EtcdTls.fromSecrets({ peer: 'cache-peer', server: 'cache-server', client: 'cache-client' }),
  tuning: EtcdTuning.LAN,
  spread: EtcdSpread.NONE,
  networkAccess: NetworkAccess.nobody(),
  paused: true,
  labels,
});
new EtcdCluster(chart, 'lock', {
  size: 1,
  resources: EtcdResources.XLARGE,
  volume: { readWriteOncePod: true },
  spread: EtcdSpread.PREFERRED,
  networkAccess: NetworkAccess.anywhere(),
  onDelete: DeletionPolicy.DELETE,
  finalBackup: false,
  protect: false,
  origin: {
    source: RestoreSource.latestVerifiedBefore(aws, '2026-11-21T02:30:00Z'),
    serviceAccountName: 'restore',
  },
  labels,
});

const { readWrite, readWriteKey, readWriteRange, readWriteAll } = EtcdPermission;
const lock = new EtcdCluster(chart, 'lock-users', { auth: true, labels });
lock.addUser('api', {
  can: [readWrite('/api/'), readWriteKey('/version'), readWriteRange('/a', '/b'), readWriteAll()],
  userName: 'team:shop/api',
  labels: { 'example.com/user': 'api' },
});
lock.addUser('dashboard', { can: [EtcdPermission.read('/api/')], password: true });
orders.addUser('reader', { can: [EtcdPermission.readAll()], secretName: 'orders-reader', name: 'reader' });

new EtcdBackup(chart, 'before-release', { cluster: orders, schedule: 'hourly' });
new EtcdBackup(chart, 'once', {
  cluster: orders,
  store: own,
  image: 'registry.example.com/agent:1',
  prefix: 'releases',
  compression: Compression.NONE,
  encryption,
  dialTimeout: Duration.seconds(3),
  timeout: Duration.minutes(5),
});
new EtcdRestore(chart, 'monday', {
  cluster: orders,
  source: RestoreSource.key(sftp, 'releases/before.db'),
  identitySecret: 'age',
  safetyBackup: false,
  ignoreUnreachablePods: true,
  again: '2026-11-27',
});
new EtcdRestore(chart, 'tuesday', { cluster: orders, source: RestoreSource.backup('orders-before-release') });

const lab = new Chart(app, 'lab');
new EtcdCluster(lab, 'plain');
const foreign = EtcdCluster.fromEndpoints(lab, 'legacy', ['https://etcd-0.etcd:2379'], {
  tls: EtcdClientTls.fromSecret('legacy-client'),
  auth: EtcdAuth.fromSecret('legacy-root'),
});
foreign.addBackupSchedule('nightly', { schedule: Cron.daily(), store: volume, retention: Retention.last(7) });
new EtcdBackup(lab, 'legacy-once', {
  cluster: foreign,
  store: oss,
  key: '{{ .Namespace }}/{{ .Name }}-{{ .CreationTimestamp }}.db',
});
new EtcdBackup(lab, 'other', {
  endpoints: ['etcd.other:2379'],
  tls: EtcdClientTls.fromCa(CaBundle.fromConfigMap('other-ca')),
  store: s3,
});

const single = new Chart(Testing.app(), 'single');
new EtcdCluster(single, 'orders');

/** Returns the manifests of the whole app. */
export const broadApp = (): Manifest[] => app.charts.flatMap((each) => Testing.synth(each));

/** Those of one line. */
export const smallApp = (): Manifest[] => Testing.synth(single);
