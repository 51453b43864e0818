// lib/kubectl-etcd, the file that the npm package contains, against a real API server: its schemas, RBAC and answers. No
// reconciler runs: the status is written here.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cluster } from '../apply/good';
import { TestNamespace } from '../apply/namespace';
import { kubectl } from '../e2e/support/kubectl';

interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

const program = join(__dirname, '../../lib/kubectl-etcd');

let namespace: TestNamespace;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plugin-'));
  namespace = await TestNamespace.create('plugin');
  const schedule = {
    name: 'hourly',
    cron: '0 * * * *',
    stores: [{ s3: { bucket: 'etcd-backup', region: 'eu-west-1' } }],
  };
  await namespace.kubectl(
    ['apply', '-f', '-'],
    JSON.stringify(cluster({ size: 3, backup: { schedules: [schedule] } })),
  );
  const status = {
    phase: 'Ready',
    reason: 'UpToDate',
    message: 'all is well',
    observedAt: new Date().toISOString().replace(/\.\d+/, ''),
    size: 3,
    voters: 3,
    readyVoters: 3,
    members: [0, 1, 2].map((ordinal) => ({
      ordinal,
      pod: `orders-${ordinal}`,
      memberId: `a${ordinal}`,
      role: ordinal === 0 ? 'Leader' : 'Follower',
      healthy: true,
    })),
    conditions: [
      {
        ...{ type: 'Available', status: 'True', reason: 'Serving', message: 'a quorum answers' },
        lastTransitionTime: new Date().toISOString(),
      },
    ],
  };
  await patchStatus(status);
});
afterAll(async () => {
  await namespace?.delete();
  await rm(directory, { recursive: true });
});

/** Runs the plugin. */
function etcd(args: readonly string[], kubeconfig: string | undefined = process.env.KUBECONFIG): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args, '-n', namespace.name], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((resolve) => {
    child.on('close', (exit) => resolve({ exit, out, err }));
  });
}

async function patchStatus(status: object): Promise<void> {
  await namespace.kubectl([
    'patch',
    'etcdcluster',
    'orders',
    '--subresource=status',
    '--type=merge',
    '-p',
    JSON.stringify({ status }),
  ]);
}

const spec = async () => (await namespace.get('etcdcluster', 'orders')).spec;

test('status and list of a cluster', async () => {
  const shown = await etcd(['status']);
  expect(shown).toMatchObject({ exit: 0, err: '' });
  expect(shown.out).toMatch(new RegExp(`^orders in ${namespace.name}: Ready`));
  expect((await etcd(['list', '-A'])).out).toContain(namespace.name);
  expect(await etcd(['status', 'no'])).toMatchObject({
    exit: 3,
    err: expect.stringContaining('there is no EtcdCluster no'),
  });
});

test('what it writes is what the schemas accept, and belongs to it', async () => {
  expect((await etcd(['pause'])).exit).toBe(0);
  expect(await spec()).toMatchObject({ paused: true });
  expect((await etcd(['resume'])).exit).toBe(0);
  expect((await etcd(['replace', 'orders-1', '--yes'])).exit).toBe(0);
  expect(await spec()).toMatchObject({ paused: false, replace: { force: [{ ordinal: 1, memberId: 'a1' }] } });
  const { stdout } = await namespace.kubectl([
    'get',
    'etcdcluster',
    'orders',
    '--show-managed-fields',
    '-o',
    'jsonpath={.metadata.managedFields[*].manager}',
  ]);
  // Flux takes back what a manager whose name begins with kubectl wrote.
  expect(stdout.split(' ')).toContain('etcd-plugin');
  expect(stdout).not.toContain('kubectl-etcd');
  expect(await etcd(['backup', '--no-wait', '--as', 'b1'])).toMatchObject({ exit: 0 });
  expect(await etcd(['backup', '--no-wait', '--as', 'b1'])).toMatchObject({
    exit: 7,
    err: expect.stringContaining('already exists'),
  });
  expect(await etcd(['restore', '--before', '2026-11-21T02:30:00Z', '--yes', '--no-wait', '--as', 'r1'])).toMatchObject(
    { exit: 0 },
  );
  expect((await etcd(['backups'])).out).toMatch(/^b1 +Pending/m);
});

test('move-leader and defrag ask in the spec; the schemas keep that, and the status that answers', async () => {
  const moved = await etcd(['move-leader', 'orders-1', '--no-wait']);
  expect(moved).toMatchObject({ exit: 0, out: expect.stringContaining('it is requested') });
  const first = (await spec()).maintenance.moveLeader;
  expect(first).toEqual({ at: expect.stringMatching(/Z$/), ordinal: 1 });

  const moving = etcd(['move-leader', 'orders-2']);
  let request = first;
  while (request.ordinal !== 2) request = (await spec()).maintenance.moveLeader;
  const told = { at: request.at, phase: 'Completed', message: 'orders-2 leads' };
  await patchStatus({ maintenance: { moveLeader: told } });
  expect(await moving).toMatchObject({ exit: 0, out: 'orders: Completed: orders-2 leads\n' });
  expect((await namespace.get('etcdcluster', 'orders')).status.maintenance).toEqual({ moveLeader: told });

  expect((await etcd(['defrag', 'orders-1', '--no-wait'])).exit).toBe(0);
  expect((await spec()).maintenance.defragment).toMatchObject({ ordinal: 1 });
  expect((await etcd(['defrag', '--no-wait'])).exit).toBe(0);
  expect((await spec()).maintenance.defragment).toEqual({ at: expect.any(String) });
  expect((await etcd(['status'])).out).toContain('move of the leader, requested');
});

test('verify creates a Job from the CronJob, which owns it; the API server accepts it', async () => {
  const container = {
    name: 'backup',
    image: 'agent',
    args: ['backup', '--cluster=orders', '--store={"s3":{"bucket":"etcd-backup"}}'],
  };
  const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } };
  const cronJob = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'orders-hourly' },
    spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate },
  };
  await namespace.kubectl(['apply', '-f', '-'], JSON.stringify(cronJob));
  const created = await etcd(['verify', '--snapshot', 's1', '--no-wait']);
  expect(created).toMatchObject({ exit: 0, out: expect.stringMatching(/^Job orders-hourly-v\w+ is created/) });
  const job = await namespace.get('job', created.out.split(' ')[1]!);
  expect(job.metadata.ownerReferences).toMatchObject([{ kind: 'CronJob', name: 'orders-hourly' }]);
  const { args } = job.spec.template.spec.containers[0];
  expect([args[0], ...args.slice(-2)]).toEqual(['verify', '--', 's1']);
});

test('render needs no API server', async () => {
  const file = join(directory, 'orders.yaml');
  await writeFile(file, JSON.stringify(cluster({ size: 3 })));
  expect(await etcd(['render', file], join(directory, 'none'))).toMatchObject({
    exit: 0,
    out: expect.stringContaining('kind: StatefulSet'),
  });
});

test('with the right to read EtcdClusters alone, it shows them and names what is missing', async () => {
  await namespace.kubectl(['create', 'serviceaccount', 'reader']);
  await namespace.kubectl(['create', 'role', 'reader', '--verb=get,list', '--resource=etcdclusters.cdk8s-etcd.dev']);
  await namespace.kubectl([
    'create',
    'rolebinding',
    'reader',
    '--role=reader',
    `--serviceaccount=${namespace.name}:reader`,
  ]);
  const config = JSON.parse((await kubectl(['config', 'view', '--minify', '--raw', '-o', 'json'])).stdout);
  const token = (await namespace.kubectl(['create', 'token', 'reader'])).stdout.trim();
  const file = join(directory, 'reader');
  await writeFile(file, JSON.stringify({ ...config, users: [{ name: config.users[0].name, user: { token } }] }));
  const shown = await etcd(['status'], file);
  expect(shown.exit).toBe(0);
  expect(shown.out).toMatch(/Not shown, because you may not read it: [^.]*pods/);
  expect(await etcd(['pause'], file)).toMatchObject({
    exit: 4,
    err: expect.stringContaining('cannot patch resource "etcdclusters"'),
  });
});
