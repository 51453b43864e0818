// Resources without a mistake, which together have every field of the custom resources.
import type { Manifest } from '../synth';

const ca = { configMapName: 'store-ca', items: [{ key: 'bundle.pem', path: 'ca.crt' }] };
const credentials = {
  secretName: 'store',
  items: [
    { key: 'id', path: 'AWS_ACCESS_KEY_ID' },
    { key: 'secret', path: 'AWS_SECRET_ACCESS_KEY' },
  ],
};

/** Every kind of store. */
export const stores: readonly Manifest[] = [
  { s3: { bucket: 'backups' } },
  {
    s3: {
      bucket: 'backups',
      prefix: 'etcd/eu',
      region: 'eu-west-1',
      endpoint: 'https://minio.storage:9000',
      pathStyle: true,
      profile: 'backup',
      serverSideEncryption: 'aws:kms',
      kmsKeyId: 'alias/etcd',
      ca,
      credentials,
    },
  },
  {
    s3: {
      bucket: 'backups',
      endpoint: '',
      sseCustomerKey: { secretName: 'sse', items: [{ key: 'sse', path: 'key' }] },
      ca: { secretName: 'store-ca' },
    },
  },
  {
    oss: {
      bucket: 'backups',
      prefix: 'etcd',
      region: 'eu-central-1',
      endpoint: 'oss-eu-central-1-internal.aliyuncs.com',
      ca,
      credentials: {
        secretName: 'oss',
        items: [
          { key: 'id', path: 'accessKeyID' },
          { key: 'secret', path: 'accessKeySecret' },
        ],
      },
    },
  },
  { oss: { bucket: 'backups', ca: { secretName: 'store-ca' }, credentials: { secretName: 'oss' } } },
  {
    sftp: {
      host: 'backup.example.com',
      port: 2222,
      username: 'etcd',
      path: '/backup/etcd',
      hostKey: 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      legacyAlgorithms: false,
      credentials: { secretName: 'sftp', items: [{ key: 'id', path: 'privateKey' }] },
    },
  },
  { filesystem: { persistentVolumeClaim: { claimName: 'etcd-backup' }, directory: 'etcd/eu' } },
  { filesystem: { nfs: { server: 'nfs.example.com', path: '/srv/backup' } } },
  {
    command: {
      path: '/opt/store',
      env: { BUCKET: 'backups' },
      idleTimeout: '5m',
      credentials: { secretName: 'own', items: [{ key: 'token', path: 'token' }] },
    },
  },
];

const jobIdentity = {
  serviceAccountName: 'etcd-backup',
  image: 'registry.example.com/agent:1',
  resources: { requests: { cpu: '500m', memory: '256Mi' }, limits: { cpu: '2', memory: '2Gi' } },
};
const encryption = { age: { recipients: ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'] } };
const retention = { last: 3, within: '30d', hourly: 24, daily: 7, weekly: 4, monthly: 12, yearly: 2, minKeep: 3 };

/** A resource with a store, by the position of the store. */
export const around: Readonly<
  Record<string, { readonly path: (string | number)[]; manifest(store: Manifest): Manifest }>
> = {
  'a backup schedule': {
    path: ['spec', 'backup', 'schedules', 0, 'stores', 0],
    manifest: (store) =>
      cluster({
        backup: {
          schedules: [
            {
              name: 'hourly',
              cron: '17 * * * *',
              timeZone: 'Europe/Berlin',
              stores: [{ ...store, retention: { ...retention, timeZone: 'Etc/UTC' } }],
              compression: 'zstd',
              encryption,
              verify: 'read',
              cronJobName: 'orders-hourly',
              dialTimeout: '5s',
              timeout: '1h30m',
              ...jobIdentity,
            },
            { name: 'nightly', cron: '@daily', stores: [{ s3: { bucket: 'far-away' } }] },
          ],
          schedule: 'hourly',
          requiredForUpgrade: true,
        },
      }),
  },
  'an origin': {
    path: ['spec', 'origin', 'source', 'store'],
    manifest: (store) =>
      cluster({
        origin: fromStore({ store, snapshotId: snapshot, clusterName: 'Orders_old', clusterNamespace: 'shop-old' }),
      }),
  },
  'an EtcdBackup': {
    path: ['spec', 'store'],
    manifest: (store) =>
      backup({
        clusterName: 'orders',
        store,
        prefix: 'releases/2',
        compression: 'gzip',
        encryption,
        timeouts: { dial: '5s', total: '1h' },
        ...jobIdentity,
      }),
  },
  'an EtcdBackupSchedule': {
    path: ['spec', 'stores', 0],
    manifest: (store) =>
      backupSchedule({ stores: [{ ...store, retention: { ...retention, timeZone: 'Etc/UTC' } }], ...jobIdentity }),
  },
  'an EtcdRestore': {
    path: ['spec', 'source', 'store'],
    manifest: (store) => restore(fromStore({ store, key: 'releases/before-2.0.db' })),
  },
};

const snapshot = 'etcd-snapshot-20261121-023807-3f9c2a';
const fromStore = (source: Manifest) => ({
  source,
  identitySecret: 'age',
  sha256: 'a'.repeat(64),
  expectedRevision: 42,
  ...jobIdentity,
});

export const cluster = (spec: Manifest = {}, name = 'orders') =>
  resource('EtcdCluster', name, { version: '3.6.16', ...spec });
export const backup = (spec: Manifest) => resource('EtcdBackup', 'before-3.7', spec);
export const user = (spec: Manifest = {}, name = 'orders-api') =>
  resource('EtcdUser', name, { clusterName: 'orders', permissions: [], ...spec });
export const restore = (spec: Manifest) => resource('EtcdRestore', 'monday', { clusterName: 'orders', ...spec });

export const backupSchedule = (spec: Manifest = {}) =>
  resource('EtcdBackupSchedule', 'legacy-hourly', {
    ...{ cluster: 'legacy', cron: '17 * * * *', stores: [{ s3: { bucket: 'backups' } }] },
    ...(spec.controlPlane === undefined && { etcd: { endpoints: ['etcd.etcd:2379'] } }),
    ...spec,
  });
export const reconciler = (spec: Manifest = {}, name = 'etcd-reconciler') => resource('EtcdReconciler', name, spec);

const resource = (kind: string, name: string, spec: Manifest): Manifest => ({
  apiVersion: 'cdk8s-etcd.dev/v1alpha1',
  kind,
  metadata: { name },
  spec,
});

const schedule = { name: 'hourly', cron: '17 * * * *', stores: [{ s3: { bucket: 'backups' } }] };
const tlsFiles = {
  secretName: 'etcd-client',
  items: ['ca.crt', 'tls.crt', 'tls.key'].map((path) => ({ key: `client-${path}`, path })),
};
const auth = {
  secretName: 'etcd-root',
  items: [
    { key: 'user', path: 'username' },
    { key: 'word', path: 'password' },
  ],
};

const ownSecrets = {
  ...{ peerSecret: 'orders-peer', serverSecret: 'orders-server', clientSecret: 'orders-client' },
  ...{ rootSecret: 'orders-root', backupSecret: 'orders-backup' },
};
const madeSecrets = {
  ...{ peerSecret: 'orders-peer-tls', serverSecret: 'orders-server-tls', clientSecret: 'orders-client-tls' },
  ...{ rootSecret: 'orders-root-tls', backupSecret: 'orders-backup-tls' },
};
const managed = {
  peerAuthority: 'orders-peer-ca',
  clientAuthority: 'orders-client-ca',
  serverNames: ['etcd.example.com', '192.0.2.7'],
  intermediateRotation: '2026-11',
  rootRotation: '2026-11',
  intermediateRevocation: '2026-11',
};
const certManager = {
  ...{ issuer: 'ca', issuerKind: 'ClusterIssuer', peerIssuer: 'peer-ca', peerIssuerKind: 'Issuer' },
  serverNames: ['etcd.example.com', '192.0.2.7'],
  ...{ duration: '30d', renewBefore: '10d' },
};

const pods = {
  imagePullPolicy: 'Always',
  imagePullSecrets: [{ name: 'registry' }],
  nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  tolerations: [
    { key: 'dedicated', operator: 'Equal', value: 'etcd', effect: 'NoExecute', tolerationSeconds: -1 },
    { operator: 'Exists' },
  ],
  priorityClassName: 'important',
  labels: { 'example.com/team': 'storage' },
  annotations: { 'example.com/owner': 'storage' },
  podLabels: { 'example.com/tier': 'data' },
  podAnnotations: { 'example.com/team': 'storage' },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['nvme'] }] }],
      },
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } },
  ],
  schedulerName: 'own-scheduler',
  runtimeClassName: 'sandboxed',
  hostAliases: [{ ip: '10.0.0.9', hostnames: ['kms.example.com'] }],
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['10.0.0.10'], options: [{ name: 'timeout', value: '1' }] },
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  terminationGracePeriodSeconds: 90,
  volumes: [{ name: 'ca', configMap: { name: 'ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] } }],
  initContainers: [
    {
      name: 'wait',
      image: 'registry.example.com/wait:1',
      resources: { limits: { memory: '32Mi', cpu: 1 } },
      volumeMounts: [{ name: 'ca', mountPath: '/ca', readOnly: true }],
    },
  ],
};
const container = {
  env: [
    { name: 'TZ', value: 'Europe/Berlin' },
    { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'token', key: 'token' } } },
  ],
  envFrom: [{ configMapRef: { name: 'settings' } }],
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  volumeMounts: [{ name: 'ca', mountPath: '/etc/ssl/certs/own', readOnly: true }],
};
const balancer = {
  labels: { 'example.com/team': 'storage' },
  annotations: { 'example.com/team': 'storage' },
  loadBalancerClass: 'example.com/internal',
  loadBalancerSourceRanges: ['10.0.0.0/8'],
  externalTrafficPolicy: 'Local',
};
const containerResources = { requests: { cpu: '20m', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } };
const probe = { initialDelaySeconds: 5, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 30 };
const peers = [
  { podLabels: { app: 'shop' }, namespaceLabels: { team: 'shop' } },
  { namespace: 'shop' },
  { cidr: '10.0.0.0/8' },
];
const destinations = peers.map((peer) => ({ ...peer, ports: [443] }));
const monitoring = {
  scrape: { method: 'ServiceMonitors', interval: '30s' },
  scraper: { peers },
  alerts: {
    enabled: true,
    exclude: ['EtcdBackupTooOld'],
    labels: { team: 'storage' },
    runbookUrl: 'https://wiki.example.com/etcd',
  },
  dashboard: { enabled: true, labels: { dashboard: '1' }, annotations: { grafana_folder: 'etcd' } },
  labels: { release: 'kube-prometheus-stack' },
};
const egress = { apiServer: destinations, dns: destinations, stores: destinations };
const allOfJob = {
  ...pods,
  ...{ ttlSecondsAfterFinished: 86_400, container },
  overrides: [{ target: 'BackupPods', patch: { spec: { runtimeClassName: 'secure' } } }],
};
const role = { serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/backup' } };
const allOfSchedule = {
  ...allOfJob,
  ...{ timeZone: 'Europe/Berlin', compression: 'zstd', encryption, verify: 'read', dialTimeout: '5s', timeout: '1h' },
  ...{ fileName: 'orders-%Y%m%d-%H%M%S', fileNameTimeZone: 'Europe/Berlin', suspend: true },
  ...{ startingDeadline: '30m', activeDeadline: '2h', retries: 0 },
  ...{ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 0 },
};

/** The pods of a control plane need a namespace of their own. */
const inNamespace = (manifest: Manifest): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, namespace: 'etcd-backup' },
});

/** Everything else, by name. */
const others: Readonly<Record<string, Manifest>> = {
  'the smallest cluster': cluster(),
  'a cluster of one': cluster({ size: 1 }),
  'a cluster of seven': cluster({ size: 7 }),
  'an even size, said explicitly': cluster({ size: 4, allowEvenSize: true }),
  'the longest name': cluster({}, 'o'.repeat(50)),
  'a cluster with TLS': cluster({ size: 5, paused: true, tls: ownSecrets }),
  'a cluster whose certificates the reconciler issues': cluster({ tls: { ...madeSecrets, managed } }),
  'a cluster whose certificates cert-manager issues': cluster({ tls: { ...madeSecrets, certManager } }),
  'a cluster whose certificates are to come from Secrets instead': cluster({
    tls: { ...ownSecrets, alsoTrust: { trustSecret: 'orders-tls-trust', ...madeSecrets, managed } },
  }),
  'a cluster whose certificates are to come from cert-manager instead': cluster({
    tls: { ...ownSecrets, alsoTrust: { trustSecret: 'orders-tls-trust', ...madeSecrets, certManager } },
  }),
  'a cluster whose Secrets have the names that follow from its own': cluster({ auth: true, tls: { managed: {} } }),
  'a cluster with certificates of cert-manager, without names of Secrets': cluster({
    auth: true,
    tls: { certManager: { issuer: 'ca' } },
  }),
  'a cluster with Secrets of its own, whose names follow from its own': cluster({ tls: {} }),
  'a cluster that changes the source of its certificates, without names of Secrets': cluster({
    tls: { managed: {}, alsoTrust: { certManager: { issuer: 'ca' } } },
  }),
  'a cluster that is switched to TLS, and clients must follow at once': cluster({
    tls: { ...ownSecrets, acceptPlaintextFor: '0s' },
  }),
  'a cluster that TLS is switched off in': cluster({
    auth: false,
    tls: { ...ownSecrets, disabling: true, acceptPlaintextFor: '1h30m' },
  }),
  'a cluster with users': cluster({ auth: true, tls: ownSecrets }),
  'the largest quota of a volume, and the least memory for it': cluster({
    quota: '3584Mi',
    resources: { limits: { memory: '896Mi' } },
  }),
  'the least memory for the quota that follows from the volume': cluster({
    resources: { requests: { memory: '896Mi' } },
  }),
  'a quota above which the memory no longer suffices by default': cluster({
    storage: { size: '1Ti' },
    backup: { schedules: [{ ...schedule, verify: 'open' }] },
  }),
  'a large quota, and the memory for it': cluster({
    quota: '16Gi',
    storage: { size: '40Gi' },
    resources: { limits: { memory: '4Gi' } },
    backup: { schedules: [{ ...schedule, verify: 'open', resources: { limits: { memory: '2Gi' } } }] },
  }),
  'a cluster with everything that a pod may have': cluster({
    image: 'registry.example.com/etcd:v3.6.16',
    registry: 'registry.example.com:5000/mirror',
    agentImage: 'registry.example.com/agent:1',
    ...pods,
    reconciler: { serviceAccountName: 'reconciler', name: 'main' },
    tls: ownSecrets,
    monitoring: {
      ...monitoring,
      scrape: { ...monitoring.scrape, tls: true },
      alerts: { ...monitoring.alerts, exclude: ['EtcdQuorumLost'] },
    },
    sidecars: [{ name: 'logs', image: 'registry.example.com/logs:1' }],
    containers: {
      etcd: { ...container, startupProbe: probe, livenessProbe: probe },
      agent: {
        ...container,
        livenessProbe: probe,
        readinessProbe: probe,
        resources: containerResources,
      },
      gate: { ...container, resources: containerResources },
    },
    serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/etcd' },
    revisionHistoryLimit: 2,
    clusterDomain: 'corp.example',
    storage: {
      ...{ size: '20Gi', storageClassName: 'fast', accessModes: ['ReadWriteOncePod'] },
      labels: { 'example.com/team': 'storage' },
      annotations: { 'example.com/team': 'storage' },
      selector: { matchLabels: { disk: 'nvme' } },
    },
    service: { type: 'LoadBalancer', ...balancer, internalTrafficPolicy: 'Local', nodePort: 30_079 },
    externalServices: {
      type: 'LoadBalancer',
      ...balancer,
      members: [{ ordinal: 0, annotations: { 'external-dns/hostname': 'etcd-0.example.com' }, nodePort: 30_080 }],
    },
    podDisruptionBudget: { enabled: true, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    quota: '4Gi',
    resources: { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '2', memory: '4Gi' } },
    tuning: {
      heartbeatInterval: '200ms',
      electionTimeout: '2s',
      snapshotCount: 5000,
      autoCompaction: { mode: 'revision', retention: '1000' },
    },
    settings: { 'max-request-bytes': 10_485_760 },
    spread: { zones: 'DoNotSchedule', nodes: 'ScheduleAnyway' },
    networkAccess: { peers },
    metricsAccess: { anywhere: true },
    egress,
    overrides: [
      { target: 'MemberPods', patch: { spec: { shareProcessNamespace: true } } },
      { target: 'PodDisruptionBudget', patch: { spec: { unhealthyPodEvictionPolicy: 'IfHealthyBudget' } } },
    ],
    protect: false,
    backup: {
      schedules: [
        {
          ...schedule,
          ...pods,
          container,
          ttlSecondsAfterFinished: 3600,
          fileName: 'orders-%Y%m%d-%H%M%S',
          fileNameTimeZone: 'Europe/Berlin',
          suspend: true,
          startingDeadline: '30m',
          activeDeadline: '2h',
          retries: 0,
          successfulJobsHistoryLimit: 1,
          failedJobsHistoryLimit: 5,
          overrides: [
            { target: 'BackupPods', patch: { spec: { securityContext: { runAsUser: { $patch: 'delete' } } } } },
          ],
          serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/etcd' },
        },
      ],
    },
  }),
  'a cluster with monitoring': cluster({ monitoring: {} }),
  'a cluster that a Prometheus without the operator scrapes': cluster({
    monitoring: {
      scrape: { method: 'Annotations' },
      scraper: { anywhere: true },
      alerts: { enabled: false },
      dashboard: { enabled: false },
    },
  }),
  'a reconciler that everybody may ask': reconciler({
    metricsAccess: { anywhere: true },
    monitoring: { scraper: { anywhere: true } },
  }),
  'a schedule whose exporter everybody may ask': backupSchedule({ monitoring: { scraper: { anywhere: true } } }),
  'the smallest reconciler': reconciler(),
  'a reconciler whose ServiceAccount has annotations': reconciler({
    serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/etcd' },
  }),
  'a reconciler with everything': reconciler(
    {
      image: 'registry.example.com/agent:1',
      registry: 'registry.example.com:5000/mirror',
      ...pods,
      container: { ...container, startupProbe: probe, livenessProbe: probe, readinessProbe: probe },
      sidecars: [{ name: 'logs', image: 'registry.example.com/logs:1' }],
      serviceAccountName: 'own',
      revisionHistoryLimit: 2,
      replicas: 2,
      resources: jobIdentity.resources,
      selector: { team: 'storage' },
      metricsAccess: { peers },
      egress,
      overrides: [{ target: 'ReconcilerPods', patch: { spec: { runtimeClassName: 'secure' } } }],
      monitoring: { ...monitoring, alerts: { ...monitoring.alerts, exclude: ['EtcdReconcilerInactive'] } },
    },
    'r'.repeat(50),
  ),
  'a schedule of any etcd': backupSchedule({
    ...allOfSchedule,
    etcd: {
      endpoints: ['https://etcd-0.etcd:2379', 'etcd-1.etcd:2379'],
      tls: { files: tlsFiles, clientCertificate: true },
      auth,
    },
    serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/etcd' },
    monitoring: { ...monitoring, maxAge: '26h', resources: jobIdentity.resources },
  }),
  'a schedule that only checks the server': backupSchedule({
    etcd: {
      endpoints: ['https://etcd.etcd:2379'],
      tls: { files: { configMapName: 'etcd-ca', items: [{ key: 'a', path: 'ca.crt' }] }, clientCertificate: false },
    },
  }),
  'the backup of a control plane': inNamespace(backupSchedule({ controlPlane: {} })),
  'the backup of a control plane with everything': inNamespace(
    backupSchedule({
      ...allOfSchedule,
      affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
      securityContext: { runAsUser: 0, seccompProfile: { type: 'RuntimeDefault' } },
      stores: [{ filesystem: { hostPath: '/var/backups/etcd', directory: 'etcd' } }, { s3: { bucket: 'backups' } }],
      controlPlane: {
        endpoints: ['https://127.0.0.1:12379'],
        certificates: { ca: '/srv/ca.crt', cert: '/srv/tls.crt', key: '/srv/tls.key' },
        nodeLabels: ['example.com/etcd', 'etcd'],
        manifestsDirectory: '/srv/kubernetes/manifests',
        etcdService: false,
        dataDir: '/srv/etcd',
        restoreDirectory: '/srv/etcd-restore',
        files: { directories: ['/etc/kubernetes/pki'], files: ['/etc/kubernetes/encryption.yaml'], encryption },
        createNamespace: true,
        keepImage: false,
      },
    }),
  ),
  'a cluster that nobody may connect to': cluster({ networkAccess: { peers: [] }, spread: {} }),
  'a cluster that everybody may connect to': cluster({ networkAccess: { anywhere: true }, metricsAccess: { peers } }),
  'a cluster whose members have an existing ServiceAccount': cluster({ serviceAccountName: 'own' }),
  'a cluster without authentication': cluster({ auth: false }),
  'the smallest user': user(),
  'the longest name of a user': user({}, 'u'.repeat(64)),
  'a name of a user that is no name of an object': user({ userName: 'Team:shop/api@example.com' }, 'u'.repeat(253)),
  'a user with every kind of permission': user({
    userName: 'api',
    permissions: [
      { prefix: '/api/', access: 'ReadWrite' },
      { key: '/version', access: 'Read' },
      { range: { from: '/a', to: '/b' }, access: 'Write' },
      { all: true, access: 'Read' },
    ],
    certificateSecret: 'orders-user-api',
  }),
  'a user with a password': user({ passwordSecret: 'orders-user-api' }),
  'a user with as many permissions as are possible': user({
    permissions: [...Array(64).keys()].map((n) => ({ prefix: `${'k'.repeat(1022)}${10 + n}`, access: 'Read' })),
  }),
  'a replacement by hand': cluster({
    replace: { policy: 'Manual', force: [{ ordinal: 6, memberId: '8e9e05c52164694d', discardVolume: true }] },
  }),
  'a recovery': cluster({
    recovery: {
      id: '2026-11-21-zone-b',
      action: 'RestoreFromSurvivor',
      acceptDataLoss: true,
      survivor: 0,
      identitySecret: 'age',
    },
    backup: { schedules: [schedule] },
  }),
  'a deletion of everything': cluster({
    storage: { size: '8Gi', ephemeral: false },
    pvcPolicy: { onShrink: 'Delete', onDelete: 'Delete' },
    backup: { schedules: [schedule] },
    maintenance: {
      onNoSpace: 'Report',
      defragment: { at: '2026-11-26T15:00:00Z', ordinal: 1 },
      moveLeader: { at: '2026-11-26T15:00:00.001Z', ordinal: 2 },
    },
  }),
  'a deletion without a final backup': cluster({ pvcPolicy: { onDelete: 'Delete' }, finalBackup: { required: false } }),
  'a final backup': cluster({ finalBackup: { required: true }, backup: { schedules: [schedule] } }),
  'ephemeral volumes': cluster({ storage: { size: '2Gi', ephemeral: true } }),
  'an origin from an EtcdBackup': cluster({ origin: { source: { backupName: 'before-3.7' } } }),
  'an origin by key': cluster({ origin: { source: { store: stores[0], key: 'orders.db' } } }),
  'an origin by time': cluster({
    origin: { source: { store: stores[0], latestVerifiedBefore: '2026-11-21T02:30:00Z' } },
  }),
  'an EtcdRestore by id': restore({ source: { store: stores[0], snapshotId: snapshot } }),
  'an EtcdBackup by a schedule': backup({ clusterName: 'orders', schedule: 'hourly', compression: 'none' }),
  'an EtcdBackup with all that its Job can have': backup({
    clusterName: 'orders',
    schedule: 'hourly',
    ...allOfJob,
    ...role,
  }),
  'an EtcdRestore with all that its Job can have': restore({
    source: { backupName: 'before-3.7' },
    ...allOfJob,
    ...role,
  }),
  'an EtcdBackup under a key': backup({
    clusterName: 'orders',
    store: { s3: { bucket: 'backups' } },
    key: '{{.Namespace}}/{{ .Name }}/{{ .UID }}-{{ .CreationTimestamp }}.db',
  }),
  'an EtcdBackup of any etcd': backup({
    endpoints: ['https://etcd-0.etcd:2379', 'etcd-1.etcd:2379', '[fd00::1]:2379'],
    tls: { files: tlsFiles, clientCertificate: true },
    auth,
    store: { s3: { bucket: 'backups' } },
  }),
  'an EtcdBackup that only checks the server': backup({
    endpoints: ['https://etcd.etcd:2379'],
    tls: { files: { configMapName: 'etcd-ca' }, clientCertificate: false },
    store: { s3: { bucket: 'backups' } },
  }),
  'an EtcdRestore of an EtcdBackup': restore({ source: { backupName: 'before-3.7' } }),
  'an EtcdRestore by time': restore({
    source: {
      store: { s3: { bucket: 'backups' } },
      clusterName: 'orders-old',
      clusterNamespace: 'shop-old',
      latestVerifiedBefore: '2026-11-21T03:30:00+01:00',
    },
    safetyBackup: false,
    ignoreUnreachablePods: true,
    again: '2026-11-27',
  }),
};

export const good: Readonly<Record<string, Manifest>> = {
  ...others,
  ...Object.fromEntries(
    Object.entries(around).flatMap(([place, { manifest }]) =>
      stores.map((store, index) => [`${place} with store ${index + 1}, ${Object.keys(store)}`, manifest(store)]),
    ),
  ),
};
