import { buildProgram, type Invocation } from '../../commands/cli/program.ts';
import { Settings } from '../../commands/cli/settings.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { Troubles } from '../../kube/event-reader.ts';
import { Events } from '../../kube/events.ts';
import type { JobObject } from '../../kube/objects.ts';
import { Paths } from '../../kube/paths.ts';
import { FakeApi, failure } from '../cluster/kubernetes/fake-api.fixture.ts';
import type { BackupStatus, EtcdBackupObject } from './object.ts';
import { backupPass } from './pass.ts';

const paths = new Paths('shop');
const store = { s3: { bucket: 'backups', prefix: 'eu' }, retention: { last: 3 } };
const created = '2026-11-22T02:00:00Z';

let api: FakeApi;
let client: ApiClient;
const warnings: string[] = [];
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 2_000);
  warnings.length = 0;
});
afterEach(async () => {
  client.close();
  await api[Symbol.asyncDispose]();
});

const log = { warn: (text: string) => void warnings.push(text), debug() {} } as never;

function cluster(spec: object = {}, available = { status: 'True', reason: 'Serving' }): void {
  const schedules = [{ name: 'nightly', stores: [store], timeout: '10m' }];
  api.put(paths.of('etcdclusters', 'orders'), {
    spec: { size: 3, version: '3.6.16', backup: { schedules }, ...spec },
    status: { conditions: [{ type: 'Available', message: '', lastTransitionTime: created, ...available }] },
  });
  const gate = { name: 'gate', image: 'registry/agent:1', args: ['--cluster-domain=example.org'] };
  const template = { spec: { initContainers: [gate], containers: [], nodeSelector: { disk: 'fast' } } };
  api.put(paths.of('statefulsets', 'orders'), { spec: { template } });
}

function ask(
  name: string,
  spec: object = { clusterName: 'orders', schedule: 'nightly' },
  metadata: object = {},
  status?: object,
): void {
  api.put(paths.of('etcdbackups', name), {
    metadata: { creationTimestamp: created, generation: 1, ...metadata },
    spec,
    ...(status && { status }),
  } as never);
}

const found = (name: string) => api.object<EtcdBackupObject>(paths.of('etcdbackups', name))!;
const statusOf = (name: string): Partial<BackupStatus> => found(name)?.status ?? {};

const none = { of: async () => [] };

/** One pass of a reconciler that has just begun. */
function pass(name: string, more: { at?: (point: string) => void; deployment?: string } = {}) {
  const events = new Events(client, paths, 'me', log);
  const troubles = new Troubles({ client, paths, log }, { patience: 0, again: 0, gap: 0 });
  const options = { client, paths, events, troubles, at: () => {}, ...more };
  return backupPass(name, found(name)?.metadata.uid ?? 'gone', options);
}

/** Passes until nothing is left to do for now. */
async function settle(name: string, at: (point: string) => void = () => {}): Promise<void> {
  for (let n = 0; n < 20; n++) if (!(await pass(name, { at })).acted) return;
  throw new Error(`${name} does not come to rest: ${JSON.stringify(statusOf(name))}`);
}

const objects = <T>(resource: 'jobs' | 'events' | 'pods'): T[] => api.objects<T>(paths.of(resource));
const jobs = () => objects<JobObject>('jobs');
const reasons = () => objects<{ reason: string }>('events').map(({ reason }) => reason);

/** What the Job controller and the agent do. */
function end(type: 'Complete' | 'Failed', exitCode: number, result: object): void {
  const [job] = jobs();
  const { name, uid } = job!.metadata;
  api.put(paths.of('pods', `${name}-x`), {
    metadata: { labels: { 'batch.kubernetes.io/job-name': name }, ownerReferences: [{ kind: 'Job', name, uid }] },
    status: {
      phase: type === 'Complete' ? 'Succeeded' : 'Failed',
      containerStatuses: [{ name: 'backup', state: { terminated: { exitCode, message: JSON.stringify(result) } } }],
    },
  });
  const conditions = [{ type, status: 'True', lastTransitionTime: created }];
  api.put(paths.of('jobs', name), { ...job, status: { conditions } });
}
const snapshot = { id: 'the-id', revision: 7, sizeBytes: 20, sha256: 'ab' };
const stored = { snapshot, stores: [{ store: 's3://backups', key: 'orders/the-id.db', verified: 'read' }] };
// biome-ignore lint/suspicious/noExplicitAny: a manifest
const specOf = (job: JobObject | undefined): any => (job as unknown as { spec: object }).spec;
const argsOf = (job: JobObject | undefined): string[] => specOf(job).template.spec.containers[0].args;

test('a backup of a cluster as its schedule says, from the first look to the end', async () => {
  cluster({ tls: true, clientTlsSecret: 'orders-client-tls' });
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
  expect(specOf(job)).toMatchObject({ backoffLimit: 3, activeDeadlineSeconds: 3660 });
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

test('a backup of any endpoints, in a place of its own, needs no cluster', async () => {
  const template = {
    spec: { containers: [{ name: 'reconciler', image: 'mine/agent:2' }], imagePullSecrets: [{ name: 'pull' }] },
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

test('the agent reads what its Job says', async () => {
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

test('a folder of its own has not the retention of the schedule', async () => {
  cluster();
  ask('before', { clusterName: 'orders', schedule: 'nightly', prefix: 'releases' });
  await settle('before');
  const flag = argsOf(jobs()[0]).find((each) => each.startsWith('--store='))!;
  expect(JSON.parse(flag.slice('--store='.length))).toEqual({ s3: { bucket: 'backups', prefix: 'releases' } });
});

test('a failure is a Warning with the Job and the line of the agent, and the Job stays', async () => {
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
])('%s is waited for', async (reason, given) => {
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

test('without a quorum it does not wait: its failure tells', async () => {
  cluster({}, { status: 'False', reason: 'QuorumLost' });
  ask('before');
  await settle('before');
  expect(statusOf('before').phase).toBe('BackingUp');
});

test('one at a time for a cluster, the oldest first', async () => {
  cluster();
  ask('second', undefined, { creationTimestamp: '2026-11-22T02:00:01Z' });
  // As the API server fills it in before anybody has seen it.
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

function refuseJobs(status: number, reason: string, message: string): void {
  api.fault = (request, response, path) => {
    if (request.method !== 'POST' || !path.endsWith('/jobs')) return false;
    failure(response, status, reason, message);
    return true;
  };
}

test('a Job that the API server refuses is told, and made when it no longer does', async () => {
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

test('an API server that fails is asked again, and nothing is told', async () => {
  cluster();
  ask('before');
  refuseJobs(500, 'InternalError', 'etcd is busy');
  await expect(pass('before')).rejects.toThrow('etcd is busy');
  expect(statusOf('before').phase).toBeUndefined();
});

test('what can never be done is Failed at once', async () => {
  cluster();
  ask('before', { clusterName: 'orders', store: { command: { path: '/bin/mine' } }, prefix: 'x', image: 'mine' });
  await settle('before');
  expect(statusOf('before')).toMatchObject({ phase: 'Failed', reason: 'BadSpec' });
  expect(statusOf('before').message).toMatch(/^prefix: a command store does not support it/);
  expect(reasons()).toEqual(['BackupFailed']);
});

test('a Job that vanishes is made again with the same request, so that the store is looked at first', async () => {
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
  /** All points of a backup that goes well, with one that is cut short there when it is given. */
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

  test('goes by these points', async () => {
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

test('what another reconciler has brought to its end meanwhile stays as it is', async () => {
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

  test('as a Secret is missing, which its events alone say', async () => {
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

  test('as it is given none, whatever a deleted Job of its name left', async () => {
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

test('another one of the same name is not taken for it', async () => {
  cluster();
  ask('before');
  const { uid } = found('before').metadata;
  api.delete(paths.of('etcdbackups', 'before'));
  ask('before');
  const events = new Events(client, paths, 'me', log);
  expect(await backupPass('before', uid, { client, paths, events, troubles: none, at: () => {} })).toEqual({
    done: true,
    acted: false,
  });
  expect(jobs()).toEqual([]);
});
