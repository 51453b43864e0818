import { backupPod } from '../../../src/lib/backup-pod.ts';
import type { KubeObject } from '../kube/objects.ts';
import { PluginTest, paths } from './plugin.fixture.ts';

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
  plugin.putCluster('orders', {}, { backup: { schedules: [{ name: 'hourly' }] } });
  plugin.api.put(paths.of('cronjobs', 'orders-hourly'), {
    spec: {
      jobTemplate: {
        spec: {
          backoffLimit: 3,
          activeDeadlineSeconds: 3660,
          podFailurePolicy: { rules: [] },
          template: {
            metadata: { labels: { 'app.kubernetes.io/part-of': 'orders' } },
            spec: {
              serviceAccountName: 'orders-backup',
              containers: [
                { name: 'a-sidecar', image: 'side:1' },
                {
                  name: 'backup',
                  image: 'agent:1',
                  args: [
                    ...['backup', '--cluster=orders', '--endpoints=https://orders-0:2379', '--verify=read'],
                    ...['--trigger=schedule', '--store={"s3":{"bucket":"a"}}', '--store={"s3":{"bucket":"b"}}'],
                  ],
                  volumeMounts: [{ name: 'store-0-credentials', mountPath: '/etc/x' }],
                },
              ],
              volumes: [{ name: 'store-0-credentials', secret: { secretName: 's3' } }],
            },
          },
        },
      },
    },
  });
});
afterEach(() => plugin[Symbol.asyncDispose]());

interface Job {
  readonly spec: {
    readonly template: {
      readonly metadata: object;
      readonly spec: { readonly containers: readonly { args: string[] }[] };
    };
  };
}

const jobs = () => plugin.api.objects<Job>(paths.of('jobs'));
const args = () => jobs().at(-1)!.spec.template.spec.containers[0]!.args;

async function created() {
  while (jobs().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  return jobs()[0]!;
}

/** A pod of a Job, as Kubernetes has it. */
function putPod({ metadata: { name, uid } }: KubeObject, status: object): KubeObject {
  return plugin.api.put(paths.of('pods', `${name}-abc`), {
    metadata: { labels: { 'batch.kubernetes.io/job-name': name }, ownerReferences: [{ kind: 'Job', name, uid }] },
    status,
  });
}

/** Plays Kubernetes and the agent. */
async function end(type: 'Complete' | 'Failed', exitCode: number, result: object | string): Promise<void> {
  const job = await created();
  const message = typeof result === 'string' ? result : JSON.stringify({ exitCode, ...result });
  putPod(job, {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [
      { name: 'a-sidecar', state: { terminated: { exitCode: 0 } } },
      { name: 'backup', state: { terminated: { exitCode, message } } },
    ],
  });
  const status = { conditions: [{ type, status: 'True', message: 'Job has reached its limit' }] };
  plugin.api.put(paths.of('jobs', job.metadata.name), { ...job, status });
}

test('the newest backup: a Job of the schedule that verifies instead, and its result', async () => {
  const running = plugin.run('verify');
  await end('Complete', 0, { snapshots: [{ id: '20261126T140000Z-1', outcome: 'verified', detail: '25.0 MiB read' }] });
  expect(await running).toMatchObject({ exit: 0, out: '20261126T140000Z-1: verified: 25.0 MiB read\n' });
  const [job] = jobs();
  expect(job).toMatchObject({
    metadata: { ownerReferences: [{ kind: 'CronJob', name: 'orders-hourly' }] },
    spec: {
      backoffLimit: 0,
      ttlSecondsAfterFinished: 86_400,
      activeDeadlineSeconds: 3660,
      template: {
        metadata: { labels: { 'app.kubernetes.io/part-of': 'orders' } },
        spec: { serviceAccountName: 'orders-backup' },
      },
    },
  });
  // By this label, the reconciler would take it for a backup.
  expect(job!.metadata.labels).not.toHaveProperty('app.kubernetes.io/part-of');
  expect(job!.metadata.ownerReferences![0]).not.toHaveProperty('controller');
  expect(args()).toEqual([
    ...['verify', '--cluster=orders', '--store={"s3":{"bucket":"a"}}'],
    ...['--level=read', '--output=json', '--', '20261126T140000Z-1'],
  ]);
});

test('another snapshot, store and level, with the key', async () => {
  const flags = '--snapshot=--s$1 --store 2 --level open --identity-secret keys --no-wait';
  expect((await plugin.run(`verify orders ${flags}`)).exit).toBe(0);
  expect(args()).toEqual([
    ...['verify', '--cluster=orders', '--store={"s3":{"bucket":"b"}}', '--level=open'],
    ...['--age-identity-file=/etc/etcd-agent/age-identities', '--output=json', '--', '--s$$1'],
  ]);
  expect(JSON.stringify(jobs()[0]!.spec)).toContain('"secretName":"keys"');
});

test.each<[string, 'Complete' | 'Failed', number, object | string, number, RegExp]>([
  [
    'a bad snapshot',
    'Failed',
    30,
    { snapshots: [{ id: 's1', outcome: 'failed', detail: 'sha256 differs' }] },
    6,
    /s1: failed: sha256 differs \(exit code 30/,
  ],
  ['nothing there', 'Failed', 41, { error: 'no snapshot s1' }, 3, /no snapshot s1 \(exit code 41/],
  ['killed', 'Failed', 137, 'the last line of its log', 6, /the last line of its log \(exit code 137/],
])('%s', async (_, type, code, result, exit, text) => {
  const running = plugin.run('verify --snapshot s1');
  await end(type, code, result);
  expect(await running).toMatchObject({ exit, out: expect.stringMatching(text) });
});

test('of the volumes of a backup, only those of this store and those of the user', async () => {
  const cronJob = plugin.api.object<{ spec: { jobTemplate: { spec: object } } }>(
    paths.of('cronjobs', 'orders-hourly'),
  )!;
  const template = backupPod({
    ...{ cluster: 'orders', endpoints: ['https://orders-0:2379'], trigger: 'schedule', image: 'agent:1' },
    ...{ serviceAccountName: 'orders-backup', labels: {}, resources: {} as never },
    tls: { files: { secretName: 'client-tls' }, clientCertificate: true },
    auth: { secretName: 'client-auth' },
    stores: ['a', 'b'].map((bucket) => ({
      s3: { bucket, credentials: { secretName: `s3-${bucket}` }, ca: { configMapName: `ca-${bucket}` } },
    })),
  }) as { spec: { containers: { volumeMounts: object[] }[]; volumes: object[] } };
  template.spec.containers[0]!.volumeMounts.push({ name: 'mine', mountPath: '/mine' });
  template.spec.volumes.push({ name: 'mine', emptyDir: {} });
  plugin.api.put(paths.of('cronjobs', 'orders-hourly'), { ...cronJob, spec: { jobTemplate: { spec: { template } } } });
  const { out } = await plugin.run('verify --store 2 --dry-run');
  const { volumes, containers } = JSON.parse(out).spec.template.spec;
  const needed = ['store-1-credentials', 'store-1-ca', 'tmp', 'mine'];
  for (const named of [volumes, containers[0].volumeMounts])
    expect(named.map(({ name }: { name: string }) => name)).toEqual(needed);
});

test.each<[string, object, object[], RegExp]>([
  [
    'an image that cannot be pulled',
    {
      phase: 'Pending',
      containerStatuses: [
        { name: 'backup', state: { waiting: { reason: 'ImagePullBackOff', message: 'no agent:1' } } },
      ],
    },
    [],
    /: Pending \(ImagePullBackOff\): no agent:1\n/,
  ],
  [
    'no node',
    {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }],
    },
    [],
    /: Pending \(Unschedulable\): 0\/3 nodes\n/,
  ],
  [
    'a Secret that is missing, which only an Event says',
    { phase: 'Pending', containerStatuses: [{ name: 'backup', state: { waiting: { reason: 'ContainerCreating' } } }] },
    [{ type: 'Warning', reason: 'FailedMount', message: 'secret "s3" not found' }],
    /: Pending \(FailedMount\): secret "s3" not found\n/,
  ],
])(
  'a pod that does not start: %s',
  async (_, status, events, said) => {
    const running = plugin.run('verify');
    const job = await created();
    plugin.api.put(paths.of('jobs', job.metadata.name), { ...job, status: { active: 1 } });
    const { uid } = putPod(job, status).metadata;
    for (const event of events) plugin.api.put(paths.of('events', 'e'), { ...event, involvedObject: { uid } });
    const asked = () => plugin.api.asked(`GET ${paths.of('jobs', job.metadata.name)}`);
    while (asked() < (events.length > 0 ? 7 : 3)) await new Promise((resolve) => setTimeout(resolve, 50));
    await end('Failed', 1, '');
    const { err } = await running;
    expect(err).toMatch(said);
    // The Job may end between two reads.
    expect(err.slice(0, err.search(said))).not.toContain('Running');
  },
  30_000,
);

test('a Job whose pod cannot be created, and one whose pod runs', async () => {
  const running = plugin.run('verify');
  const job = await created();
  const { uid, name } = job.metadata;
  const refused = { type: 'Warning', reason: 'FailedCreate', message: 'exceeded quota' };
  plugin.api.put(paths.of('events', 'e'), { ...refused, involvedObject: { uid } });
  const looks = async (count: number) => {
    const before = plugin.api.asked(`GET ${paths.of('jobs', name)}`);
    while (plugin.api.asked(`GET ${paths.of('jobs', name)}`) < before + count)
      await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await looks(7);
  putPod(job, { phase: 'Running', containerStatuses: [{ name: 'backup', state: { running: {} } }] });
  await looks(2);
  await end('Complete', 0, {});
  expect((await running).err).toMatch(/: Pending \(FailedCreate\): exceeded quota\n.*: Running\n$/);
}, 30_000);

test('--dry-run prints the Job, and creates none', async () => {
  const { out, exit } = await plugin.run('verify --dry-run');
  expect(exit).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ kind: 'Job', metadata: { namespace: 'shop' } });
  expect(jobs()).toEqual([]);
});

test('a store that the schedule does not have; a schedule without a known backup', async () => {
  expect(await plugin.run('verify --store 3')).toMatchObject({ exit: 2, err: expect.stringContaining('2 stores') });
  plugin.putCluster(
    'orders',
    { lastBackup: { id: 'x', at: '2026-11-26T10:00:00Z', schedule: 'daily' } },
    { backup: { schedules: [{ name: 'hourly' }] } },
  );
  expect(await plugin.run('verify')).toMatchObject({
    exit: 3,
    err: expect.stringContaining('name one with --snapshot'),
  });
  plugin.api.put(paths.of('etcdbackups', 'b1'), {
    spec: { clusterName: 'orders', schedule: 'hourly' },
    status: { phase: 'Completed', snapshotId: 's9' },
  });
  // Not stored everywhere.
  plugin.api.put(paths.of('etcdbackups', 'b2'), {
    metadata: { creationTimestamp: '2099-01-01T00:00:00Z' },
    spec: { clusterName: 'orders', schedule: 'hourly' },
    status: { phase: 'Failed', snapshotId: 's10' },
  });
  expect((await plugin.run('verify --no-wait')).exit).toBe(0);
  expect(args().at(-1)).toBe('s9');
});

test('without the right to create Jobs', async () => {
  plugin.forbid('jobs');
  expect((await plugin.run('verify')).exit).toBe(4);
});
