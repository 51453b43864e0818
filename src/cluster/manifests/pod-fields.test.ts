import { Chart, Cron, Duration, Testing } from 'cdk8s';
import { type Manifest, s3 } from '../../../test/synth';
import { EtcdCluster, type EtcdClusterProps, EtcdReconciler, type PodOptions } from '../..';

const env = [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }];
const probe = { periodSeconds: 20, failureThreshold: 30 };
const options: PodOptions = {
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
  schedulerName: 'own',
  runtimeClassName: 'sandboxed',
  hostAliases: [{ ip: '10.0.0.9', hostnames: ['kms.example.com'] }],
  dnsPolicy: 'None',
  dnsConfig: { nameservers: ['10.0.0.10'] },
  securityContext: { runAsNonRoot: true },
  terminationGracePeriodSeconds: 90,
  volumes: [{ name: 'own', emptyDir: {} }],
  initContainers: [{ name: 'first', image: 'registry/first:1' }],
  annotations: { 'example.com/of': 'objects' },
  labels: { 'example.com/of': 'objects' },
  podLabels: { 'example.com/of': 'pods' },
  podAnnotations: { 'example.com/of': 'pods' },
};
const sidecars = [{ name: 'last', image: 'registry/last:1' }];
const volumeMounts = [{ name: 'own', mountPath: '/own' }];

/** A cluster with a schedule and a reconciler, which all have the same options. */
function objects(props: EtcdClusterProps = {}): Manifest[] {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  new EtcdReconciler(chart, 'reconciler', {
    ...{ ...options, sidecars, revisionHistoryLimit: 2 },
    container: { env, volumeMounts, startupProbe: probe },
  });
  const cluster = new EtcdCluster(chart, 'orders', {
    ...{ ...options, sidecars, revisionHistoryLimit: 2, ...props },
    containers: { etcd: { volumeMounts, startupProbe: probe }, agent: { env }, gate: { env } },
  });
  cluster.addBackupSchedule('hourly', {
    ...options,
    ...{ schedule: Cron.hourly(), store: s3, ttlAfterFinished: Duration.hours(1) },
    container: { env, envFrom: [{ secretRef: { name: 'own' } }], volumeMounts },
  });
  return Testing.synth(chart);
}

const all = objects();
const objectOf = (kind: string, name?: string): Manifest =>
  all.find((each) => each.kind === kind && (name === undefined || each.metadata.name === name));
const job = objectOf('CronJob').spec.jobTemplate;
const templates: [string, Manifest][] = [
  ['a member', objectOf('StatefulSet').spec.template],
  ['a backup', job.spec.template],
  ['a reconciler', objectOf('Deployment').spec.template],
];
const container = ({ spec }: Manifest, wanted: string): Manifest =>
  [...(spec.initContainers ?? []), ...spec.containers].find(({ name }) => name === wanted);

test.each(templates)('the pod of %s has what Kubernetes lets a pod have', (_, { metadata, spec }) => {
  const {
    topologySpreadConstraints,
    volumes,
    initContainers,
    labels,
    annotations,
    podLabels,
    podAnnotations,
    ...asItIs
  } = options;
  expect(spec).toMatchObject(asItIs);
  expect(spec.securityContext).toEqual({ runAsNonRoot: true });
  expect(spec.topologySpreadConstraints.at(-1)).toEqual(topologySpreadConstraints![0]);
  expect(spec.volumes.at(-1)).toEqual(volumes![0]);
  expect(spec.volumes.length).toBeGreaterThan(1);
  expect(spec.initContainers[0]).toEqual(initContainers![0]);
  expect(metadata.labels).toMatchObject({ ...podLabels, 'app.kubernetes.io/name': expect.any(String) });
  expect(metadata.annotations).toMatchObject(podAnnotations!);
});

test('containers have their own variables, mounts and times, and keep those of the library', () => {
  const [member, backup, reconciler] = templates.map(([, template]) => template);
  for (const own of [container(member, 'agent'), container(backup, 'backup'), container(reconciler, 'reconciler')]) {
    expect(own.env.at(-1)).toEqual(env[0]);
    expect(own.env.length).toBeGreaterThan(1);
  }
  expect(container(member, 'etcd').env).toBeUndefined();
  expect(container(backup, 'backup').envFrom).toEqual([{ secretRef: { name: 'own' } }]);
  for (const own of [container(member, 'etcd'), container(backup, 'backup'), container(reconciler, 'reconciler')]) {
    expect(own.volumeMounts.at(-1)).toEqual(volumeMounts[0]);
    expect(own.volumeMounts.length).toBeGreaterThan(1);
  }
  for (const own of [container(member, 'etcd'), container(reconciler, 'reconciler')]) {
    expect(own.startupProbe).toMatchObject({ ...probe, httpGet: { path: '/livez' } });
  }
});

test('sidecars come after the containers of the library, by whose place tools know them', () => {
  expect(templates[0]![1].spec.containers.map(({ name }: Manifest) => name)).toEqual(['etcd', 'last']);
  expect(templates[2]![1].spec.containers.map(({ name }: Manifest) => name)).toEqual(['reconciler', 'last']);
});

test('every object has the annotations, besides those of the library', () => {
  expect(all.length).toBeGreaterThan(20);
  for (const { metadata } of all) expect(metadata.annotations).toMatchObject(options.annotations!);
  expect(objectOf('StatefulSet').metadata.annotations).toHaveProperty(['kustomize.toolkit.fluxcd.io/prune']);
  expect(job.metadata.annotations).toEqual(options.annotations);
});

test('history and finished Jobs have limits', () => {
  expect(objectOf('StatefulSet').spec.revisionHistoryLimit).toBe(2);
  expect(objectOf('Deployment').spec.revisionHistoryLimit).toBe(2);
  expect(job.spec.ttlSecondsAfterFinished).toBe(3600);
});

test('an existing ServiceAccount gets the rights, and none is created', () => {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  const reconciler = new EtcdReconciler(chart, 'reconciler', { serviceAccountName: 'mine' });
  const cluster = new EtcdCluster(chart, 'orders', { serviceAccountName: { name: 'own' } });
  const found = Testing.synth(chart);
  const subject = (name: string) =>
    found.find((each) => each.kind === 'RoleBinding' && each.metadata.name === name).subjects[0].name;
  expect(found.filter(({ kind }) => kind === 'ServiceAccount')).toEqual([]);
  expect([subject('orders'), subject('orders-etcd-reconciler'), subject('etcd-reconciler')]).toEqual([
    ...['own', 'mine', 'mine'],
  ]);
  expect([cluster.serviceAccountName, reconciler.serviceAccountName]).toEqual(['own', 'mine']);
  const pods = found.flatMap(({ spec }) => spec?.template?.spec.serviceAccountName ?? []);
  expect(pods.sort()).toEqual(['mine', 'own']);
});

test('the reconciler that a cluster adds has its security context', () => {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  new EtcdCluster(chart, 'orders', { securityContext: { runAsNonRoot: true } });
  const deployment = Testing.synth(chart).find(({ kind }) => kind === 'Deployment');
  expect(deployment.spec.template.spec.securityContext).toEqual({ runAsNonRoot: true });
});

const misspelled = { nodesAffinity: {} };
test.each<[string, (chart: Chart) => { node: { validate(): string[] } }]>([
  ['a cluster', (chart) => new EtcdCluster(chart, 'x', { affinity: misspelled })],
  ['a reconciler', (chart) => new EtcdReconciler(chart, 'x', { affinity: misspelled })],
  [
    'a schedule',
    (chart) =>
      new EtcdCluster(chart, 'orders').addBackupSchedule('x', {
        ...{ schedule: Cron.hourly(), store: s3, affinity: misspelled },
      }),
  ],
])('a field that Kubernetes does not have is refused: %s', (_, make) => {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  expect(make(chart).node.validate()).toEqual([
    'affinity.nodesAffinity: is not a field: write nodeAffinity, or remove it',
  ]);
});

test('a toleration may be an object of a class', () => {
  class Tainted {
    readonly key = 'etcd';
    readonly operator = 'Exists';
  }
  const { spec } = objects({ tolerations: [new Tainted()] }).find(({ kind }) => kind === 'StatefulSet');
  expect(spec.template.spec.tolerations).toEqual([{ key: 'etcd', operator: 'Exists' }]);
});

test('a given constraint replaces that of spread with the same key and action', () => {
  const constraintsOf = (props: Partial<EtcdClusterProps>): Manifest[] => {
    const chart = new Chart(Testing.app(), 'test', { namespace: 'shop' });
    new EtcdCluster(chart, 'orders', props);
    const { spec } = Testing.synth(chart).find(({ kind }: Manifest) => kind === 'StatefulSet');
    return spec.template.spec.topologySpreadConstraints;
  };
  const [first, ...others] = constraintsOf({});
  const changed = { ...first, maxSkew: 2 };
  expect(constraintsOf({ topologySpreadConstraints: [changed] })).toEqual([...others, changed]);
  const other = { ...first, whenUnsatisfiable: 'other' };
  expect(constraintsOf({ topologySpreadConstraints: [other] })).toEqual([first, ...others, other]);
});
