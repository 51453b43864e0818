// Properties of clusters at random. What the constructs refuse is drawn again.
import { type Chart, Cron, Duration, Size } from 'cdk8s';
import fc from 'fast-check';
import {
  AutoCompaction,
  type BackupScheduleOptions,
  BackupStore,
  CaBundle,
  Compression,
  ControlPlaneEtcdBackup,
  type ControlPlaneEtcdBackupProps,
  DeletionPolicy,
  Encryption,
  EtcdAlerts,
  EtcdAuth,
  EtcdBackupSchedule,
  type EtcdBackupScheduleProps,
  EtcdClientTls,
  type EtcdClusterProps,
  EtcdDashboard,
  EtcdReconciler,
  type EtcdReconcilerProps,
  EtcdResources,
  EtcdScrape,
  EtcdSpread,
  EtcdTls,
  EtcdTuning,
  EtcdVersion,
  type ExternalService,
  ImagePullPolicy,
  IssuerKind,
  type MonitoringOptions,
  NetworkAccess,
  NoSpacePolicy,
  OssCredentials,
  OverrideTarget,
  ReplacePolicy,
  RestoreSource,
  Retention,
  S3Credentials,
  SftpCredentials,
  VerificationLevel,
} from '../../src';

export interface DrawnCluster {
  readonly props: EtcdClusterProps;
  readonly monitoring?: MonitoringOptions;
  readonly schedules: readonly { readonly id: string; readonly options: BackupScheduleOptions }[];
}

/** Objects like those that people write. */
const record: typeof fc.record = (model: object, constraints: object = {}) =>
  fc.record(model as never, { ...constraints, noNullPrototype: true }) as never;

/** Undefined in every third draw. */
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 2, nil: undefined });
const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const name = fc.stringMatching(/^[a-z][a-z0-9]{1,8}$/);
const label = fc.stringMatching(/^[A-Za-z0-9]{1,6}$/);
const labels = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}\.example\/[a-z]{1,5}$/), label, {
  maxKeys: 3,
  noNullPrototype: true,
});
const duration = (least: number, most: number) =>
  fc.integer({ min: least, max: most }).map((seconds) => Duration.seconds(seconds));

const quantities = record(
  {
    cpuRequest: oneOf('100m', '0.5', '1'),
    cpuLimit: oneOf('2', '4000m'),
    memoryRequest: oneOf(Size.mebibytes(900), Size.gibibytes(1)),
    memoryLimit: oneOf(Size.gibibytes(2), Size.gibibytes(3)),
  },
  { requiredKeys: [] },
);

const toleration = oneOf(
  { operator: 'Exists' },
  { key: 'dedicated', value: 'etcd', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
);

const affinity = oneOf(
  { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'rack' }] } },
);
const constraint = { maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' };
const further = { name: 'own', image: 'registry.example.com/own:1', resources: { limits: { memory: '32Mi' } } };
const container = record({
  env: maybe(fc.constant<object[]>([{ name: 'TZ', value: 'Europe/Berlin' }])),
  envFrom: maybe(fc.constant<object[]>([{ secretRef: { name: 'own' } }])),
  securityContext: maybe(oneOf({}, { readOnlyRootFilesystem: true })),
  volumeMounts: maybe(fc.constant<object[]>([{ name: 'own', mountPath: '/own', readOnly: true }])),
});
const probe = record(
  { periodSeconds: fc.integer({ min: 1, max: 60 }), failureThreshold: fc.integer({ min: 1, max: 900 }) },
  { requiredKeys: [] },
);

const placement = {
  affinity: maybe(affinity),
  topologySpreadConstraints: maybe(fc.array(fc.constant(constraint), { maxLength: 1 })),
  schedulerName: maybe(name),
  runtimeClassName: maybe(name),
  hostAliases: maybe(fc.constant<object[]>([{ ip: '10.0.0.9', hostnames: ['kms.example.com'] }])),
  dnsPolicy: maybe(oneOf('ClusterFirst', 'Default')),
  dnsConfig: maybe(fc.constant({ options: [{ name: 'timeout', value: '1' }] })),
  securityContext: maybe(oneOf({}, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })),
  terminationGracePeriodSeconds: maybe(fc.integer({ min: 30, max: 600 })),
  // Containers may mount it.
  volumes: fc.constant<object[]>([{ name: 'own', configMap: { name: 'own' } }]),
  initContainers: maybe(fc.array(fc.constant(further), { maxLength: 1 })),
  annotations: maybe(labels),
  podLabels: maybe(labels),
  podAnnotations: maybe(labels),
  nodeSelector: maybe(labels),
  tolerations: maybe(fc.array(toleration, { maxLength: 2 })),
  priorityClassName: maybe(name),
  imagePullPolicy: maybe(oneOf(...Object.values(ImagePullPolicy))),
  imagePullSecrets: maybe(fc.array(name, { maxLength: 2 })),
  labels: maybe(labels),
};

const pods = record({ podLabels: labels, namespace: name }, { requiredKeys: ['podLabels'] });
const peers = fc.array(fc.oneof(pods, record({ cidr: oneOf('10.0.0.0/8', '2001:db8::/32') })), { maxLength: 2 });
const access = fc.oneof(
  oneOf(NetworkAccess.sameNamespace(), NetworkAccess.anywhere(), NetworkAccess.nobody()),
  peers.map((all) => NetworkAccess.peers(...all)),
);
const destinations = fc.array(
  fc.tuple(pods, maybe(fc.constant<number[]>([443, 6443]))).map(([peer, ports]) => ({ ...peer, ports })),
  { minLength: 1, maxLength: 2 },
);
const egress = record(
  { apiServer: destinations, dns: destinations, stores: destinations },
  { requiredKeys: ['apiServer'] },
);

const rotations = {
  intermediateRotation: maybe(label),
  rootRotation: maybe(label),
  intermediateRevocation: maybe(label),
};
const managed = record({
  ...rotations,
  serverNames: maybe(fc.constant<string[]>(['etcd.example.com', '192.0.2.1'])),
});
const certManager = record({
  issuer: name,
  issuerKind: maybe(oneOf(...Object.values(IssuerKind))),
  peerIssuer: maybe(name),
  serverNames: maybe(fc.constant<string[]>(['etcd.example.com', '192.0.2.1'])),
  duration: maybe(duration(7_200, 864_000)),
  renewBefore: maybe(duration(300, 3_600)),
});
const ownSecrets = oneOf(
  { peer: 'own-peer', server: 'own-server', client: 'own-client' },
  { peer: 'p', server: 's', client: 'c', root: 'r', backup: 'b' },
);
const source = fc.oneof(
  managed.map((props) => EtcdTls.managed(props)),
  certManager.map((props) => EtcdTls.certManager(props)),
  ownSecrets.map((props) => EtcdTls.fromSecrets(props)),
);
const switching = { acceptPlaintextFor: maybe(duration(0, 1_000_000)), alsoTrust: maybe(source) };
const tls = fc.oneof(
  fc.tuple(managed, record(switching)).map(([a, b]) => EtcdTls.managed({ ...a, ...b })),
  fc.tuple(certManager, record(switching)).map(([a, b]) => EtcdTls.certManager({ ...a, ...b })),
  fc.tuple(ownSecrets, record(switching)).map(([a, b]) => EtcdTls.fromSecrets({ ...a, ...b })),
  source.map((previous) => EtcdTls.none({ previous })),
  fc.constant(EtcdTls.none()),
);

const folder = maybe(oneOf('etcd', 'etcd/eu'));
const store = fc.oneof(
  record({ bucket: oneOf('backups', 'more-backups'), prefix: folder, pathStyle: maybe(fc.boolean()) }).map((props) =>
    BackupStore.s3({ ...props, region: 'eu-west-1', credentials: S3Credentials.fromSecret('s3') }),
  ),
  fc.constant(
    BackupStore.s3({
      bucket: 'with-identity',
      region: 'eu-west-1',
      credentials: S3Credentials.workloadIdentity({
        serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/etcd' },
      }),
    }),
  ),
  folder.map((prefix) =>
    BackupStore.oss({ bucket: 'oss-backups', prefix, credentials: OssCredentials.fromSecret('oss') }),
  ),
  maybe(oneOf('backup', '/backup/etcd')).map((path) =>
    BackupStore.sftp({ host: 'sftp.example.com', path, credentials: SftpCredentials.fromSecret('sftp') }),
  ),
  folder.map((directory) => BackupStore.filesystem({ claimName: 'backups', directory })),
  fc.constant(BackupStore.command({ path: '/opt/store', env: { A: '$(B)' }, idleTimeout: Duration.minutes(2) })),
);

const encryption = fc.constant(
  Encryption.age({ recipients: ['age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh'] }),
);
/** Patches that change something whatever else is drawn. */
const podPatch = (container: string) =>
  oneOf<object>(
    { metadata: { annotations: { 'b.example/b': '1', 'a.example/a': '2' } } },
    { spec: { securityContext: { runAsUser: null, fsGroup: { $patch: 'delete' } } } },
    { spec: { securityContext: { $patch: 'replace', runAsNonRoot: true } } },
    { spec: { hostAliases: [{ ip: '10.0.0.1', hostnames: ['b', 'a'] }], dnsPolicy: 'Default' } },
    {
      spec: {
        containers: [
          { name: container, env: [{ name: 'A', value: 'b' }] },
          { name: 'x', image: 'x', volumeMounts: [{ name: 'x', mountPath: '/x' }] },
        ],
        volumes: [{ name: 'x', emptyDir: {} }],
      },
    },
  );
const override = (target: OverrideTarget, patch: fc.Arbitrary<object>) =>
  patch.map((drawn) => ({ target, patch: drawn }));
const annotated = oneOf<object>(
  { metadata: { annotations: { 'z.example/z': 'y' } } },
  { metadata: { labels: { 'z.example/z': 'y', 'app.kubernetes.io/managed-by': null } } },
);
const ofSchedule = [
  override(OverrideTarget.BACKUP_PODS, podPatch('backup')),
  override(OverrideTarget.CRON_JOBS, annotated),
  override(OverrideTarget.SERVICE_ACCOUNTS, annotated),
];
const ofCluster = [
  ...ofSchedule,
  override(OverrideTarget.MEMBER_PODS, podPatch('etcd')),
  override(OverrideTarget.CLAIMS, annotated),
  override(OverrideTarget.STATEFUL_SET, fc.constant({ spec: { revisionHistoryLimit: 3 } })),
  override(OverrideTarget.SERVICES, annotated),
  override(OverrideTarget.MEMBER_SERVICES, fc.constant({ spec: { type: 'LoadBalancer', clusterIP: null } })),
  override(OverrideTarget.POD_DISRUPTION_BUDGET, fc.constant({ spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } })),
];

const options: fc.Arbitrary<BackupScheduleOptions> = record({
  ...placement,
  overrides: maybe(fc.array(fc.oneof(...ofSchedule), { maxLength: 2 })),
  store,
  schedule: oneOf(Cron.hourly(), Cron.daily(), Cron.schedule({ minute: '*/15', weekDay: '1-5' })),
  retention: maybe(
    fc.oneof(
      fc.integer({ min: 1, max: 30 }).map((last) => Retention.last(last)),
      fc.constant(Retention.tiers({ daily: 7, weekly: 4, within: Duration.days(2), timeZone: 'Europe/Berlin' })),
    ),
  ),
  timeZone: maybe(oneOf('Europe/Berlin', 'Etc/UTC')),
  compression: maybe(oneOf(...Object.values(Compression))),
  encryption: maybe(encryption),
  fileName: maybe(oneOf('orders-%Y%m%d-%H%M%S', '%H%M%S')),
  fileNameTimeZone: maybe(fc.constant('Asia/Tokyo')),
  verify: maybe(oneOf(...Object.values(VerificationLevel))),
  suspend: maybe(fc.boolean()),
  startingDeadline: maybe(duration(11, 7_200)),
  activeDeadline: maybe(duration(7_200, 86_400)),
  timeout: maybe(duration(60, 3_600)),
  dialTimeout: maybe(duration(1, 60)),
  retries: maybe(fc.nat(9)),
  successfulJobsHistoryLimit: maybe(fc.integer({ min: 1, max: 9 })),
  failedJobsHistoryLimit: maybe(fc.integer({ min: 1, max: 9 })),
  resources: maybe(quantities),
  image: maybe(fc.constant('registry.example.com/agent:1')),
  serviceAccountName: maybe(name),
  serviceAccountAnnotations: fc.option(labels, { freq: 1, nil: undefined }),
  container: maybe(container),
  ttlAfterFinished: maybe(duration(600, 86_400)),
});

const volume = fc.oneof(
  record({
    size: maybe(fc.integer({ min: 8, max: 64 }).map((amount) => Size.gibibytes(amount))),
    storageClass: maybe(name),
    readWriteOncePod: maybe(fc.boolean()),
    labels: maybe(labels),
    annotations: maybe(labels),
    selector: maybe(fc.constant({ matchLabels: { disk: 'nvme' } })),
  }),
  record({ ephemeral: fc.boolean() }),
);

const tuning = fc.oneof(
  oneOf(EtcdTuning.LAN, EtcdTuning.WAN),
  record({
    heartbeatInterval: maybe(fc.integer({ min: 50, max: 150 }).map((amount) => Duration.millis(amount))),
    electionTimeout: maybe(duration(1, 50)),
    snapshotCount: maybe(fc.integer({ min: 1, max: 50_000 })),
    autoCompaction: maybe(
      oneOf(AutoCompaction.disabled(), AutoCompaction.revisions(1_000), AutoCompaction.periodic(Duration.days(2))),
    ),
  }).map((props) => EtcdTuning.of(props)),
);

const request = { ordinal: 2, memberId: '8e9e05c52164694d' };
const origin = record({
  source: oneOf(
    RestoreSource.backup('before'),
    RestoreSource.snapshot(
      BackupStore.s3({ bucket: 'backups', region: 'eu-west-1', credentials: S3Credentials.fromSecret('s3') }),
      'etcd-snapshot-20261121-023807-3f9c2a',
    ),
  ),
  identitySecret: maybe(name),
  sha256: maybe(fc.constant('a'.repeat(64))),
  expectedRevision: maybe(fc.integer({ min: 1, max: 1_000 })),
  resources: maybe(quantities),
});

const props: fc.Arbitrary<EtcdClusterProps> = record({
  ...placement,
  overrides: maybe(fc.array(fc.oneof(...ofCluster), { maxLength: 3 })),
  name,
  size: maybe(oneOf(1, 3, 5, 7)),
  allowEvenSize: maybe(fc.boolean()),
  version: maybe(oneOf(EtcdVersion.V3_5, EtcdVersion.V3_6, EtcdVersion.V3_7, EtcdVersion.of('3.6.14'))),
  image: fc.option(oneOf('registry.example.com/etcd:v3.6.16', 'registry.example.com/etcd:v3.7.3'), {
    freq: 8,
    nil: undefined,
  }),
  registry: maybe(fc.constant('mirror.example.com:5000/all')),
  agentImage: maybe(fc.constant('registry.example.com/agent:1.0.0')),
  volume: maybe(volume),
  quota: maybe(fc.integer({ min: 1, max: 3_000 }).map((amount) => Size.mebibytes(amount))),
  resources: maybe(
    fc.oneof(
      oneOf(EtcdResources.DEFAULT, EtcdResources.SMALL),
      quantities.map((amounts) => EtcdResources.of(amounts)),
    ),
  ),
  tuning: maybe(tuning),
  settings: maybe(oneOf<Record<string, unknown>>({}, { 'max-request-bytes': 10_485_760 }, { 'log-level': 'warn' })),
  tls: maybe(tls),
  auth: fc.option(fc.boolean(), { freq: 6, nil: undefined }),
  clusterDomain: maybe(oneOf('cluster.local', 'corp.example')),
  spread: maybe(oneOf(EtcdSpread.DEFAULT, EtcdSpread.NONE, EtcdSpread.PREFERRED, EtcdSpread.REQUIRED_ZONES)),
  networkAccess: maybe(access),
  metricsAccess: maybe(access),
  egress: maybe(egress),
  containers: maybe(
    record({
      etcd: maybe(fc.tuple(container, probe).map(([fields, startupProbe]) => ({ ...fields, startupProbe }))),
      agent: maybe(fc.tuple(container, probe).map(([fields, livenessProbe]) => ({ ...fields, livenessProbe }))),
      gate: maybe(container),
    }),
  ),
  service: maybe(
    record({
      type: oneOf('NodePort', 'LoadBalancer'),
      labels: maybe(labels),
      annotations: maybe(labels),
      externalTrafficPolicy: maybe(oneOf('Local', 'Cluster')),
      nodePort: maybe(fc.constant(30_079)),
    }),
  ),
  externalServices: maybe(
    record({
      type: fc.constant('LoadBalancer'),
      annotations: maybe(labels),
      loadBalancerSourceRanges: maybe(fc.constant<string[]>(['10.0.0.0/8'])),
      members: maybe(fc.constant<ExternalService[]>([{ ordinal: 1, nodePort: 30_080 }])),
    }),
  ),
  podDisruptionBudget: maybe(oneOf({}, { enabled: false }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })),
  sidecars: maybe(fc.array(fc.constant({ ...further, name: 'sidecar' }), { maxLength: 1 })),
  serviceAccountName: maybe(name),
  serviceAccountAnnotations: fc.option(labels, { freq: 1, nil: undefined }),
  revisionHistoryLimit: maybe(fc.nat(20)),
  reconciler: fc
    .option(oneOf('etcd-reconciler', 'other'), { freq: 1, nil: 'etcd-reconciler' })
    .map((account) => EtcdReconciler.external({ name: 'etcd-reconciler', serviceAccountName: account })),
  paused: maybe(fc.boolean()),
  replace: maybe(oneOf(ReplacePolicy.onVolumeLoss(), ReplacePolicy.manual(), ReplacePolicy.manual(request))),
  origin: maybe(origin),
  recovery: fc.option(fc.constant({ id: 'r1', acceptDataLoss: true, survivor: 1, identitySecret: 'age' }), {
    freq: 8,
    nil: undefined,
  }),
  onShrink: fc.option(oneOf(...Object.values(DeletionPolicy)), { freq: 4, nil: undefined }),
  onDelete: fc.option(oneOf(...Object.values(DeletionPolicy)), { freq: 4, nil: undefined }),
  finalBackup: maybe(fc.boolean()),
  protect: maybe(fc.boolean()),
  requireBackupForUpgrade: maybe(fc.boolean()),
  onNoSpace: maybe(oneOf(...Object.values(NoSpacePolicy))),
});

const alerts = fc.oneof(
  oneOf(EtcdAlerts.all(), EtcdAlerts.none()),
  record({ labels: maybe(labels), runbookUrl: maybe(fc.constant('https://wiki.example.com/etcd/')) }).map((each) =>
    EtcdAlerts.of(each),
  ),
);
const dashboard = fc.oneof(
  fc.constant(EtcdDashboard.none()),
  record({ labels: maybe(labels), annotations: maybe(labels) }).map((each) => EtcdDashboard.configMap(each)),
);
const scrape = (tls: fc.Arbitrary<boolean | undefined>) =>
  fc.oneof(
    oneOf(EtcdScrape.annotations(), EtcdScrape.none()),
    record({ interval: maybe(duration(1, 5_000)), tls }).map((each) => EtcdScrape.serviceMonitors(each)),
  );
const monitoring = (tls: fc.Arbitrary<boolean | undefined> = fc.constant(undefined)) => ({
  scrape: maybe(scrape(tls)),
  scraper: maybe(access),
  alerts: maybe(alerts),
  dashboard: maybe(dashboard),
  labels: maybe(labels),
});

const schedule = record({ id: oneOf('hourly', 'nightly', 'off-site'), options });

export const drawnCluster: fc.Arbitrary<DrawnCluster> = fc
  .tuple(
    props,
    fc.uniqueArray(schedule, { selector: ({ id }) => id, maxLength: 2 }),
    fc.boolean(),
    maybe(record(monitoring(maybe(fc.boolean())))),
  )
  .map(([drawn, schedules, named, monitored]) => ({
    props: { ...drawn, backupSchedule: named ? schedules.at(-1)?.id : undefined },
    schedules,
    monitoring: monitored,
  }));

/** A construct whose resource `render` reads, and its monitoring. */
type Alone = EtcdBackupSchedule | EtcdReconciler;
export type DrawnAlone = (chart: Chart) => Alone;

const withMonitoring = <Props, Options>(
  drawn: fc.Arbitrary<Props>,
  options: fc.Arbitrary<Options>,
  make: (chart: Chart, props: Props) => { addMonitoring(options?: Options): unknown } & Alone,
): fc.Arbitrary<DrawnAlone> =>
  fc.tuple(drawn, maybe(options)).map(([props, monitored]) => (chart) => {
    const construct = make(chart, props);
    if (monitored) construct.addMonitoring(monitored);
    return construct;
  });

const amounts = maybe(quantities);
const ofBackups = record({ ...monitoring(), maxAge: maybe(duration(1_000, 90_000)), resources: amounts });

/** Of a schedule with up to two stores. */
const twoStores = <Props extends BackupScheduleOptions>(drawn: fc.Arbitrary<Props>) =>
  fc.tuple(drawn, maybe(store)).map(([given, second]) => ({ given, second }));
const added = <Schedule extends EtcdBackupSchedule>(made: Schedule, second: BackupStore | undefined): Schedule => {
  if (second) made.addStore(second, { retention: Retention.last(3) });
  return made;
};

const clientTls = fc.oneof(
  name.map((secret) => EtcdClientTls.fromSecret(secret, { certKey: 'client.pem' })),
  oneOf(EtcdClientTls.fromCa(CaBundle.fromConfigMap('ca', 'bundle')), EtcdClientTls.fromCa(CaBundle.fromSecret('ca'))),
);
const scheduleProps: fc.Arbitrary<EtcdBackupScheduleProps> = options.chain((own) =>
  record({
    cluster: oneOf('legacy', 'Legacy.one'),
    name: maybe(name),
    endpoints: fc.constant<string[]>(['etcd-0.etcd:2379', 'etcd-1.etcd:2379']),
    tls: maybe(clientTls),
    auth: maybe(name.map((secret) => EtcdAuth.fromSecret(secret, { usernameKey: 'user' }))),
  }).map((props) => ({ ...own, ...props })),
);

const path = oneOf('/srv/a', '/etc/b.conf', '/var/lib/c-1');
const paths = maybe(fc.uniqueArray(path, { maxLength: 2 }));
const controlPlaneProps: fc.Arbitrary<ControlPlaneEtcdBackupProps> = fc
  .tuple(options, maybe(path))
  .chain(([own, host]) =>
    record({
      cluster: oneOf('prod', 'Prod.one'),
      name: maybe(name),
      endpoints: maybe(fc.constant<string[]>(['https://127.0.0.1:12379'])),
      certificates: maybe(record({ ca: maybe(path), cert: maybe(path), key: maybe(path) })),
      nodeLabels: maybe(fc.constant<string[]>(['etcd', 'example.com/etcd'])),
      manifestsDirectory: maybe(fc.constant('/etc/other/manifests')),
      etcdService: maybe(fc.boolean()),
      dataDir: maybe(path),
      restoreDirectory: maybe(path),
      files: maybe(record({ directories: paths, files: paths, encryption: maybe(encryption) })),
      createNamespace: maybe(fc.boolean()),
      keepImage: maybe(fc.boolean()),
    }).map((props) => ({
      ...own,
      ...props,
      // Its pods have the user and the DNS of the node.
      securityContext: undefined,
      dnsPolicy: undefined,
      overrides: own.overrides?.filter((each) => !/securityContext/.test(JSON.stringify(each))),
      ...(host !== undefined && { store: BackupStore.filesystem({ hostPath: host }) }),
    })),
  );

const reconcilerProps: fc.Arbitrary<EtcdReconcilerProps> = record({
  ...placement,
  name: maybe(name),
  image: maybe(fc.constant('registry.example.com/agent:1')),
  registry: maybe(fc.constant('mirror.example.com/all')),
  replicas: maybe(oneOf(1, 2)),
  resources: amounts,
  selector: maybe(labels),
  metricsAccess: maybe(access),
  egress: maybe(egress),
  container: maybe(
    fc.tuple(container, probe).map(([fields, times]) => ({ ...fields, startupProbe: times, readinessProbe: times })),
  ),
  sidecars: maybe(fc.array(fc.constant({ ...further, name: 'sidecar' }), { maxLength: 1 })),
  serviceAccountName: maybe(name),
  serviceAccountAnnotations: fc.option(labels, { freq: 1, nil: undefined }),
  revisionHistoryLimit: maybe(fc.nat(20)),
  overrides: maybe(
    fc.array(
      fc.oneof(
        override(OverrideTarget.RECONCILER_PODS, podPatch('reconciler')),
        override(OverrideTarget.SERVICES, annotated),
      ),
      { maxLength: 2 },
    ),
  ),
});

/** What has a resource of its own, by its kind. */
export const drawnAlone: Readonly<Record<string, fc.Arbitrary<DrawnAlone>>> = {
  'a schedule of another etcd': withMonitoring(twoStores(scheduleProps), ofBackups, (chart, { given, second }) =>
    added(new EtcdBackupSchedule(chart, 'hourly', given), second),
  ),
  'the backup of a control plane': withMonitoring(twoStores(controlPlaneProps), ofBackups, (chart, { given, second }) =>
    added(new ControlPlaneEtcdBackup(chart, 'hourly', given), second),
  ),
  'a reconciler': withMonitoring(
    reconcilerProps,
    record(monitoring()),
    (chart, props) => new EtcdReconciler(chart, 'reconciler', props),
  ),
};
