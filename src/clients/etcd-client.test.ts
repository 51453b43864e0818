import { ApiObject, App, Chart, Cron, Include, JsonPatch, Lazy, Testing } from 'cdk8s';
import { newest, oldest, plus } from '../../test/cdk8s-plus';
import { checkSchema } from '../../test/kubernetes';
import { s3 } from '../../test/synth';
import {
  CaBundle,
  EtcdAuth,
  EtcdClient,
  type EtcdClientOptions,
  EtcdClientTls,
  EtcdCluster,
  type EtcdClusterProps,
  EtcdPermission,
  EtcdTls,
  NetworkAccess,
} from '..';

// biome-ignore lint/suspicious/noExplicitAny: manifests are checked against Kubernetes' schema
type Manifest = any;

const can = [EtcdPermission.readWrite('/api/')];
const chartOf = () => new Chart(Testing.app(), 'shop', { namespace: 'shop' });
const cluster = (props: EtcdClusterProps = {}, chart = chartOf()) => new EtcdCluster(chart, 'orders', props);
const closed: EtcdClusterProps = { networkAccess: NetworkAccess.nobody() };
const problemsOf = (client: EtcdClient) => client.node.validate();

const endpoints = [0, 1, 2].map((ordinal) => `https://orders-${ordinal}-client.shop.svc.cluster.local:2379`).join(',');
const mounted = { mountPath: '/etc/etcd-client/orders-api', name: 'etcd-orders-api', readOnly: true };
const certificate = (secretName: string) => ({
  name: 'etcd-orders-api',
  secret: {
    secretName,
    items: ['ca.crt', 'tls.crt', 'tls.key'].map((key) => ({ key, path: key })),
  },
});
const variables = (prefix = 'ETCDCTL', path = mounted.mountPath) => [
  { name: `${prefix}_ENDPOINTS`, value: endpoints },
  { name: `${prefix}_CACERT`, value: `${path}/ca.crt` },
  { name: `${prefix}_CERT`, value: `${path}/tls.crt` },
  { name: `${prefix}_KEY`, value: `${path}/tls.key` },
];

/** A workload of the API itself, without cdk8s-plus. */
function deployment(chart: Chart, spec: object = {}, id = 'Api'): ApiObject {
  const labels = { app: id.toLowerCase() };
  return new ApiObject(chart, id, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: id.toLowerCase() },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'api', image: 'api:1' }], ...spec } },
    },
  });
}

const podOf = (manifest: Manifest) => (manifest.spec.jobTemplate?.spec ?? manifest.spec).template ?? manifest;

describe('a client', () => {
  test('without permissions uses the certificate of all clients, and creates nothing', () => {
    const orders = cluster();
    const before = Testing.synth(Chart.of(orders));
    const client = orders.addClient('api');
    expect(Testing.synth(Chart.of(orders))).toEqual(before);
    expect(client).toMatchObject({
      clientName: 'orders-api',
      endpoints: orders.clientEndpoints,
      clientTls: orders.clientTls,
      clientTlsSecretName: 'orders-client-tls',
      user: undefined,
      networkPolicy: undefined,
      podLabels: { 'client.cdk8s-etcd.dev/orders-api': 'true' },
    });
    expect(client.node.path).toBe('shop/orders/Clients/api');
  });

  test('with permissions has a user', () => {
    const orders = cluster();
    const client = orders.addClient('Api', { can, userName: 'web', secretName: 'web-tls', labels: { team: 'a' } });
    const user = Testing.synth(Chart.of(orders)).find(({ kind }) => kind === 'EtcdUser');
    expect(user.spec).toMatchObject({ userName: 'web', certificateSecret: 'web-tls' });
    expect(user.metadata.labels).toMatchObject({ team: 'a' });
    expect(client.clientTls).toEqual(EtcdClientTls.fromSecret('web-tls'));
    expect(client.clientTlsSecretName).toBe('web-tls');
    expect(ApiObject.of(client)).toBe(client.user?.customResource);
  });

  test('may have the id of a schedule', () => {
    const orders = cluster();
    orders.addBackupSchedule('api', { schedule: Cron.daily(), store: s3 });
    expect(problemsOf(orders.addClient('api', { can }))).toEqual([]);
  });

  test.each<[string, EtcdClusterProps, boolean]>([
    ['every pod of the namespace', {}, false],
    ['everybody', { networkAccess: NetworkAccess.anywhere() }, false],
    ['every pod of every namespace', { networkAccess: NetworkAccess.peers({ namespaceLabels: {} }) }, false],
    ['nobody', closed, true],
    ['another pod', { networkAccess: NetworkAccess.peers({ podLabels: { app: 'other' } }) }, true],
    ['another namespace', { networkAccess: NetworkAccess.peers({ namespace: 'other' }) }, true],
    ['addresses', { networkAccess: NetworkAccess.peers({ cidr: '10.0.0.0/8' }) }, true],
  ])('has a network policy if the members admit %s: %#', (_, props, has) => {
    expect(cluster(props).addClient('api').networkPolicy !== undefined).toBe(has);
  });

  test('has a network policy that opens the port for clients to its pods', () => {
    const orders = cluster(closed);
    const client = orders.addClient('api');
    const policy = client.networkPolicy?.toJson();
    expect(policy).toMatchObject({
      metadata: { name: 'orders-client-api', namespace: 'shop' },
      spec: {
        podSelector: orders.networkPolicy.toJson().spec.podSelector,
        policyTypes: ['Ingress'],
        ingress: [
          {
            from: [{ podSelector: { matchLabels: { 'client.cdk8s-etcd.dev/orders-api': 'true' } } }],
            ports: [{ port: 2379, protocol: 'TCP' }],
          },
        ],
      },
    });
    checkSchema(policy);
    expect(ApiObject.of(client)).toBe(client.networkPolicy);
    const other = orders.addClient('web', { podLabels: { app: 'web' } });
    expect(other.networkPolicy?.toJson().spec.ingress[0].from).toEqual([
      { podSelector: { matchLabels: { app: 'web' } } },
    ]);
  });
});

describe.each(plus)('a workload of %s', (_, { Deployment, StatefulSet, DaemonSet, Job, CronJob, Pod, ...types }) => {
  const containers = [{ image: 'api:1', name: 'api', securityContext: { user: 1000 } }];
  const workloads = {
    Deployment: (chart: Chart) => new Deployment(chart, 'Api', { containers }),
    StatefulSet: (chart: Chart) =>
      new StatefulSet(chart, 'Api', {
        containers,
        service: new types.Service(chart, 'Service', { ports: [{ port: 80 }] }),
      }),
    DaemonSet: (chart: Chart) => new DaemonSet(chart, 'Api', { containers }),
    Job: (chart: Chart) => new Job(chart, 'Api', { containers }),
    CronJob: (chart: Chart) => new CronJob(chart, 'Api', { containers, schedule: Cron.hourly() }),
    Pod: (chart: Chart) => new Pod(chart, 'Api', { containers }),
  };

  test.each(Object.entries(workloads))('connects: %s', (_kind, make) => {
    const orders = cluster();
    const workload = make(Chart.of(orders));
    const before = ApiObject.of(workload).toJson();
    const client = orders.addClient('api', { can });
    client.connect(workload);
    expect(problemsOf(client)).toEqual([]);
    const manifest = ApiObject.of(workload).toJson();
    const [pod, old] = [podOf(manifest), podOf(before)];
    expect(pod.metadata.labels).toEqual({ ...old.metadata.labels, 'client.cdk8s-etcd.dev/orders-api': 'true' });
    expect(pod.spec.volumes).toEqual([...(old.spec.volumes ?? []), certificate('orders-user-api')]);
    const { env, volumeMounts, ...others } = pod.spec.containers[0];
    expect(env).toEqual(variables());
    expect(volumeMounts).toEqual([...(old.spec.containers[0].volumeMounts ?? []), mounted]);
    expect(old.spec.containers[0]).toMatchObject(others);
    expect(JSON.stringify(manifest)).toBe(JSON.stringify(sortedKeys(manifest)));
  });

  test('has what is added to it later, too', () => {
    const orders = cluster();
    const chart = Chart.of(orders);
    const api = new Deployment(chart, 'Api', { containers });
    orders.addClient('api').connect(api);
    const sidecar = api.addContainer({ image: 'sidecar:1', name: 'sidecar', securityContext: { user: 1000 } });
    sidecar.env.addVariable('LEVEL', types.EnvValue.fromValue('debug'));
    sidecar.mount('/scratch', types.Volume.fromEmptyDir(chart, 'scratch', 'scratch'));
    const { spec } = podOf(ApiObject.of(api).toJson());
    expect(spec.volumes.map(({ name }: Manifest) => name)).toEqual(['scratch', 'etcd-orders-api']);
    expect(spec.containers[1].env).toEqual([{ name: 'LEVEL', value: 'debug' }, ...variables()]);
    expect(spec.containers[1].volumeMounts).toEqual([expect.objectContaining({ name: 'scratch' }), mounted]);
  });

  test('and the cluster have a connection', () => {
    const orders = cluster();
    const api = new Deployment(Chart.of(orders), 'Api', { containers });
    api.connections.allowTo(orders);
    const policies = Testing.synth(Chart.of(orders)).filter(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.startsWith('allow'),
    );
    const members = orders.networkPolicy.toJson().spec.podSelector;
    const portsOf = [{ port: 2379, protocol: 'TCP' }];
    const peer = {
      podSelector: members,
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } },
    };
    expect(policies.map(({ spec }) => spec)).toEqual([
      expect.objectContaining({ policyTypes: ['Egress'], egress: [{ ports: portsOf, to: [peer] }] }),
      expect.objectContaining({
        podSelector: members,
        policyTypes: ['Ingress'],
        ingress: [{ ports: portsOf, from: [expect.objectContaining({ podSelector: expect.anything() })] }],
      }),
    ]);
  });

  test.each<[string, (chart: Chart) => EtcdCluster]>([
    ['of this app', (chart) => new EtcdCluster(chart, 'orders')],
    [
      'of another app',
      (chart) =>
        EtcdCluster.fromAttributes(chart, 'orders', {
          clusterName: 'orders',
          clientEndpoints: ['http://a:2379'],
        }) as EtcdCluster,
    ],
  ])('can be selected, and be a peer of a policy, with a cluster %s', (_whose, make) => {
    const chart = new Chart(Testing.app(), 'shop');
    const orders = make(chart);
    new types.NetworkPolicy(chart, 'own', { selector: orders, ingress: { rules: [{ peer: orders }] } });
    const near = new Deployment(chart, 'Api', { containers });
    near.scheduling.colocate(orders);
    const labels = {
      'app.kubernetes.io/name': 'etcd',
      'app.kubernetes.io/instance': 'orders',
      'app.kubernetes.io/component': 'member',
    };
    const manifests = Testing.synth(chart);
    const policy = manifests.find(({ metadata }) => metadata.name.startsWith('shop-own'));
    expect(policy.spec.podSelector.matchLabels).toEqual(labels);
    expect(policy.spec.ingress[0].from).toEqual([{ podSelector: { matchLabels: labels } }]);
    const { podAffinity } = manifests.find(({ metadata }) => metadata.name.startsWith('shop-api')).spec.template.spec
      .affinity;
    expect(JSON.stringify(podAffinity)).toContain('"app.kubernetes.io/instance":"orders"');
  });
});

test('the oldest and the newest cdk8s-plus are in one app', () => {
  const app = new App();
  const chart = new Chart(app, 'shop', { namespace: 'shop' });
  const orders = new EtcdCluster(chart, 'Orders', closed);
  const client = orders.addClient('Api', { can });
  client.connect(new oldest.Deployment(chart, 'Old', { containers: [{ image: 'a:1' }] }));
  client.connect(new newest.Deployment(chart, 'New', { containers: [{ image: 'a:1' }] }));
  const deployments = Testing.synth(chart).filter(
    ({ kind, metadata }) => kind === 'Deployment' && /-(old|new)-/.test(metadata.name),
  );
  expect(deployments).toHaveLength(2);
  for (const each of deployments) expect(podOf(each).spec.containers[0].env).toEqual(variables());
});

test('an existing etcd cannot be a peer, because its pods are unknown', () => {
  const etcd = EtcdCluster.fromEndpoints(chartOf(), 'theirs', ['etcd:2379']);
  expect(() => etcd.toNetworkPolicyPeerConfig()).toThrow(/^shop\/theirs: is known by its endpoints only/);
});

describe('any ApiObject', () => {
  test('of the API connects', () => {
    const orders = cluster();
    const api = deployment(Chart.of(orders));
    orders.addClient('api').connect(api);
    const manifest = api.toJson();
    checkSchema(manifest);
    expect(podOf(manifest).spec.containers[0].env).toEqual(variables());
    expect(podOf(manifest).spec.volumes).toEqual([certificate('orders-client-tls')]);
    // The selector, which cannot be changed, stays.
    expect(manifest.spec.selector).toEqual({ matchLabels: { app: 'api' } });
  });

  test('of another API with a template of a pod connects, and that of a file', () => {
    const orders = cluster();
    const chart = Chart.of(orders);
    const rollout = new ApiObject(chart, 'Rollout', {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Rollout',
      spec: { template: { spec: { containers: [{ name: 'a' }] } } },
    });
    const client = orders.addClient('api');
    client.connect(rollout);
    expect(rollout.toJson().spec.template.metadata.labels).toEqual(client.podLabels);
    const file = new Include(chart, 'file', { url: 'dist/existing-etcd-backup.k8s.yaml' });
    const cronJob = file.apiObjects.find(({ kind }) => kind === 'CronJob')!;
    client.connect(cronJob);
    expect(JSON.stringify(cronJob.toJson())).toContain('ETCDCTL_CACERT');
    expect(problemsOf(client)).toEqual([]);
  });

  test('keeps its patches and resolves what is lazy', () => {
    const orders = cluster();
    const api = deployment(Chart.of(orders), { containers: Lazy.any({ produce: () => [{ name: 'lazy' }] }) });
    orders.addClient('api').connect(api);
    api.addJsonPatch(JsonPatch.add('/spec/template/spec/volumes', [{ name: 'own', emptyDir: {} }]));
    const { spec } = podOf(api.toJson());
    expect(spec.volumes.map(({ name }: Manifest) => name)).toEqual(['own', 'etcd-orders-api']);
    expect(spec.containers[0]).toMatchObject({ name: 'lazy', env: variables() });
  });

  test('connects only the containers that are named, also init containers', () => {
    const orders = cluster();
    const api = deployment(Chart.of(orders), {
      containers: [{ name: 'api' }, { name: 'proxy' }],
      initContainers: [{ name: 'migrate' }, { name: 'wait' }],
    });
    orders.addClient('api').connect(api, { containers: ['api', 'migrate'], mountPath: '/tls', envPrefix: 'ETCD' });
    const { spec } = podOf(api.toJson());
    const env = variables('ETCD', '/tls');
    expect(spec.containers.map((each: Manifest) => each.env)).toEqual([env, undefined]);
    expect(spec.initContainers.map((each: Manifest) => each.env)).toEqual([env, undefined]);
    expect(spec.initContainers[0].volumeMounts).toEqual([{ ...mounted, mountPath: '/tls' }]);
  });

  test('connects to two clusters, and twice to one', () => {
    const orders = cluster();
    const chart = Chart.of(orders);
    const api = deployment(chart, { containers: [{ name: 'a' }, { name: 'b' }] });
    const client = orders.addClient('api');
    client.connect(api, { containers: ['a'] });
    client.connect(api, { containers: ['b'], envPrefix: 'ETCD' });
    const second = new EtcdCluster(chart, 'carts').addClient('api');
    second.connect(api, { envPrefix: 'CARTS' });
    expect([client, second].flatMap(problemsOf)).toEqual([]);
    const { spec } = podOf(api.toJson());
    expect(spec.volumes.map(({ name }: Manifest) => name)).toEqual(['etcd-orders-api', 'etcd-carts-api']);
    expect(spec.containers[1].env.map(({ name }: Manifest) => name)).toEqual(
      ['ETCD', 'CARTS'].flatMap((prefix) => variables(prefix).map(({ name }) => name)),
    );
  });
});

describe('what the pods get', () => {
  const podFor = (orders: EtcdCluster, options: EtcdClientOptions = {}) => {
    const api = deployment(Chart.of(orders));
    const client = orders.addClient('api', options);
    client.connect(api);
    expect(problemsOf(client)).toEqual([]);
    return podOf(api.toJson()).spec;
  };

  test('without TLS are endpoints', () => {
    const { containers, volumes } = podFor(cluster({ tls: EtcdTls.none() }));
    expect(volumes).toBeUndefined();
    expect(containers[0].volumeMounts).toBeUndefined();
    expect(containers[0].env).toEqual([{ name: 'ETCDCTL_ENDPOINTS', value: endpoints.replaceAll('https', 'http') }]);
  });

  test('with a password are the shared certificate, the name and the password', () => {
    const { containers, volumes } = podFor(cluster(), { can, password: true });
    expect(volumes).toEqual([certificate('orders-client-tls')]);
    const secretKeyRef = (key: string) => ({ valueFrom: { secretKeyRef: { key, name: 'orders-user-api-password' } } });
    expect(containers[0].env).toEqual([
      ...variables(),
      { name: 'ETCDCTL_USER', ...secretKeyRef('username') },
      { name: 'ETCDCTL_PASSWORD', ...secretKeyRef('password') },
    ]);
  });

  test('while the source of certificates changes are the authorities of both', () => {
    const tls = EtcdTls.certManager({ issuer: 'ca', alsoTrust: EtcdTls.managed() });
    const [volume] = podFor(cluster({ tls })).volumes;
    expect(volume.projected.sources).toEqual([
      { secret: { name: 'orders-client-cert', items: ['tls.crt', 'tls.key'].map((key) => ({ key, path: key })) } },
      { secret: { name: 'orders-tls-trust', items: [{ key: 'client-ca.crt', path: 'ca.crt' }] } },
    ]);
  });

  test('of an existing etcd are its CA and its login', () => {
    const chart = chartOf();
    const etcd = EtcdCluster.fromEndpoints(chart, 'theirs', ['https://etcd:2379'], {
      tls: EtcdClientTls.fromCa(CaBundle.fromConfigMap('etcd-ca', 'root.pem')),
      auth: EtcdAuth.fromSecret('login', { usernameKey: 'name' }),
    });
    const api = deployment(chart);
    const client = new EtcdClient(chart, 'api', { cluster: etcd });
    client.connect(api);
    expect(problemsOf(client)).toEqual([]);
    expect(client.networkPolicy).toBeUndefined();
    expect(client.clientTlsSecretName).toBeUndefined();
    const { containers, volumes } = podOf(api.toJson()).spec;
    expect(volumes).toEqual([
      { name: 'etcd-theirs-api', configMap: { name: 'etcd-ca', items: [{ key: 'root.pem', path: 'ca.crt' }] } },
    ]);
    expect(containers[0].env).toEqual([
      { name: 'ETCDCTL_ENDPOINTS', value: 'https://etcd:2379' },
      { name: 'ETCDCTL_CACERT', value: '/etc/etcd-client/theirs-api/ca.crt' },
      { name: 'ETCDCTL_USER', valueFrom: { secretKeyRef: { key: 'name', name: 'login' } } },
      { name: 'ETCDCTL_PASSWORD', valueFrom: { secretKeyRef: { key: 'password', name: 'login' } } },
    ]);
  });

  test('of a cluster of another app are what its attributes say', () => {
    const chart = chartOf();
    const theirs = EtcdCluster.fromAttributes(chart, 'theirs', {
      clusterName: 'orders',
      clientEndpoints: endpoints.split(','),
      clientTls: EtcdClientTls.fromSecret('orders-client-tls'),
    });
    const client = new EtcdClient(chart, 'api', { cluster: theirs, can });
    const api = deployment(chart);
    client.connect(api);
    expect([client, ...client.node.children].flatMap(({ node }) => node.validate())).toEqual([]);
    // What the members of another app admit is unknown.
    expect(client.networkPolicy?.toJson().spec.podSelector.matchLabels).toMatchObject({
      'app.kubernetes.io/instance': 'orders',
    });
    expect(podOf(api.toJson()).spec.containers[0].env).toEqual(variables());
  });
});

describe('a mistake', () => {
  const connected = (options: object, spec: object = {}, orders = cluster()) => {
    const client = orders.addClient('api');
    client.connect(deployment(Chart.of(orders), spec), options);
    return problemsOf(client);
  };

  test.each<[object, object, string]>([
    [{ containers: ['web'] }, {}, "containers: there is no container 'web'; use api"],
    [{ containers: [] }, {}, 'containers: is empty; name a container, or leave it out for all'],
    [{ mountPath: 'tls' }, {}, "mountPath: 'tls' is not a valid directory; write it like /etc/etcd-client"],
    [{ mountPath: '/tls/' }, {}, "mountPath: '/tls/' is not a valid directory"],
    [{ envPrefix: 'MY-ETCD' }, {}, "envPrefix: 'MY-ETCD' cannot begin the name of a variable"],
    [
      {},
      { containers: [{ name: 'api', env: [{ name: 'ETCDCTL_CERT', value: 'x' }] }] },
      "container 'api' already has the variable ETCDCTL_CERT; give another envPrefix",
    ],
    [
      { mountPath: '/tls' },
      { containers: [{ name: 'api', volumeMounts: [{ name: 'a', mountPath: '/tls' }] }] },
      "container 'api' already mounts /tls; give another mountPath",
    ],
    [
      {},
      { volumes: [{ name: 'etcd-orders-api', emptyDir: {} }] },
      "the pod already has another volume 'etcd-orders-api'",
    ],
  ])('of connect %# is found at synthesis', (options, spec, message) => {
    const problems = connected(options, spec);
    expect(problems).toEqual([expect.stringContaining(`connect: shop/Api: ${message}`)]);
  });

  test('is to connect twice with the same names', () => {
    const orders = cluster();
    const client = orders.addClient('api');
    const api = deployment(Chart.of(orders));
    client.connect(api);
    client.connect(api);
    expect(problemsOf(client)).toContainEqual(expect.stringContaining('already has the variable ETCDCTL_ENDPOINTS'));
  });

  test('is a workload of another namespace', () => {
    const orders = cluster();
    const chart = new Chart(Chart.of(orders), 'other', { namespace: 'web' });
    const client = orders.addClient('api');
    client.connect(deployment(chart));
    expect(problemsOf(client)).toEqual([
      "connect: shop/other/Api: is in 'web', but the client in 'shop'; a client is for pods of its own namespace",
    ]);
  });

  test('is something without a pod', () => {
    const orders = cluster();
    const client = orders.addClient('api');
    client.connect(orders.settings);
    expect(problemsOf(client)).toEqual(["connect: shop/orders/Settings: ConfigMap 'orders-settings' has no pod"]);
    expect(() => client.connect(Chart.of(orders))).toThrow(
      'shop/orders/Clients/api: connect: workload: shop has no ApiObject as its default child; give a workload of cdk8s-plus, or the ApiObject',
    );
    expect(() => client.connect('api' as never)).toThrow(/connect: workload: is not a construct; give a workload/);
    expect(() => client.connect(orders, { container: 'api' } as never)).toThrow(
      /container: is not a property; write containers/,
    );
  });

  test.each<[EtcdClientOptions, string]>([
    [{ userName: 'a' }, 'userName: has no effect without can; give both, or remove it'],
    [{ secretName: 'a' }, 'secretName: has no effect without can'],
    [{ password: true }, 'password: has no effect without can'],
    [{ podLabels: {} }, 'podLabels: is empty, which would select every pod; give a label, or leave it out'],
    [{ podLabels: { 'a b': 'c' } }, "podLabels: 'a b' is not a valid name of a label"],
    [{ labels: { a: '-' } }, "labels.a: '-' is not a valid value of a label"],
  ])('of a client: %j', (options, message) => {
    expect(problemsOf(cluster().addClient('api', options))).toEqual([expect.stringContaining(message)]);
  });

  test("is a client without a user where etcd's authentication is on", () => {
    const message = "can: etcd's authentication of 'orders' is on, so a client without a user may do nothing; give can";
    expect(problemsOf(cluster({ auth: true }).addClient('api'))).toEqual([message]);
    const orders = cluster();
    const client = orders.addClient('api');
    expect(problemsOf(client)).toEqual([]);
    orders.addUser('web', { can });
    expect(problemsOf(client)).toEqual([message]);
    // The user of the shared certificate.
    orders.addUser('all', { can, userName: 'orders-client' });
    expect(problemsOf(client)).toEqual([]);
  });

  test('is a client of a cluster in another namespace', () => {
    const orders = cluster();
    const chart = new Chart(Chart.of(orders), 'other', { namespace: 'web' });
    expect(problemsOf(new EtcdClient(chart, 'api', { cluster: orders }))).toEqual([
      expect.stringContaining("cluster: 'orders' is in namespace 'shop'"),
    ]);
  });

  test('is a client with the name of another', () => {
    const orders = cluster(closed);
    orders.addClient('web-api');
    expect(problemsOf(orders.addClient('WebApi'))).toEqual([
      "another NetworkPolicy of this chart is called 'orders-client-web-api' too; give each its own name",
    ]);
  });
});

test('the longest names fit into labels and volumes', () => {
  const chart = chartOf();
  const client = new EtcdCluster(chart, 'c'.repeat(50), closed).addClient('a'.repeat(40));
  const api = deployment(chart);
  client.connect(api);
  expect(problemsOf(client)).toEqual([]);
  const { metadata, spec } = podOf(api.toJson());
  expect(Math.max(...Object.keys(metadata.labels).map((name) => name.split('/').at(-1)!.length))).toBe(63);
  expect(spec.volumes[0].name).toHaveLength(63);
});

function sortedKeys(value: Manifest): Manifest {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const first = ['apiVersion', 'kind', 'metadata'];
  const keys = Object.keys(value).sort();
  const top = 'apiVersion' in value && 'kind' in value;
  const order = top ? [...first, ...keys.filter((key) => !first.includes(key))] : keys;
  return Object.fromEntries(order.filter((key) => key in value).map((key) => [key, sortedKeys(value[key])]));
}
