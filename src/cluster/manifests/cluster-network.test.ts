import { Chart, Cron, Testing } from 'cdk8s';
import { cluster, manifestsOf, objectOf, templateOf, tlsSecrets } from '../../../test/clusters';
import { mayConnect, mayOpen, type Pod, selects } from '../../../test/network-policies';
import { type Manifest, s3 } from '../../../test/synth';
import { EtcdCluster, type EtcdClusterProps, EtcdTls, NetworkAccess } from '../..';

const namespace = 'shop';
const pod = (labels: Pod['labels'], other: Partial<Pod> = {}): Pod => ({ labels, namespace, ...other });

/** A namespace with the clusters orders and carts, a backup schedule of each, and everybody who calls. */
function network(props: EtcdClusterProps = {}) {
  const chart = new Chart(Testing.app(), 'shop');
  const clusters = ['orders', 'carts'].map((id) => new EtcdCluster(chart, id, props));
  for (const each of clusters) each.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  const manifests: Manifest[] = Testing.synth(chart);
  const labelsOf = (kind: string, name: string, template: (spec: Manifest) => Manifest) =>
    template(manifests.find((each) => each.kind === kind && each.metadata.name === name).spec).metadata.labels;
  const member = (name: string) => pod(labelsOf('StatefulSet', name, (spec) => spec.template));
  const job = (name: string) => pod(labelsOf('CronJob', `${name}-nightly`, (spec) => spec.jobTemplate.spec.template));
  const pods = {
    member: member('orders'),
    job: job('orders'),
    reconciler: pod(labelsOf('Deployment', 'etcd-reconciler', (spec) => spec.template)),
    otherMember: member('carts'),
    otherJob: job('carts'),
    app: pod({ app: 'shop' }),
    appElsewhere: pod({ app: 'shop' }, { namespace: 'elsewhere' }),
    prometheus: pod({ app: 'prometheus' }, { namespace: 'monitoring' }),
  };
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const callers = (target: Pod, port: number) =>
    Object.entries(pods)
      .filter(([, from]) => mayConnect(policies, from, target, port))
      .map(([name]) => name);
  const opens = (from: Pod, to: Record<string, Parameters<typeof mayOpen>[2]>, port: number, protocol?: string) =>
    Object.entries(to)
      .filter(([, target]) => mayOpen(policies, from, target, port, protocol))
      .map(([name]) => name);
  return { pods, callers, opens };
}

const ports = { client: 2379, peer: 2380, metrics: 2381, backup: 2382, agent: 8080 };

test('a member is reached by its peers, its Jobs and the reconciler, and by clients of the namespace', () => {
  const { pods, callers } = network();
  expect(callers(pods.member, ports.peer)).toEqual(['member']);
  expect(callers(pods.member, ports.agent)).toEqual(['member', 'job', 'reconciler']);
  expect(callers(pods.member, ports.metrics)).toEqual([]);
  expect(callers(pods.member, ports.client)).toEqual(['member', 'job', 'reconciler', 'otherMember', 'otherJob', 'app']);
  expect(callers(pods.member, ports.backup)).toEqual(['job']);
  expect(callers(pods.member, 22)).toEqual([]);
});

test('a member has a port for backups only with a certificate of root', () => {
  const tls = EtcdTls.fromSecrets(tlsSecrets);
  const { pods, callers } = network({ tls, networkAccess: NetworkAccess.anywhere() });
  expect(callers(pods.member, ports.backup)).toEqual([]);
  const subject = cluster({ tls });
  for (const name of ['orders', 'orders-peers', 'orders-0-client'])
    expect(objectOf(subject, 'Service', name).spec.ports.map(({ port }: Manifest) => port)).not.toContain(ports.backup);
});

test('a Job serves its own members and the reconciler alone', () => {
  const { pods, callers } = network();
  expect(callers(pods.job, ports.agent)).toEqual(['member', 'reconciler']);
  expect(callers(pods.job, 22)).toEqual([]);
});

test('with NetworkAccess.nobody() its own Jobs and the reconciler still reach it', () => {
  const { pods, callers } = network({ networkAccess: NetworkAccess.nobody() });
  expect(callers(pods.member, ports.client)).toEqual(['member', 'job', 'reconciler']);
});

test('with NetworkAccess.anywhere() every client reaches the client port, and no other port', () => {
  const { pods, callers } = network({ networkAccess: NetworkAccess.anywhere() });
  expect(callers(pods.member, ports.client)).toEqual(Object.keys(pods));
  expect(callers(pods.member, ports.peer)).toEqual(['member']);
  expect(callers(pods.member, ports.backup)).toEqual(['job']);
});

test('access for some is for them', () => {
  const elsewhere = NetworkAccess.peers({ namespace: 'elsewhere', podLabels: { app: 'shop' } });
  const { pods, callers } = network({ networkAccess: elsewhere });
  expect(callers(pods.member, ports.client)).toEqual(['member', 'job', 'reconciler', 'appElsewhere']);
});

test('metrics are those of etcd and of the agent', () => {
  const { pods, callers } = network({ metricsAccess: NetworkAccess.peers({ namespace: 'monitoring' }) });
  expect(callers(pods.member, ports.metrics)).toEqual(['prometheus']);
  expect(callers(pods.member, ports.agent)).toEqual(['member', 'job', 'reconciler', 'prometheus']);
  expect(callers(pods.member, ports.client)).not.toContain('prometheus');
});

describe('egress', () => {
  const apiServer = { address: '10.0.0.1' };
  const dns = pod({ 'k8s-app': 'kube-dns' }, { namespace: 'kube-system' });
  const store = pod({ app: 's3' }, { namespace: 'storage' });
  const nodeDns = { address: '169.254.20.10' };
  const { pods, opens } = network({
    egress: {
      apiServer: [{ cidr: '10.0.0.1/32', ports: [6443] }],
      stores: [{ namespace: 'storage', podLabels: { app: 's3' }, ports: [443] }],
    },
  });
  const everything = { ...pods, apiServer, dns, store, nodeDns };

  test('of a member: its peers, its Jobs, DNS and the API server', () => {
    expect(opens(pods.member, everything, ports.peer)).toEqual(['member']);
    expect(opens(pods.member, everything, ports.client)).toEqual(['member']);
    expect(opens(pods.member, everything, ports.agent)).toEqual(['member', 'job']);
    expect(opens(pods.member, everything, 6443)).toEqual(['apiServer']);
    expect(opens(pods.member, everything, 53, 'UDP')).toEqual(['dns']);
    expect(opens(pods.member, everything, 53)).toEqual(['dns']);
    expect(opens(pods.member, everything, 443)).toEqual([]);
  });

  test('of a Job: its members, DNS and the stores', () => {
    expect(opens(pods.job, everything, ports.client)).toEqual(['member']);
    expect(opens(pods.job, everything, ports.backup)).toEqual(['member']);
    expect(opens(pods.job, everything, ports.agent)).toEqual(['member']);
    expect(opens(pods.job, everything, ports.peer)).toEqual([]);
    expect(opens(pods.job, everything, 443)).toEqual(['store']);
    expect(opens(pods.job, everything, 6443)).toEqual([]);
    expect(opens(pods.job, everything, 53, 'UDP')).toEqual(['dns']);
  });

  test('of the reconciler that the cluster adds: all members and Jobs, DNS and the API server', () => {
    expect(opens(pods.reconciler, everything, ports.client)).toEqual(['member', 'otherMember']);
    expect(opens(pods.reconciler, everything, ports.agent)).toEqual(['member', 'job', 'otherMember', 'otherJob']);
    expect(opens(pods.reconciler, everything, ports.peer)).toEqual([]);
    expect(opens(pods.reconciler, everything, 6443)).toEqual(['apiServer']);
    expect(opens(pods.reconciler, everything, 443)).toEqual([]);
    expect(opens(pods.reconciler, everything, 53, 'UDP')).toEqual(['dns']);
  });

  test('other DNS servers replace those of the cluster', () => {
    const own = network({
      egress: { apiServer: [{ cidr: '10.0.0.1/32', ports: [443] }], dns: [{ cidr: '169.254.20.10/32' }] },
    });
    for (const from of [own.pods.member, own.pods.job, own.pods.reconciler])
      expect(own.opens(from, everything, 53, 'UDP')).toEqual(['nodeDns']);
    expect(own.opens(own.pods.member, everything, 443)).toEqual(['apiServer']);
  });
});

test('without egress, what a member may call is not limited', () => {
  const policies = manifestsOf(cluster()).filter(({ kind }) => kind === 'NetworkPolicy');
  expect(policies.length).toBeGreaterThan(1);
  for (const { spec } of policies) expect(spec.policyTypes).toEqual(['Ingress']);
});

test('a rule never has an empty list of peers, which would allow every client', () => {
  const subject = cluster({ networkAccess: NetworkAccess.nobody(), metricsAccess: NetworkAccess.nobody() });
  for (const { from } of objectOf(subject, 'NetworkPolicy', 'orders').spec.ingress)
    expect(from.length).toBeGreaterThan(0);
});

describe('every selector', () => {
  const { pods } = network();
  const manifests = manifestsOf(cluster({ labels: { team: 'storage' } }));
  const find = (kind: string, name = 'orders') =>
    manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name).spec;
  const statefulSet = find('StatefulSet');
  const selectors: [string, Manifest][] = [
    ['of the StatefulSet', statefulSet.selector],
    ['of the Service of the peers', { matchLabels: find('Service', 'orders-peers').selector }],
    ['of the Service of clients', { matchLabels: find('Service').selector }],
    ['of the PodDisruptionBudget', find('PodDisruptionBudget').selector],
    ['of the NetworkPolicy', find('NetworkPolicy').podSelector],
    ...statefulSet.template.spec.topologySpreadConstraints.map(({ labelSelector, topologyKey }: Manifest) => [
      `of the spread over ${topologyKey}`,
      labelSelector,
    ]),
  ];

  test.each(selectors)('%s selects the members, and nothing else', (_, selector) => {
    expect(selects(selector, statefulSet.template.metadata.labels)).toBe(true);
    const others = Object.entries(pods).filter(([name]) => name !== 'member');
    expect(others.filter(([, { labels }]) => selects(selector, labels))).toEqual([]);
  });

  test('is there', () => expect(selectors).toHaveLength(7));
});

test('the Services lead to ports that members have', () => {
  const subject = cluster();
  const { initContainers, containers } = templateOf(subject).spec;
  const open = [...initContainers, ...containers].flatMap((container) => container.ports ?? []);
  const lead = (name: string) =>
    Object.fromEntries(
      objectOf(subject, 'Service', name).spec.ports.map((port: Manifest) => {
        expect(port.targetPort).toBe(port.port);
        expect(open.map(({ containerPort }) => containerPort)).toContain(port.targetPort);
        return [port.name, port.port];
      }),
    );
  expect(lead('orders')).toEqual({ client: 2379 });
  expect(lead('orders-6-client')).toEqual({ client: 2379, backup: 2382 });
  expect(lead('orders-peers')).toEqual(ports);
});

test('members find each other before they are ready, and clients only those that are', () => {
  const subject = cluster({ size: 7 });
  const peers = objectOf(subject, 'Service', 'orders-peers').spec;
  expect(peers).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
  expect(objectOf(subject, 'StatefulSet').spec.serviceName).toBe('orders-peers');
  const forClients = ['orders', ...subject.clientEndpoints.map((endpoint) => new URL(endpoint).hostname)];
  expect(forClients).toHaveLength(8);
  for (const name of forClients)
    expect(objectOf(subject, 'Service', name).spec).not.toHaveProperty('publishNotReadyAddresses');
});

test('the client name of a member leads to its pod alone', () => {
  const subject = cluster({ size: 1 });
  const { labels } = templateOf(subject).metadata;
  const pod = (name: string) => ({ ...labels, 'statefulset.kubernetes.io/pod-name': name });
  for (const ordinal of [0, 6]) {
    const { clusterIP, selector } = objectOf(subject, 'Service', `orders-${ordinal}-client`).spec;
    expect(clusterIP).toBe('None');
    expect(selects({ matchLabels: selector }, pod(`orders-${ordinal}`))).toBe(true);
    expect(selects({ matchLabels: selector }, pod('orders-1'))).toBe(false);
    expect(selects({ matchLabels: selector }, { 'statefulset.kubernetes.io/pod-name': `orders-${ordinal}` })).toBe(
      false,
    );
  }
});
