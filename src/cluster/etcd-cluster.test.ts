import { App, Chart, Cron, JsonPatch, Testing, Yaml } from 'cdk8s';
import { cluster, manifestsOf, objectOf, sorts, templateOf, tlsSecrets, userSecrets } from '../../test/clusters';
import { checkSchema } from '../../test/kubernetes';
import { type Manifest, s3 } from '../../test/synth';
import {
  BackupStore,
  DeletionPolicy,
  EtcdCluster,
  type EtcdClusterProps,
  EtcdReconciler,
  EtcdTls,
  EtcdVersion,
  Retention,
} from '..';
import { madeFromAnnotation } from '../cluster/manifests/made-from';

const nightly = { schedule: Cron.daily(), store: s3 };

test('only a name is required', () => {
  const manifests = manifestsOf(new EtcdCluster(new Chart(Testing.app(), 'shop'), 'orders'));
  const own = manifests.filter(({ metadata }) => metadata.labels['app.kubernetes.io/name'] === 'etcd');
  expect(own.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'ServiceAccount orders',
    'Role orders',
    'RoleBinding orders',
    'Role orders-etcd-reconciler',
    'RoleBinding orders-etcd-reconciler',
    'ConfigMap orders-settings',
    'Service orders-peers',
    'Service orders',
    ...[0, 1, 2, 3, 4, 5, 6].map((ordinal) => `Service orders-${ordinal}-client`),
    'NetworkPolicy orders',
    'NetworkPolicy orders-jobs',
    'PodDisruptionBudget orders',
    'Secret orders-peer-ca',
    'Secret orders-client-ca',
    'Secret orders-peer-tls',
    'Secret orders-server-tls',
    'Secret orders-client-tls',
    'Secret orders-root-tls',
    'Secret orders-backup-tls',
    'StatefulSet orders',
    'EtcdCluster orders',
  ]);
  const reconciler = manifests.filter(({ metadata }) => metadata.name === 'etcd-reconciler');
  expect(reconciler.map(({ kind }) => kind)).toContain('Deployment');
  expect(own.length + reconciler.length).toBe(manifests.length);
});

describe.each(sorts)('a cluster %s', (_, make) => {
  const manifests = manifestsOf(make());

  test.each(manifests.map((manifest) => [manifest.kind, manifest.metadata.name, manifest]))(
    "holds to Kubernetes' schema: %s %s",
    (_kind, _name, manifest) => checkSchema(manifest),
  );

  test('has no nulls', () => expect(JSON.stringify(manifests)).not.toContain('null'));

  test('has the same bytes each time', () => {
    expect(Yaml.stringify(...manifestsOf(make()))).toBe(Yaml.stringify(...manifests));
  });

  test('creates no object twice', () => {
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('leaves the number of pods, and when they are replaced, to the reconciler', () => {
    const { spec } = manifests.find(({ kind }) => kind === 'StatefulSet');
    expect(spec).not.toHaveProperty('replicas');
    expect(spec).toMatchObject({ podManagementPolicy: 'Parallel', updateStrategy: { type: 'OnDelete' } });
    expect(JSON.stringify(spec.template.metadata)).not.toContain('cdk8s-etcd.dev/epoch');
  });
});

test('no namespace is needed, and that of the chart is taken', () => {
  for (const { metadata } of manifestsOf(cluster())) expect(metadata).not.toHaveProperty('namespace');
  for (const { metadata } of manifestsOf(cluster({}, 'shop'))) expect(metadata.namespace).toBe('shop');
});

test('names do not change when the construct moves within the tree', () => {
  const app = new App();
  const inner = new Chart(new Chart(app, 'outer'), 'inner');
  new EtcdCluster(inner, 'orders');
  expect(Testing.synth(inner)).toEqual(manifestsOf(cluster()));
});

test('clients get a name for each member, of the namespace where that is known', () => {
  expect(cluster().clientEndpoints).toEqual([
    'https://orders-0-client:2379',
    'https://orders-1-client:2379',
    'https://orders-2-client:2379',
  ]);
  expect(cluster({ size: 1, tls: EtcdTls.none() }).clientEndpoints).toEqual(['http://orders-0-client:2379']);
  expect(cluster({ size: 1, clusterDomain: 'k8s.example.com' }, 'shop').clientEndpoints).toEqual([
    'https://orders-0-client.shop.svc.k8s.example.com:2379',
  ]);
});

test('its attributes connect other charts to it', () => {
  const plain = cluster({ name: 'payments', size: 5, version: EtcdVersion.V3_7, tls: EtcdTls.none() });
  expect(plain).toMatchObject({
    clusterName: 'payments',
    size: 5,
    clientPort: 2379,
    serviceAccountName: 'payments',
    clientTls: undefined,
    clientTlsSecretName: undefined,
  });
  expect(plain.version).toBe(EtcdVersion.V3_7);
  expect([plain.clientService.name, plain.peerService.name]).toEqual(['payments', 'payments-peers']);
  const secured = cluster({ size: 1, tls: EtcdTls.fromSecrets(tlsSecrets) });
  expect(secured.clientTlsSecretName).toBe('orders-client');
  expect(secured.clientEndpoints).toEqual(['https://orders-0-client:2379']);
});

test.each([
  ['without TLS', EtcdTls.none(), 'http://orders-0-client:2379', undefined],
  ['without a certificate for them', EtcdTls.fromSecrets(tlsSecrets), 'https://orders-0-client:2379', 'orders-client'],
  ['with one', EtcdTls.fromSecrets(userSecrets), 'https://orders-0-client:2382', 'orders-backup'],
  ['by default', undefined, 'https://orders-0-client:2382', 'orders-backup-tls'],
])('backups %s', (_, tls, endpoint, secretName) => {
  const subject = cluster({ size: 1, tls });
  expect(subject.backupEndpoints).toEqual([endpoint]);
  expect(subject.backupTls?._pod().files.secretName).toBe(secretName);
});

describe('while TLS is switched off', () => {
  const sources: [string, EtcdTls][] = [
    ['managed', EtcdTls.managed()],
    ['certManager', EtcdTls.certManager({ issuer: 'ca' })],
    ['fromSecrets', EtcdTls.fromSecrets(tlsSecrets)],
    ['fromSecrets, for users', EtcdTls.fromSecrets(userSecrets)],
  ];

  test.each(sources)('%s: every object stays, apart from the resource of the cluster', (_, previous) => {
    const manifests = (tls: EtcdTls) => {
      const subject = cluster({ tls }, 'shop');
      subject.addBackupSchedule('nightly', nightly);
      return manifestsOf(subject).map((each) =>
        each.kind === 'EtcdCluster'
          ? { ...each, spec: { ...each.spec, tls: { ...each.spec.tls, disabling: true } } }
          : each,
      );
    };
    expect(manifests(EtcdTls.none({ previous }))).toEqual(manifests(previous));
  });

  test.each(sources)('%s: clients are led to http, and backups keep their certificate', (_, previous) => {
    const [before, after] = [previous, EtcdTls.none({ previous })].map((tls) => cluster({ size: 1, tls }, 'shop'));
    expect(after).toMatchObject({
      clientEndpoints: ['http://orders-0-client.shop.svc.cluster.local:2379'],
      clientTls: undefined,
      clientTlsSecretName: undefined,
    });
    expect(after!.backupEndpoints).toEqual(before!.backupEndpoints);
    expect(after!.backupTls).toEqual(before!.backupTls);
  });
});

test('every object is there to be patched, under a stable id', () => {
  const subject = cluster({}, 'shop');
  const certificates = ['Peer', 'Server', 'Client', 'Root', 'Backup'].map((id) => [
    `${id}Certificate`,
    `orders-${id.toLowerCase()}-cert`,
  ]);
  expect(
    cluster({ tls: EtcdTls.certManager({ issuer: 'ca' }) }, 'shop').certificates.map(({ node, name }) => [
      node.id,
      name,
    ]),
  ).toEqual(certificates);
  const fields = Object.fromEntries(
    Object.values(subject)
      .flat()
      .flatMap((value) => (value?.node?.scope === subject && value.kind ? [[value.node.id, value.name]] : [])),
  );
  expect(fields).toEqual({
    ServiceAccount: 'orders',
    Role: 'orders',
    RoleBinding: 'orders',
    ReconcilerRole: 'orders-etcd-reconciler',
    ReconcilerRoleBinding: 'orders-etcd-reconciler',
    Settings: 'orders-settings',
    PeerService: 'orders-peers',
    ClientService: 'orders',
    ...Object.fromEntries(
      [0, 1, 2, 3, 4, 5, 6].map((ordinal) => [`MemberService${ordinal}`, `orders-${ordinal}-client`]),
    ),
    NetworkPolicy: 'orders',
    JobNetworkPolicy: 'orders-jobs',
    PodDisruptionBudget: 'orders',
    PeerAuthoritySecret: 'orders-peer-ca',
    ClientAuthoritySecret: 'orders-client-ca',
    PeerSecret: 'orders-peer-tls',
    ServerSecret: 'orders-server-tls',
    ClientSecret: 'orders-client-tls',
    RootSecret: 'orders-root-tls',
    BackupSecret: 'orders-backup-tls',
    StatefulSet: 'orders',
    EtcdCluster: 'orders',
  });
  expect(Object.keys(fields).sort()).toEqual(
    subject.node.children
      .map(({ node }) => node.id)
      .filter((id) => id !== 'Reconciler')
      .sort(),
  );
  const hostAliases = [{ ip: '192.0.2.1', hostnames: ['registry.example.com'] }];
  subject.statefulSet.addJsonPatch(JsonPatch.add('/spec/template/spec/hostAliases', hostAliases));
  expect(templateOf(subject).spec.hostAliases).toEqual(hostAliases);
  expect(templateOf(subject).spec.initContainers[1].restartPolicy).toBe('Always');
});

test('labels are on every object, and the standard ones stay', () => {
  const subject = cluster({ labels: { team: 'storage' } });
  for (const { metadata } of manifestsOf(subject).filter(({ metadata }) => metadata.name !== 'etcd-reconciler')) {
    expect(metadata.labels).toMatchObject({
      team: 'storage',
      'app.kubernetes.io/part-of': 'orders',
      'app.kubernetes.io/instance': 'orders',
      'app.kubernetes.io/name': 'etcd',
    });
  }
});

test('labels by which others select are refused', () => {
  const labels = { 'app.kubernetes.io/component': 'mine' };
  const subject = cluster({ labels });
  subject.addBackupSchedule('nightly', { ...nightly, labels });
  const message = 'labels: has a label by which the pods are selected, such as app.kubernetes.io/name: remove it';
  const [own, schedule] = [subject, subject.node.findChild('nightly')].map(({ node }) => node.validate());
  expect(own).toContainEqual(expect.stringContaining(message));
  expect(schedule).toContainEqual(expect.stringContaining(message));
});

test('annotations are on every object, those of schedules and of the monitoring too', () => {
  const subject = cluster({ annotations: { 'example.com/a': 'cluster', 'example.com/b': 'cluster' } });
  subject.addBackupSchedule('nightly', { ...nightly, annotations: { 'example.com/b': 'schedule' } });
  subject.addMonitoring();
  const all = manifestsOf(subject).filter(({ metadata }) => metadata.name !== 'etcd-reconciler');
  expect(all.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['CronJob', 'ServiceMonitor', 'PrometheusRule']));
  for (const { metadata } of all) expect(metadata.annotations).toMatchObject({ 'example.com/a': 'cluster' });
  const { metadata, spec } = all.find(({ kind }) => kind === 'CronJob');
  expect([metadata, spec.jobTemplate.metadata].map(({ annotations }) => annotations['example.com/b'])).toEqual(
    Array(2).fill('schedule'),
  );
});

test('a label or annotation changes no immutable field', () => {
  const immutable = (subject: EtcdCluster) => {
    const { selector, serviceName, podManagementPolicy, volumeClaimTemplates } = objectOf(subject, 'StatefulSet').spec;
    return { selector, serviceName, podManagementPolicy, volumeClaimTemplates };
  };
  const changed = cluster({
    labels: { team: 'storage' },
    podAnnotations: { a: 'b' },
    size: 5,
    version: EtcdVersion.V3_7,
  });
  expect(immutable(changed)).toEqual(immutable(cluster()));
});

describe('what Argo CD and Flux may delete', () => {
  const kept = {
    'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
    'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
    'kustomize.toolkit.fluxcd.io/prune': 'disabled',
  };
  const of = (props: EtcdClusterProps) => {
    const orders = new EtcdCluster(new Chart(Testing.app(), 'shop'), 'orders', props);
    orders.addBackupSchedule('nightly', nightly);
    orders.addUser('api', { can: [] });
    const isKept = ({ metadata }: Manifest) => {
      const { [madeFromAnnotation]: _, ...annotations } = metadata.annotations ?? {};
      return JSON.stringify(annotations) === JSON.stringify(kept);
    };
    const [no, yes] = [false, true].map((want) => manifestsOf(orders).filter((each) => isKept(each) === want));
    return { no: no!.map(({ kind, metadata }) => `${kind} ${metadata.name}`), yes: yes! };
  };

  test('is nothing that its members need', () => {
    const { no, yes } = of({});
    expect(yes.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['EtcdCluster', 'StatefulSet', 'Secret', 'Service', 'ConfigMap', 'Role', 'NetworkPolicy']),
    );
    expect(no.filter((name) => !/etcd-reconciler$|nightly$|api/.test(name))).toEqual([]);
  });

  test.each<[string, EtcdClusterProps]>([
    ['with protect: false', { protect: false }],
    ['without volumes', { volume: { ephemeral: true } }],
  ])('is everything of a cluster %s', (_, props) => {
    expect(of(props).yes).toEqual([]);
  });
});

describe('a backup schedule', () => {
  const cronJobOf = (subject: EtcdCluster) => objectOf(subject, 'CronJob');
  const podOf = (subject: EtcdCluster) => cronJobOf(subject).spec.jobTemplate.spec.template.spec;
  const tlsSecretsOf = (subject: EtcdCluster) => {
    const volume = podOf(subject).volumes.find(({ name }: Manifest) => name === 'tls');
    return new Set(volume.projected.sources.map(({ secret }: Manifest) => secret.name));
  };

  test('backs up every member, as the cluster is to be reached', () => {
    const subject = cluster({ tls: EtcdTls.fromSecrets(tlsSecrets) });
    expect(subject.addBackupSchedule('nightly', nightly).cronJobName).toBe('orders-nightly');
    const { args } = podOf(subject).containers[0];
    expect(args).toContain('--cluster=orders');
    expect(args).toContain(`--endpoints=${subject.clientEndpoints.join(',')}`);
    expect(tlsSecretsOf(subject)).toEqual(new Set(['orders-client']));
  });

  test('uses the port and the certificate for backups, where they exist', () => {
    const subject = cluster();
    subject.addBackupSchedule('nightly', nightly);
    const endpoints = [0, 1, 2].map((ordinal) => `https://orders-${ordinal}-client:2382`);
    expect(podOf(subject).containers[0].args).toContain(`--endpoints=${endpoints.join(',')}`);
    expect(tlsSecretsOf(subject)).toEqual(new Set(['orders-backup-tls']));
  });

  test('keeps the snapshots that are listed beside the record of its cluster', () => {
    const subject = cluster();
    subject.addBackupSchedule('nightly', { ...nightly, retention: Retention.last(3) });
    const { containers, volumes } = podOf(subject);
    const items = [{ key: 'kept-snapshots', path: 'kept-snapshots' }];
    expect(volumes).toContainEqual({
      ...{ name: 'record', configMap: { name: 'orders-record', items, optional: true, defaultMode: 0o440 } },
    });
    expect(containers[0].volumeMounts).toContainEqual({
      ...{ name: 'record', mountPath: '/etc/etcd-agent/record', readOnly: true },
    });
    expect(containers[0].env).toContainEqual({
      name: 'ETCD_AGENT_KEEP_FILE',
      value: '/etc/etcd-agent/record/kept-snapshots',
    });
  });

  test('asks for an image of its own when the mirror of ours does not do', () => {
    const store = BackupStore.command({ path: '/usr/local/bin/store' });
    const backedUp = (props: EtcdClusterProps, image?: string) => {
      const subject = cluster(props);
      subject.addBackupSchedule('nightly', { ...nightly, store, image });
      return () => podOf(subject).containers[0].image;
    };
    expect(backedUp({ registry: 'registry.example.com' })).toThrow(/image: store runs executables/);
    expect(backedUp({ registry: 'registry.example.com' }, 'mine:1')()).toBe('mine:1');
    expect(backedUp({ agentImage: 'mine:2' })()).toBe('mine:2');
  });

  test('pulls its image as the members do, unless it has its own settings', () => {
    const mirrored = () => cluster({ registry: 'registry.example.com', imagePullSecrets: ['mirror'] });
    const inherits = mirrored();
    inherits.addBackupSchedule('nightly', nightly);
    expect(podOf(inherits).imagePullSecrets).toEqual([{ name: 'mirror' }]);
    expect(podOf(inherits).containers[0].image).toMatch(/^registry\.example\.com\//);
    const own = mirrored();
    own.addBackupSchedule('nightly', { ...nightly, image: 'mine:1', imagePullSecrets: [] });
    expect(podOf(own).imagePullSecrets).toEqual([]);
    expect(podOf(own).containers[0].image).toBe('mine:1');
  });
});

describe('the reconciler', () => {
  const accounts = (chart: Chart) =>
    (Testing.synth(chart) as Manifest[])
      .filter(({ kind, metadata }) => kind === 'RoleBinding' && metadata.name.endsWith('-reconciler'))
      .filter(({ metadata }) => metadata.name !== 'etcd-reconciler')
      .map(({ subjects }) => subjects[0].name);
  const deployments = (chart: Chart) =>
    (Testing.synth(chart) as Manifest[]).filter(({ kind }) => kind === 'Deployment');

  test('is created once, with the image of the first cluster', () => {
    const chart = new Chart(Testing.app(), 'shop');
    new EtcdCluster(chart, 'orders', { registry: 'registry.example.com', imagePullSecrets: ['mirror'] });
    new EtcdCluster(chart, 'carts');
    const [deployment, ...others] = deployments(chart);
    expect(others).toEqual([]);
    const { spec } = deployment.spec.template;
    expect(spec.imagePullSecrets).toEqual([{ name: 'mirror' }]);
    expect(spec.containers[0].image).toMatch(/^registry\.example\.com\//);
    expect(accounts(chart)).toEqual(['etcd-reconciler', 'etcd-reconciler']);
  });

  test('is the explicit one, which may come after the cluster', () => {
    const chart = new Chart(Testing.app(), 'shop');
    new EtcdCluster(chart, 'orders');
    new EtcdReconciler(chart, 'mine', { name: 'mine' });
    expect(deployments(chart).map(({ metadata }) => metadata.name)).toEqual(['mine']);
    expect(accounts(chart)).toEqual(['mine']);
  });

  test('is the one in the props of the cluster', () => {
    const chart = new Chart(Testing.app(), 'shop');
    new EtcdCluster(chart, 'orders', { reconciler: EtcdReconciler.external({ name: 'theirs' }) });
    expect(deployments(chart)).toEqual([]);
    expect(accounts(chart)).toEqual(['theirs']);
  });
});

describe('a mistake', () => {
  test('is reported at synthesis, with the path of the construct', () => {
    expect(() => manifestsOf(cluster({ size: 4 }))).toThrow(/\[shop\/orders\] size: an even size survives no more/);
    const tls = EtcdTls.certManager({ issuer: 'ca' });
    expect(() => manifestsOf(cluster({ tls }))).toThrow(
      /\[shop\/orders\] tls: .* new Chart\(app, id, \{ namespace \}\)/,
    );
  });

  test('is reported when the custom resource cannot hold all schedules or stores', () => {
    const subject = cluster();
    const schedules = Array.from({ length: 17 }, (_, index) => subject.addBackupSchedule(`n${index}`, nightly));
    for (let index = 0; index < 8; index++) schedules[3]!.addStore(BackupStore.filesystem({ claimName: `c${index}` }));
    expect(subject.node.validate()).toEqual(['addBackupSchedule: has 17 items: give at most 16']);
    expect(schedules[3]!.node.validate()).toEqual(['store: has 9 items: give at most 8']);
  });

  test('disappears when the missing schedule is added later', () => {
    const subject = cluster({ onDelete: DeletionPolicy.DELETE });
    expect(() => manifestsOf(subject)).toThrow(/\[shop\/orders\] finalBackup: a final backup/);
    subject.addBackupSchedule('nightly', nightly);
    expect(() => manifestsOf(subject)).not.toThrow();
  });
});

describe('an etcd that is created elsewhere', () => {
  test.each([
    ['by something else', (chart: Chart) => EtcdCluster.fromEndpoints(chart, 'theirs', ['etcd:2379'])],
    [
      'by another app',
      (chart: Chart) =>
        EtcdCluster.fromAttributes(chart, 'Theirs', { clusterName: 'theirs', clientEndpoints: ['http://etcd:2379'] }),
    ],
  ])('%s is backed up, and nothing more', (_, make) => {
    const chart = new Chart(Testing.app(), 'shop');
    make(chart).addBackupSchedule('nightly', nightly);
    const manifests: Manifest[] = Testing.synth(chart);
    expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      'ServiceAccount theirs-nightly',
      'CronJob theirs-nightly',
    ]);
    expect(JSON.stringify(manifests)).toContain('--endpoints=http://etcd:2379');
  });
});
