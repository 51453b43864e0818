// Overrides of each construct: what they reach, and what they may not.
import { Chart, Cron, Lazy, Testing } from 'cdk8s';
import { cluster, manifestsOf, objectOf, templateOf } from '../../test/clusters';
import { errorsOf, only, rendering } from '../../test/rendering';
import { type Manifest, podOf, s3, schedule } from '../../test/synth';
import {
  ControlPlaneEtcdBackup,
  EtcdCluster,
  type EtcdClusterProps,
  EtcdReconciler,
  type ObjectOverride,
  OverrideTarget,
} from '..';
import { madeFromAnnotation } from '../cluster/manifests/made-from';

const overrides = (target: OverrideTarget, ...patches: object[]): ObjectOverride[] =>
  patches.map((patch) => ({ target, patch }));
const problems = (props: EtcdClusterProps): string[] => {
  const { node } = cluster(props);
  return node.findAll().flatMap((each) => each.node.validate());
};
const ofMembers = (spec: object) => problems({ overrides: overrides(OverrideTarget.MEMBER_PODS, { spec }) });

const literal = (text: string) => text.replace(/[[\]./]/g, '\\$&');

const sidecar = { name: 'proxy', image: 'r/proxy:1', volumeMounts: [{ name: 'spool', mountPath: '/spool' }] };
const spool = { name: 'spool', emptyDir: {} };

test('a patch reaches the pods of the members', () => {
  const { metadata, spec } = templateOf(
    cluster({
      overrides: overrides(
        OverrideTarget.MEMBER_PODS,
        { metadata: { annotations: { 'sidecar.istio.io/inject': 'false' } } },
        { spec: { containers: [sidecar], volumes: [spool], securityContext: { runAsUser: null, runAsGroup: null } } },
        { spec: { initContainers: [{ name: 'gate', resources: { limits: { cpu: '1' } } }] } },
      ),
    }),
  );
  expect(metadata.annotations['sidecar.istio.io/inject']).toBe('false');
  expect(spec.containers.map(({ name }: Manifest) => name)).toEqual(['proxy', 'etcd']);
  expect(spec.volumes).toContainEqual(spool);
  expect(spec.securityContext.runAsNonRoot).toBe(true);
  expect(spec.securityContext).not.toHaveProperty('runAsUser');
  expect(spec.initContainers[0].resources).toEqual({
    limits: { cpu: '1', memory: '2Gi' },
    requests: { cpu: '10m', memory: '32Mi' },
  });
});

test('each target reaches its objects and no other', () => {
  const make = (target?: OverrideTarget, patch: object = {}) => {
    const orders = cluster({ overrides: target && [{ target, patch }] });
    orders.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
    const manifests = manifestsOf(orders).filter(({ kind }) => kind !== 'EtcdCluster');
    // It says which spec its cluster has.
    delete manifests.find(({ kind }) => kind === 'StatefulSet').metadata.annotations[madeFromAnnotation];
    return manifests;
  };
  const before = make();
  const annotations = { metadata: { annotations: { team: 'shop' } } };
  const ofReconciler = [OverrideTarget.RECONCILER_PODS, OverrideTarget.DEPLOYMENT];
  const targets = Object.values(OverrideTarget).filter((target) => !ofReconciler.includes(target));
  const changed = targets.map((target) => {
    const after = make(target, annotations);
    return [
      target,
      after
        .filter((_, index) => JSON.stringify(after[index]) !== JSON.stringify(before[index]))
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    ];
  });
  const members = Array.from({ length: 7 }, (_, ordinal) => `Service orders-${ordinal}-client`);
  expect(Object.fromEntries(changed)).toEqual({
    MemberPods: ['StatefulSet orders'],
    Claims: ['StatefulSet orders'],
    StatefulSet: ['StatefulSet orders'],
    BackupPods: ['CronJob orders-nightly'],
    CronJobs: ['CronJob orders-nightly'],
    Services: ['Service orders-peers', 'Service orders', ...members],
    ClientService: ['Service orders'],
    PeerService: ['Service orders-peers'],
    MemberServices: members,
    PodDisruptionBudget: ['PodDisruptionBudget orders'],
    ServiceAccounts: ['ServiceAccount orders', 'ServiceAccount orders-nightly'],
  });
});

test.each<[string, object, string]>([
  ['the gate', { initContainers: [{ name: 'gate', $patch: 'delete' }] }, 'spec.initContainers[gate].name'],
  ['its order', { initContainers: [{ name: 'agent' }, { name: 'gate' }] }, 'spec.initContainers'],
  ['arguments', { initContainers: [{ name: 'gate', args: ['true'] }] }, 'spec.initContainers[gate].args'],
  ['the command of etcd', { containers: [{ name: 'etcd', command: ['sh'] }] }, 'spec.containers[etcd].command'],
  ['its image', { containers: [{ name: 'etcd', image: 'e:1' }] }, 'spec.containers[etcd].image'],
  [
    'MIN_EPOCH',
    { initContainers: [{ name: 'gate', env: [{ name: 'MIN_EPOCH', value: '1' }] }] },
    'spec.initContainers[gate].env[MIN_EPOCH].value',
  ],
  [
    'the mount of the data',
    { containers: [{ name: 'etcd', volumeMounts: [{ mountPath: '/data', subPath: 'a' }] }] },
    'spec.containers[etcd].volumeMounts[/data].subPath',
  ],
  ['the volume of the data', { volumes: [{ name: 'data', emptyDir: {} }] }, 'spec.volumes[data].name'],
  [
    'the data, for others',
    { containers: [{ name: 'x', image: 'x', volumeMounts: [{ name: 'data', mountPath: '/x' }] }] },
    'spec.containers[x].volumeMounts[/x]',
  ],
  ['the account', { serviceAccountName: 'admin' }, 'spec.serviceAccountName'],
  ['all containers', { containers: [{ $patch: 'replace' }, { name: 'x', image: 'x' }] }, 'spec.containers[etcd].name'],
])('of the pods of members nobody changes %s', (_, spec, path) => {
  expect(ofMembers(spec)).toEqual([
    expect.stringMatching(
      new RegExp(`^overrides\\[0\\].patch.${literal(path)}: (cannot be overridden, because it|must|mounts) `),
    ),
  ]);
});

test.each<[OverrideTarget, object, string]>([
  [OverrideTarget.STATEFUL_SET, { spec: { replicas: 5 } }, 'spec.replicas'],
  [OverrideTarget.STATEFUL_SET, { spec: { updateStrategy: { type: 'RollingUpdate' } } }, 'spec.updateStrategy.type'],
  [OverrideTarget.STATEFUL_SET, { spec: { template: { spec: { hostNetwork: true } } } }, 'spec.template'],
  [OverrideTarget.STATEFUL_SET, { spec: { serviceName: 'x' } }, 'spec.serviceName'],
  [OverrideTarget.STATEFUL_SET, { metadata: { name: 'x' } }, 'metadata.name'],
  [OverrideTarget.STATEFUL_SET, { kind: 'Deployment' }, 'kind'],
  [OverrideTarget.CLAIMS, { spec: { resources: { requests: { storage: '1Gi' } } } }, 'spec.resources'],
  [OverrideTarget.CLIENT_SERVICE, { spec: { selector: { app: 'x' } } }, 'spec.selector.app'],
  [OverrideTarget.PEER_SERVICE, { spec: { clusterIP: null } }, 'spec.clusterIP'],
  [OverrideTarget.SERVICES, { spec: { ports: [{ port: 2379, targetPort: 1 }] } }, 'spec.ports[2379].targetPort'],
  [OverrideTarget.POD_DISRUPTION_BUDGET, { spec: { maxUnavailable: 2 } }, 'spec.maxUnavailable'],
  [OverrideTarget.CRON_JOBS, { spec: { schedule: '@hourly' } }, 'spec.schedule'],
  [OverrideTarget.CRON_JOBS, { spec: { startingDeadlineSeconds: 1 } }, 'spec.startingDeadlineSeconds'],
  [
    OverrideTarget.CRON_JOBS,
    { spec: { jobTemplate: { spec: { activeDeadlineSeconds: 1 } } } },
    'spec.jobTemplate.spec.activeDeadlineSeconds',
  ],
  ...[
    { name: 'x' },
    { generateName: 'x' },
    { namespace: 'x' },
    { uid: 'x' },
    { finalizers: ['x.example.com/y'] },
    { ownerReferences: [{ uid: 'x' }] },
  ].map((metadata): [OverrideTarget, object, string] => [
    OverrideTarget.CRON_JOBS,
    { spec: { jobTemplate: { metadata } } },
    `spec.jobTemplate.metadata.${Object.keys(metadata)[0]}`,
  ]),
  [OverrideTarget.BACKUP_PODS, { metadata: { finalizers: ['x.example.com/y'] } }, 'metadata.finalizers'],
  ...[OverrideTarget.MEMBER_PODS, OverrideTarget.BACKUP_PODS].map((target): [OverrideTarget, object, string] => [
    target,
    { spec: { resources: { limits: { memory: '10Mi' } } } },
    'spec.resources.limits.memory: cannot be overridden, because it limits all containers at once; use the resources of containers instead',
  ]),
  [OverrideTarget.STATEFUL_SET, { spec: { tolertions: [] } }, 'spec.tolertions: is not a field'],
  [OverrideTarget.MEMBER_PODS, { spec: { contianers: [] } }, 'spec.contianers: is not a field'],
  [
    OverrideTarget.BACKUP_PODS,
    { spec: { activeDeadlineSeconds: 60 } },
    'spec.activeDeadlineSeconds: would end the pod',
  ],
  [
    OverrideTarget.BACKUP_PODS,
    { spec: { containers: [{ name: 'backup', args: [] }] } },
    'spec.containers[backup].args',
  ],
  [
    OverrideTarget.MEMBER_PODS,
    { metadata: { labels: { 'app.kubernetes.io/name': 'x' } } },
    'metadata.labels[app.kubernetes.io/name]',
  ],
  [
    OverrideTarget.MEMBER_PODS,
    { metadata: { annotations: { 'cdk8s-etcd.dev/epoch': '9' } } },
    'metadata.annotations[cdk8s-etcd.dev/epoch]',
  ],
])('of %s, %j is refused, in TypeScript and YAML', (target, patch, path) => {
  const text = `overrides[0].patch.${path}`;
  const orders = cluster({ overrides: [{ target, patch }] });
  orders.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  expect(orders.node.validate()).toEqual([expect.stringContaining(text)]);
  const spec = { overrides: [{ target, patch }], backup: { schedules: [nightly] } };
  expect(errorsOf([resource(spec)])).toEqual([expect.stringContaining(text)]);
});

const nightly = { name: 'nightly', cron: '@daily', stores: [{ s3: { bucket: 'backups', region: 'eu' } }] };
const resource = (spec: object): Manifest => ({
  apiVersion: 'cdk8s-etcd.dev/v1alpha1',
  kind: 'EtcdCluster',
  metadata: { name: 'orders', namespace: 'shop' },
  spec: { size: 3, version: '3.6.16', ...spec },
});

test.each([
  ['containers', 'agent', 'initContainers'],
  ['initContainers', 'etcd', 'containers'],
])('an override under %s of %s, which is elsewhere, says where', (list, name, instead) => {
  expect(ofMembers({ [list]: [{ name, image: 'e:1' }] })).toEqual([
    `overrides[0].patch.spec.${list}[${name}].name: cannot be overridden, because it is the name of one of ${instead}; use ${instead} instead`,
  ]);
});

test('the error says what to use instead', () => {
  expect(ofMembers({ containers: [{ name: 'etcd', image: 'e:1' }] })).toEqual([
    'overrides[0].patch.spec.containers[etcd].image: cannot be overridden, because it must be what the rest of the pod is made for; use image instead',
  ]);
});

test.each<[object, string]>([
  [
    { containers: [{ name: 'proxy' }] },
    'spec.containers[proxy]: has no image; give one, or the name of a container that has one: gate, agent, etcd',
  ],
  [
    { containers: [sidecar] },
    "spec.containers[proxy].volumeMounts[/spool]: there is no volume 'spool'; add it to volumes",
  ],
  [{ volumes: [{ name: 'spool' }] }, 'spec.volumes[spool]: has no source; add one, such as emptyDir: {}'],
  [
    { volumes: [{ name: 'scratch', hostPath: { path: '/tmp' } }] },
    'spec.volumes[scratch]: has emptyDir and hostPath; give only one of them',
  ],
  [
    { volumes: [{ name: 'scratch', $patch: 'delete' }] },
    "spec.initContainers[gate].volumeMounts[/scratch]: there is no volume 'scratch'; add it to volumes",
  ],
])('%j adds something incomplete', (spec, problem) => {
  expect(ofMembers(spec)).toEqual([`overrides[0].patch.${problem}`]);
});

test('an override without an effect is refused', () => {
  const problem = 'overrides[0].patch: changes nothing, because MemberPods already has all of it; correct or remove it';
  expect(ofMembers({})).toEqual([problem]);
  expect(ofMembers({ containers: [{ name: 'etcd2', $patch: 'delete' }] })).toEqual([problem]);
  expect(ofMembers({ enableServiceLinks: false })).toEqual([problem]);
});

test('an override of what is not there is refused', () => {
  const patch = { metadata: { annotations: { a: 'b' } } };
  const problem = (target: string) =>
    `overrides[0].patch: changes nothing, because there is no object of ${target}; remove it`;
  expect(problems({ volume: { ephemeral: true }, overrides: [{ target: OverrideTarget.CLAIMS, patch }] })).toEqual([
    problem('Claims'),
  ]);
  const overridden = [{ target: OverrideTarget.SERVICE_ACCOUNTS, patch }];
  expect(schedule({ serviceAccountName: 'mine', overrides: overridden }).node.validate()).toEqual([
    problem('ServiceAccounts'),
  ]);
  // Jobs of the reconciler have pods of backups, too.
  expect(problems({ overrides: [{ target: OverrideTarget.BACKUP_PODS, patch }] })).toEqual([]);
});

test('a port may be added to a Service and to a container', () => {
  const port = { name: 'proxy', port: 8443, targetPort: 8443 };
  const containers = [{ name: 'etcd', ports: [{ name: 'proxy', containerPort: 8443 }] }];
  const orders = cluster({
    overrides: [
      ...overrides(OverrideTarget.CLIENT_SERVICE, { spec: { ports: [port] } }),
      ...overrides(OverrideTarget.MEMBER_PODS, { spec: { containers } }),
    ],
  });
  expect(orders.node.validate()).toEqual([]);
  expect(orders.clientService.toJson().spec.ports).toContainEqual(port);
  const gone = { spec: { ports: [{ port: 2379, $patch: 'delete' }] } };
  expect(problems({ overrides: overrides(OverrideTarget.CLIENT_SERVICE, gone) })).toEqual([
    expect.stringContaining('spec.ports[2379].name: cannot be overridden'),
  ]);
});

test('an unknown target is refused', () => {
  const target = 'Pods' as OverrideTarget;
  const wrong = [expect.stringContaining("overrides[0].target: 'Pods' is not one of")];
  expect(problems({ overrides: [{ target, patch: {} }] })).toEqual(wrong);
  expect(schedule({ overrides: [{ target, patch: {} }] }).node.validate()).toEqual(wrong);
  const reconciler = new EtcdReconciler(new Chart(Testing.app(), 'shop'), 'reconciler', {
    overrides: [{ target, patch: {} }],
  });
  expect(reconciler.node.validate()).toEqual(wrong);
});

const backupPods = (team: string) => [
  { target: OverrideTarget.BACKUP_PODS, patch: { metadata: { annotations: { team, [team]: 'true' } } } },
];

test('the overrides of a schedule come after those of its cluster, and are in the resource apart', () => {
  const orders = cluster({ overrides: backupPods('shop') });
  orders.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3, overrides: backupPods('backup') });
  const { template } = objectOf(orders, 'CronJob').spec.jobTemplate.spec;
  expect(template.metadata.annotations).toEqual({ shop: 'true', backup: 'true', team: 'backup' });
  const { spec } = objectOf(orders, 'EtcdCluster');
  expect(spec.overrides).toEqual(backupPods('shop'));
  expect(spec.backup.schedules[0].overrides).toEqual(backupPods('backup'));
});

test('a schedule reports its own', () => {
  const orders = cluster({ overrides: backupPods('shop') });
  const bad = { target: OverrideTarget.CRON_JOBS, patch: { spec: { suspend: true } } };
  const nightly = orders.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3, overrides: [bad] });
  expect(nightly.node.validate()).toEqual([expect.stringContaining('overrides[0].patch.spec.suspend: cannot be')]);
  expect(orders.node.validate()).toEqual([]);
});

test('a schedule of any etcd has overrides, too', () => {
  const patch = { spec: { hostAliases: [{ ip: '10.0.0.1', hostnames: ['s3'] }] } };
  expect(podOf(schedule({ overrides: [{ target: OverrideTarget.BACKUP_PODS, patch }] })).hostAliases).toEqual(
    patch.spec.hostAliases,
  );
});

test('a reconciler has overrides, too', () => {
  const chart = new Chart(Testing.app(), 'shop');
  const { node } = new EtcdReconciler(chart, 'reconciler', {
    overrides: [
      { target: OverrideTarget.RECONCILER_PODS, patch: { spec: { dnsPolicy: 'Default' } } },
      { target: OverrideTarget.DEPLOYMENT, patch: { spec: { strategy: { type: 'Recreate' } } } },
      { target: OverrideTarget.SERVICES, patch: { spec: { ipFamilyPolicy: 'PreferDualStack' } } },
    ],
  });
  expect(node.validate()).toEqual([]);
  const { spec } = Testing.synth(chart).find(({ kind }) => kind === 'Deployment');
  expect(spec.template.spec.dnsPolicy).toBe('Default');
  expect(spec.strategy).toEqual({ type: 'Recreate' });
  const bad = {
    target: OverrideTarget.RECONCILER_PODS,
    patch: { spec: { containers: [{ name: 'reconciler', args: [] }] } },
  };
  expect(
    new EtcdReconciler(chart, 'other', { name: 'other', selector: { a: 'b' }, overrides: [bad] }).node.validate(),
  ).toEqual(
    expect.arrayContaining([expect.stringContaining('spec.containers[reconciler].args: cannot be overridden')]),
  );
});

test('null deletes in YAML as in TypeScript, and the resource keeps it', () => {
  const patch = { spec: { securityContext: { runAsUser: null } } };
  const found = rendering([resource({ overrides: [{ target: 'MemberPods', patch }] })]);
  expect(only(found, 'StatefulSet').spec.template.spec.securityContext).not.toHaveProperty('runAsUser');
  const kept = [{ target: 'MemberPods', patch: { spec: { securityContext: { runAsUser: { $patch: 'delete' } } } } }];
  expect(only(found, 'EtcdCluster').spec.overrides).toEqual(kept);
  const app = new Chart(Testing.app(), 'shop');
  const orders = new EtcdCluster(app, 'orders', { overrides: [{ target: OverrideTarget.MEMBER_PODS, patch }] });
  expect(orders.customResource.toJson().spec.overrides).toEqual(kept);
});

test.each<[string, OverrideTarget, object]>([
  ['the name of the members by all Services', OverrideTarget.SERVICES, { spec: { clusterIP: null } }],
  ['a Service that leads elsewhere', OverrideTarget.CLIENT_SERVICE, { spec: { type: 'ExternalName' } }],
  ...[{ suspend: true }, { completions: 0 }, { parallelism: 3 }, { ttlSecondsAfterFinished: 0 }].map(
    (spec): [string, OverrideTarget, object] => [
      `${Object.keys(spec)[0]} of the Jobs of backups`,
      OverrideTarget.CRON_JOBS,
      { spec: { jobTemplate: { spec } } },
    ],
  ),
  ...['//data', 'data', '/./data', '/a/../data', '/'].map((mountPath): [string, OverrideTarget, object] => [
    `a mount at ${mountPath}`,
    OverrideTarget.MEMBER_PODS,
    { spec: { containers: [{ name: 'etcd', volumeMounts: [{ mountPath, name: 'spool' }] }], volumes: [spool] } },
  ]),
  [
    'a mount of the data at a strange path',
    OverrideTarget.MEMBER_PODS,
    { spec: { containers: [{ ...sidecar, volumeMounts: [{ mountPath: '/a]b', name: 'data' }] }] } },
  ],
  ...['dataSource', 'dataSourceRef'].map((field): [string, OverrideTarget, object] => [
    `the ${field} of claims`,
    OverrideTarget.CLAIMS,
    { spec: { [field]: { kind: 'PersistentVolumeClaim', name: 'old' } } },
  ]),
  [
    'the volume of a store',
    OverrideTarget.BACKUP_PODS,
    { spec: { volumes: [{ name: 'store-0', persistentVolumeClaim: { claimName: 'fast' } }] } },
  ],
])('%s cannot be overridden', (_, target, patch) => {
  const orders = cluster({ overrides: overrides(target, patch) });
  orders.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  const found = orders.node.findAll().flatMap(({ node }) => node.validate());
  expect(found).toEqual([expect.stringMatching(/cannot be overridden|only etcd and its agent may touch/)]);
});

const later = (value: unknown) => Lazy.any({ produce: () => value });
test.each<[OverrideTarget, object, string]>([
  [OverrideTarget.POD_DISRUPTION_BUDGET, { spec: later({ minAvailable: 0 }) }, 'spec'],
  [OverrideTarget.CLIENT_SERVICE, { spec: { selector: later({ app: 'x' }) } }, 'spec.selector'],
  [OverrideTarget.CLIENT_SERVICE, { spec: { type: later('ExternalName') } }, 'spec.type'],
  [OverrideTarget.CLIENT_SERVICE, { spec: { sessionAffinity: `\${Token[TOKEN.1]}` } }, 'spec.sessionAffinity'],
  [OverrideTarget.MEMBER_PODS, { spec: later({}) }, 'spec'],
  [OverrideTarget.MEMBER_PODS, { metadata: { labels: later({ a: 'b' }) } }, 'metadata.labels'],
  [OverrideTarget.MEMBER_PODS, { metadata: { labels: { a: later('b') } } }, 'metadata.labels.a'],
  [OverrideTarget.MEMBER_PODS, { spec: { securityContext: later({ fsGroup: 1 }) } }, 'spec.securityContext'],
  [OverrideTarget.MEMBER_PODS, { spec: { tolerations: [later({ key: 'a' })] } }, 'spec.tolerations[0]'],
  [
    OverrideTarget.MEMBER_PODS,
    { spec: { containers: [{ name: later('etcd'), image: 'x' }] } },
    'spec.containers[0].name',
  ],
  [
    OverrideTarget.MEMBER_PODS,
    { spec: { containers: [{ name: 'etcd', resources: { limits: { resolve: () => ({ memory: '1Mi' }) } } }] } },
    'spec.containers[etcd].resources.limits',
  ],
])('of %s, %j is refused, because it is known too late to be checked', (target, patch, path) => {
  expect(problems({ overrides: overrides(target, patch) })).toEqual([
    `overrides[0].patch.${path}: is known only when the manifests are written; give its value itself`,
  ]);
});

const proxyEnv = [{ name: 'https_proxy', value: 'http://proxy:3128' }];
const options = [{ prefix: 'ETCD_AGENT_', secretRef: { name: 'own' } }];
const ofMember = { name: 'theirs', persistentVolumeClaim: { claimName: 'data-orders-0' } };
/** What a finished pod may not be, and its field. */
const faults: readonly [fault: string, spec: object, at: string, says: string][] = [
  [
    'the agent has options of a Secret',
    { initContainers: [{ name: 'agent', envFrom: options }] },
    'spec.initContainers[agent].envFrom[0].prefix',
    'makes variables ETCD_…',
  ],
  [
    'etcd has a proxy',
    { containers: [{ name: 'etcd', env: proxyEnv }] },
    'spec.containers[etcd].env[https_proxy]',
    'etcd would connect',
  ],
  [
    'the data of another member',
    { volumes: [ofMember] },
    'spec.volumes[theirs]',
    'data-orders-0 is a claim with the data',
  ],
  ...['scratch', 'tmp'].map((name): [string, object, string, string] => [
    `the data of another member as ${name}`,
    { volumes: [{ ...ofMember, name, emptyDir: null }] },
    `spec.volumes[${name}]`,
    'data-orders-0 is a claim with the data',
  ]),
  [
    'a container of two lists',
    { initContainers: [{ name: 'mine', image: 'a' }], containers: [{ name: 'mine', image: 'a' }] },
    'spec.containers[mine]',
    'has the name of another container',
  ],
  [
    'a variable of two sources',
    { containers: [{ name: 'etcd', env: [{ name: 'A', value: 'a', valueFrom: { fieldRef: { fieldPath: 'a' } } }] }] },
    'spec.containers[etcd].env[A]',
    'has both value and valueFrom; remove one of them, in an override with valueFrom: null',
  ],
  [
    'variables of two objects at once',
    { initContainers: [{ name: 'agent', envFrom: [{ secretRef: { name: 'a' }, configMapRef: { name: 'a' } }] }] },
    'spec.initContainers[agent].envFrom[0]',
    'needs either configMapRef or secretRef',
  ],
  [
    'a request above its limit',
    { containers: [{ name: 'etcd', resources: { requests: { memory: '4Gi' } } }] },
    'spec.containers[etcd].resources.requests[memory]',
    '4Gi is above its limit, 2Gi',
  ],
  [
    'a container with a name that is not one',
    { containers: [{ name: 'X_Y', image: 'a' }] },
    'spec.containers[X_Y]',
    'is not a valid name',
  ],
  ['no server to ask', { dnsPolicy: 'None' }, 'spec.dnsPolicy', 'None needs the servers to ask'],
  [
    'too little time to end',
    { terminationGracePeriodSeconds: 0 },
    'spec.terminationGracePeriodSeconds',
    '0 is too short',
  ],
  [
    'an end of the pod',
    { activeDeadlineSeconds: 3600 },
    'spec.activeDeadlineSeconds',
    'would end the pod while it works',
  ],
];
test.each(faults)('by an override, a finished pod may not be one with %s', (_, spec, at, says) => {
  expect(ofMembers(spec)).toEqual([expect.stringContaining(`overrides[0].patch.${at}: ${says}`)]);
});

test.each<[string, EtcdClusterProps, string]>([
  [
    'options of a Secret',
    { containers: { agent: { envFrom: options } } },
    'containers.agent.envFrom[0].prefix: makes variables ETCD_…',
  ],
  [
    'an option',
    { containers: { gate: { env: [{ name: 'ETCD_AGENT_STORE' }] } } },
    'containers.gate.env[0].name: is that of a variable',
  ],
  ['the data of another member', { volumes: [ofMember] }, 'volumes[theirs]: data-orders-0 is a claim'],
  ['a container without an image', { sidecars: [{ name: 'proxy' }] }, 'sidecars[proxy]: has no image; give one'],
  [
    'a mount without a volume',
    { initContainers: [sidecar] },
    "initContainers[proxy].volumeMounts[/spool]: there is no volume 'spool'",
  ],
  [
    'a mount without a volume in our container',
    { containers: { etcd: { volumeMounts: [{ name: 'spool', mountPath: '/spool' }] } } },
    "containers.etcd.volumeMounts[/spool]: there is no volume 'spool'",
  ],
  [
    'one name twice',
    { sidecars: [{ name: 'a', image: 'a' }], initContainers: [{ name: 'a', image: 'a' }] },
    'sidecars[a]: has the name of another container',
  ],
  [
    'a variable twice',
    { sidecars: [{ name: 'a', image: 'a', env: [{ name: 'A' }, { name: 'A' }] }] },
    'sidecars[a].env[A]: is there twice',
  ],
  [
    'a spread twice',
    {
      topologySpreadConstraints: [1, 2].map((maxSkew) => ({
        maxSkew,
        topologyKey: 'rack',
        whenUnsatisfiable: 'ScheduleAnyway',
      })),
    },
    'topologySpreadConstraints[rack]: is there twice; remove one of them',
  ],
  [
    'a sidecar that requests more than its limit',
    { sidecars: [{ name: 'a', image: 'a', resources: { requests: { cpu: '1.5' }, limits: { cpu: '100m' } } }] },
    'sidecars[a].resources.requests[cpu]: 1.5 is above its limit, 100m',
  ],
  [
    'a volume with a name that is not one',
    { volumes: [{ name: 'X_Y', emptyDir: {} }] },
    'volumes[X_Y]: is not a valid',
  ],
  ['a volume of nothing', { volumes: [{ name: 'spool' }] }, 'volumes[spool]: has no source'],
])('by a property, a finished pod may not be one with %s', (_, props, problem) => {
  expect(problems(props)).toEqual([expect.stringContaining(problem)]);
});

test('schedules and reconcilers have finished pods, too', () => {
  const bad = { volumes: [{ name: 'spool' }], container: { volumeMounts: [{ name: 'spol', mountPath: '/spool' }] } };
  const lost = expect.stringContaining("container.volumeMounts[/spool]: there is no volume 'spol'");
  expect(schedule(bad).node.validate()).toEqual([lost]);
  const orders = cluster();
  expect(orders.addBackupSchedule('a', { schedule: Cron.daily(), store: s3, ...bad }).node.validate()).toEqual([lost]);
  const { node } = new EtcdReconciler(new Chart(Testing.app(), 'shop'), 'reconciler', bad);
  expect(node.validate()).toEqual([lost]);
  const yaml = { backup: { schedules: [{ ...nightly, ...bad }] }, sidecars: [{ name: 'proxy' }] };
  expect(errorsOf([resource(yaml)])).toEqual([expect.stringContaining('sidecars[proxy]: has no image'), lost]);
});

test('an override of CronJobs needs a schedule', () => {
  const patch = { metadata: { annotations: { a: 'b' } } };
  expect(problems({ overrides: [{ target: OverrideTarget.CRON_JOBS, patch }] })).toEqual([
    'overrides[0].patch: changes nothing, because there is no object of CronJobs; remove it',
  ]);
});

test('resources of pods of backups are never without effect: the Jobs of the reconciler have others', () => {
  const limit = (cpu: string) => ({ spec: { containers: [{ name: 'backup', resources: { limits: { cpu } } }] } });
  const usual = [{ target: OverrideTarget.BACKUP_PODS, patch: limit('100m') }];
  expect(problems({ overrides: usual })).toEqual([]);
  const orders = cluster();
  const options = { schedule: Cron.daily(), store: s3, overrides: usual };
  expect(orders.addBackupSchedule('nightly', options).node.validate()).toEqual([]);
  // There are no such Jobs for another etcd.
  expect(schedule({ overrides: usual }).node.validate()).toEqual([expect.stringContaining('changes nothing')]);
});

test.each(['constructor', '__proto__'])('a key %s, which cdk8s cannot write, is refused', (name) => {
  const map = JSON.parse(`{ "${name}": "a" }`);
  const patch = { metadata: { annotations: map } };
  const all = { nodeSelector: map, labels: map, overrides: [{ target: OverrideTarget.MEMBER_PODS, patch }] };
  const says = `'${name}' is a name that cdk8s cannot write`;
  const places = ['labels', 'nodeSelector', 'overrides[0].patch.metadata.annotations'];
  const found = errorsOf([resource(all)]);
  expect(found).toHaveLength(3);
  expect(found).toEqual(
    expect.arrayContaining(places.map((place) => expect.stringContaining(`spec.${place}: ${says}`))),
  );
  for (const place of places) expect(() => cluster(all)).toThrow(`${place}: ${says}`);
});

test('other names that JavaScript gives to every object are keys like others', () => {
  const labels = { toString: 'a', hasOwnProperty: 'b' };
  const patch = { metadata: { labels } };
  const all = { nodeSelector: labels, overrides: [{ target: OverrideTarget.MEMBER_PODS, patch }] };
  const { metadata, spec } = only(rendering([resource(all)]), 'StatefulSet').spec.template;
  expect(metadata.labels).toMatchObject(labels);
  expect(spec.nodeSelector).toEqual(labels);
});

describe('limits of memory that an override contradicts', () => {
  const limit = (list: string, name: string, memory: string | number | null) => ({
    spec: { [list]: [{ name, resources: { limits: { memory }, requests: { memory } } }] },
  });
  test.each<[string, OverrideTarget, object, string]>([
    [
      'etcd',
      OverrideTarget.MEMBER_PODS,
      limit('containers', 'etcd', '256Mi'),
      'container etcd: .* quarter of the quota',
    ],
    ['etcd in bytes', OverrideTarget.MEMBER_PODS, limit('containers', 'etcd', 10), 'container etcd: .* of the quota'],
    [
      'the gate',
      OverrideTarget.MEMBER_PODS,
      limit('initContainers', 'gate', '256Mi'),
      'container gate: .* of the quota',
    ],
    [
      'backups',
      OverrideTarget.BACKUP_PODS,
      limit('containers', 'backup', '128Mi'),
      'schedule nightly: .* of the quota',
    ],
  ])('%s', (_, target, patch, says) => {
    const opening = { ...nightly, verify: 'open' };
    const harmless = { target: 'MemberPods', patch: { spec: { shareProcessNamespace: true } } };
    const spec = { overrides: [harmless, { target, patch }], backup: { schedules: [opening] } };
    expect(errorsOf([resource(spec)])).toEqual([expect.stringMatching(`spec\\.overrides\\[1\\]\\.patch: ${says}`)]);
    const own = { backup: { schedules: [{ ...opening, overrides: [{ target, patch }] }] } };
    if (target === OverrideTarget.BACKUP_PODS)
      expect(errorsOf([resource(own)])).toEqual([expect.stringMatching(`overrides: .*${says}`)]);
  });

  test('no limit is none', () => {
    expect(problems({ overrides: overrides(OverrideTarget.MEMBER_PODS, limit('containers', 'etcd', null)) })).toEqual(
      [],
    );
  });
});

test.each<[string, object, object, string | RegExp]>([
  [
    'another user',
    { securityContext: { runAsNonRoot: true } },
    { securityContext: { runAsUser: 65532 } },
    'securityContext: must have runAsUser: 0',
  ],
  [
    'another user of the container',
    { container: { securityContext: { runAsUser: 1 } } },
    { containers: [{ name: 'backup', securityContext: { runAsUser: 1 } }] },
    /container(s\[backup\])?[.]securityContext: must have runAsUser: 0/,
  ],
  [
    'the DNS of the cluster',
    { dnsPolicy: 'ClusterFirstWithHostNet' },
    { dnsPolicy: 'ClusterFirst' },
    'dnsPolicy: must be Default or None',
  ],
  ['no network of the node', {}, { hostNetwork: false }, 'hostNetwork: cannot be overridden'],
])('the backup of a control plane may not have %s', (_, fields, spec, says) => {
  const backupOf = (props: object) =>
    new ControlPlaneEtcdBackup(new Chart(Testing.app(), 'platform', { namespace: 'etcd-backup' }), 'hourly', {
      ...{ cluster: 'prod', schedule: Cron.hourly(), store: s3 },
      ...props,
    }).node.validate();
  if (Object.keys(fields).length > 0) expect(backupOf(fields)).toEqual([expect.stringMatching(says)]);
  expect(backupOf({ overrides: overrides(OverrideTarget.BACKUP_PODS, { spec }) })).toEqual([
    expect.stringMatching(says),
  ]);
});
