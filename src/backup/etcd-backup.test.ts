import { Chart, type ChartProps, Cron, Duration, Size, Testing } from 'cdk8s';
import { checkSchema } from '../../test/kubernetes';
import { type Manifest, s3 } from '../../test/synth';
import {
  BackupStore,
  CaBundle,
  Compression,
  Encryption,
  EtcdAuth,
  EtcdBackup,
  type EtcdBackupProps,
  EtcdClientTls,
  EtcdCluster,
  EtcdReconciler,
  EtcdRestore,
  OverrideTarget,
  RestoreSource,
  S3Credentials,
  VerificationLevel,
} from '..';
import { ExistingEtcdCluster, ImportedEtcdCluster } from '../cluster/external-etcd-cluster';

const recipient = 'age123z0dujas5ltpxxq72m3uqn9x0xwrfls84nga7pfe466w9tsdc0s7rthxh';
const tls = EtcdClientTls.fromSecret('client');
const chartOf = (props: ChartProps = { namespace: 'shop' }) => new Chart(Testing.app(), 'shop', props);
const backup = (props: EtcdBackupProps, chart = chartOf()) => new EtcdBackup(chart, 'now', props);
const manifestOf = (each: EtcdBackup): Manifest =>
  Testing.synth(Chart.of(each)).find(({ kind }: Manifest) => kind === 'EtcdBackup');

function ofCluster(props: EtcdBackupProps = { schedule: 'nightly' }): EtcdBackup {
  const chart = chartOf();
  const cluster = new EtcdCluster(chart, 'orders');
  cluster.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  return backup({ cluster, ...props }, chart);
}

test('a backup of a cluster, with the settings of its schedule', () => {
  const each = ofCluster();
  expect(each.backupName).toBe('orders-now');
  expect(manifestOf(each)).toEqual({
    apiVersion: 'cdk8s-etcd.dev/v1alpha1',
    kind: 'EtcdBackup',
    metadata: {
      name: 'orders-now',
      namespace: 'shop',
      labels: {
        'app.kubernetes.io/name': 'etcd-backup',
        'app.kubernetes.io/instance': 'orders-now',
        'app.kubernetes.io/part-of': 'orders',
        'app.kubernetes.io/managed-by': 'cdk8s',
      },
    },
    spec: { clusterName: 'orders', schedule: 'nightly' },
  });
});

test('of a cluster of another app, by its name alone', () => {
  const chart = chartOf();
  const cluster = new ImportedEtcdCluster(chart, 'imported', {
    clusterName: 'orders',
    clientEndpoints: ['https://orders-0-client:2379'],
    clientTls: tls,
  });
  expect(manifestOf(backup({ cluster, schedule: 'nightly' }, chart)).spec).toEqual({
    clusterName: 'orders',
    schedule: 'nightly',
  });
});

test('a backup of an existing etcd cluster, with every property', () => {
  const each = backup({
    name: 'before-2.0',
    endpoints: ['etcd-0:2379', 'https://etcd-1:2379/'],
    tls: EtcdClientTls.fromSecret('client', { keyKey: 'key.pem' }),
    auth: EtcdAuth.fromSecret('user'),
    store: s3,
    key: 'releases/{{ .Name }}-{{.CreationTimestamp}}.db',
    compression: Compression.NONE,
    encryption: Encryption.age({ recipients: [recipient] }),
    dialTimeout: Duration.seconds(10),
    timeout: Duration.minutes(90),
    serviceAccountName: 'backup',
    image: 'registry.example.com/agent:1',
    labels: { release: '2.0' },
  });
  const manifest = manifestOf(each);
  expect(manifest.metadata).toMatchObject({ name: 'before-2.0', labels: { release: '2.0' } });
  expect(manifest.spec).toEqual({
    endpoints: ['https://etcd-0:2379', 'https://etcd-1:2379'],
    tls: {
      files: {
        secretName: 'client',
        items: [
          { key: 'ca.crt', path: 'ca.crt' },
          { key: 'tls.crt', path: 'tls.crt' },
          { key: 'key.pem', path: 'tls.key' },
        ],
      },
    },
    auth: {
      secretName: 'user',
      items: [
        { key: 'username', path: 'username' },
        { key: 'password', path: 'password' },
      ],
    },
    store: { s3: { bucket: 'backups', region: 'eu-west-1', credentials: { secretName: 's3' } } },
    key: 'releases/{{ .Name }}-{{.CreationTimestamp}}.db',
    compression: 'none',
    encryption: { age: { recipients: [recipient] } },
    timeouts: { dial: '10s', total: '90m' },
    serviceAccountName: 'backup',
    image: 'registry.example.com/agent:1',
    labels: { release: '2.0' },
  });
  checkSchema(manifest);
});

test('a backup of an existing etcd cluster that is a construct: its endpoints, its TLS and its user', () => {
  const chart = chartOf();
  const auth = EtcdAuth.fromSecret('user');
  const cluster = new ExistingEtcdCluster(chart, 'legacy', ['etcd:2379'], {
    tls: EtcdClientTls.fromCa(CaBundle.fromConfigMap('trust')),
    auth,
  });
  const each = backup({ cluster, store: s3, prefix: 'etcd/legacy' }, chart);
  expect(each.backupName).toBe('legacy-now');
  expect(manifestOf(each).spec).toMatchObject({
    endpoints: ['https://etcd:2379'],
    tls: { clientCertificate: false, files: { configMapName: 'trust' } },
    auth: { secretName: 'user' },
    prefix: 'etcd/legacy',
  });
  expect(manifestOf(each).spec).not.toHaveProperty('clusterName');
  checkSchema(manifestOf(each));
});

describe('the ServiceAccount of its Job', () => {
  const role = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::123456789012:role/backup' };
  const credentials = S3Credentials.workloadIdentity({ serviceAccountAnnotations: role });
  const props = { endpoints: ['etcd:2379'], store: BackupStore.s3({ bucket: 'backups', credentials }) };

  test('is made for a workload identity that wants annotations', () => {
    const [account, resource]: Manifest[] = Testing.synth(Chart.of(backup(props)));
    expect(account).toMatchObject({
      kind: 'ServiceAccount',
      metadata: { name: 'now-backup', annotations: role },
      automountServiceAccountToken: false,
    });
    expect(resource.spec).toMatchObject({ serviceAccountAnnotations: role });
    expect(resource.spec).not.toHaveProperty('serviceAccountName');
  });

  test('is not created when one is given, or none is needed', () => {
    const kinds = (more: Partial<EtcdBackupProps>) =>
      Testing.synth(Chart.of(backup({ ...props, ...more }))).map(({ kind }: Manifest) => kind);
    expect(kinds({ serviceAccountName: 'mine' })).toEqual(['EtcdBackup']);
    expect(kinds({ store: s3 })).toEqual(['EtcdBackup']);
  });
});

const endpoints = ['etcd:2379'];
const command = BackupStore.command({ path: '/opt/store' });

test.each<[EtcdBackupProps, string]>([
  [{ store: s3 }, 'give exactly one of cluster (an EtcdCluster of this namespace) and endpoints'],
  [{ endpoints }, 'give exactly one of schedule (of the cluster) and store'],
  [{ endpoints, name: 'Now', store: s3 }, "name: 'Now' is not a valid Kubernetes name"],
  [{ endpoints, name: 'n'.repeat(53), store: s3 }, 'has 53 characters; use at most 52'],
  [{ endpoints: [], store: s3 }, 'endpoints: is empty: give at least 1 item'],
  [
    { endpoints: ['https://etcd:2379'], store: s3 },
    'tls: an https endpoint needs tls: give the Secret with its ca.crt',
  ],
  [{ endpoints, tls: EtcdClientTls.fromSecret('S'), store: s3 }, "tls: Secret: 'S' is not a valid Kubernetes name"],
  [{ endpoints, auth: EtcdAuth.fromSecret(''), store: s3 }, "auth: Secret: '' is not a valid Kubernetes name"],
  [
    { endpoints, schedule: 'nightly' },
    'schedule: needs cluster, because only an EtcdCluster has schedules: with endpoints give store instead',
  ],
  [{ endpoints, store: BackupStore.filesystem({}) }, 'store: give exactly one of claimName, nfs and hostPath'],
  [{ endpoints, store: s3, key: 'a/../b' }, "key: 'a/../b' is not a valid key of an object"],
  [{ endpoints, store: s3, key: '/{{ .Name }}' }, "key: '/{{ .Name }}' is not a valid key of an object"],
  [{ endpoints, store: s3, key: '{{ .Cluster }}.db' }, "key: '{{ .Cluster }}.db' has an unknown field: use {{ .N"],
  [{ endpoints, store: s3, key: '{{ .Name }.db' }, 'has an unknown field'],
  [
    { endpoints, store: s3, key: 'a', prefix: 'b' },
    'prefix: cannot be combined with key, which is the complete name of the object: remove',
  ],
  [{ endpoints, store: s3, prefix: '/a' }, "prefix: '/a' is not a valid folder within the store"],
  [{ endpoints, store: s3, encryption: Encryption.age({ recipients: [] }) }, 'encryption: recipients: is empty'],
  [{ endpoints, store: s3, dialTimeout: Duration.seconds(0) }, "dialTimeout: '0s' is not a valid duration above zero"],
  [{ endpoints, store: s3, timeout: Duration.seconds(0) }, "timeout: '0s' is not a valid duration above zero"],
  [{ endpoints, store: command }, 'image: a command store needs image'],
  [{ endpoints, store: s3, image: '' }, "image: '' is not a valid image"],
  [
    { endpoints, store: s3, serviceAccountName: 'A' },
    "serviceAccountName: 'A' is not a valid name of a ServiceAccount",
  ],
])('%j: %s', (props, message) => {
  expect(backup(props).node.validate()).toEqual([expect.stringContaining(message)]);
});

test.each<[EtcdBackupProps, string]>([
  [{ schedule: 'nightly', endpoints }, 'give exactly one of cluster (an EtcdCluster of this namespace) and endpoints'],
  [{ schedule: 'nightly', store: s3 }, 'give exactly one of schedule (of the cluster) and store'],
  [{ schedule: 'nightly', tls }, 'tls: is only for endpoints: remove it, because an EtcdCluster has its own'],
  [{ schedule: 'nightly', auth: EtcdAuth.fromSecret('a') }, 'auth: is only for endpoints: remove it'],
  [
    { schedule: 'nightly', encryption: Encryption.age({ recipients: [recipient] }) },
    'encryption: is set by the schedule: remove it',
  ],
  [
    { schedule: 'hourly' },
    "schedule: 'hourly' is not a backup schedule of 'orders'; use 'nightly', or give store instead",
  ],
])('of a cluster: %j: %s', (props, message) => {
  expect(ofCluster(props).node.validate()).toEqual([expect.stringContaining(message)]);
});

test('a schedule of a cluster without any', () => {
  const chart = chartOf();
  const cluster = new EtcdCluster(chart, 'orders');
  const each = backup({ cluster, schedule: 'nightly' }, chart);
  expect(each.node.validate()).toEqual([expect.stringContaining("'orders'; add it with addBackupSchedule, or give")]);
  cluster.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  expect(each.node.validate()).toEqual([]);
});

test('its Job has what a Job can have', () => {
  const patch = { spec: { runtimeClassName: 'sandboxed' } };
  const { metadata, spec } = manifestOf(
    ofCluster({
      ...{ schedule: 'nightly', annotations: { note: 'a' }, nodeSelector: { disk: 'slow' } },
      ...{ imagePullSecrets: ['mirror'], container: { env: [{ name: 'A', value: 'a' }] } },
      ttlAfterFinished: Duration.hours(1),
      overrides: [{ target: OverrideTarget.BACKUP_PODS, patch }],
    }),
  );
  expect(metadata.annotations).toEqual({ note: 'a' });
  expect(spec).toEqual({
    ...{ clusterName: 'orders', schedule: 'nightly', annotations: { note: 'a' }, nodeSelector: { disk: 'slow' } },
    ...{ imagePullSecrets: [{ name: 'mirror' }], container: { env: [{ name: 'A', value: 'a' }] } },
    ttlSecondsAfterFinished: 3600,
    overrides: [{ target: 'BackupPods', patch }],
  });
});

test.each([
  [OverrideTarget.CRON_JOBS, { metadata: { labels: { a: 'b' } } }, "overrides[0].target: 'CronJobs' is not one of"],
  [
    OverrideTarget.BACKUP_PODS,
    { spec: { containers: [{ name: 'backup', args: [] }] } },
    'overrides[0].patch.spec.containers[backup].args: cannot be overridden, because it follows from the spec; remove it',
  ],
])('an override of %s that is not possible', (target, patch, message) => {
  expect(ofCluster({ schedule: 'nightly', overrides: [{ target, patch }] }).node.validate()).toEqual([
    expect.stringContaining(message),
  ]);
});

test('a mistake is one line with the path of the construct', () => {
  expect(() => manifestOf(backup({ endpoints }))).toThrow(
    /^Validation failed with the following errors:\n {2}\[shop\/now\] give exactly one of schedule/,
  );
});

test('a cluster of another namespace cannot be named', () => {
  const chart = chartOf();
  const cluster = new EtcdCluster(new Chart(chart.node.root, 'b', { namespace: 'other' }), 'orders');
  expect(backup({ cluster, store: s3 }, chart).node.validate()).toEqual([
    "cluster: 'orders' is in namespace 'other', and a resource can only refer to a cluster of its own namespace; move this resource there",
  ]);
});

test('two cannot have one name', () => {
  const chart = chartOf();
  backup({ endpoints, store: s3, name: 'same' }, chart);
  new EtcdBackup(chart, 'other', { endpoints, store: s3, name: 'same' });
  expect(() => Testing.synth(chart)).toThrow(/\[shop\/now\] another backup of this chart is called 'same' too/);
});

describe('the memory of a Job that opens its snapshot', () => {
  const opening = (make: (chart: Chart, cluster: EtcdCluster) => void, verify = VerificationLevel.OPEN) => {
    const chart = chartOf();
    const cluster = new EtcdCluster(chart, 'orders', { volume: { size: Size.gibibytes(20) } });
    cluster.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3, verify });
    make(chart, cluster);
    return () => Testing.synth(chart);
  };
  const small = { memoryLimit: Size.mebibytes(512) };
  const patch = { spec: { containers: [{ name: 'backup', resources: { limits: { memory: '1023Mi' } } }] } };
  const overrides = [{ target: OverrideTarget.BACKUP_PODS, patch }];
  const says = (prop: string, given: string) =>
    `${prop}: the Job opens the snapshot, and needs a limit of memory of at least an eighth of the quota: ${given} is too little; give at least 1024Mi`;

  test('is judged for a backup by its schedule', () => {
    const now = (props: Partial<EtcdBackupProps>, verify?: VerificationLevel) =>
      opening((chart, cluster) => new EtcdBackup(chart, 'now', { cluster, schedule: 'nightly', ...props }), verify);
    expect(now({ resources: small })).toThrow(says('resources', '512Mi'));
    expect(now({ overrides })).toThrow(says('overrides[0].patch', '1023Mi'));
    expect(now({ resources: { memoryLimit: Size.gibibytes(1) } })).not.toThrow();
    expect(now({ resources: small, overrides: undefined }, VerificationLevel.READ)).not.toThrow();
  });

  test('is judged for every restore', () => {
    const back = (props: object) =>
      opening((chart, cluster) => {
        const source = RestoreSource.snapshot(s3, 'etcd-snapshot-20261121-023807-3f9c2a');
        return new EtcdRestore(chart, 'back', { cluster, source, ...props });
      }, VerificationLevel.READ);
    expect(back({ resources: small })).toThrow(says('resources', '512Mi'));
    expect(back({ overrides })).toThrow(says('overrides[0].patch', '1023Mi'));
    expect(back({})).not.toThrow();
  });
});

test('a Job must not have the ServiceAccount of the reconciler', () => {
  const chart = chartOf();
  const reconciler = EtcdReconciler.external({ serviceAccountName: 'mine' });
  const cluster = new EtcdCluster(chart, 'orders', { reconciler });
  const props = { cluster, serviceAccountName: 'mine' };
  const source = RestoreSource.snapshot(s3, 'etcd-snapshot-20261121-023807-3f9c2a');
  const jobs = [
    new EtcdBackup(chart, 'now', { ...props, store: s3 }),
    new EtcdRestore(chart, 'back', { ...props, source, safetyBackup: false }),
  ];
  expect(jobs.map((job) => job.node.validate())).toEqual(
    jobs.map(() => [
      "serviceAccountName: 'mine' is that of the reconciler of 'orders', whose rights a Job must not have; name another ServiceAccount",
    ]),
  );
});
