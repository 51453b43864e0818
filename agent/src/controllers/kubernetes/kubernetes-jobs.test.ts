import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { ports } from '../../../../src/etcd/cluster-ports.ts';
import { hmacHeader, hmacOf } from '../../backup/payload/response-hmac.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { Troubles } from '../../kube/event-reader.ts';
import type { JobObject } from '../../kube/objects.ts';
import { Paths } from '../../kube/paths.ts';
import { issueRoot } from '../certificates/issue.ts';
import { opAnnotation, restoredAnnotation } from '../jobs/job-manifest.ts';
import { defaultSettings } from '../port/settings.ts';
import { ClientTls } from './client-tls.ts';
import { ClusterContext } from './cluster-context.ts';
import { FakeApi } from './fake-api.fixture.ts';
import { KubernetesJobs } from './kubernetes-jobs.ts';
import { ResponseCache } from './response-cache.ts';

const paths = new Paths('shop');
const warned: string[] = [];

const log = { info() {}, warn: (message: string) => warned.push(message), error() {}, debug() {} } as never;

let api: FakeApi;
let client: ApiClient;
let jobs: KubernetesJobs;
let context: ClusterContext;
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 5000);
  context = new ClusterContext({
    ...{ client, paths, namespace: 'shop', name: 'orders', settings: defaultSettings, log },
    ...{
      events: { emit() {} } as never,
      troubles: new Troubles({ client, paths, log }),
      clientTls: new ClientTls(client, paths),
      cache: new ResponseCache(() => false),
    },
  });
  jobs = new KubernetesJobs(context, async () => new Map());
});
afterEach(async () => {
  client.close();
  await api[Symbol.asyncDispose]();
});

const labels = { 'app.kubernetes.io/name': 'etcd-backup', 'app.kubernetes.io/part-of': 'orders' };

const tokenSha256 = 'ab'.repeat(32);

function job(kind: string, condition?: string, volumes: object[] = [], annotations: object = {}): void {
  const conditions = condition === undefined ? [] : [{ type: condition, status: 'True' }];
  const containers = [{ args: ['restore', 'serve', `--token-sha256=${tokenSha256}`] }];
  api.put(paths.of('jobs', `orders-${kind}`), {
    metadata: { uid: kind, labels, annotations: { [opAnnotation]: 'o1', ...annotations } },
    spec: { template: { spec: { containers, volumes } } },
    status: { conditions },
  } as never);
}

const pod = (kind: string, status: object, owner = kind): void => {
  const labels = { 'batch.kubernetes.io/job-name': `orders-${kind}` };
  const metadata = { uid: `${owner}-pod`, labels, ownerReferences: [{ uid: owner }] };
  api.put(paths.of('pods', `orders-${owner}-x`), { metadata, status } as never);
};

const ended = (message?: string, exitCode = 0) => ({
  phase: 'Succeeded',
  containerStatuses: [
    { name: 'job', state: { terminated: { exitCode, message, finishedAt: '2026-01-01T00:00:00Z' } } },
  ],
});
const snapshot = { id: 's1', revision: 7, sha256: 'abc', sizeBytes: 1 };

test('a successful backup reports its snapshot', async () => {
  job('pre-upgrade', 'Complete');
  pod('pre-upgrade', ended(JSON.stringify({ snapshot })));
  expect(await jobs.jobs()).toMatchObject([
    { kind: 'pre-upgrade', state: 'Succeeded', backup: { id: 's1', revision: 7, sha256: 'abc' } },
  ]);
});

test('how its agent ended, and from which generation of the resource it was made', async () => {
  job('final', 'Failed', [], { 'cdk8s-etcd.dev/generation': '4' });
  pod('final', ended(JSON.stringify({ exitCode: 21, error: 'no rights' }), 21));
  expect(await jobs.jobs()).toMatchObject([{ state: 'Failed', exitCode: 21, generation: 4, message: 'no rights' }]);
  // An earlier release made the Job, and its pod is gone.
  api.delete(paths.of('pods', 'orders-final-pod'));
  job('final', 'Failed');
  const [found] = await jobs.jobs();
  expect(found).toMatchObject({ state: 'Failed' });
  expect(found!.generation).toBeUndefined();
});

describe('a backup that not every store has', () => {
  const bad = { store: 's3://a', error: 'no connection' };
  const good = { store: 's3://b', key: 'k', verified: 'read' };
  const partly = (kind: string, stores: object[], exitCode = 3, annotations: object = {}): void => {
    job(kind, 'Failed', [], annotations);
    pod(kind, ended(JSON.stringify({ exitCode, snapshot, stores }), exitCode));
  };

  test.each(['pre-upgrade', 'final', 'safety'])('is a backup, and an event says what is missing: %s', async (kind) => {
    const emitted: unknown[] = [];
    context.emitEvent = (...event) => void emitted.push(event);
    partly(kind, [bad, good]);
    expect(await jobs.jobs()).toMatchObject([{ kind, state: 'Succeeded', backup: { id: 's1', revision: 7 } }]);
    await jobs.jobs();
    expect(emitted).toEqual([['Warning', 'BackupPartial', `Job orders-${kind}: stored, but s3://a: no connection`]]);
  });

  test('each has one event, also while there are several', async () => {
    const emitted: unknown[] = [];
    context.emitEvent = (...event) => void emitted.push(event);
    partly('pre-upgrade', [bad, good]);
    partly('safety', [bad, good]);
    for (let pass = 0; pass < 3; pass++) await jobs.jobs();
    expect(emitted).toHaveLength(2);
  });

  test.each(['recovery', 'pre-upgrade'])('is none if it is restored next, from the first store: %s', async (kind) => {
    const restored = { [restoredAnnotation]: 'true' };
    partly(kind, [bad, good], 3, restored);
    expect(await jobs.jobs()).toMatchObject([{ state: 'Failed' }]);
    partly(kind, [good, bad], 3, restored);
    expect(await jobs.jobs()).toMatchObject([{ state: 'Succeeded', backup: { id: 's1' } }]);
  });

  test('is none if the source is suspect, or nothing was verified', async () => {
    partly('final', [bad, good], 11);
    expect(await jobs.jobs()).toMatchObject([{ state: 'Failed' }]);
    partly('final', [bad, { store: 's3://b', key: 'k' }]);
    expect(await jobs.jobs()).toMatchObject([{ state: 'Failed' }]);
  });
});

test('its pod was deleted: it succeeded, and the result is unknown', async () => {
  job('pre-upgrade', 'Complete');
  const [found] = await jobs.jobs();
  expect(found).toMatchObject({ state: 'Succeeded' });
  expect(found?.backup).toBeUndefined();
});

test('its pod exists without a termination message: it counts as running', async () => {
  job('final', 'Complete');
  pod('final', { phase: 'Running', containerStatuses: [{ name: 'job', state: { running: {} } }] });
  expect(await jobs.jobs()).toMatchObject([{ state: 'Running' }]);
});

test('its pod has ended without a snapshot: it failed, and is not repeated', async () => {
  job('safety', 'Complete');
  pod('safety', ended('what is this'));
  expect(await jobs.jobs()).toMatchObject([{ state: 'Failed', message: expect.stringContaining('what is this') }]);
  pod('safety', ended());
  expect(await jobs.jobs()).toMatchObject([
    { state: 'Failed', message: expect.stringContaining('reported no snapshot') },
  ]);
});

const answer = JSON.stringify({ v: 1, state: 'Serving', ...snapshot });
const running = { phase: 'Running', podIP: '127.0.0.77', containerStatuses: [{ name: 'job', state: { running: {} } }] };

async function served(proof?: string, body = answer, scheme = 'http'): Promise<AsyncDisposable> {
  const respond: RequestListener = (_, response) => {
    if (proof !== undefined) response.setHeader(hmacHeader, proof);
    response.end(body);
  };
  const server =
    scheme === 'http' ? createServer(respond) : createTlsServer(await issueRoot('orders', Date.now()), respond);
  server.listen(ports.agent, '127.0.0.77');
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}

test.each([
  ['no proof', undefined],
  ['a proof of another key', hmacOf(answer, 'cd'.repeat(32))],
  ['a proof of another answer', hmacOf(`${answer} `, tokenSha256)],
  ['what is no proof', 'x'],
])('a status with %s is ignored, and is logged once', async (_, proof) => {
  await using _server = await served(proof);
  job('restore');
  pod('restore', running);
  warned.length = 0;
  for (let n = 0; n < 2; n++) expect((await jobs.jobs())[0]).not.toHaveProperty('serving');
  expect(jobs.served).toBeUndefined();
  expect(warned).toEqual([expect.stringContaining('does not prove')]);
});

test('it serves, and reports the snapshots that it passed over', async () => {
  const passedOver = 'passed over: s2, 2h newer: it was never verified';
  const body = JSON.stringify({ v: 1, state: 'Serving', ...snapshot, passedOver, highestRevision: 1e9 + 9 });
  await using _ = await served(hmacOf(body, tokenSha256), body);
  job('restore');
  pod('restore', running);
  expect(await jobs.jobs()).toMatchObject([{ serving: { revision: snapshot.revision, highestRevision: 1e9 + 9 } }]);
  expect(jobs.served).toMatchObject({ id: 's1', passedOver });
});

describe('the scheme is that of the Job, whatever spec.tls is by now', () => {
  const peerTls = { name: 'peer-tls', secret: { secretName: 'orders-peer-tls' } };
  const tls = { clientSecret: 'orders-client-tls' };

  test.each([
    ['http', 'without certificates, and TLS is switched on', [], { tls }],
    ['http', 'without certificates', [], {}],
    ['https', 'with certificates, and spec.tls is gone', [peerTls], {}],
    ['https', 'with certificates', [peerTls], { tls }],
  ])('%s: it was made %s', async (scheme, _, volumes, spec) => {
    await using _server = await served(hmacOf(answer, tokenSha256), answer, scheme);
    context.setCluster({ metadata: { name: 'orders', namespace: 'shop', uid: 'c' }, spec } as never);
    job('restore', undefined, volumes);
    pod('restore', running);
    const url = `${scheme}://127.0.0.77:${ports.agent}/snapshot`;
    expect(await jobs.jobs()).toMatchObject([{ serving: { url } }]);
  });
});

describe('revisions that a Job names', () => {
  const serves = async (more: object) => {
    const body = JSON.stringify({ v: 1, state: 'Serving', ...snapshot, ...more });
    await using _ = await served(hmacOf(body, tokenSha256), body);
    job('restore');
    pod('restore', running);
    return (await jobs.jobs())[0]!;
  };

  test('one beyond a lie of the store is believed; one that no record can hold is not', async () => {
    const high = 2 ** 52 + 1e9;
    expect(await serves({ highestRevision: high })).toMatchObject({ serving: { highestRevision: high } });
    for (const highestRevision of [Number.MAX_SAFE_INTEGER, 2 ** 60, -1, 'x']) {
      const found = await serves({ highestRevision });
      expect(found.serving).not.toHaveProperty('highestRevision');
    }
  });

  test('a snapshot that no record could permit to restore fails its Job', async () => {
    const revision = 2 ** 53 - 1000;
    expect(await serves({ revision })).toMatchObject({
      state: 'Failed',
      message: expect.stringMatching(/^s1 is at revision 9007199254739992, .* no revision is left$/),
    });
  });
});

describe('the pod of a deleted Job of the same name is not its own', () => {
  test('its snapshot', async () => {
    job('final', 'Complete');
    pod('final', ended(JSON.stringify({ snapshot })), 'earlier');
    expect((await jobs.jobs())[0]?.backup).toBeUndefined();
    pod('final', ended(JSON.stringify({ snapshot: { ...snapshot, id: 's2' } })));
    expect(await jobs.jobs()).toMatchObject([{ backup: { id: 's2' } }]);
  });

  test('what that one still serves', async () => {
    await using _ = await served(hmacOf(answer, tokenSha256));
    job('restore');
    pod('restore', running, 'earlier');
    expect((await jobs.jobs())[0]).not.toHaveProperty('serving');
    expect(jobs.served).toBeUndefined();
    pod('restore', running);
    expect(await jobs.jobs()).toMatchObject([{ serving: { sha256: 'abc' } }]);
  });
});

describe('a Job whose pod does not start says why', () => {
  test('no node has room', async () => {
    job('restore');
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' }];
    pod('restore', { phase: 'Pending', conditions });
    expect(await jobs.jobs()).toMatchObject([
      { state: 'Running', waits: 'pod orders-restore-x: Unschedulable: 0/3 nodes' },
    ]);
  });

  test('its image cannot be pulled', async () => {
    job('restore');
    const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' };
    pod('restore', { phase: 'Pending', containerStatuses: [{ name: 'job', state: { waiting } }] });
    expect(await jobs.jobs()).toMatchObject([
      { waits: 'pod orders-restore-x: ImagePullBackOff: Back-off pulling image' },
    ]);
  });

  test('nothing is known yet, or there is no pod', async () => {
    job('restore');
    expect(await jobs.jobs()).toMatchObject([{ waits: 'Job orders-restore: the pod has not started' }]);
    pod('restore', {
      phase: 'Pending',
      containerStatuses: [{ name: 'job', state: { waiting: { reason: 'ContainerCreating' } } }],
    });
    expect(await jobs.jobs()).toMatchObject([{ waits: 'Job orders-restore: the pod has not started' }]);
  });

  test('its state is known too, also after a failed attempt, and is removed with the Job', async () => {
    expect(jobs.states).toBeUndefined();
    job('restore');
    pod('restore', { ...ended(JSON.stringify({ error: 'there is no snapshot x' }), 1), phase: 'Failed' });
    await jobs.jobs();
    expect(jobs.states?.get('restore')).toEqual({
      ...{ op: 'o1', reason: 'Retrying', message: 'Job orders-restore: attempt 1 failed: there is no snapshot x' },
    });
    job('restore', 'Failed');
    await jobs.jobs();
    expect(jobs.states?.get('restore')).toMatchObject({ reason: 'JobFailed', message: 'there is no snapshot x' });
    api.delete(paths.of('jobs', 'orders-restore'));
    await jobs.jobs();
    expect(jobs.states?.size).toBe(0);
  });

  test('a running Job has no reason to wait', async () => {
    job('restore');
    pod('restore', { phase: 'Running', containerStatuses: [{ name: 'job', state: { running: {} } }] });
    expect((await jobs.jobs())[0]).not.toHaveProperty('waits');
  });
});

describe('the Job that restores an EtcdBackup', () => {
  const source = { backupName: 'monday' };
  const restore = { source, minor: '3.6', token: '' };
  const request = { kind: 'restore', op: 'o1', restore } as const;
  const at = paths.of('jobs', 'orders-restore');

  test('says where its snapshot lies, so that the next one does not need the EtcdBackup', async () => {
    const spec = { containers: [{ name: 'etcd' }], initContainers: [{ name: 'agent', image: 'agent:1' }] };
    context.setCluster({ metadata: { name: 'orders', namespace: 'shop', uid: 'c' }, spec: {} } as never);
    context.setTemplate({ spec } as never);
    api.put(paths.of('etcdbackups', 'monday'), {
      spec: { clusterName: 'orders', store: { filesystem: { path: '/backups' } } },
      status: { phase: 'Completed', snapshotId: 's1' },
    } as never);
    await jobs.create(request);
    const { args } = podOf(at);
    expect(args).toContain('s1');

    const token = args.find((each) => each.startsWith('--token-sha256='))!.slice(15);
    const { uid } = api.object(at)!.metadata;
    await using _ = await served(hmacOf(answer, token));
    pod('restore', running, uid);
    const [found] = await jobs.jobs();
    const backup = { store: { filesystem: { path: '/backups' } }, id: 's1', folder: 'orders' };
    expect(found?.serving).toMatchObject({ backup });

    api.delete(paths.of('etcdbackups', 'monday'));
    api.delete(at);
    await jobs.create(request);
    expect(await jobs.jobs()).toMatchObject([{ state: 'Failed', message: 'EtcdBackup monday does not exist' }]);
    await jobs.remove('restore', 'refused-o1');
    await jobs.create({ ...request, restore: { ...restore, source: { ...source, backup } } });
    expect(podOf(at).args.filter((each) => !each.startsWith('--token'))).toEqual(
      args.filter((each) => !each.startsWith('--token')),
    );
  });

  const podOf = (path: string): { args: string[] } =>
    api.object<JobObject>(path)!.spec!.template!.spec.containers[0] as never;
});

describe('a Job that is built from the StatefulSet', () => {
  const cluster = { metadata: { name: 'orders', namespace: 'shop', uid: 'c' }, spec: {} } as never;
  const request = { kind: 'final', op: 'o1', schedule: 'nightly' } as const;
  const created = async () => api.objects(paths.of('jobs'));

  test('is retried while the StatefulSet has not been read', async () => {
    context.setCluster(cluster);
    await expect(jobs.create(request)).rejects.toThrow('the StatefulSet orders has not been read yet');
    expect(await jobs.jobs()).toEqual([]);
  });

  test('counts as failed while the StatefulSet does not exist', async () => {
    context.setCluster(cluster);
    context.setTemplate(undefined);
    await jobs.create(request);
    expect(await jobs.jobs()).toMatchObject([
      {
        kind: 'final',
        op: 'o1',
        state: 'Failed',
        message: expect.stringContaining('the StatefulSet orders, from which Jobs are built, does not exist'),
      },
    ]);
    expect(await created()).toEqual([]);

    const spec = { containers: [{ name: 'etcd' }], initContainers: [{ name: 'agent', image: 'agent:1' }] };
    context.setTemplate({ spec } as never);
    context.setCluster({ ...(cluster as object), spec: { backup: { schedules: [schedule] } } } as never);
    await jobs.remove('final', 'refused-o1');
    await jobs.create(request);
    expect(await created()).toMatchObject([{ metadata: { name: 'orders-final' } }]);
  });
});

const schedule = { name: 'nightly', schedule: '0 2 * * *', stores: [{ filesystem: { path: '/backups' } }] };
