import { Chart, Cron, Duration, Testing } from 'cdk8s';
import { good } from '../../test/apply/good';
import { errorsOf, only, rendering } from '../../test/rendering';
import { type Manifest, s3 } from '../../test/synth';
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
  EtcdRestore,
  EtcdTls,
  EtcdVersion,
  NoSpacePolicy,
  OssCredentials,
  ReplacePolicy,
  RestoreSource,
  Retention,
  S3Credentials,
  ServerSideEncryption,
  SftpCredentials,
  SseCustomerKey,
  VerificationLevel,
} from '..';
import { render } from './run';

const resource = (kind: string, spec: Manifest, metadata: Manifest = {}) => ({
  apiVersion: 'cdk8s-etcd.dev/v1alpha1',
  kind,
  metadata: { name: 'orders', ...metadata },
  spec,
});
const cluster = (spec: Manifest = {}) => resource('EtcdCluster', { version: '3.6.16', ...spec });
const backup = (spec: Manifest) => resource('EtcdBackup', { clusterName: 'orders', ...spec });
const restore = (spec: Manifest) => resource('EtcdRestore', { clusterName: 'orders', ...spec });
const store = { s3: { bucket: 'backups' } };

describe('every field of the custom resources is known', () => {
  test.each(Object.entries(good))('%s', (_, object) => {
    // Some satisfy only the schema. The errors about them then name a known field.
    const lines = tolerant(
      () => rendering([object]).lines,
      () => errorsOf([object]),
    );
    expect(lines.filter((line) => line.includes('is not a field'))).toEqual([]);
  });
});

function tolerant<T>(first: () => T, second: () => T): T {
  try {
    return first();
  } catch {
    return second();
  }
}

describe('what a chart made of an EtcdCluster is made of that resource alone', () => {
  const recipients = ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'];
  const credentials = S3Credentials.fromSecret('s3');

  test.each<[string, (chart: Chart) => void]>([
    ['no properties', (chart) => new EtcdCluster(chart, 'orders')],
    [
      'a cluster with everything that a resource says',
      (chart) => {
        const orders = new EtcdCluster(chart, 'orders', {
          size: 4,
          allowEvenSize: true,
          version: EtcdVersion.V3_7,
          tls: EtcdTls.fromSecrets({ peer: 'orders-peer-cert', server: 'orders-server-cert', client: 'client' }),
          paused: true,
          replace: ReplacePolicy.manual({ ordinal: 2, memberId: '8e9e05c52164694d', discardVolume: true }),
          recovery: { id: 'zone-b', acceptDataLoss: true, survivor: 1, identitySecret: 'age' },
          onShrink: DeletionPolicy.DELETE,
          onDelete: DeletionPolicy.DELETE,
          finalBackup: false,
          backupSchedule: 'nightly',
          requireBackupForUpgrade: true,
          onNoSpace: NoSpacePolicy.REPORT,
          labels: { team: 'shop' },
        });
        const hourly = orders.addBackupSchedule('hourly', {
          schedule: Cron.hourly(),
          timeZone: 'Europe/Berlin',
          store: BackupStore.s3({
            bucket: 'backups',
            prefix: 'etcd/eu',
            region: 'eu-west-1',
            endpoint: 'https://minio:9000',
            pathStyle: false,
            serverSideEncryption: ServerSideEncryption.KMS,
            kmsKeyId: 'alias/etcd',
            ca: CaBundle.fromConfigMap('ca', 'bundle.pem'),
            credentials: S3Credentials.fromSecret('s3', { profile: 'backup' }),
          }),
          retention: Retention.tiers({
            last: 3,
            within: Duration.days(2),
            hourly: 1,
            daily: 2,
            weekly: 3,
            monthly: 4,
            yearly: 5,
            minKeep: 2,
            timeZone: 'Europe/Berlin',
          }),
          compression: Compression.GZIP,
          encryption: Encryption.age({ recipients }),
          verify: VerificationLevel.READ,
          dialTimeout: Duration.millis(1500),
          timeout: Duration.minutes(90),
        });
        hourly.addStore(
          BackupStore.oss({
            bucket: 'backups',
            prefix: 'etcd',
            region: 'eu-central-1',
            credentials: OssCredentials.fromSecret('oss', { accessKeyIdKey: 'id', accessKeySecretKey: 'secret' }),
          }),
        );
        hourly.addStore(
          BackupStore.sftp({
            host: 'backup.example.com',
            port: 2222,
            username: 'etcd',
            path: '/backup',
            legacyAlgorithms: true,
            credentials: SftpCredentials.fromSecret('sftp', { privateKeyKey: 'key', knownHostsKey: 'hosts' }),
          }),
          { retention: Retention.last(7) },
        );
        orders.addBackupSchedule('nightly', {
          schedule: Cron.schedule({ minute: '3', hour: '2', weekDay: 'mon-fri' }),
          name: 'nightly-orders',
          store: BackupStore.filesystem({ claimName: 'backup', directory: 'etcd' }),
        });
        orders.addBackupSchedule('own', {
          schedule: Cron.daily(),
          image: 'registry.example.com/own:1',
          serviceAccountName: 'own',
          store: BackupStore.command({
            path: '/opt/store',
            env: { BUCKET: 'backups' },
            credentialsSecretName: 'own',
            idleTimeout: Duration.seconds(90),
          }),
        });
      },
    ],
    [
      'an ephemeral cluster that begins with a snapshot',
      (chart) =>
        new EtcdCluster(chart, 'orders', {
          volume: { ephemeral: true },
          origin: {
            source: RestoreSource.snapshot(s3, 'etcd-snapshot-20261121-023807-3f9c2a', { cluster: 'old' }),
            identitySecret: 'age',
            sha256: 'a'.repeat(64),
            expectedRevision: 42,
            image: 'registry.example.com/own:1',
            serviceAccountName: 'restore',
          },
        }),
    ],
    [
      'a cluster that begins with the newest snapshot before a time',
      (chart) =>
        new EtcdCluster(chart, 'orders', {
          origin: { source: RestoreSource.latestVerifiedBefore(s3, '2026-11-21T03:30:00+01:00') },
        }),
    ],
    [
      'a backup of another etcd',
      (chart) => {
        new EtcdCluster(chart, 'orders');
        new EtcdBackup(chart, 'before', {
          endpoints: ['https://etcd:2379'],
          tls: EtcdClientTls.fromSecret('client', { caKey: 'ca.pem' }),
          auth: EtcdAuth.fromSecret('root', { usernameKey: 'user' }),
          store: BackupStore.s3({
            bucket: 'backups',
            region: 'eu-west-1',
            credentials: S3Credentials.fromSecret('s3', {
              accessKeyIdKey: 'id',
              secretAccessKeyKey: 'secret',
              sessionTokenKey: 'token',
            }),
            sseCustomerKey: SseCustomerKey.fromSecret('sse', 'sse'),
          }),
          key: '{{ .Namespace }}/{{ .Name }}.db',
          compression: Compression.NONE,
          encryption: Encryption.age({ recipients }),
          dialTimeout: Duration.seconds(3),
          timeout: Duration.hours(2),
          labels: { team: 'shop' },
        });
      },
    ],
    [
      'a backup and a restore of the cluster',
      (chart) => {
        const orders = new EtcdCluster(chart, 'orders');
        orders.addBackupSchedule('hourly', { schedule: Cron.hourly(), store: s3 });
        new EtcdBackup(chart, 'before', { cluster: orders, schedule: 'hourly' });
        new EtcdBackup(chart, 'elsewhere', {
          cluster: orders,
          prefix: 'releases',
          store: BackupStore.oss({ bucket: 'backups', credentials: OssCredentials.fromSecret('oss') }),
        });
        new EtcdRestore(chart, 'monday', { cluster: orders, source: RestoreSource.backup('orders-before') });
        new EtcdRestore(chart, 'tuesday', {
          cluster: orders,
          source: RestoreSource.key(BackupStore.s3({ bucket: 'backups', region: 'eu-west-1', credentials }), 'a/b.db'),
          safetyBackup: false,
          ignoreUnreachablePods: true,
          again: '2026-11-27',
        });
      },
    ],
    [
      'users of a cluster with managed certificates',
      (chart) => {
        const orders = new EtcdCluster(chart, 'orders', { auth: true });
        orders.addUser('api', {
          can: [
            EtcdPermission.read('/a/'),
            EtcdPermission.write('/b/'),
            EtcdPermission.readWrite('/c/'),
            EtcdPermission.readKey('a'),
            EtcdPermission.writeKey('b'),
            EtcdPermission.readWriteKey('c'),
            EtcdPermission.readRange('a', 'b'),
            EtcdPermission.writeRange('b', 'c'),
            EtcdPermission.readWriteRange('c', 'd'),
          ],
        });
        orders.addUser('reader', { can: [EtcdPermission.readAll()], userName: 'team/reader', secretName: 'reader' });
        orders.addUser('writer', { can: [EtcdPermission.writeAll()], name: 'writer', labels: { team: 'shop' } });
        orders.addUser('admin', { can: [EtcdPermission.readWriteAll()] });
        orders.addUser('nobody', { can: [] });
        orders.addUser('dashboard', { can: [], password: true });
      },
    ],
    [
      'users of a cluster with Secrets of others',
      (chart) => {
        const tls = { peer: 'orders-peer-cert', server: 'orders-server-cert', client: 'c', root: 'r', backup: 'b' };
        const orders = new EtcdCluster(chart, 'orders', { tls: EtcdTls.fromSecrets(tls), auth: true });
        orders.addUser('api', { can: [EtcdPermission.readWrite('/api/')] });
        orders.addUser('dashboard', { can: [], password: true });
      },
    ],
    [
      'a cluster that TLS is switched off in',
      (chart) => {
        const previous = EtcdTls.managed({ acceptPlaintextFor: Duration.hours(0), serverNames: ['etcd.example.com'] });
        const orders = new EtcdCluster(chart, 'orders', {
          tls: EtcdTls.none({ previous }),
          clusterDomain: 'k8s.example',
        });
        orders.addBackupSchedule('hourly', {
          schedule: Cron.hourly(),
          store: BackupStore.filesystem({ claimName: 'c' }),
        });
      },
    ],
    [
      'a cluster that is switched to Secrets of others',
      (chart) => {
        const tls = { peer: 'orders-peer-cert', server: 'orders-server-cert', client: 'c' };
        new EtcdCluster(chart, 'orders', {
          tls: EtcdTls.fromSecrets({ ...tls, acceptPlaintextFor: Duration.minutes(90) }),
        });
      },
    ],
    [
      'a cluster that also trusts Secrets of others',
      (chart) => {
        const other = { peer: 'orders-peer-cert', server: 'orders-server-cert', client: 'c' };
        const tls = EtcdTls.managed({ alsoTrust: EtcdTls.fromSecrets(other), serverNames: ['etcd.example.com'] });
        new EtcdCluster(chart, 'orders', { tls });
      },
    ],
    [
      'a cluster with Secrets of others that also trusts the reconciler',
      (chart) => {
        const own = { peer: 'orders-peer-cert', server: 'orders-server-cert', client: 'c', root: 'r', backup: 'b' };
        const alsoTrust = EtcdTls.managed({ serverNames: ['etcd.example.com'] });
        const tls = EtcdTls.fromSecrets({ ...own, alsoTrust });
        new EtcdCluster(chart, 'orders', { tls, clusterDomain: 'k8s.example' });
      },
    ],
    ['no users, for good', (chart) => new EtcdCluster(chart, 'orders', { auth: false })],
    [
      'a backup that only checks the server, to an NFS export',
      (chart) => {
        new EtcdCluster(chart, 'orders');
        new EtcdBackup(chart, 'before', {
          endpoints: ['https://etcd:2379'],
          tls: EtcdClientTls.fromCa(CaBundle.fromSecret('ca')),
          store: BackupStore.filesystem({ nfs: { server: 'nfs.example.com', path: '/srv' } }),
        });
      },
    ],
  ])('%s', (_, make) => {
    const chart = new Chart(Testing.app(), 'shop', { namespace: 'shop' });
    make(chart);
    const manifests: Manifest[] = Testing.synth(chart);
    const resources = manifests.filter(({ apiVersion }) => apiVersion === 'cdk8s-etcd.dev/v1alpha1');
    expect(sorted(rendering(resources).manifests)).toEqual(sorted(manifests));
  });
});

const keyOf = ({ kind, metadata: { name } }: Manifest) => `${kind} ${name}`;

const sorted = (manifests: readonly Manifest[]) => [...manifests].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

describe('a user', () => {
  const user = (spec: Manifest = {}, metadata: Manifest = { name: 'orders-api' }) =>
    resource('EtcdUser', { clusterName: 'orders', permissions: [], ...spec }, metadata);
  const managed = cluster({ tls: { managed: {} } });
  const read = (keys: Manifest) => user({ permissions: [{ ...keys, access: 'Read' }] });

  test.each([
    ['without the name of its Secret gets one', user(), undefined],
    ['has its own name', user({}, { name: 'api' }), undefined],
    ['has another name in etcd', user({ userName: 'team/api' }), 'team/api'],
  ])('%s', (_, document, userName) => {
    const secretName = 'orders-user-api';
    const rendered = rendering([managed, document]);
    expect(rendered.lines).toContainEqual(
      `note: EtcdUser ${document.metadata.name} (document 2): spec.certificateSecret: is missing, so the certificate of the user goes into the Secret ${secretName}`,
    );
    expect(only(rendered, 'EtcdUser').spec).toEqual({ ...document.spec, certificateSecret: secretName, userName });
    expect(rendered.manifests.map(keyOf)).toEqual(
      expect.arrayContaining([`Secret ${secretName}`, `Role ${secretName}.reconciler`]),
    );
  });

  test('of a cluster that is not in the file is taken to have a managed certificate', () => {
    const rendered = rendering([user({ certificateSecret: 'api-tls' })]);
    expect(rendered.manifests.map(keyOf)).toEqual([
      'Secret api-tls',
      'Role api-tls.reconciler',
      'RoleBinding api-tls.reconciler',
      'EtcdUser orders-api',
    ]);
  });

  const others = { clientSecret: 'c', rootSecret: 'r', backupSecret: 'b' };
  test.each<[string, Manifest[]]>([
    ['with managed certificates', [managed]],
    ['with Secrets of others', [cluster({ tls: others })]],
    ['that is not in the file', []],
  ])('with a password, of a cluster %s', (_, clusters) => {
    const rendered = rendering([...clusters, user({ passwordSecret: 'api-login' })]);
    expect(only(rendered, 'EtcdUser').spec).toEqual({
      clusterName: 'orders',
      permissions: [],
      passwordSecret: 'api-login',
    });
    expect(rendered.manifests.map(keyOf)).toEqual(
      expect.arrayContaining(['Secret api-login', 'Role api-login.reconciler', 'RoleBinding api-login.reconciler']),
    );
    expect(rendered.lines.filter((line) => line.includes('EtcdUser'))).toEqual([]);
  });

  test.each<[string, Manifest[], string]>([
    ['of no cluster', [user({ clusterName: '' })], "spec.clusterName: '' is not a valid name of an EtcdCluster"],
    ['without permissions', [user({ permissions: undefined })], 'spec.permissions: is missing: give it'],
    ['with permission for nothing', [read({})], 'spec.permissions[0]: give exactly one of prefix, key, range and all'],
    ['with permission for two', [read({ key: 'a', prefix: 'b' })], 'spec.permissions[0]: give exactly one of'],
    ['with permission for not all', [read({ all: false })], 'spec.permissions[0]: all can only be true: remove it'],
    ['with half a range', [read({ range: { from: 'a' } })], 'spec.permissions[0].range.to: is missing: give it'],
    [
      'with permission to nothing',
      [user({ permissions: [{ key: 'a' }] })],
      'permissions[0].access: is missing: give it',
    ],
    [
      'with another permission',
      [user({ permissions: [{ key: 'a', access: 'Delete' }] })],
      "spec.permissions[0].access: 'Delete' is not one of Read, Write, ReadWrite: write one of these",
    ],
    ['that is root', [user({ userName: 'root' })], 'spec.userName: must not be root or <cluster>-backup'],
    [
      'with a Secret that nobody fills',
      [cluster({ tls: others }), user({ certificateSecret: 'a' })],
      "spec.certificateSecret: needs tls.managed of 'orders', because only then the reconciler issues certificates",
    ],
    [
      'with a certificate and a password',
      [managed, user({ certificateSecret: 'a', passwordSecret: 'b' })],
      'spec.passwordSecret: cannot be combined with certificateSecret: remove one of them',
    ],
    [
      'with a long name of a Secret',
      [managed, user({ passwordSecret: 's'.repeat(243) })],
      'spec.passwordSecret: has 243 characters: give at most 242',
    ],
    [
      'with a password in the words of TypeScript',
      [managed, user({ password: true })],
      'spec.password: is not a field: write passwordSecret',
    ],
    ['without TLS', [cluster(), user()], "cluster: 'orders' cannot have users: users need certificates, but"],
  ])('%s', (_, documents, message) => {
    expect(errorsOf(documents)).toEqual([expect.stringContaining(message)]);
  });
});

describe('options', () => {
  const two = [resource('EtcdCluster', { version: '3.6.16' }, { namespace: 'a' }), cluster()];
  const namespaces = (manifests: readonly Manifest[]) => [
    ...new Set(manifests.map(({ metadata }) => metadata.namespace)),
  ];

  test('each object is in the namespace of its document', () => {
    const { manifests } = rendering(two);
    expect(namespaces(manifests)).toEqual(['a', undefined]);
    expect(manifests.filter(({ kind }) => kind === 'Deployment')).toHaveLength(2);
  });

  test('a namespace of all', () => {
    expect(namespaces(rendering([two[1]], { namespace: 'shop' }).manifests)).toEqual(['shop']);
    expect(errorsOf(two, { namespace: 'shop' })).toEqual([
      'error: EtcdCluster orders (document 2): metadata.name: is also the name of EtcdCluster orders (document 1); remove one of them',
    ]);
    expect(errorsOf([cluster()], { namespace: 'Shop' })).toEqual([
      "error: EtcdCluster orders (document 1): metadata.namespace: 'Shop' is not a valid namespace; use up to 63 lower-case letters, digits and '-', beginning and ending with a letter or digit",
    ]);
  });

  test('the CRDs come first, and without a namespace', () => {
    const { manifests } = rendering([cluster()], { crds: true, namespace: 'shop' });
    expect(manifests.slice(0, 5).map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ['CustomResourceDefinition', undefined],
      ['CustomResourceDefinition', undefined],
      ['CustomResourceDefinition', undefined],
      ['CustomResourceDefinition', undefined],
      ['ServiceAccount', 'shop'],
    ]);
  });

  test('without a reconciler its ServiceAccount has the usual name', () => {
    const rendered = rendering([cluster()], { reconciler: false });
    expect(rendered.manifests.filter(({ kind }) => kind === 'Deployment')).toEqual([]);
    const binding = rendered.manifests.find(({ metadata }) => metadata.name === 'orders-etcd-reconciler');
    expect(binding.kind).toBe('Role');
    expect(JSON.stringify(rendered.manifests)).toContain('{"kind":"ServiceAccount","name":"etcd-reconciler"}');
  });

  test('a cluster whose reconciler is external gets none when its resource is rendered', () => {
    const resourceIn = ({ manifests }: ReturnType<typeof rendering>) =>
      manifests.find(({ kind }) => kind === 'EtcdCluster')!;
    const external = { serviceAccountName: 'etcd-reconciler' };
    const first = resourceIn(rendering([cluster({ reconciler: external })]));
    expect(first.spec.reconciler).toEqual(external);
    const again = rendering([first]);
    expect(again.manifests.filter(({ kind }) => kind === 'Deployment')).toEqual([]);
    expect(resourceIn(again)).toEqual(first);
    expect(resourceIn(rendering([first], { resources: true })).spec).toEqual(first.spec);
  });

  test('to leave the reconciler out once changes no object of the cluster, so the next rendering has it', () => {
    const isShared = ({ metadata }: Manifest) => metadata.name !== 'etcd-reconciler';
    const whole = rendering([cluster()]).manifests.filter(isShared);
    const { manifests } = rendering([cluster()], { reconciler: false });
    expect(manifests).toEqual(whole);
    const resource = manifests.find(({ kind }) => kind === 'EtcdCluster')!;
    expect(resource.spec).not.toHaveProperty('reconciler');
    only(rendering([resource]), 'Deployment');
  });

  test('a registry has every image, and an own image of the agent replaces ours everywhere', () => {
    const other = resource('EtcdBackup', { endpoints: ['etcd:2379'], store: { s3: store.s3 } }, { namespace: 'b' });
    const credentials = { secretName: 's3' };
    other.spec.store.s3 = { ...store.s3, region: 'eu', credentials } as Manifest;
    const schedules = [{ name: 'hourly', cron: '@hourly', stores: [{ s3: { ...other.spec.store.s3 } }] }];
    const { manifests } = rendering([cluster({ backup: { schedules } }), other], { registry: 'mirror.example.com/x' });
    const images = JSON.stringify(manifests).match(/"image":"[^"]+"/g)!;
    expect(images.length).toBeGreaterThan(4);
    expect(images.filter((image) => !image.startsWith('"image":"mirror.example.com/x/'))).toEqual([]);
    const own = 'registry.example.com/agent:1';
    const { manifests: built } = rendering([cluster({ backup: { schedules } }), other], { agentImage: own });
    expect(JSON.stringify(built).split(own)).toHaveLength(
      // The resource names it, too.
      JSON.stringify(manifests).split('x/cdk8s-etcd/').length + 1,
    );
    expect(JSON.stringify(built)).not.toContain('ghcr.io');
  });
});

test('a backup of another etcd brings the reconciler, unless the namespace has one', () => {
  const endpoints = ['etcd:2379'];
  const object = resource('EtcdBackup', {
    endpoints,
    store: { s3: { bucket: 'backups', credentials: { secretName: 's3' }, region: 'eu' } },
  });
  const rendered = rendering([object]);
  only(rendered, 'Deployment');
  expect(rendered.lines).toEqual([
    "note: EtcdBackup orders (document 1): spec: the reconciler 'etcd-reconciler', which takes the backup, is included; if the namespace already has one, leave it out with --no-reconciler",
  ]);
  expect(rendering([object], { reconciler: false })).toMatchObject({ manifests: [{ kind: 'EtcdBackup' }], lines: [] });
});

test('a resource from an API server is the one that was applied', () => {
  const metadata = {
    uid: 'f3b1',
    resourceVersion: '1',
    generation: 2,
    creationTimestamp: '2026-11-21T02:38:07Z',
    managedFields: [],
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
  };
  const object = resource('EtcdCluster', { version: '3.6.16' }, metadata);
  const listOf = (item: object) => ({
    apiVersion: 'v1',
    kind: 'List',
    items: [item],
    metadata: { resourceVersion: '' },
  });
  const status = { phase: 'Ready', observedGeneration: 2 };
  expect(rendering([listOf({ ...object, status })]).manifests).toEqual(rendering([cluster()]).manifests);
});

test('a name that begins like an exponent is a name, as for kubectl', () => {
  const text =
    'apiVersion: cdk8s-etcd.dev/v1alpha1\nkind: EtcdCluster\nmetadata: { name: e830 }\nspec: { version: 3.6.16 }';
  expect(render(text, { file: 'input.yaml' }).yaml).toContain('name: e830-peers');
});

test('the agent of a schedule follows that of its cluster, also after the resource was read back', () => {
  const schedules = [{ name: 'hourly', cron: '@hourly', stores: [{ s3: { ...store.s3, region: 'eu' } }] }];
  const first = only(rendering([cluster({ backup: { schedules } })], { agentImage: 'a:1' }), 'EtcdCluster');
  expect(first.spec.agentImage).toBe('a:1');
  const again = rendering([first], { agentImage: 'a:2' });
  const [container] = only(again, 'CronJob').spec.jobTemplate.spec.template.spec.containers;
  expect(container.image).toBe('a:2');
});

test('certificates of cert-manager need a namespace', () => {
  const object = cluster({ tls: { certManager: { issuer: 'ca' } } });
  expect(errorsOf([object])).toEqual([expect.stringContaining('metadata.namespace: is missing')]);
  rendering([object], { namespace: 'shop' });
});

test('TLS without a value is not taken for no TLS', () => {
  expect(errorsOf([cluster({ tls: null })])).toEqual([
    'error: EtcdCluster orders (document 1): spec.tls: is empty: write tls: { managed: {} }, or remove it for plain http',
  ]);
});

test.each([
  [{ managed: {}, acceptPlaintextFor: '53w' }, 'tls: acceptPlaintextFor: 53w is longer than a year; give at most 365d'],
  [{ certManager: { issuer: 'ca', duration: '59m' } }, 'tls: duration: 59m is less than the hour'],
  [{ certManager: { issuer: 'ca', renewBefore: '90d' } }, 'tls: renewBefore: 90d is not less than duration'],
  [
    { managed: {}, alsoTrust: { certManager: { issuer: 'ca', duration: '1m' } } },
    'tls: duration: 1m is less than the hour',
  ],
  [
    { managed: { serverNames: ['a', 'a'] } },
    'spec.tls.managed.serverNames[1]: has the same value as [0]: change one, or remove it',
  ],
])('TLS is held to what EtcdTls is held to: %j', (tls, message) => {
  expect(errorsOf([cluster({ tls })], { namespace: 'shop' })).toEqual([expect.stringContaining(message)]);
});

test('the account of a schedule outlives its manifests, as the cluster does', () => {
  const schedules = [{ name: 'daily', cron: '@daily', stores: [{ s3: { bucket: 'backups' } }] }];
  const account = (spec: Manifest) =>
    rendering([cluster({ backup: { schedules }, ...spec })]).manifests.find(
      ({ kind, metadata }) => kind === 'ServiceAccount' && metadata.name === 'orders-daily',
    )!.metadata.annotations;
  expect(account({})).toMatchObject({ 'kustomize.toolkit.fluxcd.io/prune': 'disabled' });
  expect(account({ protect: false })).toBeUndefined();
});

test('annotations that all objects of the cluster get are carried over', () => {
  const object = resource(
    'EtcdCluster',
    { version: '3.6.16', annotations: { 'example.com/a': 'b', 'example.com/c': 'd' } },
    { annotations: { 'example.com/a': 'b', 'example.com/c': 'other', 'example.com/e': 'f' } },
  );
  expect(rendering([object]).lines.filter((line) => line.includes('annotations'))).toEqual([
    'not carried over: EtcdCluster orders (document 1): metadata.annotations: example.com/c, example.com/e: write them into spec.annotations, which all objects get',
  ]);
});

test.each<[string, Manifest, string]>([
  ['a field that does not exist', { sise: null }, 'spec.sise: is not a field: write size, or remove it'],
  ['another below it', { storage: { size: '8Gi', sise: null } }, 'spec.storage.sise: is not a field'],
  ['a setting of etcd', { settings: { 'log-level': null } }, 'log-level'],
  ['a label', { labels: { team: null } }, 'spec.labels.team: is empty: give a value, or remove it'],
])('null is refused for %s', (_, spec, says) =>
  expect(errorsOf([cluster(spec)])).toEqual([expect.stringContaining(says)]),
);

test('null is refused for a field that does not exist in an item of a list', () => {
  const schedule = { name: 'a', cron: '@daily', stores: [{ s3: { bucket: 'backups', regoin: null, prefix: null } }] };
  expect(errorsOf([cluster({ backup: { schedules: [schedule] } })])).toEqual([
    expect.stringContaining('spec.backup.schedules[0].stores[0].s3.regoin: is not a field'),
  ]);
});

test('null is not there for a field of an object that Kubernetes defines', () => {
  const affinity = { nodeAffinity: null, podAffinity: null };
  expect(rendering([cluster({ affinity })]).manifests).toEqual(rendering([cluster({ affinity: {} })]).manifests);
});

test.each([
  ['EtcdBackup', 'now-backup', { endpoints: ['etcd:2379'], store: { s3: store.s3 } }],
  ['EtcdRestore', 'now-restore', { clusterName: 'orders', source: { backupName: 'before' }, safetyBackup: false }],
])('serviceAccountAnnotations of an %s make the ServiceAccount %s', (kind, name, spec) => {
  const serviceAccountAnnotations = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/backup' };
  const others = kind === 'EtcdRestore' ? [cluster()] : [];
  const { manifests } = rendering([resource(kind, { ...spec, serviceAccountAnnotations }, { name: 'now' }), ...others]);
  expect(manifests.find(({ metadata }) => metadata.name === name)).toMatchObject({
    kind: 'ServiceAccount',
    metadata: { annotations: serviceAccountAnnotations },
  });
  const [made] = manifests.filter((each) => each.kind === kind);
  expect(made.spec).toMatchObject({ serviceAccountAnnotations });
});

describe('labels of app.kubernetes.io', () => {
  const labelled = (label: string, value: string) =>
    resource(
      'EtcdBackup',
      { clusterName: 'orders', schedule: 'hourly' },
      { labels: { [`app.kubernetes.io/${label}`]: value } },
    );

  test.each([
    ['version', '2.0'],
    ['managed-by', 'me'],
  ])('%s is carried over, also from what was rendered', (label, value) => {
    const first = rendering([labelled(label, value)]);
    expect(only(first, 'EtcdBackup').metadata.labels).toMatchObject({ [`app.kubernetes.io/${label}`]: value });
    expect(first.lines).toEqual([]);
    expect(rendering(first.manifests)).toEqual(first);
  });

  test.each([
    ['name', 'chart'],
    ['instance', 'release'],
    ['component', 'store'],
    ['part-of', 'shop'],
  ])('another %s is reported', (label, value) => {
    const { lines } = rendering([labelled(label, value)]);
    expect(lines).toEqual([
      `not carried over: EtcdBackup orders (document 1): metadata.labels: app.kubernetes.io/${label}: cannot be chosen; use labels of your own`,
    ]);
  });

  test('those of a Helm release are not to be written into spec.labels, which refuses them', () => {
    const helm = { 'app.kubernetes.io/instance': 'release', team: 'shop' };
    expect(
      rendering([resource('EtcdCluster', { version: '3.6.16', tls: { managed: {} } }, { labels: helm })]).lines,
    ).toEqual([
      expect.stringContaining('app.kubernetes.io/instance: cannot be chosen'),
      expect.stringContaining('metadata.labels: team: write them into spec.labels'),
    ]);
  });
});

test('a user has the labels and annotations of its cluster', () => {
  const annotations = { 'example.com/a': 'b' };
  const orders = cluster({ tls: { managed: {} }, labels: { team: 'shop' }, annotations });
  const user = resource('EtcdUser', { clusterName: 'orders', permissions: [], certificateSecret: 'api' });
  const found = rendering([orders, user]);
  expect(only(found, 'EtcdUser').metadata).toMatchObject({ labels: { team: 'shop' }, annotations });
  expect(found.lines).toEqual([]);
  const live = { ...user, metadata: { ...user.metadata, annotations: { ...annotations, 'example.com/c': 'd' } } };
  expect(rendering([orders, live]).lines).toEqual([
    'not carried over: EtcdUser orders (document 2): metadata.annotations: example.com/c: add them after rendering if you need them',
  ]);
});

test('an existing ServiceAccount with the name of the cluster is not created', () => {
  const accounts = (spec: Manifest) =>
    rendering([cluster(spec)], { reconciler: false }).manifests.filter(({ kind }) => kind === 'ServiceAccount');
  expect(accounts({})).toHaveLength(1);
  expect(accounts({ serviceAccountName: 'orders' })).toEqual([]);
});

test('requests of a moment are left out', () => {
  const maintenance = {
    onNoSpace: 'Report',
    defragment: { at: '2026-11-26T15:00:00Z', ordinal: 1 },
    moveLeader: { at: '2026-11-26T15:00:00Z', ordinal: 2 },
  };
  const without = rendering([cluster({ maintenance: { onNoSpace: 'Report' } })]);
  expect(rendering([cluster({ maintenance })])).toEqual(without);
  expect(JSON.stringify(without.manifests)).toContain('{"onNoSpace":"Report"}');
});

describe('notes', () => {
  test.each<[string, Manifest, string[]]>([
    [
      'a cluster without TLS',
      cluster(),
      [
        'note: EtcdCluster orders (document 1): spec.tls: is missing, so clients and members use plain http; add tls: { managed: {} } for certificates that the reconciler issues',
      ],
    ],
    [
      'TLS with Secrets that it does not name',
      cluster({ tls: { clientSecret: 'client' } }),
      [
        'note: EtcdCluster orders (document 1): spec.tls: the members read their certificates from the Secrets orders-peer-cert and orders-server-cert, which you must create',
      ],
    ],
    [
      'annotations',
      resource('EtcdBackup', { clusterName: 'orders', schedule: 'hourly' }, { annotations: { 'example.com/a': 'b' } }),
      [
        'not carried over: EtcdBackup orders (document 1): metadata.annotations: example.com/a: add them after rendering if you need them',
      ],
    ],
  ])('%s', (_, object, lines) => expect(rendering([object]).lines).toEqual(lines));

  test('resources other than those of etcd are left out', () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's3' }, stringData: { key: 'hunter2' } };
    const { lines, manifests } = rendering([secret, cluster()]);
    expect(lines[0]).toBe(
      'not carried over: Secret s3 (document 1): is not one of EtcdCluster, EtcdBackup, EtcdRestore, EtcdUser, EtcdBackupSchedule, EtcdReconciler; apply it separately',
    );
    expect(JSON.stringify([lines, manifests])).not.toContain('hunter2');
  });
});

describe('errors', () => {
  const on = (kind: string, text: string) => `error: ${kind} orders (document 1): ${text}`;
  const scheduled = (schedule: Manifest) =>
    cluster({ backup: { schedules: [{ name: 'a', cron: '@daily', stores: [store], ...schedule }] } });
  const where = 'spec.backup.schedules[0]';

  test.each<[string, Manifest, string]>([
    ['a misspelt field', cluster({ sise: 3 }), 'spec.sise: is not a field: write size, or remove it'],
    [
      'certificates of cert-manager without a namespace',
      cluster({ tls: { certManager: { issuer: 'ca' } } }),
      'metadata.namespace: is missing, but the certificates contain its name: add it, or give --namespace',
    ],
    [
      'a flag for the managed certificates',
      cluster({ tls: { managed: true } }),
      'spec.tls.managed: is true or false, not an object: write its fields',
    ],
    [
      'text for the other source of certificates',
      cluster({ tls: { managed: {}, alsoTrust: 'cert-manager' } }),
      'spec.tls.alsoTrust: is text, not an object: write its fields',
    ],
    ['a field in the wrong case', cluster({ Size: 3 }), 'spec.Size: is not a field: write size, or remove it'],
    [
      'the name of the volume in TypeScript',
      cluster({ volume: { size: '20Gi' } }),
      'spec.volume: is not a field: write storage',
    ],
    [
      'a name in TypeScript for a field further down',
      cluster({ onNoSpace: 'Alarm' }),
      'spec.onNoSpace: is not a field: write maintenance.onNoSpace',
    ],
    ['the name of the stores in TypeScript', scheduled({ store }), `${where}.store: is not a field: write stores`],
    ['the size in other operators', cluster({ replicas: 3 }), 'spec.replicas: is not a field: write size'],
    ['a field of nothing', cluster({ frobnicate: 3 }), 'spec.frobnicate: is not a field: remove it'],
    [
      'a field further down',
      scheduled({ stores: [{ s3: { ...store.s3, buket: 'x' } }] }),
      `${where}.stores[0].s3.buket: is not a field: write bucket, or remove it`,
    ],
    [
      'a field of metadata',
      resource('EtcdCluster', { version: '3.6.16' }, { lables: {} }),
      'metadata.lables: is not a field; write labels, or remove it',
    ],
    [
      'a namespace that is not text',
      resource('EtcdCluster', { version: '3.6.16' }, { namespace: 7 }),
      'metadata.namespace: is a number, not text; write it in quotes',
    ],
    [
      'a namespace that is a boolean of YAML 1.1',
      resource('EtcdCluster', { version: '3.6.16' }, { namespace: false }),
      'metadata.namespace: is true or false, not text; write it in quotes',
    ],
    ['a field of the whole', { ...cluster(), sepc: {} }, 'sepc: is not a field; write spec, or remove it'],
    ['a string for a number', cluster({ size: '3' }), 'spec.size: is text, not a whole number: write it like 3'],
    ['a fraction', cluster({ size: 2.5 }), 'spec.size: 2.5 is not a whole number: round it'],
    [
      'a number for a version',
      resource('EtcdCluster', { version: 3.5 }),
      'spec.version: 3.5 is a number, not text: write it in quotes',
    ],
    [
      'a number for a version that does not exist',
      resource('EtcdCluster', { version: 9 }),
      'spec.version: 9 is a number, not text: write it in quotes',
    ],
    ['no version', resource('EtcdCluster', {}), 'spec.version: is missing: give it'],
    [
      'a version below the minEpoch',
      cluster({ version: '3.5.1' }),
      "spec.version: '3.5.1' is not a supported version of etcd: write 3.5.11, 3.6.11, 3.7.0 or a later patch of these, such as 3.6.16",
    ],
    [
      'a word out of a few',
      cluster({ pvcPolicy: { onDelete: 'Recycle' } }),
      "spec.pvcPolicy.onDelete: 'Recycle' is not one of Retain, Delete: write one of these",
    ],
    [
      'an even size',
      cluster({ size: 4 }),
      'spec.size: an even size survives no more failures than the odd size below it: choose 1, 3, 5 or 7, or set allowEvenSize: true',
    ],
    [
      'a time that is none',
      cluster({ tls: { clientSecret: 'c', acceptPlaintextFor: 'a day' } }),
      "spec.tls.acceptPlaintextFor: 'a day' is not a valid duration: write 30m, 24h or 7d, or 0s for none",
    ],
    [
      'a word for disabling',
      cluster({ tls: { clientSecret: 'c', disabling: 'maybe' } }),
      'spec.tls.disabling: is text, not true or false: write one of them, without quotes',
    ],
    [
      'users while TLS is switched off',
      cluster({ tls: { clientSecret: 'c', rootSecret: 'r', backupSecret: 'b', disabling: true }, auth: true }),
      'spec.auth: needs TLS, which tls.disabling switches off: set auth: false, and remove disabling until authentication is off in etcd',
    ],
    [
      'no size',
      cluster({ storage: { size: 'big' } }),
      "spec.storage.size: 'big' must be a quantity of at least 2Gi, such as 8Gi: etcd preallocates its log and needs room for a second copy of its database",
    ],
    [
      'a replacement of nobody',
      cluster({ replace: { force: [{ memberId: 'a' }] } }),
      'spec.replace.force[0].ordinal: is missing: give it',
    ],
    [
      'an unknown schedule',
      cluster({ backup: { schedule: 'hourly' } }),
      'spec.backup.schedule: is not one of the backup schedules: give one of them, or leave it out to use the first',
    ],
    [
      'a schedule of no name',
      scheduled({ name: 'Role' }),
      `${where}: name: 'orders-Role' is not a valid Kubernetes name`,
    ],
    [
      'two schedules of one name',
      cluster({ backup: { schedules: [1, 2].map(() => ({ name: 'a', cron: '@daily', stores: [store] })) } }),
      'spec.backup.schedules[1]: has the same name as [0]: change one, or remove it',
    ],
    ['no stores', scheduled({ stores: undefined }), `${where}.stores: is missing: give it`],
    [
      'no kind of store',
      scheduled({ stores: [{}] }),
      `${where}.stores[0]: give exactly one of s3, oss, sftp, filesystem, command`,
    ],
    [
      'two kinds of store',
      scheduled({ stores: [{ ...store, oss: { bucket: 'abc', credentials: { secretName: 'oss' } } }] }),
      `${where}.stores[0]: give exactly one of s3, oss, sftp, filesystem, command`,
    ],
    [
      'no cron',
      scheduled({ cron: 'hourly' }),
      `${where}.cron: 'hourly' has 1 fields; give 5: minute, hour, day of month, month, day of week`,
    ],
    [
      'no duration',
      scheduled({ timeout: 'soon' }),
      `${where}.timeout: 'soon' is not a valid duration above zero: write 90s, 5m, 24h or 30d`,
    ],
    [
      'a retention of nothing',
      scheduled({ stores: [{ ...store, retention: { last: 0 } }] }),
      `${where}.stores[0].retention.last: 0 is too small: give at least 1`,
    ],
    [
      'an empty retention',
      scheduled({ stores: [{ ...store, retention: {} }] }),
      `${where}.stores[0].retention: keeps nothing: give last, within, hourly, daily, weekly, monthly or yearly, or no retention to keep everything`,
    ],
    ['encryption without recipients', scheduled({ encryption: {} }), `${where}.encryption.age: is missing: give it`],
    [
      'a file that a store has not',
      backup({ store: { s3: { ...store.s3, credentials: { secretName: 's3', items: [{ key: 'a', path: 'b' }] } } } }),
      'spec.store.s3.credentials.items: has a file that is not used: write one of AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN in path',
    ],
    [
      'authorities from nowhere',
      backup({ store: { s3: { ...store.s3, ca: {} } } }),
      'spec.store.s3.ca: give exactly one of secretName and configMapName',
    ],
    [
      'no credentials',
      backup({ store: { oss: { bucket: 'backups' } } }),
      'spec.store.oss.credentials: is missing: give it',
    ],
    ['no source', restore({}), 'spec.source: is missing: give it'],
    [
      'two sources',
      restore({ source: { backupName: 'a', store } }),
      'spec.source: give exactly one of backupName and store',
    ],
    [
      'no snapshot',
      restore({ source: { store } }),
      'spec.source: store needs exactly one of snapshotId, key, latestVerifiedBefore, and backupName none of them',
    ],
    [
      'a snapshot beside a backup',
      restore({ source: { backupName: 'a', key: 'b' } }),
      'spec.source: store needs exactly one of snapshotId, key, latestVerifiedBefore, and backupName none of them',
    ],
    [
      'a name beside a key',
      restore({ source: { store, key: 'a', clusterName: 'b' } }),
      'spec.source.clusterName: has an effect only with snapshotId or latestVerifiedBefore: remove it',
    ],
    [
      'a namespace beside a key',
      restore({ source: { store, key: 'a', clusterNamespace: 'b' } }),
      'spec.source.clusterNamespace: has an effect only with snapshotId or latestVerifiedBefore: remove it',
    ],
    [
      'a cluster that cannot be',
      restore({ clusterName: 'Or ders', source: { backupName: 'a' } }),
      "spec.clusterName: 'Or ders' is not a valid name of an EtcdCluster",
    ],
    [
      'TLS without files',
      resource('EtcdBackup', { endpoints: ['a:2379'], tls: {}, store }),
      'spec.tls.files: is missing: give it',
    ],
  ])('%s', (_, object, text) => {
    const lines = errorsOf([object]);
    expect(lines.filter((line) => `${line}\n`.startsWith(on(object.kind, text)))).toHaveLength(1);
  });

  test.each<[string, string | Manifest[], string[]]>([
    [
      'an unknown API',
      [{ ...cluster(), apiVersion: 'etcd.aenix.io/v1alpha1' }],
      [
        'error: EtcdCluster orders (document 1): apiVersion: etcd.aenix.io/v1alpha1 is of an operator whose resources are not read; docs/clusters/move-from-operators.md says how to move its etcd',
      ],
    ],
    [
      'a misspelt API',
      [{ ...cluster(), apiVersion: 'cdk8s-etcd.de/v1alpha1' }],
      [
        'error: EtcdCluster orders (document 1): apiVersion: is unknown; use cdk8s-etcd.dev/v1alpha1, etcd.database.coreos.com/v1beta2, etcd.ydzs.io/v1alpha1',
      ],
    ],
    [
      'a size without a unit',
      [cluster({ storage: { size: 20 } })],
      [expect.stringContaining('spec.storage.size: 20 is a number, not text: write it in quotes')],
    ],
    [
      'a misspelt kind',
      [{ ...cluster(), kind: 'EtcdClutser' }],
      [
        'error: EtcdClutser orders (document 1): kind: cdk8s-etcd.dev/v1alpha1 has no such kind; did you mean EtcdCluster?',
      ],
    ],
    [
      'another kind',
      [{ ...cluster(), kind: 'Backup' }],
      [
        'error: Backup orders (document 1): kind: cdk8s-etcd.dev/v1alpha1 has no such kind; use EtcdCluster, EtcdBackup, EtcdRestore, EtcdUser, EtcdBackupSchedule, EtcdReconciler',
      ],
    ],
    [
      'no name',
      [{ ...cluster(), metadata: {} }],
      ['error: EtcdCluster (document 1): metadata.name: is missing; add it'],
    ],
    [
      'nothing',
      '',
      [
        'error: input.yaml: contains no EtcdCluster, EtcdBackup, EtcdRestore, EtcdUser, EtcdBackupSchedule, EtcdReconciler; add at least one',
      ],
    ],
    [
      'only others',
      'kind: Secret\nmetadata: {name: a}',
      [
        'not carried over: Secret a (document 1): is not one of EtcdCluster, EtcdBackup, EtcdRestore, EtcdUser, EtcdBackupSchedule, EtcdReconciler; apply it separately',
        'error: input.yaml: contains no EtcdCluster, EtcdBackup, EtcdRestore, EtcdUser, EtcdBackupSchedule, EtcdReconciler; add at least one',
      ],
    ],
    [
      'no object',
      'hunter2',
      ['error: document 1: is not a Kubernetes object; give apiVersion, kind, metadata and spec'],
    ],
    [
      'broken YAML',
      'a: 1\npassword: "hunter2',
      ['error: input.yaml: line 2, column 19: is not valid YAML (missing char); correct it'],
    ],
    [
      'a field given twice',
      'a: 1\na: 2',
      ['error: input.yaml: line 2, column 1: is not valid YAML (duplicate key); correct it'],
    ],
    [
      'an unknown alias',
      'a: *hunter2',
      ['error: input.yaml: has an alias without an anchor, or too many aliases; write it without aliases'],
    ],
    ...['!!set { a, b }', '!!omap [ a: b ]', '!!pairs [ a: b ]', '!!binary aGk=', '!mine { a: b }'].map(
      (labels): [string, string, string[]] => [
        `the tag of ${labels}`,
        `kind: EtcdCluster\nmetadata:\n  labels: ${labels}`,
        ['error: input.yaml: line 3, column 11: has a tag that Kubernetes does not have; write it without'],
      ],
    ),
  ])('%s', (_, input, lines) => expect(errorsOf(input)).toEqual(lines));

  test('an error of a schedule names the schedule and the store', () => {
    const schedules = [
      { name: 'a', cron: '@daily', stores: [store, store] },
      { name: 'b', cron: '61 * * * *', stores: [{ s3: { ...store.s3, region: 'us' } }], timeZone: 'Mars' },
    ];
    const paths = [
      'spec.backup.schedules[0].stores[1]: is the same place as an earlier store',
      'spec.backup.schedules[1].cron: ',
      "spec.backup.schedules[1]: timeZone: 'Mars' ",
    ];
    const errors = errorsOf([cluster({ backup: { schedules } })]);
    expect(errors).toEqual(
      expect.arrayContaining(paths.map((text) => expect.stringContaining(on('EtcdCluster', text)))),
    );
    expect(errors.filter((line) => !line.includes('spec.backup.schedules['))).toEqual([]);
  });

  test('all errors are reported at once, by document', () => {
    expect(
      errorsOf([cluster({ sise: 1, tls: 'yes' }), backup({ stroe: {} })]).map((line) => line.split(': ')[1]),
    ).toEqual([
      ...Array(2).fill('EtcdCluster orders (document 1)'),
      ...Array(2).fill('EtcdBackup orders (document 2)'),
    ]);
  });

  test('no value is repeated that could be a secret', () => {
    const objects = [
      cluster({ tls: { clientSecret: ['hunter2'] }, password: 'hunter2', replace: { policy: ['hunter2'] } }),
    ];
    expect(errorsOf(objects)).toHaveLength(3);
    expect(errorsOf(objects).join()).not.toContain('hunter2');
  });
});

test('a problem that only synthesis finds has the path of its field', () => {
  const wrong = {
    settings: { 'data-dir': '/elsewhere' },
    initContainers: [{ name: 'own', image: 'r/own:1', volumeMounts: [{ name: 'none', mountPath: '/own' }] }],
  };
  const document = { ...wrong, size: 3, version: '3.6.16' };
  expect(
    errorsOf([
      { apiVersion: 'cdk8s-etcd.dev/v1alpha1', kind: 'EtcdCluster', metadata: { name: 'orders' }, spec: document },
    ]),
  ).toEqual([expect.stringContaining(': spec.settings: '), expect.stringContaining(': spec.initContainers[own].')]);
});
