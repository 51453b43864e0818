import { buildProgram, type Invocation } from '../../commands/cli/program.ts';
import { Settings } from '../../commands/cli/settings.ts';
import { Events } from '../../kube/events.ts';
import { failure } from '../kubernetes/fake-api.fixture.ts';
import {
  api,
  argsOf,
  ask,
  client,
  cluster,
  created,
  end,
  found,
  jobs,
  log,
  none,
  objects,
  pass,
  paths,
  reasons,
  settle,
  specOf,
  statusOf,
  store,
  stored,
  useFakeApi,
  warnings,
} from './pass.fixture.ts';
import { backupPass } from './pass.ts';

useFakeApi();

test.each([{ clientSecret: 'c', rootSecret: 'r', backupSecret: 'orders-backup-tls' }, { managed: {} }])(
  'with a certificate of backups it asks the agents of the members: %j',
  async (tls) => {
    cluster({ tls });
    ask('before');
    await settle('before');
    const [job] = jobs();
    const host = (i: number) => `https://orders-${i}-client.shop.svc.example.org:2382`;
    expect(argsOf(job).find((each: string) => each.startsWith('--endpoints='))).toContain(`${host(0)},${host(1)}`);
    expect(JSON.stringify(specOf(job))).toContain('"secretName":"orders-backup-tls"');
  },
);

test('the Job has the ServiceAccount that comes with the annotations of the backup', async () => {
  cluster({});
  ask('before', { clusterName: 'orders', schedule: 'nightly', serviceAccountAnnotations: { role: 'backup' } });
  await settle('before');
  expect(specOf(jobs()[0]).template.spec).toMatchObject({ serviceAccountName: 'before-backup' });
});

test('a backup of a cluster according to its schedule, from the first pass to the end', async () => {
  cluster({ tls: { clientSecret: 'orders-client-tls' } });
  ask('before');
  await settle('before');
  const [job] = jobs();
  expect(job?.metadata.ownerReferences).toMatchObject([
    { kind: 'EtcdBackup', name: 'before', uid: found('before').metadata.uid },
  ]);
  expect(job?.metadata.labels).toMatchObject({
    'app.kubernetes.io/part-of': 'orders',
    'app.kubernetes.io/name': 'etcd-backup',
  });
  expect(specOf(job)).toMatchObject({ backoffLimit: 3, activeDeadlineSeconds: 21_600 });
  expect(specOf(job).template.spec).toMatchObject({
    nodeSelector: { disk: 'fast' },
    containers: [{ image: 'registry/agent:1' }],
  });
  expect(argsOf(job)).toEqual(
    expect.arrayContaining([
      '--cluster=orders',
      expect.stringContaining(
        '--endpoints=https://orders-0-client.shop.svc.example.org:2379,https://orders-1-client.shop.',
      ),
      '--cacert=/etc/etcd-agent/tls/ca.crt',
      '--timeout=10m',
      `--request=${found('before').metadata.uid}`,
      expect.stringContaining('"retention":{"last":3}'),
    ]),
  );
  expect(statusOf('before')).toMatchObject({ phase: 'BackingUp', jobName: job?.metadata.name, source: 'orders' });
  end('Complete', 0, stored);
  await settle('before');
  expect(statusOf('before')).toMatchObject({ phase: 'Completed', snapshotId: 'the-id', verified: 'read' });
  expect(reasons()).toEqual(['SuccessfulCreate', 'BackupSucceeded']);
  expect(await pass('before')).toEqual({ done: true, acted: false });
  expect(warnings).toEqual([]);
});

/** One of an override comes first. */
const sidecar = { name: 'a-sidecar', image: 'side:1' };

test('a Job has the proxy variables of the reconciler, as its Deployment declares them', async () => {
  const proxy = { name: 'HTTPS_PROXY', valueFrom: { secretKeyRef: { name: 'proxy', key: 'url' } } };
  const env = [{ name: 'POD_NAME' }, proxy, { name: 'no_proxy', value: '.svc' }];
  api.put(paths.of('deployments', 'etcd-reconciler'), {
    spec: { template: { spec: { containers: [sidecar, { name: 'reconciler', image: 'mine/agent:2', env }] } } },
  });
  cluster();
  ask('before');
  await pass('before', { deployment: 'etcd-reconciler' });
  expect(specOf(jobs()[0]).template.spec.containers[0].env.slice(-2)).toEqual([proxy, env[2]]);
});

test('a backup has the overrides of its cluster and of its schedule', async () => {
  const overrides = (name: string) => [
    { target: 'BackupPods', patch: { spec: { containers: [{ name: 'backup', env: [{ name, value: 'a' }] }] } } },
  ];
  const schedule = { name: 'nightly', stores: [store], overrides: overrides('B') };
  cluster({ overrides: overrides('A'), backup: { schedules: [schedule] } });
  ask('before');
  await settle('before');
  const { env } = specOf(jobs()[0]).template.spec.containers[0];
  expect(env.map(({ name }: { name: string }) => name)).toEqual([
    'B',
    'A',
    'ETCD_AGENT_NAMESPACE',
    'ETCD_AGENT_KEEP_FILE',
  ]);
});

test('a backup has what its schedule says of pods, and instead of it what it says itself', async () => {
  const schedule = {
    ...{ name: 'nightly', stores: [store], labels: { of: 'schedule' }, priorityClassName: 'low', schedulerName: 'own' },
    container: { env: [{ name: 'A', value: 'a' }], securityContext: { runAsUser: 1 } },
    podLabels: { tier: 'schedule' },
    overrides: [{ target: 'BackupPods', patch: { spec: { hostname: null, shareProcessNamespace: true } } }],
  };
  cluster({ labels: { of: 'cluster', team: 'shop' }, backup: { schedules: [schedule] } });
  ask('own', {
    ...{ clusterName: 'orders', schedule: 'nightly', labels: { of: 'backup' }, annotations: { note: 'own' } },
    ...{ nodeSelector: { disk: 'slow' }, priorityClassName: 'high', imagePullPolicy: 'Always' },
    container: { env: [{ name: 'B', value: 'b' }] },
    podLabels: { own: 'true' },
    ttlSecondsAfterFinished: 600,
    overrides: [{ target: 'BackupPods', patch: { spec: { shareProcessNamespace: false } } }],
  });
  await pass('own');
  const [job] = jobs();
  expect(job!.metadata).toMatchObject({ labels: { of: 'backup', team: 'shop' }, annotations: { note: 'own' } });
  const { ttlSecondsAfterFinished, template } = specOf(job);
  expect(ttlSecondsAfterFinished).toBe(600);
  expect(template.metadata.labels).toMatchObject({ of: 'backup', own: 'true', team: 'shop', tier: 'schedule' });
  const { containers, ...pod } = template.spec;
  expect(pod).toMatchObject({ nodeSelector: { disk: 'slow' }, priorityClassName: 'high', schedulerName: 'own' });
  expect(pod.shareProcessNamespace).toBe(false);
  expect(containers[0]).toMatchObject({ imagePullPolicy: 'Always', securityContext: { runAsUser: 1 } });
  expect(containers[0].env).toContainEqual({ name: 'B', value: 'b' });
});

test('a backup with an override that cannot be applied fails, and says why', async () => {
  cluster({ overrides: [{ target: 'BackupPods', patch: { spec: { restartPolicy: 'Always' } } }] });
  ask('before');
  await settle('before');
  expect(statusOf('before')).toMatchObject({
    phase: 'Failed',
    message: expect.stringContaining(
      'EtcdCluster orders: spec.overrides[0].patch.spec.restartPolicy: cannot be overridden',
    ),
  });
});

test('a backup with an override of its own that cannot be applied names its own field', async () => {
  cluster();
  const overrides = [{ target: 'BackupPods', patch: { spec: { restartPolicy: 'Always' } } }];
  ask('own', { clusterName: 'orders', schedule: 'nightly', overrides });
  await settle('own');
  expect(statusOf('own').message).toMatch(/(?<!EtcdCluster orders: )spec[.]overrides\[0\].patch.spec.restartPolicy/);
});

test('such a mistake is reported while the backup still waits', async () => {
  cluster({}, { status: 'False', reason: 'Bootstrapping' });
  const overrides = [{ target: 'BackupPods', patch: { spec: { restartPolicy: 'Always' } } }];
  ask('early', { clusterName: 'orders', schedule: 'nightly', overrides });
  ask('lost', { clusterName: 'nowhere', overrides });
  for (const name of ['early', 'lost']) {
    await settle(name);
    expect(statusOf(name)).toMatchObject({ phase: 'Failed', reason: 'BadSpec' });
    expect(statusOf(name).message).toMatch(/^spec[.]overrides\[0\].patch.spec.restartPolicy: cannot be overridden/);
  }
});

const limitedTo = (memory: string) => ({
  spec: { containers: [{ name: 'backup', resources: { limits: { memory } } }] },
});

test('one that opens its snapshot is refused the memory that does not suffice, and gets what does', async () => {
  cluster({ quota: '16Gi', backup: { schedules: [{ name: 'nightly', stores: [store], verify: 'open' }] } });
  const limit = (memory: string) => ({ resources: { limits: { memory } } });
  ask('small', { clusterName: 'orders', schedule: 'nightly', ...limit('2047Mi') });
  await settle('small');
  expect(statusOf('small')).toMatchObject({
    phase: 'Failed',
    message: expect.stringMatching(/^spec[.]resources: .* of the quota: 2047Mi is too little; give at least 2048Mi/),
  });
  expect(jobs()).toEqual([]);
  ask('enough', { clusterName: 'orders', schedule: 'nightly', ...limit('2Gi') });
  await settle('enough');
  expect(jobs()).toHaveLength(1);
});

test.each([
  ['overrides[0].patch', { overrides: [{ target: 'BackupPods', patch: limitedTo('1Gi') }] }, {}],
  [
    'backup.schedules[nightly].overrides[0].patch',
    {},
    { overrides: [{ target: 'BackupPods', patch: limitedTo('1Gi') }] },
  ],
])('one that opens its snapshot is refused too little memory of %s of the cluster', async (place, spec, own) => {
  const schedule = {
    name: 'nightly',
    stores: [store],
    verify: 'open',
    resources: { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } },
    ...own,
  };
  cluster({ quota: '16Gi', backup: { schedules: [schedule] }, ...spec });
  ask('small', { clusterName: 'orders', schedule: 'nightly' });
  await settle('small');
  expect(statusOf('small').message).toContain(`EtcdCluster orders: spec.${place}: the Job opens the snapshot`);
});

test('a backup has the CPU and memory of its schedule, unless it has its own', async () => {
  const ofSchedule = { limits: { cpu: '2', memory: '4Gi' } };
  cluster({ backup: { schedules: [{ name: 'nightly', stores: [store], resources: ofSchedule }] } });
  ask('before');
  await settle('before');
  const all = { cpu: '2', memory: '4Gi' };
  expect(specOf(jobs()[0]).template.spec.containers[0].resources).toEqual({ requests: all, limits: all });
  end('Complete', 0, stored);
  await settle('before');
  ask('large', { clusterName: 'orders', schedule: 'nightly', resources: { limits: { memory: '8Gi' } } });
  await settle('large');
  const resources = { requests: { cpu: '100m', memory: '8Gi' }, limits: { cpu: '1', memory: '8Gi' } };
  expect(specOf(jobs()[1]).template.spec.containers[0].resources).toEqual(resources);
});

test.each([
  [{ timeout: '5h', activeDeadline: '7h' }, {}, 25_200],
  [{ timeout: '5h' }, {}, 21_600],
  [{ timeout: '5h', activeDeadline: '7h' }, { timeouts: { total: '8h' } }, 28_860],
])('a backup by the schedule %j with %j ends after %i s', async (times, own, seconds) => {
  cluster({ backup: { schedules: [{ name: 'nightly', stores: [store], ...times }] } });
  ask('before', { clusterName: 'orders', schedule: 'nightly', ...own });
  await settle('before');
  expect(specOf(jobs()[0])).toMatchObject({ activeDeadlineSeconds: seconds });
});

test('a backup of any endpoints, in its own store, needs no cluster', async () => {
  const template = {
    spec: {
      containers: [sidecar, { name: 'reconciler', image: 'mine/agent:2' }],
      imagePullSecrets: [{ name: 'pull' }],
    },
  };
  api.put(paths.of('deployments', 'etcd-reconciler'), { spec: { template } });
  ask('legacy', {
    endpoints: ['https://10.0.0.1:2379'],
    tls: { files: { secretName: 'legacy-client' } },
    store,
    key: '{{ .Namespace }}/{{.Name}}-{{ .CreationTimestamp }}.db',
    timeouts: { dial: '2s', total: '90s' },
  });
  await pass('legacy', { deployment: 'etcd-reconciler' });
  const [job] = jobs();
  const spec = specOf(job);
  expect(spec).toMatchObject({ activeDeadlineSeconds: 150 });
  expect(spec.template.spec).toMatchObject({
    imagePullSecrets: [{ name: 'pull' }],
    containers: [{ image: 'mine/agent:2' }],
  });
  expect(argsOf(job)).toEqual(
    expect.arrayContaining([
      '--cluster=legacy',
      '--endpoints=https://10.0.0.1:2379',
      '--cert=/etc/etcd-agent/tls/tls.crt',
      '--dial-timeout=2s',
      '--timeout=90s',
      '--object-key=shop/legacy-20261122T020000Z.db',
    ]),
  );
});

test('the agent accepts the arguments of its Job', async () => {
  cluster();
  ask('before', { clusterName: 'orders', schedule: 'nightly', key: 'k.db', compression: 'gzip' });
  await settle('before');
  let found: Invocation | undefined;
  const program = buildProgram(async (invocation) => {
    found = invocation;
  });
  await program.parseAsync(argsOf(jobs()[0]), { from: 'user' });
  const settings = await Settings.load(found!);
  const text = (name: string) => settings.text(name);
  expect([found?.command, text('objectKey'), text('compression')]).toEqual(['backup', 'k.db', 'gzip']);
  expect(text('request')).toBe(api.object(paths.of('etcdbackups', 'before'))?.metadata.uid);
  expect(settings.stores()).toMatchObject([{ s3: { bucket: 'backups', prefix: 'eu' } }]);
});

test('retention keeps what EtcdRestores name: the reconciler lists it beside the record of the cluster', async () => {
  cluster();
  ask('before');
  ask('releases', { clusterName: 'orders', schedule: 'nightly', prefix: 'releases' });
  await settle('before');
  end('Complete', 0, stored);
  await settle('before');
  await settle('releases');
  const [own, without] = jobs().map((job) => specOf(job).template.spec);
  const configMap = expect.objectContaining({ name: 'orders-record', optional: true });
  expect(own.volumes).toContainEqual({ name: 'record', configMap });
  expect(own.containers[0].env).toContainEqual({
    name: 'ETCD_AGENT_KEEP_FILE',
    value: '/etc/etcd-agent/record/kept-snapshots',
  });
  expect(JSON.stringify(without)).not.toContain('record');
});

test('a backup in its own folder does not use the retention of the schedule', async () => {
  cluster();
  ask('before', { clusterName: 'orders', schedule: 'nightly', prefix: 'releases' });
  await settle('before');
  const flag = argsOf(jobs()[0]).find((each) => each.startsWith('--store='))!;
  expect(JSON.parse(flag.slice('--store='.length))).toEqual({ s3: { bucket: 'backups', prefix: 'releases' } });
});

test("a failure is a Warning with the Job and the agent's message, and the Job remains", async () => {
  cluster();
  ask('before');
  await settle('before');
  end('Failed', 21, { error: 's3://backups: access denied' });
  await settle('before');
  const [job] = jobs();
  const message = `Job ${job?.metadata.name}: s3://backups: access denied`;
  expect(statusOf('before')).toMatchObject({ phase: 'Failed', reason: 'StoreRefused', message });
  expect(objects('events')).toContainEqual(
    expect.objectContaining({ type: 'Warning', reason: 'BackupFailed', message }),
  );
  api.delete(paths.of('jobs', job!.metadata.name));
  await settle('before');
  expect([jobs(), statusOf('before').phase]).toEqual([[], 'Failed']);
});

test.each([
  ['ClusterNotFound', () => {}],
  ['ScheduleNotFound', () => cluster({ backup: {} })],
  ['ClusterNotServing', () => cluster({}, { status: 'False', reason: 'Bootstrapping' })],
  ['ClusterNotServing', () => cluster({}, { status: 'False', reason: 'Restoring' })],
])('%s is awaited', async (reason, given) => {
  given();
  ask('before');
  await settle('before');
  expect(statusOf('before')).toMatchObject({ phase: 'Pending', reason });
  if (reason === 'ScheduleNotFound') {
    expect(statusOf('before').message).toBe("EtcdCluster orders has no backup schedule 'nightly'; waiting for it");
    cluster({ backup: { schedules: [{ name: 'hourly', stores: [] }] } });
    await settle('before');
    expect(statusOf('before').message).toContain("no backup schedule 'nightly', only hourly; waiting for it");
  }
  expect([jobs(), reasons()]).toEqual([[], []]);
  cluster();
  await settle('before');
  expect(statusOf('before').phase).toBe('BackingUp');
});

test('without a quorum it does not wait: the backup fails', async () => {
  cluster({}, { status: 'False', reason: 'QuorumLost' });
  ask('before');
  await settle('before');
  expect(statusOf('before').phase).toBe('BackingUp');
});

test('one at a time for a cluster, the oldest first', async () => {
  cluster();
  ask('second', undefined, { creationTimestamp: '2026-11-22T02:00:01Z' });
  // The initial status that the CRD's default sets.
  ask('first', undefined, undefined, { phase: 'Pending', reason: 'NotSeen', message: 'no reconciler' });
  ask('elsewhere', { endpoints: ['http://10.0.0.1:2379'], store });
  await settle('second');
  expect(statusOf('second')).toMatchObject({
    phase: 'Pending',
    reason: 'AnotherRuns',
    message: expect.stringContaining('first'),
  });
  await settle('first');
  await settle('second');
  expect(jobs()).toHaveLength(1);
  await settle('elsewhere');
  expect(jobs()).toHaveLength(2);
  end('Complete', 0, stored);
  await settle('first');
  await settle('second');
  expect(statusOf('second').phase).toBe('BackingUp');
});

test('those that waited for the cluster run one at a time, too', async () => {
  cluster({}, { status: 'False', reason: 'Bootstrapping' });
  ask('second', undefined, { creationTimestamp: '2026-11-22T02:00:01Z' });
  ask('first');
  await settle('second');
  await settle('first');
  cluster();
  await settle('second');
  await settle('first');
  expect([statusOf('first').phase, statusOf('second').reason]).toEqual(['BackingUp', 'AnotherRuns']);
});

test('one whose Job was created, but whose status does not say so yet, is waited for', async () => {
  cluster();
  ask('younger', undefined, { creationTimestamp: '2026-11-22T02:00:01Z' });
  expect(await pass('younger')).toEqual({ done: false, acted: true });
  expect([jobs().length, statusOf('younger').phase]).toEqual([1, undefined]);
  ask('older');
  await settle('older');
  expect([jobs().length, statusOf('older').reason]).toEqual([1, 'AnotherRuns']);
  end('Complete', 0, stored);
  await settle('younger');
  await settle('older');
  expect([jobs().length, statusOf('older').phase]).toEqual([2, 'BackingUp']);
});

describe('two of a cluster never wait for each other', () => {
  /** `old` was created first, and waits for its schedule while `new` runs. Then the Job of `new` vanishes. */
  const meanwhile = async () => {
    cluster();
    ask('old', { clusterName: 'orders', schedule: 'weekly' });
    ask('new', undefined, { creationTimestamp: '2026-11-22T02:00:01Z' });
    await settle('old');
    await settle('new');
    expect([statusOf('old').reason, statusOf('new').reason]).toEqual(['ScheduleNotFound', 'Starting']);
  };
  const vanish = () => api.delete(paths.of('jobs', jobs()[0]!.metadata.name));
  const schedules = ['nightly', 'weekly'].map((name) => ({ name, stores: [store] }));

  test('the Job of the younger one vanishes while the older one has come to wait for it', async () => {
    await meanwhile();
    cluster({ backup: { schedules } });
    await settle('old');
    expect(statusOf('old').reason).toBe('AnotherRuns');
    vanish();
    await settle('new');
    await settle('old');
    await settle('new');
    expect(jobs()).toHaveLength(1);
    end('Complete', 0, stored);
    await settle('old');
    await settle('new');
    expect(jobs().map(({ metadata }) => metadata.name)).toEqual([statusOf('old').jobName, statusOf('new').jobName]);
  });

  test.each([
    ['its schedule is removed', () => cluster({ backup: { schedules: schedules.slice(1) } })],
    ['its new Job is refused', () => refuseJobs(403, 'Forbidden', 'exceeded quota: jobs')],
  ])('one whose Job vanished, and which cannot have another (%s), holds up nobody', async (_, hinder) => {
    await meanwhile();
    vanish();
    hinder();
    await settle('new');
    expect(statusOf('new').phase).toBe('BackingUp');
    api.fault = () => false;
    cluster({ backup: { schedules: schedules.slice(1) } });
    await settle('old');
    expect(statusOf('old').reason).toBe('Starting');
  });
});

function refuseJobs(status: number, reason: string, message: string): void {
  api.fault = (request, response, path) => {
    if (request.method !== 'POST' || !path.endsWith('/jobs')) return false;
    failure(response, status, reason, message);
    return true;
  };
}

test('a refused Job is reported, and created once the API server accepts it', async () => {
  cluster();
  ask('before');
  refuseJobs(403, 'Forbidden', 'exceeded quota: jobs');
  await settle('before');
  expect(statusOf('before')).toMatchObject({ phase: 'Pending', reason: 'JobNotCreated' });
  expect(statusOf('before').message).toContain('exceeded quota: jobs');
  expect(statusOf('before').conditions).toContainEqual(expect.objectContaining({ reason: 'JobNotCreated' }));
  expect(reasons()).toEqual(['FailedCreate']);
  api.fault = () => false;
  await settle('before');
  expect(statusOf('before').phase).toBe('BackingUp');
});

describe('what the retention of a run deleted', () => {
  const done = { phase: 'Completed', snapshotId: 'old-id', reason: 'Stored', message: 'x' };
  const deleting = { ...stored, stores: [{ ...stored.stores[0], deleted: ['old-id', 'older-id'] }] };

  test('is in its status, in its event, and in the EtcdBackup whose snapshot it was', async () => {
    cluster();
    ask('kept', undefined, {}, { ...done, snapshotId: 'kept-id' });
    ask('old', undefined, {}, done);
    ask('other', { clusterName: 'another', schedule: 'nightly' }, {}, done);
    const restore = { phase: 'Completed', safetyBackupId: 'older-id' };
    api.put(paths.of('etcdrestores', 'monday'), { spec: { clusterName: 'orders' }, status: restore });
    ask('before');
    await settle('before');
    end('Complete', 0, deleting);
    await settle('before');
    expect(statusOf('before')).toMatchObject({ phase: 'Completed', deletedSnapshots: ['old-id', 'older-id'] });
    expect(statusOf('before').message).toContain('retention deleted 2 older snapshots');
    expect(statusOf('old')).toMatchObject({ phase: 'Completed', snapshotDeletedAt: expect.any(String) });
    const monday = api.object<{ status: object }>(paths.of('etcdrestores', 'monday'));
    expect(monday!.status).toMatchObject({ safetyBackupDeletedAt: expect.any(String) });
    for (const name of ['kept', 'other', 'before']) expect(statusOf(name).snapshotDeletedAt).toBeUndefined();
  });

  test('is noted by the next run, if it could not be: a note that is refused keeps no backup from ending', async () => {
    cluster();
    ask('invalid', undefined, {}, { ...done, snapshotId: 'older-id' });
    ask('old', undefined, {}, done);
    ask('before');
    await settle('before');
    end('Complete', 0, deleting);
    api.fault = (request, response, path) => {
      if (request.method !== 'PATCH' || !path.includes('/invalid/')) return false;
      failure(response, 422, 'Invalid', 'spec.key is not valid');
      return true;
    };
    await settle('before');
    expect(statusOf('before').phase).toBe('Completed');
    expect(statusOf('old').snapshotDeletedAt).toBeDefined();
    expect(warnings.join()).toContain('spec.key is not valid');
    api.fault = () => false;
    api.delete(paths.of('jobs', jobs()[0]!.metadata.name));
    ask('next');
    await settle('next');
    end('Complete', 0, stored);
    await settle('next');
    expect(statusOf('invalid').snapshotDeletedAt).toBe(statusOf('before').completionTime);
  });

  test('is still in the first store of an EtcdBackup or a safety backup that has another one', async () => {
    const archive = { s3: { bucket: 'archive' } };
    const nightly = { name: 'nightly', stores: [store, archive] };
    const weekly = { name: 'weekly', stores: [archive] };
    cluster({ backup: { schedules: [nightly, weekly], schedule: 'nightly' } });
    ask('old', undefined, {}, done);
    const restore = { phase: 'Completed', safetyBackupId: 'older-id' };
    api.put(paths.of('etcdrestores', 'monday'), { spec: { clusterName: 'orders' }, status: restore });
    ask('before', { clusterName: 'orders', schedule: 'weekly' });
    await settle('before');
    end('Complete', 0, deleting);
    await settle('before');
    expect(statusOf('before').deletedSnapshots).toEqual(['old-id', 'older-id']);
    expect(statusOf('old').snapshotDeletedAt).toBeUndefined();
    expect(JSON.stringify(api.object(paths.of('etcdrestores', 'monday')))).not.toContain('DeletedAt');
  });

  test('is noted where the EtcdBackup that stored it ends only later', async () => {
    cluster();
    ask('before');
    await settle('before');
    end('Complete', 0, stored);
    const deleted = { ...done, snapshotId: 'new-id', completionTime: created, deletedSnapshots: ['the-id'] };
    ask('new', undefined, {}, deleted);
    await settle('before');
    expect(statusOf('before')).toMatchObject({ phase: 'Completed', snapshotDeletedAt: created });
  });
});

test('a Job that a webhook refuses in other words each time is tried again in the usual time', async () => {
  cluster();
  ask('before');
  let n = 0;
  api.fault = (request, response, path) => {
    if (request.method !== 'POST' || !path.endsWith('/jobs')) return false;
    failure(response, 403, 'Forbidden', `admission webhook "quota" denied the request (request ${++n})`);
    return true;
  };
  for (const time of [1, 2]) {
    expect(await pass('before')).toMatchObject({ done: false, acted: false });
    expect(statusOf('before').message).toContain(`request ${time}`);
  }
});

test('a Job that was created meanwhile is found by the next pass, and nothing is reported', async () => {
  cluster();
  ask('before');
  let isLate = true;
  api.fault = (request, response, path) => {
    if (!isLate || request.method !== 'GET' || !path.includes('/jobs')) return false;
    response.end(JSON.stringify({ metadata: {}, items: [] }));
    return true;
  };
  await pass('before');
  expect(jobs()).toHaveLength(1);
  const listed = () => {
    isLate = false;
  };
  expect(await pass('before', { at: listed })).toEqual({ done: false, acted: true });
  expect([statusOf('before').reason, reasons()]).toEqual([undefined, []]);
});

test('a Job of the same name that is not found as its own is reported, and not asked for without end', async () => {
  cluster();
  ask('before');
  await pass('before');
  const [job] = jobs();
  const { labels: _, ...metadata } = job!.metadata;
  api.put(paths.of('jobs', metadata.name), { ...job, metadata } as never);
  await settle('before');
  expect(statusOf('before')).toMatchObject({ phase: 'Pending', reason: 'JobNotCreated' });
  expect(statusOf('before').message).toContain('already exists');
});

test('a failing API server is retried, and nothing is reported', async () => {
  cluster();
  ask('before');
  refuseJobs(500, 'InternalError', 'etcd is busy');
  await expect(pass('before')).rejects.toThrow('etcd is busy');
  expect(statusOf('before').phase).toBeUndefined();
});

test('a failing API server is reported after some failures, and the backups behind do not wait for that one', async () => {
  cluster();
  ask('before');
  ask('behind');
  refuseJobs(500, 'InternalError', 'failed calling webhook "audit": context deadline exceeded');
  await pass('before', { fails: true });
  expect(statusOf('before')).toMatchObject({ phase: 'Pending', reason: 'JobNotCreated' });
  expect(statusOf('before').message).toContain('failed calling webhook');
  await expect(pass('behind')).rejects.toThrow('failed calling webhook');
});

test('a request that can never be fulfilled is Failed at once', async () => {
  cluster();
  ask('before', { clusterName: 'orders', store: { command: { path: '/bin/mine' } }, prefix: 'x', image: 'mine' });
  await settle('before');
  expect(statusOf('before')).toMatchObject({ phase: 'Failed', reason: 'BadSpec' });
  expect(statusOf('before').message).toMatch(/^prefix: a command store does not support it/);
  expect(reasons()).toEqual(['BackupFailed']);
});

test('a Job that vanishes is created again with the same request id, so that the store is checked first', async () => {
  cluster();
  ask('before');
  await settle('before');
  const [first] = jobs();
  api.delete(paths.of('jobs', first!.metadata.name));
  await settle('before');
  const [second] = jobs();
  expect(second?.metadata.uid).not.toBe(first?.metadata.uid);
  expect(argsOf(second)).toEqual(argsOf(first));
  expect(reasons()).toEqual(['SuccessfulCreate', 'JobVanished', 'SuccessfulCreate']);
  end('Complete', 0, stored);
  await settle('before');
  expect(statusOf('before')).toMatchObject({ phase: 'Completed', snapshotId: 'the-id' });
});

describe('a reconciler that ends at any point', () => {
  /** Runs a successful backup and returns all points; interrupts it at the given point. */
  async function run(cutAt?: number): Promise<string[]> {
    const points: string[] = [];
    const at = (point: string) => {
      points.push(point);
      if (points.length - 1 === cutAt) throw new Error(`cut ${point}`);
    };
    const through = async () => {
      for (;;) {
        try {
          return await settle('before', at);
        } catch (error) {
          if (!(error as Error).message.startsWith('cut ')) throw error;
        }
      }
    };
    cluster();
    ask('before');
    await through();
    end('Complete', 0, stored);
    await through();
    return points;
  }
  const points = [
    'before CreateBackupJob',
    'after CreateBackupJob',
    'before SuccessfulCreate',
    'before ReportBackupBackingUp',
    'after ReportBackupBackingUp',
    'before BackupSucceeded',
    'before ReportBackupCompleted',
    'after ReportBackupCompleted',
  ];

  test('passes these points', async () => {
    expect(await run()).toEqual(points);
  });

  test.each([...points.entries()])(
    '%i: %s: the next one makes no second Job and tells nothing twice',
    async (index) => {
      await run(index);
      expect(statusOf('before')).toMatchObject({ phase: 'Completed', snapshotId: 'the-id' });
      expect(jobs()).toHaveLength(1);
      expect(reasons()).toEqual(['SuccessfulCreate', 'BackupSucceeded']);
    },
  );
});

test('a backup that another reconciler has finished meanwhile does not change', async () => {
  cluster();
  ask('before');
  await pass('before');
  const at = (point: string) => {
    if (point !== 'before ReportBackupBackingUp') return;
    api.put(paths.of('etcdbackups', 'before'), { ...found('before'), status: { phase: 'Completed' } });
  };
  await expect(pass('before', { at })).rejects.toThrow('the object has been modified');
  expect(statusOf('before')).toEqual({ phase: 'Completed' });
});

describe('a Job whose pod does not start', () => {
  const began = async () => {
    cluster();
    ask('before');
    await settle('before');
    return jobs()[0]!;
  };
  const event = (uid: string, reason: string, message: string) =>
    api.put(paths.of('events', reason.toLowerCase()), {
      involvedObject: { uid },
      ...{ type: 'Warning', reason, message, lastTimestamp: created },
    });

  test('because a Secret is missing, which only its Events say', async () => {
    const job = await began();
    const { uid } = api.put(paths.of('pods', 'before-pod'), {
      metadata: {
        labels: { 'batch.kubernetes.io/job-name': job.metadata.name },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job.metadata.name, uid: job.metadata.uid }],
      },
      status: { phase: 'Pending', containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] },
    }).metadata;
    event(uid, 'FailedMount', 'MountVolume.SetUp failed for volume "store" : secret "s3" not found');
    await settle('before');
    expect(statusOf('before')).toMatchObject({ phase: 'BackingUp', reason: 'PodWaits' });
    expect(statusOf('before').message).toContain('secret "s3" not found');
  });

  test('because no pod can be created, even if a deleted Job of the same name left one', async () => {
    const { name, uid } = (await began()).metadata;
    api.put(paths.of('pods', 'earlier-pod'), {
      metadata: {
        labels: { 'batch.kubernetes.io/job-name': name },
        ownerReferences: [{ kind: 'Job', name, uid: 'x' }],
      },
      status: { phase: 'Failed' },
    });
    event(uid, 'FailedCreate', 'Error creating: pods "x" is forbidden: exceeded quota: small');
    await settle('before');
    expect(statusOf('before').message).toContain('exceeded quota: small');
  });
});

test('another EtcdBackup with the same name is not mistaken for it', async () => {
  cluster();
  ask('before');
  const { uid } = found('before').metadata;
  api.delete(paths.of('etcdbackups', 'before'));
  ask('before');
  const events = new Events(client, paths, 'me', log);
  expect(await backupPass('before', uid, { client, paths, events, log, troubles: none, at: () => {} })).toEqual({
    done: true,
    acted: false,
  });
  expect(jobs()).toEqual([]);
});
