import { buildProgram, type Invocation } from '../../commands/cli/program.ts';
import { Settings } from '../../commands/cli/settings.ts';
import type { PodTemplate } from '../../kube/objects.ts';
import { issueIntermediate, issueLeaf, issueRoot } from '../certificates/issue.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import { jobSettings } from '../objects/job-settings.ts';
import type { JobRequest } from '../port/effect.ts';
import { type JobInputs, jobManifest, restoredAnnotation } from './job-manifest.ts';

const store = { s3: { bucket: 'backups', credentials: { secretName: 's3' } }, retention: { last: 3 } };
const cluster = {
  metadata: { name: 'orders', namespace: 'shop', uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  spec: {
    size: 3,
    version: '3.6.16',
    tls: { peerSecret: 'orders-peer', serverSecret: 'orders-server', clientSecret: 'orders-client-tls' },
    backup: {
      schedules: [
        {
          name: 'nightly',
          cron: '0 2 * * *',
          stores: [store],
          compression: 'gzip',
          serviceAccountName: 'orders-nightly',
          encryption: { age: { recipients: [] } },
        },
      ],
    },
  },
} satisfies EtcdClusterObject;
const template: PodTemplate = {
  spec: {
    initContainers: [
      { name: 'gate', image: 'registry/member:1', imagePullPolicy: 'IfNotPresent' },
      { name: 'agent', image: 'registry/agent:1', imagePullPolicy: 'IfNotPresent' },
    ],
    containers: [],
    volumes: [{ name: 'peer-tls', secret: { secretName: 'orders-peer-tls' } }],
    imagePullSecrets: [{ name: 'pull' }],
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'etcd' }],
  },
};
const around: JobInputs = {
  cluster,
  template,
  endpoints: { 0: 'https://orders-0.x:2379', 1: 'https://orders-1.x:2379' },
  peerName: 'orders-0.orders-peers.shop.svc.cluster.local',
};

// biome-ignore lint/suspicious/noExplicitAny: a manifest
const manifest = (request: JobRequest, more: Partial<JobInputs> = {}): any =>
  jobManifest(request, { ...around, ...more });

/** Parses the arguments as the agent does. */
async function parsed(args: string[]): Promise<{ invocation: Invocation; settings: Settings }> {
  let invocation: Invocation | undefined;
  await buildProgram(async (found) => {
    invocation = found;
  }).parseAsync(args, { from: 'user' });
  return { invocation: invocation!, settings: await Settings.load(invocation!) };
}

test('a Job says that its snapshot is restored next', () => {
  const annotationsOf = (more: Partial<JobRequest>) =>
    manifest({ kind: 'pre-upgrade', op: 'op1', schedule: 'nightly', ...more }).metadata.annotations;
  expect(annotationsOf({ restored: true })).toMatchObject({ [restoredAnnotation]: 'true' });
  expect(annotationsOf({})).not.toHaveProperty([restoredAnnotation]);
});

test.each([
  ['its schedule', { timeout: '5h', activeDeadline: '7h' }, 25_200],
  ['a schedule by default', {}, 21_600],
])('the Job of an operation has as much time as %s', (_, times, seconds) => {
  const { backup, ...spec } = cluster.spec;
  const schedules = backup.schedules.map((each) => ({ ...each, ...times }));
  const request: JobRequest = { kind: 'pre-upgrade', op: 'op1', schedule: 'nightly' };
  const found = manifest(request, { cluster: { ...cluster, spec: { ...spec, backup: { schedules } } } });
  expect(found.spec.activeDeadlineSeconds).toBe(seconds);
});

test('the overrides of the cluster, then those of the schedule, change the pods of every Job', () => {
  const pods = (team: string) => [
    { target: 'CronJobs', patch: { metadata: { annotations: { team } } } } as const,
    {
      target: 'BackupPods',
      patch: {
        metadata: { annotations: { team, [team]: 'true' } },
        spec: {
          securityContext: { runAsUser: { $patch: 'delete' } },
          containers: [
            { name: 'backup', env: [{ name: 'A', value: team }] },
            { name: 'side', image: 's' },
          ],
        },
      },
    } as const,
  ];
  const { backup } = cluster.spec;
  const [nightly] = backup.schedules;
  const overridden = {
    cluster: {
      ...cluster,
      spec: {
        ...cluster.spec,
        overrides: pods('shop'),
        backup: { ...backup, schedules: [{ ...nightly!, overrides: pods('backup') }] },
      },
    },
  };
  const podOf = (request: JobRequest) => manifest(request, overridden).spec.template;
  const { metadata, spec } = podOf({ kind: 'final', op: 'op1', schedule: 'nightly' });
  expect(metadata.annotations).toEqual({ shop: 'true', backup: 'true', team: 'backup' });
  expect(spec.securityContext).not.toHaveProperty('runAsUser');
  expect(spec.containers.map(({ name }: { name: string }) => name)).toEqual(['backup', 'side']);
  expect(spec.containers[0].env).toContainEqual({ name: 'A', value: 'backup' });
  const restore = { source: { store }, minor: '3.6', token: '' };
  // It has the pods of the first schedule.
  expect(podOf({ kind: 'restore', op: 'op1', restore }).metadata.annotations).toEqual(metadata.annotations);
});

test('an override of what the Job needs fails it, with the field and the remedy', () => {
  const patch = { spec: { containers: [{ name: 'backup', args: ['true'] }] } };
  const overrides = [{ target: 'BackupPods', patch }] as const;
  const bad = { cluster: { ...cluster, spec: { ...cluster.spec, overrides } } };
  expect(() => manifest({ kind: 'final', op: 'op1', schedule: 'nightly' }, bad)).toThrow(
    'EtcdCluster orders: spec.overrides[0].patch.spec.containers[backup].args: cannot be overridden, because it follows from the spec; remove it',
  );
  const wrong = [{ target: 'BackupPods', patch: { spec: { containers: [{}] } } }] as const;
  expect(() =>
    manifest(
      { kind: 'final', op: 'op1', schedule: 'nightly' },
      { cluster: { ...cluster, spec: { ...cluster.spec, overrides: wrong } } },
    ),
  ).toThrow('spec.overrides[0].patch.spec.containers[0]: has no name');
});

test.each<[object, object, string]>([
  [
    {},
    { volumes: [{ name: 'theirs', persistentVolumeClaim: { claimName: 'data-orders-0' } }] },
    'spec.volumes[theirs]: data-orders-0 is a claim',
  ],
  [
    {},
    { containers: [{ name: 'backup', envFrom: [{ prefix: 'ETCD_' }] }] },
    'spec.containers[backup].envFrom[0].prefix: makes',
  ],
  [{}, { contianers: [] }, 'spec.contianers: is not a field of Kubernetes'],
  [{}, { activeDeadlineSeconds: 1 }, 'spec.activeDeadlineSeconds: would end the pod'],
  [
    { initContainers: [{ name: 'first' }] },
    {},
    'EtcdCluster orders: spec.backup.schedules[nightly].initContainers[first]: has no image',
  ],
])('a Job whose pods are wrong is not made: %j, %j', (fields, spec, says) => {
  const { backup } = cluster.spec;
  const [nightly] = backup.schedules;
  const overrides = [{ target: 'BackupPods', patch: { spec } }] as const;
  const schedules = [{ ...nightly!, ...fields, overrides }];
  const bad = { cluster: { ...cluster, spec: { ...cluster.spec, backup: { ...backup, schedules } } } };
  expect(() => manifest({ kind: 'final', op: 'op1', schedule: 'nightly' }, bad)).toThrow(says);
});

test('while the source of the certificates changes, a Job trusts the authorities of both', () => {
  const others = { peerSecret: 'p', serverSecret: 's', clientSecret: 'c' };
  const alsoTrust = { trustSecret: 'trust', ...others };
  const tls = { ...others, rootSecret: 'r', backupSecret: 'b', alsoTrust };
  const sources = [
    { secret: { name: 'orders-peer', items: [{ key: 'tls.crt', path: 'tls.crt' }] } },
    { secret: { name: 'trust', items: [{ key: 'peer-ca.crt', path: 'ca.crt' }] } },
  ];
  const peerTls = { name: 'peer-tls', projected: { sources } };
  const changing = {
    cluster: { ...cluster, spec: { ...cluster.spec, tls } },
    template: { spec: { ...template.spec, volumes: [peerTls] } },
  };
  const restore = { source: { schedule: 'nightly' }, minor: '3.6', token: '' };
  const { spec } = manifest({ kind: 'restore', op: 'op1', restore }, changing);
  const { volumes } = spec.template.spec;
  expect(volumes).toContainEqual(peerTls);
  const ofBackup = volumes.find(({ name }: { name: string }) => name === 'tls').projected.sources;
  expect(ofBackup.map((source: { secret: { name: string; items: object } }) => source.secret)).toEqual([
    {
      name: 'b',
      items: [
        { key: 'tls.crt', path: 'tls.crt' },
        { key: 'tls.key', path: 'tls.key' },
      ],
    },
    { name: 'trust', items: [{ key: 'client-ca.crt', path: 'ca.crt' }] },
    { name: 'b', items: [{ key: 'ca.crl', path: 'ca.crl' }], optional: true },
  ]);
});

test('with a certificate of backups it is that of every Job; with that of root a snapshot with authentication is served', async () => {
  const tls = { peerSecret: 'p', serverSecret: 's', clientSecret: 'c', rootSecret: 'r', backupSecret: 'b' };
  const secured = { cluster: { ...cluster, spec: { ...cluster.spec, tls } } };
  // biome-ignore lint/suspicious/noExplicitAny: a manifest
  const secretsOf = ({ spec }: any) => spec.template.spec.volumes.map(({ secret }: any) => secret?.secretName);
  const backup = { kind: 'safety', op: 'op1', schedule: 'nightly' } as const;
  expect(secretsOf(manifest(backup, secured))).toContain('b');
  expect(secretsOf(manifest(backup, secured))).not.toContain('c');
  const restore = { source: { schedule: 'nightly' }, minor: '3.6', token: '' };
  const argsOf = (more: Partial<JobInputs>) =>
    manifest({ kind: 'restore', op: 'op1', restore }, more).spec.template.spec.containers[0].args;
  const now = Date.now();
  const authority = await issueIntermediate('CA', await issueRoot('root', now), now);
  const named = async (commonName: string) => {
    const { cert } = await issueLeaf({ commonName, dnsNames: [], ipAddresses: [], isServer: false }, authority, now);
    return { ...secured, rootCertificate: Buffer.from(cert) };
  };
  expect(argsOf(await named('root'))).toContain('--accept-authentication');
  const refused = manifest(
    { kind: 'restore', op: 'op1', restore: { ...restore, refusesAuth: true } },
    await named('root'),
  );
  expect(refused.spec.template.spec.containers[0].args).not.toContain('--accept-authentication');
  // The reconciler could not enter the restored etcd.
  expect(argsOf(await named('orders-client'))).not.toContain('--accept-authentication');
  expect(argsOf({ ...secured, rootCertificate: Buffer.from('x') })).not.toContain('--accept-authentication');
  expect(argsOf(secured)).not.toContain('--accept-authentication');
  expect(argsOf({})).not.toContain('--accept-authentication');
});

test('a Job names the generation of the resource from which it was made', () => {
  const changed = { ...cluster, metadata: { ...cluster.metadata, generation: 7 } };
  const { annotations } = manifest({ kind: 'final', op: 'op1', schedule: 'nightly' }, { cluster: changed }).metadata;
  expect(annotations).toMatchObject({ 'cdk8s-etcd.dev/generation': '7' });
});

test('a backup uses the stores and the ServiceAccount of the schedule, and the scheduling constraints of the members', async () => {
  const { metadata, spec } = manifest({ kind: 'pre-upgrade', op: 'op1', schedule: 'nightly' });
  expect(metadata).toMatchObject({
    name: 'orders-pre-upgrade',
    annotations: { 'cdk8s-etcd.dev/op': 'op1' },
    ownerReferences: [{ kind: 'EtcdCluster', name: 'orders', uid: 'u' }],
  });
  const labels = { 'app.kubernetes.io/name': 'etcd-backup', 'app.kubernetes.io/part-of': 'orders' };
  expect(spec.template.metadata.labels).toMatchObject(labels);
  expect(spec.template.spec).toMatchObject({
    serviceAccountName: 'orders-nightly',
    imagePullSecrets: [{ name: 'pull' }],
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'etcd' }],
    containers: [{ image: 'registry/agent:1', imagePullPolicy: 'IfNotPresent' }],
  });
  const { invocation, settings } = await parsed(spec.template.spec.containers[0].args);
  expect(invocation.command).toBe('backup');
  expect(settings.text('cluster')).toBe('orders');
  expect(settings.text('compression')).toBe('gzip');
  // The snapshot that is being restored may be the next one that the schedule's retention lets go.
  expect(settings.stores()).toMatchObject([{ s3: { bucket: 'backups' }, retention: undefined }]);
  const mounted = spec.template.spec.volumes.map(
    ({ secret }: { secret?: { secretName: string } }) => secret?.secretName,
  );
  expect(mounted).toEqual(['orders-client-tls', 's3', undefined]);
});

test('a restore has the store, the identities and the certificate of the peers, and no end', async () => {
  const source = { store, snapshotId: '20261121T000000Z-0a', job: { serviceAccountName: 'restorer', image: 'mine:2' } };
  const restore = { source, identitySecret: 'identity', minor: '3.6', token: 'secret-token' };
  const { spec } = manifest({ kind: 'restore', op: 'op1', restore });
  expect(spec.activeDeadlineSeconds).toBeUndefined();
  // A snapshot that is not there does not come back.
  expect(JSON.stringify(spec.podFailurePolicy)).toContain('41');
  const [container] = spec.template.spec.containers;
  expect(container.image).toBe('mine:2');
  expect(spec.template.spec.serviceAccountName).toBe('restorer');
  expect(JSON.stringify(spec)).not.toContain('secret-token');
  const { invocation, settings } = await parsed(container.args);
  expect(invocation).toMatchObject({ command: 'restore serve', args: ['20261121T000000Z-0a'] });
  expect(settings.text('peerTlsDir')).toBe('/etc/etcd/tls/peer');
  const mounts = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
  for (const path of ['/etc/etcd/tls/peer', '/etc/etcd-agent/identities', '/tmp']) expect(mounts).toContain(path);
});

test('a salvage gets its source from the environment alone', async () => {
  const salvage = { url: 'https://10.0.0.1:8080/salvage', token: 'secret-token', sha256: 'ab' };
  const { spec } = manifest({ kind: 'salvage', op: 'op1', schedule: 'nightly', salvage });
  const [container] = spec.template.spec.containers;
  expect(container.args.join(' ')).not.toContain('secret-token');
  expect(container.env).toContainEqual({ name: 'ETCD_AGENT_SOURCE_TOKEN', value: 'secret-token' });
  expect((await parsed(container.args)).invocation.command).toBe('salvage');
});

test.each<[string, JobRequest]>([
  ['backup', { kind: 'pre-upgrade', op: 'op1', schedule: 'nightly' }],
  ['salvage', { kind: 'salvage', op: 'op1', schedule: 'nightly', salvage: { url: 'u', token: 't', sha256: 'ab' } }],
  [
    'restore',
    { kind: 'restore', op: 'op1', restore: { source: { store, snapshotId: 'id' }, minor: '3.6', token: 't' } },
  ],
])('a %s knows its namespace, which is part of the folder of backups', (_, request) => {
  const [{ env }] = manifest(request).spec.template.spec.containers;
  const found = env.filter(({ name }: { name: string }) => name === 'ETCD_AGENT_NAMESPACE');
  expect(found).toMatchObject([{ valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }]);
});

test('a source without a store is refused, and its other fields are not shown', () => {
  const restore = { source: { snapshotId: 'the-id' }, minor: '3.6', token: 't' };
  expect(() => manifest({ kind: 'restore', op: 'op1', restore })).toThrow(
    /^the source of the restore names no store; set store or backupName in it$/,
  );
});

test('a restore of an EtcdBackup uses its store and its snapshot', async () => {
  const restore = { source: { backupName: 'monday' }, minor: '3.6', token: 't' };
  const backup = {
    store: { filesystem: { persistentVolumeClaim: { claimName: 'backup' } } },
    id: 'the-id',
    folder: 'orders',
  };
  const { spec } = manifest({ kind: 'restore', op: 'op1', restore }, { backup });
  const { invocation, settings } = await parsed(spec.template.spec.containers[0].args);
  expect(invocation.args).toEqual(['the-id']);
  expect(settings.stores()).toMatchObject([{ filesystem: { path: '/backup/0' } }]);
});

test('a backup of an external etcd is in its own folder, or under its own key', async () => {
  const restore = { source: { backupName: 'legacy' }, minor: '3.6', token: 't' };
  const backup = { store, id: 'the-id', folder: 'legacy' };
  const read = async (more: object) => {
    const { spec } = manifest({ kind: 'restore', op: 'op1', restore }, { backup: { ...backup, ...more } });
    const { invocation, settings } = await parsed(spec.template.spec.containers[0].args);
    return { ids: invocation.args, cluster: settings.text('cluster'), key: settings.text('objectKey') };
  };
  expect(await read({})).toEqual({ ids: ['the-id'], cluster: 'legacy', key: undefined });
  expect(await read({ key: 'releases/a.db' })).toEqual({ ids: ['the-id'], cluster: 'legacy', key: 'releases/a.db' });
});

describe('the CPU and memory of a Job', () => {
  const patch = { spec: { containers: [{ name: 'backup', resources: { limits: { memory: '1Gi' } } }] } };
  const limited = { target: 'BackupPods', patch } as const;
  const [nightly] = cluster.spec.backup.schedules;
  const toOpen = { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } };
  const source = { store, snapshotId: 'id' };
  const restore = (more: object = {}): JobRequest => ({
    kind: 'restore',
    op: 'op1',
    restore: { source: { ...source, ...more }, minor: '3.6', token: 't' },
  });
  const salvage = { url: 'u', token: 't', sha256: 'ab' };
  const ofSchedule = { requests: { memory: '2Gi' }, limits: { cpu: '2', memory: '4Gi' } };
  const inFull = { requests: { cpu: '2', memory: '2Gi' }, limits: { cpu: '2', memory: '4Gi' } };
  const opening = { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '1Gi' } };
  const resourcesOf = (request: JobRequest, schedule: object = {}) => {
    const [nightly] = cluster.spec.backup.schedules;
    const backup = { schedules: [{ ...nightly!, ...schedule }] };
    const [container] = manifest(request, { cluster: { ...cluster, spec: { ...cluster.spec, backup } } }).spec.template
      .spec.containers;
    return container.resources;
  };

  test.each<JobRequest>([
    { kind: 'pre-upgrade', op: 'op1', schedule: 'nightly' },
    { kind: 'safety', op: 'op1', schedule: 'nightly' },
    { kind: 'final', op: 'op1', schedule: 'nightly' },
    { kind: 'recovery', op: 'op1', schedule: 'nightly', survivor: 0 },
    { kind: 'salvage', op: 'op1', schedule: 'nightly', salvage },
    restore(),
  ])('of the kind $kind are those of the schedule', (request) => {
    expect(resourcesOf(request, { resources: ofSchedule })).toEqual(inFull);
  });

  test('suffice to open the database wherever that is done', () => {
    const backup: JobRequest = { kind: 'safety', op: 'op1', schedule: 'nightly' };
    expect(resourcesOf(backup, { verify: 'open' })).toEqual(opening);
    expect(resourcesOf(backup, { verify: 'read' })).toMatchObject({ limits: { memory: '100Mi' } });
    expect(resourcesOf(restore())).toEqual(opening);
    // Enough for a schedule that only reads, but not for the restore of what it stored.
    expect(resourcesOf(restore(), { resources: { limits: { memory: '200Mi' } } })).toEqual(opening);
  });

  test('of a restore grow with the quota', () => {
    const large = { ...cluster, spec: { ...cluster.spec, quota: '24Gi' } };
    const [container] = manifest(restore(), { cluster: large }).spec.template.spec.containers;
    expect(container.resources).toEqual({ ...opening, limits: { ...opening.limits, memory: '3072Mi' } });
  });

  test('of a restore can be given', () => {
    const job = { resources: { limits: { memory: '512Mi' } } };
    const given = { requests: { cpu: '100m', memory: '512Mi' }, limits: { cpu: '1', memory: '512Mi' } };
    expect(resourcesOf(restore({ job }), { resources: ofSchedule })).toEqual(given);
  });

  test('of an origin are those that its cluster has now', () => {
    const request = restore({ job: { resources: { limits: { memory: '2Gi' } } } });
    const origin = { source: {}, image: 'own:1', serviceAccountName: 'own', resources: { limits: { memory: '4Gi' } } };
    const ofOrigin = { ...request, restore: { ...request.restore!, isOrigin: true as const } };
    const { spec } = manifest(ofOrigin, { cluster: { ...cluster, spec: { ...cluster.spec, origin } } }).spec.template;
    const [{ image, resources }] = spec.containers;
    expect([image, spec.serviceAccountName, resources.limits.memory]).toEqual(['own:1', 'own', '4Gi']);
  });

  test.each<[JobRequest, object, string]>([
    [
      { ...restore(), restore: { ...restore().restore!, isOrigin: true } },
      { origin: { source: {}, resources: { limits: { memory: '1Gi' } } } },
      'EtcdCluster orders: spec.origin.resources',
    ],
    [restore({ job: { resources: { limits: { memory: '1Gi' } } } }), {}, 'spec.resources'],
    [restore({ job: { overrides: [limited] } }), {}, 'spec.overrides[0].patch'],
    [restore(), { overrides: [limited] }, 'EtcdCluster orders: spec.overrides[0].patch'],
    [
      { kind: 'salvage', op: 'op1', schedule: 'nightly', salvage },
      { overrides: [limited] },
      'EtcdCluster orders: spec.overrides[0].patch',
    ],
    [
      { kind: 'safety', op: 'op1', schedule: 'nightly' },
      { backup: { schedules: [{ ...nightly!, verify: 'open', resources: toOpen }] }, overrides: [limited] },
      'EtcdCluster orders: spec.overrides[0].patch',
    ],
  ])('that opens a snapshot must suffice, whoever gave them: %j, %j', (request, spec, place) => {
    const large = { ...cluster, spec: { ...cluster.spec, quota: '16Gi', ...spec } };
    expect(() => manifest(request, { cluster: large })).toThrow(
      `${place}: the Job opens the snapshot, and needs a limit of memory of at least an eighth of the quota: 1Gi is too little; give at least 2048Mi`,
    );
  });

  test('of a backup that only reads need not suffice to open', () => {
    const large = { ...cluster, spec: { ...cluster.spec, quota: '16Gi', overrides: [limited] } };
    const request: JobRequest = { kind: 'safety', op: 'op1', schedule: 'nightly' };
    expect(() => manifest(request, { cluster: large })).not.toThrow();
  });
});

test.each<JobRequest>([
  { kind: 'safety', op: 'op1', schedule: 'nightly' },
  { kind: 'restore', op: 'op1', restore: { source: { store, snapshotId: 'id' }, minor: '3.6', token: 't' } },
])('a Job of the kind $kind has the proxy variables of the reconciler', (request) => {
  const proxy = [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }];
  const [{ env }] = manifest(request, { proxy }).spec.template.spec.containers;
  expect(env).toContainEqual(proxy[0]);
});

describe('what Kubernetes lets a pod have', () => {
  const container = {
    env: [{ name: 'HTTPS_PROXY', value: 'http://own:3128' }],
    volumeMounts: [{ name: 'own', mountPath: '/own' }],
  };
  const fields = {
    ...{ affinity: { podAffinity: {} }, schedulerName: 'own', securityContext: { runAsNonRoot: true } },
    ...{
      volumes: [{ name: 'own', emptyDir: {} }],
      podAnnotations: { a: 'pod' },
      annotations: { a: 'object' },
      labels: { a: 'b' },
    },
    ...{ nodeSelector: { disk: 'slow' }, container, ttlSecondsAfterFinished: 3600 },
  };
  const { spec } = cluster;
  const scheduled = (more: object) => ({
    cluster: {
      ...cluster,
      spec: {
        ...spec,
        annotations: { c: 'd' },
        backup: { schedules: [{ ...spec.backup.schedules[0]!, ...more }] },
      },
    },
  });
  const restore = { source: { store }, minor: '3.6', token: '' };
  const requests: JobRequest[] = [
    { kind: 'safety', op: 'op1', schedule: 'nightly' },
    { kind: 'restore', op: 'op1', restore },
  ];

  test.each(requests)('the Job $kind has that of the schedule', (request) => {
    const proxy = [{ name: 'HTTPS_PROXY' }, { name: 'NO_PROXY' }];
    const job = manifest(request, { ...scheduled(fields), proxy });
    const { metadata, spec: pod } = job.spec.template;
    expect(job.metadata.annotations).toEqual({ a: 'object', c: 'd', 'cdk8s-etcd.dev/op': 'op1' });
    expect(job.metadata.labels).toMatchObject({ a: 'b', 'app.kubernetes.io/part-of': 'orders' });
    expect(job.spec.ttlSecondsAfterFinished).toBe(3600);
    expect(metadata.annotations).toEqual({ a: 'pod' });
    const { affinity, schedulerName, securityContext, nodeSelector } = fields;
    expect(pod).toMatchObject({ affinity, schedulerName, nodeSelector });
    expect(pod.securityContext).toEqual(securityContext);
    expect(pod.volumes.at(-1)).toEqual({ name: 'own', emptyDir: {} });
    const [backup] = pod.containers;
    expect(backup.volumeMounts.at(-1)).toEqual(container.volumeMounts[0]);
    const proxies = backup.env.filter(({ name }: { name: string }) => name.endsWith('_PROXY'));
    expect(proxies).toEqual([{ name: 'NO_PROXY' }, container.env[0]]);
  });

  test('that of an EtcdRestore comes after the schedule', () => {
    const own = {
      ...{ nodeSelector: { disk: 'own' }, labels: { team: 'restore' }, podAnnotations: { note: 'own' } },
      container: { env: [{ name: 'HTTPS_PROXY', value: 'own' }] },
      ttlSecondsAfterFinished: 700,
      overrides: [{ target: 'BackupPods' as const, patch: { spec: { shareProcessNamespace: true } } }],
    };
    const source = jobSettings.put({ store: { s3: { bucket: 'backups' } }, snapshotId: 'a' }, own);
    const job = manifest(
      { kind: 'restore', op: 'op1', restore: { source, minor: '3.6', token: '' } },
      scheduled(fields),
    );
    expect(job.metadata.labels).toMatchObject({ team: 'restore' });
    expect(job.spec.ttlSecondsAfterFinished).toBe(700);
    expect(job.spec.template.metadata.annotations).toMatchObject({ note: 'own' });
    const { containers, ...pod } = job.spec.template.spec;
    const { affinity, schedulerName } = fields;
    expect(pod).toMatchObject({ affinity, schedulerName, nodeSelector: { disk: 'own' }, shareProcessNamespace: true });
    expect(containers[0].env).toContainEqual({ name: 'HTTPS_PROXY', value: 'own' });
  });

  test('else that of the members, but not what keeps them apart', () => {
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: [] };
    const members: PodTemplate = {
      spec: {
        ...template.spec,
        affinity: { nodeAffinity, podAntiAffinity: {} } as object,
        ...{ schedulerName: 'members', hostAliases: [{ ip: '10.0.0.9' }], securityContext: { runAsNonRoot: true } },
      },
    };
    const { spec: pod } = manifest(requests[0]!, { template: members }).spec.template;
    expect(pod).toMatchObject({ schedulerName: 'members', hostAliases: [{ ip: '10.0.0.9' }] });
    expect(pod.affinity).toEqual({ nodeAffinity });
    expect(pod.securityContext).toEqual({ runAsNonRoot: true, fsGroupChangePolicy: 'OnRootMismatch' });
    expect(pod.nodeSelector).toEqual({ disk: 'fast' });
  });
});

test('a Job pulls its image as the schedule says, else as the pods of the members do', () => {
  const { backup } = cluster.spec;
  const [nightly] = backup.schedules;
  const policyOf = (imagePullPolicy?: 'Always') => {
    const schedules = [{ ...nightly!, ...(imagePullPolicy && { imagePullPolicy }) }];
    const inputs = { cluster: { ...cluster, spec: { ...cluster.spec, backup: { ...backup, schedules } } } };
    const job = manifest({ kind: 'final', op: 'op1', schedule: 'nightly' }, inputs);
    return job.spec.template.spec.containers[0].imagePullPolicy;
  };
  expect(policyOf('Always')).toBe('Always');
  expect(policyOf()).not.toBe('Always');
});
