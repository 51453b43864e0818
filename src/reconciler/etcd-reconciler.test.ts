import { Chart, Size, Testing, Yaml } from 'cdk8s';
import { checkSchema, restrictedProblems } from '../../test/kubernetes';
import type { Manifest } from '../../test/synth';
import { EtcdCluster, EtcdReconciler, type EtcdReconcilerProps, ImagePullPolicy, NetworkAccess } from '..';

function reconciler(props: EtcdReconcilerProps = {}): EtcdReconciler {
  return new EtcdReconciler(new Chart(Testing.app(), 'shop'), 'reconciler', props);
}

function manifestsOf(props: EtcdReconcilerProps = {}): Record<string, Manifest> {
  const manifests: Manifest[] = Testing.synth(Chart.of(reconciler(props)));
  return Object.fromEntries(manifests.map((manifest) => [manifest.kind, manifest]));
}

const podOf = (props?: EtcdReconcilerProps) => manifestsOf(props).Deployment.spec.template.spec;

test('the least that can be given makes all that a namespace needs', () => {
  const manifests = manifestsOf();
  expect(Object.values(manifests).map(({ kind, metadata }) => [kind, metadata.name])).toEqual([
    ['ServiceAccount', 'etcd-reconciler'],
    ['Role', 'etcd-reconciler'],
    ['RoleBinding', 'etcd-reconciler'],
    ['Deployment', 'etcd-reconciler'],
    ['Service', 'etcd-reconciler'],
    ['NetworkPolicy', 'etcd-reconciler'],
  ]);
  expect(manifests.Deployment.spec.replicas).toBe(1);
  expect(podOf().containers[0]).toMatchObject({
    args: ['reconcile', '--deployment=etcd-reconciler', '--lease=etcd-reconciler'],
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    livenessProbe: { httpGet: { path: '/livez', port: 8080 } },
    readinessProbe: { httpGet: { path: '/readyz', port: 8080 } },
  });
});

test("every object holds to Kubernetes' schema, and the pod to the restricted Pod Security Standard", () => {
  const metricsAccess = NetworkAccess.peers({ namespace: 'monitoring', podLabels: { app: 'prometheus' } });
  for (const props of [{}, everything, { metricsAccess }]) {
    for (const manifest of Object.values(manifestsOf(props))) checkSchema(manifest);
    expect(restrictedProblems(podOf(props))).toEqual([]);
  }
});

test('it may do what it needs in the namespace, by name wherever there is one', () => {
  const rules: Manifest[] = manifestsOf({ name: 'keeper' }).Role.rules;
  const granted = rules.flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
    resources.map((resource: string) => `${apiGroups}/${resource} ${resourceNames ?? '*'}: ${verbs}`),
  );
  expect(granted.sort()).toEqual([
    '/configmaps *: create',
    '/events *: create,list,patch',
    '/namespaces *: get',
    '/persistentvolumeclaims *: list,watch',
    '/pods *: list,watch',
    'apps/deployments keeper: get',
    'apps/statefulsets *: list,watch',
    'batch/jobs *: create',
    'batch/jobs *: list,watch',
    'cdk8s-etcd.dev/etcdbackups *: create',
    'cdk8s-etcd.dev/etcdbackups *: list,watch',
    'cdk8s-etcd.dev/etcdbackups/status *: patch',
    'cdk8s-etcd.dev/etcdclusters *: list,watch',
    'cdk8s-etcd.dev/etcdclusters *: patch',
    'cdk8s-etcd.dev/etcdclusters/status *: patch',
    'cdk8s-etcd.dev/etcdrestores *: list,watch',
    'cdk8s-etcd.dev/etcdrestores/status *: patch',
    'cdk8s-etcd.dev/etcdusers *: list,watch',
    'cdk8s-etcd.dev/etcdusers/status *: patch',
    'coordination.k8s.io/leases *: create,get',
    'coordination.k8s.io/leases keeper: update',
  ]);
  expect(manifestsOf({ name: 'keeper' }).RoleBinding).toMatchObject({
    roleRef: { kind: 'Role', name: 'keeper' },
    subjects: [{ kind: 'ServiceAccount', name: 'keeper' }],
  });
});

test('the token is in its container alone', () => {
  const pod = podOf();
  expect(pod.automountServiceAccountToken).toBe(false);
  expect(manifestsOf().ServiceAccount.automountServiceAccountToken).toBe(false);
  expect(pod.containers[0].volumeMounts).toContainEqual({
    name: 'api-token',
    mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
    readOnly: true,
  });
  expect(pod.volumes.map(({ name }: Manifest) => name)).toEqual(['api-token', 'tmp']);
});

const everything: EtcdReconcilerProps = {
  name: 'keeper',
  image: 'registry.example.com/agent:1',
  imagePullPolicy: ImagePullPolicy.ALWAYS,
  imagePullSecrets: ['registry'],
  replicas: 2,
  resources: { cpuLimit: '1', memoryRequest: Size.gibibytes(1) },
  selector: { tier: 'gold', 'example.com/team': 'storage' },
  metricsAccess: NetworkAccess.anywhere(),
  egress: { apiServer: [{ cidr: '10.0.0.1/32', ports: [6443] }] },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'infra', operator: 'Exists' }],
  priorityClassName: 'system-cluster-critical',
  labels: { team: 'storage' },
};

test('every property reaches its field or flag', () => {
  const manifests = manifestsOf(everything);
  const { leaseName } = reconciler(everything);
  for (const { metadata } of Object.values(manifests)) expect(metadata.labels).toMatchObject({ team: 'storage' });
  const { spec } = manifests.Deployment;
  expect(spec).toMatchObject({ replicas: 2, template: { metadata: { labels: { team: 'storage' } } } });
  expect(spec.template.spec).toMatchObject({
    serviceAccountName: 'keeper',
    imagePullSecrets: [{ name: 'registry' }],
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'infra', operator: 'Exists' }],
    priorityClassName: 'system-cluster-critical',
    // Two pods on one node would be lost together.
    topologySpreadConstraints: [
      { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: spec.selector.matchLabels } },
    ],
    containers: [
      {
        image: 'registry.example.com/agent:1',
        imagePullPolicy: 'Always',
        args: [
          'reconcile',
          '--deployment=keeper',
          `--lease=${leaseName}`,
          '--selector=example.com/team=storage,tier=gold',
        ],
        resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
      },
    ],
  });
  expect(manifests.Role.rules).toContainEqual(
    expect.objectContaining({ resourceNames: [leaseName], verbs: ['update'] }),
  );
});

test('reconcilers with different selectors have different Leases, whatever the order of the labels', () => {
  const lease = (selector?: Record<string, string>) => reconciler({ selector }).leaseName;
  expect(lease()).toBe('etcd-reconciler');
  expect(lease({ a: '1', b: '2' })).toMatch(/^etcd-reconciler-[0-9a-f]{8}$/);
  expect(lease({ a: '1', b: '2' })).toBe(lease({ b: '2', a: '1' }));
  expect(lease({ a: '1', b: '2' })).not.toBe(lease({ a: '2', b: '1' }));
});

test('a mirror replaces the default registry', () => {
  expect(podOf({ registry: 'registry.example.com/mirror' }).containers[0].image).toMatch(
    /^registry\.example\.com\/mirror\/cdk8s-etcd\/agent:/,
  );
});

test('no client may read the metrics, unless metricsAccess allows it', () => {
  const spec = (metricsAccess?: NetworkAccess) => manifestsOf({ metricsAccess }).NetworkPolicy.spec;
  const ports = [{ port: 8080, protocol: 'TCP' }];
  expect(spec()).toEqual({ podSelector: { matchLabels: pods }, policyTypes: ['Ingress'] });
  expect(spec(NetworkAccess.sameNamespace()).ingress).toEqual([{ from: [{ podSelector: {} }], ports }]);
  expect(spec(NetworkAccess.anywhere()).ingress).toEqual([{ ports }]);
  expect(manifestsOf().Service.spec.selector).toEqual(pods);
});

test('what it may connect to is limited on request', () => {
  const { spec } = manifestsOf(everything).NetworkPolicy;
  expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
  expect(spec.egress).toContainEqual({
    to: [{ ipBlock: { cidr: '10.0.0.1/32' } }],
    ports: [{ port: 6443, protocol: 'TCP' }],
  });
});

const pods = { 'app.kubernetes.io/name': 'etcd-reconciler', 'app.kubernetes.io/instance': 'etcd-reconciler' };

test("the clusters' network policies let its pods in", () => {
  const chart = new Chart(Testing.app(), 'shop');
  new EtcdReconciler(chart, 'reconciler', everything);
  new EtcdCluster(chart, 'orders', { labels: everything.selector });
  const manifests: Manifest[] = Testing.synth(chart);
  const { labels } = manifests.find(({ kind }) => kind === 'Deployment').spec.template.metadata;
  const [policy] = manifests.filter(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'orders');
  const admitted = policy.spec.ingress.filter(({ from }: Manifest) =>
    from?.some(({ podSelector }: Manifest) =>
      Object.entries(podSelector?.matchLabels ?? { none: '' }).every(([name, value]) => labels[name] === value),
    ),
  );
  expect(admitted.flatMap(({ ports }: Manifest) => ports.map(({ port }: Manifest) => port))).toEqual(
    expect.arrayContaining([2379, 8080]),
  );
});

test('the same input gives the same bytes', () => {
  const yaml = () => Yaml.stringify(...Object.values(manifestsOf(everything)));
  expect(yaml()).toBe(yaml());
});

test.each<[EtcdReconcilerProps, string]>([
  [{ name: 'Keeper' }, "name: 'Keeper' is not a valid name of a reconciler; use at most 50 lower-case letters"],
  [{ name: '1st' }, "name: '1st' is not a valid name of a reconciler"],
  [{ name: 'a.b' }, "name: 'a.b' is not a valid name of a reconciler"],
  [{ name: 'k'.repeat(51) }, 'use at most 50'],
  [{ image: 'a b' }, "image: 'a b' is not a valid image; write it like registry/agent:tag"],
  [{ registry: 'https://r' }, "registry: 'https://r' is not a valid registry"],
  [{ imagePullSecrets: ['A'] }, "imagePullSecrets[0].name: 'A' is not a valid name of a Secret"],
  [{ replicas: 0 }, 'replicas: 0 is neither 1 nor 2'],
  [{ replicas: 3 }, 'replicas: 3 is neither 1 nor 2'],
  [{ resources: { cpuRequest: 'x' } }, "resources.cpuRequest: 'x' is not a valid amount of CPU"],
  [{ selector: {} }, 'selector: is empty; give a label'],
  [{ selector: { team: 'a,b' } }, "selector.team: 'a,b' is not a valid value"],
  [{ selector: { 'a/b/c': 'x' } }, "selector: 'a/b/c' is not a valid name of a label"],
  [{ priorityClassName: 'High' }, "priorityClassName: 'High' is not a valid name"],
  [
    { labels: { 'app.kubernetes.io/name': 'x' } },
    'labels: has a label by which the pods are selected, such as app.kubernetes.io/name: remove it',
  ],
  [{ metricsAccess: NetworkAccess.peers({}) }, 'metricsAccess.peers[0]: a peer is either'],
  [{ egress: { apiServer: [{}] } }, 'egress.apiServer[0]: a peer is either'],
])('%j: %s', (props, message) => {
  expect(reconciler(props).node.validate()).toEqual([expect.stringContaining(message)]);
});

test('the longest name holds to the schema', () => {
  const props = { name: 'k'.repeat(50), selector: { team: 'a' } };
  expect(reconciler(props).node.validate()).toEqual([]);
  expect(reconciler(props).leaseName.length).toBeLessThanOrEqual(63);
});

test('a cluster that is called like it would take its objects away', () => {
  const chart = new Chart(Testing.app(), 'shop');
  const orders = new EtcdCluster(chart, 'etcd-reconciler');
  expect(orders.node.validate()).toContain(
    "another ServiceAccount of this chart is called 'etcd-reconciler' too; give each its own name",
  );
});
