import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupVersion, Paths } from '../kube/paths.ts';
import { createLog } from '../lib/log.ts';
import type { ClusterStatus } from '../protocol/cluster-status.ts';
import { tls } from './certificates/secrets.fixture.ts';
import { FakeApi, failure } from './kubernetes/fake-api.fixture.ts';
import type { EtcdBackupObject } from './objects/backup-object.ts';
import { defaultSettings, type ReconcilerSettings } from './port/settings.ts';
import { Reconciler } from './reconciler.ts';

const paths = new Paths('shop');
const settings = { ...defaultSettings, steady: 50, op: 50, next: 10, observeRpc: 200, rpc: 300, retry: 50 };
const informerTimes = { backoffMin: 20, backoffMax: 50 };

let api: FakeApi;
let reconciler: Reconciler;
let stop: AbortController;
let running: Promise<void>;
let log: string[];

beforeEach(async () => {
  api = await FakeApi.listen();
  stop = new AbortController();
  log = [];
});
afterEach(async () => {
  stop.abort();
  await running.catch(() => {});
  await api[Symbol.asyncDispose]();
});

function start(more: { selector?: string; deployment?: string; settings?: ReconcilerSettings } = {}): void {
  const stderr = new Writable({
    write: (chunk, _, done) => {
      log.push(JSON.parse(`${chunk}`).msg);
      done();
    },
  });
  reconciler = new Reconciler({
    access: api.access,
    namespace: 'shop',
    lease: 'etcd-reconciler',
    holder: 'me',
    listen: { host: '127.0.0.1', port: 0 },
    log: createLog(stderr),
    ...{ settings, informerTimes },
    ...more,
  });
  running = reconciler.run(stop.signal);
}

const cluster = (name: string, spec: object = {}) => ({
  apiVersion: groupVersion,
  kind: 'EtcdCluster',
  metadata: { generation: 1, labels: { team: name } },
  spec: { size: 3, version: '3.6.16', storage: { size: '8Gi' }, ...spec },
});
const put = (name: string, spec?: object) => api.put(paths.of('etcdclusters', name), cluster(name, spec));
const statusOf = (name: string) => api.object<{ status?: { reason: string } }>(paths.of('etcdclusters', name))?.status;

/** Throws until the server listens. */
async function get(path: string): Promise<{ status: number; body: string }> {
  const response = await fetch(`http://127.0.0.1:${reconciler.port}${path}`);
  return { status: response.status, body: await response.text() };
}

async function until<T>(what: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (;;) {
    const found = await what();
    if (found) return found;
    await sleep(10);
  }
}

test('without CRDs it reports them, is not ready, and continues when they exist', async () => {
  api.fault = (_, response, path) => {
    if (!path.includes('cdk8s-etcd.dev')) return false;
    failure(response, 404, 'NotFound', 'the server could not find the requested resource');
    return true;
  };
  // A request that a slow machine lets time out between two refusals would be a problem of its own.
  start({ settings: { ...settings, rpc: 20_000 } });
  const { body } = await until(async () => {
    const answer = await get('/readyz').catch(() => undefined);
    return answer?.body.includes('apply the CRDs first') ? answer : undefined;
  });
  expect(body).toContain('etcdclusters: ');
  expect((await get('/livez')).status).toBe(200);
  await until(() => log.length > 0);
  expect(log.filter((line) => line.includes('apply the CRDs first'))).toHaveLength(1);
  api.fault = () => false;
  put('orders');
  await until(() => statusOf('orders'));
  await until(async () => (await get('/readyz')).status === 200);
});

test('a Lease that is missing although its holder has written a status is not taken at once', async () => {
  const lease = paths.of('leases', 'etcd-reconciler');
  const reported = (by: string) =>
    api.put(paths.of('etcdclusters', 'orders'), { ...cluster('orders'), status: { reconciler: { lease: by } } });
  reported('etcd-reconciler');
  start({ settings: { ...settings, lease: 2_000 } });
  await until(() => log.find((line) => line.includes('another reconciler holds the Lease')));
  expect(api.object(lease)).toBeUndefined();
  await until(() => api.object(lease));
});

test.each([
  ['named', tls()],
  ['not named', { managed: {} }],
])('Secrets that were all emptied before it started get no new authority: %s', async (_, spec) => {
  const managed = tls();
  const { peerAuthority, clientAuthority } = managed.managed!;
  const { peerSecret, serverSecret } = managed;
  for (const secret of [peerAuthority, clientAuthority, peerSecret, serverSecret, managed.clientSecret])
    api.put(paths.of('secrets', secret), { apiVersion: 'v1', kind: 'Secret', metadata: { name: secret } });
  const certificates = [peerAuthority, clientAuthority].map((secret) => ({ secret, notAfter: '', root: 'abcd' }));
  api.put(paths.of('etcdclusters', 'orders'), {
    ...cluster('orders', { tls: spec }),
    status: { observedGeneration: 1, certificates },
  });
  // A slow machine may not let a read time out.
  start({ settings: { ...settings, rpc: 20_000 } });
  const lost = await until(() => log.find((line) => line.includes('is empty')));
  expect(lost).toContain(`Secret ${peerAuthority} is empty, but held the root abcd`);
  expect(lost).toContain(`Secret ${clientAuthority} is empty, but held the root abcd`);
  expect(api.asked(`PUT ${paths.of('secrets', peerAuthority)}`)).toBe(0);
});

test('reports missing manifests in status, events and metrics, and only once', async () => {
  put('orders');
  start();
  expect(await until(() => statusOf('orders'))).toMatchObject({ phase: 'Stalled', reason: 'ManifestsMissing' });
  const events = await until(() => {
    const created = api.bodies.filter((body) => (body as { kind?: string } | undefined)?.kind === 'Event');
    return created.length > 0 ? created : undefined;
  });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: 'Warning',
      reason: 'ManifestsMissing',
      involvedObject: expect.objectContaining({ kind: 'EtcdCluster', name: 'orders', namespace: 'shop' }),
    }),
  );
  const passes = () => api.asked(`GET ${paths.of('configmaps', 'orders-record')}`);
  const [written, told, before] = [api.asked(status('orders')), api.asked(`POST ${paths.of('events')}`), passes()];
  await until(() => passes() > before + 3);
  expect(api.asked(status('orders'))).toBe(written);
  expect(api.asked(`POST ${paths.of('events')}`)).toBe(told);
  expect((await get('/metrics')).body).toContain(
    'etcd_cluster_condition{etcd_cluster="orders",condition="Stalled",status="True",reason="ManifestsMissing"} 1',
  );
  api.delete(paths.of('etcdclusters', 'orders'));
  await until(async () => !(await get('/metrics')).body.includes('cluster="orders"'));
});

test('its own status wakes no pass, whatever it says; another change of the resource does', async () => {
  put('orders');
  start({ settings: { ...settings, steady: 60_000, op: 60_000 } });
  await until(() => statusOf('orders'));
  const passes = () => api.asked(`GET ${paths.of('configmaps', 'orders-record')}`);
  const quiet = async () => {
    let before = -1;
    while (before !== passes()) {
      before = passes();
      // Longer than the reconciler waits for further changes.
      await sleep(400);
    }
    return before;
  };
  const before = await quiet();
  const path = paths.of('etcdclusters', 'orders');
  const present = api.object<{ metadata: object; status: object }>(path)!;
  // As after a webhook whose answer has an id of its own.
  api.put(path, { ...present, status: { ...present.status, message: 'request 4711' } });
  expect(await quiet()).toBe(before);
  api.put(path, { ...present, metadata: { ...present.metadata, annotations: { 'cdk8s-etcd.dev/skip': 'true' } } });
  await until(() => passes() > before);
});

describe('a cluster that another reconciler follows', () => {
  const followed = (age: number) => {
    const observedAt = new Date(Date.now() - age).toISOString();
    const reported = { phase: 'Ready', reason: 'UpToDate', reconciler: { lease: 'etcd', version: '1' }, observedAt };
    api.put(paths.of('etcdclusters', 'orders'), { ...cluster('orders', spec), status: reported });
  };
  const spec = {
    tls: {
      ...{ peerSecret: 'peer-tls', serverSecret: 'server-tls', clientSecret: 'client-tls' },
      managed: { peerAuthority: 'peer-ca', clientAuthority: 'client-ca' },
    },
    backup: { schedules: [{ name: 'nightly', stores: [{ s3: { bucket: 'b' } }] }] },
  };
  const held = (holderIdentity: string) =>
    api.put(paths.of('leases', 'etcd'), { spec: { holderIdentity, leaseDurationSeconds: 3600 } } as never);

  test('is left to it, and the metrics say so', async () => {
    followed(settings.heartbeat);
    held('other');
    for (const name of ['peer-ca', 'client-ca', 'peer-tls', 'server-tls', 'client-tls'])
      api.put(paths.of('secrets', name), { kind: 'Secret' });
    api.put(paths.of('statefulsets', 'orders'), {
      spec: { template: { spec: { initContainers: [], containers: [] } } },
    });
    api.put(paths.of('etcdbackups', 'before'), { spec: { clusterName: 'orders', schedule: 'nightly' } } as never);
    start();
    const lines = await until(async () => {
      const { body = '' } = await get('/metrics').catch(() => ({}) as { body?: string });
      return body.includes('reason="OtherReconciler"') ? body : undefined;
    });
    expect(lines).toContain('condition="Stalled",status="True",reason="OtherReconciler"');
    expect(api.asked(status('orders'))).toBe(0);
    expect(log.join()).toContain('the reconciler with the Lease etcd');
    await sleep(300);
    expect(api.object(paths.of('etcdbackups', 'before'))).not.toHaveProperty('status');
    expect(api.object(paths.of('secrets', 'peer-ca'))).not.toHaveProperty('data');
    expect(api.asked(status('orders'))).toBe(0);
  });

  test.each([
    ['behind', 1],
    ['ahead', -1],
  ])('is left to it although its clock is far %s', async (_, sign) => {
    followed(sign * 3 * settings.heartbeat);
    held('other');
    start();
    await until(() => log.find((line) => line.includes('the reconciler with the Lease etcd')));
    await sleep(300);
    expect(api.asked(status('orders'))).toBe(0);
  });

  test('is taken over at once, with its backups, when the Lease of that one is released', async () => {
    followed(0);
    held('');
    api.put(paths.of('etcdbackups', 'before'), { spec: { clusterName: 'orders', schedule: 'nightly' } } as never);
    start();
    await until(() => api.asked(status('orders')) > 0);
    expect(statusOf('orders')).toMatchObject({ reconciler: { lease: 'etcd-reconciler' } });
    const backup = () => api.object<EtcdBackupObject>(paths.of('etcdbackups', 'before'))?.status?.reason;
    expect(await until(backup)).toBe('ManifestsMissing');
  });

  test('is taken over once that one no longer reports', async () => {
    followed(0);
    held('other');
    start({ settings: { ...settings, heartbeat: 200 } });
    await until(() => api.asked(status('orders')) > 0);
    expect(statusOf('orders')).toMatchObject({ reconciler: { lease: 'etcd-reconciler' } });
  });
});

test('reports them also if the Roles are missing with the manifests', async () => {
  put('orders');
  api.fault = (request, response, path) => {
    const own = ['/configmaps/orders-record', '/statefulsets/orders'].some((end) => path.endsWith(end));
    if (request.method !== 'GET' || !own) return false;
    failure(response, 403, 'Forbidden', 'forbidden');
    return true;
  };
  start();
  const found = await until(() => statusOf('orders'));
  expect(found).toMatchObject({ phase: 'Stalled', reason: 'ManifestsMissing' });
});

const status = (name: string) => `PATCH ${paths.of('etcdclusters', name, 'status')}`;

test('a restore without its cluster reports it, and continues when the cluster exists', async () => {
  const path = paths.of('etcdrestores', 'monday');
  const told = () => api.object<{ status?: { phase: string; reason: string } }>(path)?.status;
  api.put(path, { metadata: { generation: 1 }, spec: { clusterName: 'orders', source: { backupName: 'b' } } });
  start();
  expect(await until(told)).toMatchObject({ phase: 'Pending', reason: 'ClusterNotFound' });
  put('orders');
  expect(await until(() => (told()?.reason === 'Waiting' ? told() : undefined))).toMatchObject({ phase: 'Pending' });
});

test('a restore without its cluster reports it, even if the first status cannot be written', async () => {
  const path = paths.of('etcdrestores', 'monday');
  let refusals = 2;
  api.fault = ({ method }, response, asked) => {
    if (method !== 'PATCH' || asked !== `${path}/status` || refusals-- <= 0) return false;
    failure(response, 500, 'InternalError', 'etcdserver: request timed out');
    return true;
  };
  api.put(path, { metadata: { generation: 1 }, spec: { clusterName: 'orders', source: { backupName: 'b' } } });
  start();
  const reported = () => api.object<{ status?: { reason: string } }>(path)?.status;
  expect(await until(reported)).toMatchObject({ reason: 'ClusterNotFound' });
});

test('a cluster whose objects cannot be read delays no other', async () => {
  put('orders');
  put('search');
  api.fault = (_, __, path) => path.endsWith('/orders-record');
  start({ settings: { ...settings, observeRpc: 60_000, rpc: 60_000 } });
  const passes = (name: string) => api.asked(`GET ${paths.of('configmaps', `${name}-record`)}`);
  await until(() => passes('search') > 5);
  expect(passes('orders')).toBe(1);
  api.closeConnections();
});

describe('certificates of a cluster', () => {
  const managed = { peerAuthority: 'peer-ca', clientAuthority: 'client-ca' };
  const tls = { peerSecret: 'peer-tls', serverSecret: 'server-tls', clientSecret: 'client-tls', managed };
  const secrets = ['peer-ca', 'client-ca', 'peer-tls', 'server-tls', 'client-tls'];
  const told = () =>
    api.object<{ status?: ClusterStatus }>(paths.of('etcdclusters', 'orders'))?.status as ClusterStatus | undefined;
  const condition = () => told()?.conditions.find(({ type }) => type === 'CertificatesReady');
  const putSecrets = () => {
    for (const name of secrets) api.put(paths.of('secrets', name), { kind: 'Secret' });
  };

  test('are issued, and are in status, events and metrics', async () => {
    putSecrets();
    put('orders', { tls });
    start({ settings: { ...settings, rpc: 10_000 } });
    await until(() => condition()?.status === 'True');
    expect(told()?.certificates?.map(({ secret }) => secret)).toEqual(secrets);
    const [first] = told()!.certificates!;
    const expiry = `etcd_cluster_certificate_expiry_timestamp_seconds{etcd_cluster="orders",secret="peer-ca"} ${Date.parse(first!.notAfter) / 1000}`;
    const body = await until(async () => {
      const answer = await get('/metrics');
      return answer.body.includes(expiry) && answer.body;
    });
    expect(body).toContain('etcd_reconciler_actions_done_total{etcd_cluster="orders",action="IssuePeerAuthority"} 1');
    expect(body).toContain(
      'etcd_cluster_condition{etcd_cluster="orders",condition="CertificatesReady",status="True",reason="Cert',
    );
    const isIssued = (each: unknown) => (each as { reason?: string } | undefined)?.reason === 'CertificateIssued';
    await until(() => api.bodies.filter(isIssued).length === 5);
  });

  test('delay no pass, whatever hangs', async () => {
    putSecrets();
    put('orders', { tls });
    api.fault = (_, __, path) => path.includes('/secrets/');
    start({ settings: { ...settings, rpc: 60_000 } });
    const passes = () => api.asked(`GET ${paths.of('configmaps', 'orders-record')}`);
    await until(() => passes() > 5);
    await until(() => condition());
    expect(condition()).toMatchObject({
      status: 'Unknown',
      message: 'the Secrets of the certificates were not read yet',
    });
    api.closeConnections();
  });

  test('follow a change of the spec, and of no status', async () => {
    putSecrets();
    put('orders', { tls });
    start();
    await until(() => condition()?.status === 'True');
    await sleep(300);
    const looks = () => api.asked(`GET ${paths.of('secrets', 'peer-ca')}`);
    const before = looks();
    await sleep(500);
    expect(looks()).toBe(before);
    put('orders', { tls: { ...tls, managed: { ...managed, intermediateRotation: 'now' } } });
    await until(() => api.asked(`PUT ${paths.of('secrets', 'client-tls')}`) === 2);
  });

  test('end with the reconciler', async () => {
    putSecrets();
    put('orders', { tls });
    start();
    await until(() => condition()?.status === 'True');
    stop.abort();
    await running;
    const before = api.requests.length;
    await sleep(300);
    expect(api.requests.length).toBe(before);
  });
});

test('manages only the clusters of its selector', async () => {
  put('orders');
  put('search');
  start({ selector: 'team=search' });
  await until(() => statusOf('search'));
  await sleep(200);
  expect(statusOf('orders')).toBeUndefined();
  expect(api.asked(`GET ${paths.of('configmaps', 'orders-record')}`)).toBe(0);
});

test('when its namespace is deleted, it releases the finalizer of every cluster: its own pod is deleted first', async () => {
  api.put('/api/v1/namespaces/shop', {});
  const finalizers = ['cdk8s-etcd.dev/cluster', 'other.example.com/kept'];
  const spec = { paused: true, pvcPolicy: { onDelete: 'Delete' }, finalBackup: { required: false } };
  api.put(paths.of('etcdclusters', 'orders'), { ...cluster('orders', spec), metadata: { finalizers } });
  start();
  await until(() => api.asked('GET /api/v1/namespaces/shop') > 1);
  expect(api.object(paths.of('etcdclusters', 'orders'))?.metadata.finalizers).toEqual(finalizers);
  api.put('/api/v1/namespaces/shop', { metadata: { deletionTimestamp: '2026-11-21T00:00:00Z' } });
  stop.abort();
  await running;
  expect(api.object(paths.of('etcdclusters', 'orders'))?.metadata.finalizers).toEqual(['other.example.com/kept']);
});

test('when it is deleted itself, it releases the finalizer of a cluster that is being deleted', async () => {
  const finalizers = ['cdk8s-etcd.dev/cluster', 'other.example.com/kept'];
  api.put(paths.of('deployments', 'etcd-reconciler'), {});
  api.put('/api/v1/namespaces/shop', {});
  api.put(paths.of('etcdclusters', 'orders'), {
    ...cluster('orders', { paused: true, pvcPolicy: { onDelete: 'Delete' }, finalBackup: { required: false } }),
    metadata: { finalizers, deletionTimestamp: '2026-11-21T00:00:00Z' },
  });
  // Something that is left to do.
  const labels = { 'app.kubernetes.io/name': 'etcd', 'app.kubernetes.io/instance': 'orders' };
  api.put(paths.of('persistentvolumeclaims', 'data-orders-0'), { metadata: { labels } });
  start({ deployment: 'etcd-reconciler' });
  await until(() => api.asked(`GET ${paths.of('deployments', 'etcd-reconciler')}`) > 1);
  expect(api.object(paths.of('etcdclusters', 'orders'))?.metadata.finalizers).toEqual(finalizers);
  api.delete(paths.of('deployments', 'etcd-reconciler'));
  stop.abort();
  await running;
  expect(api.object(paths.of('etcdclusters', 'orders'))?.metadata.finalizers).toEqual(['other.example.com/kept']);
  expect(api.object<{ spec: object }>(paths.of('leases', 'etcd-reconciler'))?.spec).toMatchObject({
    holderIdentity: '',
  });
});

test('when it is deleted itself, it leaves the finalizer of a cluster that another reconciler follows', async () => {
  const finalizers = ['cdk8s-etcd.dev/cluster'];
  api.put(paths.of('deployments', 'etcd-reconciler'), {});
  api.put('/api/v1/namespaces/shop', {});
  // No pod, which a slow machine would find gone.
  api.put(paths.of('leases', 'etcd'), { spec: { holderIdentity: 'other_1', leaseDurationSeconds: 3600 } } as never);
  api.put(paths.of('etcdclusters', 'orders'), {
    ...cluster('orders', { pvcPolicy: { onDelete: 'Delete' }, finalBackup: { required: false } }),
    metadata: { finalizers, deletionTimestamp: '2026-11-21T00:00:00Z' },
    status: { reconciler: { lease: 'etcd', version: '1' }, observedAt: new Date().toISOString() },
  } as never);
  start({ deployment: 'etcd-reconciler' });
  await until(() => log.find((line) => line.includes('the reconciler with the Lease etcd')));
  await until(() => api.asked(`GET ${paths.of('deployments', 'etcd-reconciler')}`) > 1);
  api.delete(paths.of('deployments', 'etcd-reconciler'));
  stop.abort();
  await running;
  expect(api.object(paths.of('etcdclusters', 'orders'))?.metadata.finalizers).toEqual(finalizers);
});

describe('a finalizer', () => {
  const finalizers = ['cdk8s-etcd.dev/cluster', 'other.example.com/kept'];
  const orders = paths.of('etcdclusters', 'orders');
  const deployment = paths.of('deployments', 'etcd-reconciler');
  const kept = () => api.object(orders)?.metadata.finalizers;
  const deleted = (spec: object = { paused: true }) => {
    api.put('/api/v1/namespaces/shop', {});
    const both = { pvcPolicy: { onDelete: 'Delete' }, finalBackup: { required: false }, ...spec };
    const metadata = { finalizers, deletionTimestamp: '2026-11-21T00:00:00Z' };
    api.put(orders, { ...cluster('orders', both), metadata });
    const labels = { 'app.kubernetes.io/name': 'etcd', 'app.kubernetes.io/instance': 'orders' };
    api.put(paths.of('persistentvolumeclaims', 'data-orders-0'), { metadata: { labels } });
  };
  const forbid = (...parts: string[]) => {
    api.fault = (request, response, path) => {
      if (!parts.some((part) => `${request.method} ${path}`.includes(part))) return false;
      failure(response, 403, 'Forbidden', `${path} is forbidden`);
      return true;
    };
  };

  test('stays when the named Deployment never existed: that is not an uninstallation', async () => {
    deleted();
    start({ deployment: 'etcd-reconciler' });
    await until(() => api.asked(`GET ${deployment}`) > 2);
    stop.abort();
    await running;
    expect(kept()).toEqual(finalizers);
    expect(log.filter((line) => line.includes('--deployment'))).toHaveLength(1);
  });

  test('is released by a reconciler whose Role was deleted before its Deployment', async () => {
    api.put(deployment, {});
    deleted();
    start({ deployment: 'etcd-reconciler' });
    await until(() => api.asked(`GET ${deployment}`) > 2);
    forbid(`GET ${deployment}`, `GET ${paths.of('etcdclusters')}`);
    await sleep(150);
    expect(kept()).toEqual(finalizers);
    stop.abort();
    await running;
    expect(kept()).toEqual(['other.example.com/kept']);
  });

  test('whose removal is no longer allowed: the error names the command', async () => {
    api.put(deployment, {});
    deleted();
    start({ deployment: 'etcd-reconciler' });
    await until(() => api.asked(`GET ${deployment}`) > 2);
    api.delete(deployment);
    forbid(`PATCH ${orders}`);
    stop.abort();
    await running;
    expect(kept()).toEqual(finalizers);
    expect(log.join('\n')).toContain('kubectl patch etcdcluster orders -n shop');
  });

  test('is released when the cluster’s Role and StatefulSet were deleted with it, and the reconciler stays', async () => {
    api.put(deployment, {});
    forbid('configmaps/orders-record');
    deleted({});
    start({ deployment: 'etcd-reconciler' });
    await until(() => kept()?.length === 1);
    expect(api.objects(paths.of('persistentvolumeclaims'))).toHaveLength(1);
  });

  test('stays while the StatefulSet exists: a missing Role may come back', async () => {
    api.put(deployment, {});
    api.put(paths.of('statefulsets', 'orders'), { spec: { template: { spec: { containers: [] } } } });
    forbid('configmaps/orders-record');
    deleted({});
    start({ deployment: 'etcd-reconciler' });
    await until(() => api.asked(`GET ${paths.of('configmaps', 'orders-record')}`) > 3);
    expect(kept()).toEqual(finalizers);
  });
});

test('ends when it loses the Lease', async () => {
  put('orders');
  start();
  await until(() => statusOf('orders'));
  const lost = expect(running).rejects.toThrow('the Lease etcd-reconciler is lost: another reconciler holds it');
  api.put(paths.of('leases', 'etcd-reconciler'), { spec: { holderIdentity: 'another', leaseDurationSeconds: 30 } });
  await lost;
});

describe('backups', () => {
  const stores = [{ s3: { bucket: 'backups' } }];
  const schedules = [
    { name: 'nightly', stores },
    { name: 'hourly', cronJobName: 'every-hour', stores },
  ];
  const ran = '2026-11-22T01:00:00Z';
  const found = (name: string) => api.object<EtcdBackupObject>(paths.of('etcdbackups', name));

  /** A finished run of a CronJob, with the message of its pod. */
  function run(cronJob: string, name: string, result: { exitCode: number } & Record<string, unknown>): void {
    const type = result.exitCode === 0 ? 'Complete' : 'Failed';
    const { metadata } = api.put(paths.of('jobs', name), {
      metadata: {
        creationTimestamp: ran,
        labels: { 'app.kubernetes.io/name': 'etcd-backup', 'app.kubernetes.io/part-of': 'orders' },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: cronJob, uid: 'c' }],
      },
      status: { conditions: [{ type, status: 'True', lastTransitionTime: ran }] },
    });
    const terminated = { exitCode: result.exitCode, message: JSON.stringify(result) };
    api.put(paths.of('pods', `${name}-x`), {
      metadata: {
        labels: { 'batch.kubernetes.io/job-name': name },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid: metadata.uid }],
      },
      status: { phase: 'Failed', containerStatuses: [{ name: 'backup', state: { terminated } }] },
    });
  }
  const snapshot = { id: 'the-id', revision: 7, sizeBytes: 20, sha256: 'ab' };
  const good = { exitCode: 0, snapshot, stores: [{ store: 's', key: 'k', verified: 'read' }] };

  test('each scheduled run has an EtcdBackup that is deleted with its Job, and appears in status and metrics', async () => {
    put('orders', { backup: { schedules } });
    run('orders-nightly', 'orders-nightly-29380000', good);
    run('every-hour', 'every-hour-29380001', { exitCode: 21, error: 'access denied' });
    run('of-somebody-else', 'of-somebody-else-29380001', good);
    start();
    const failed = await until(
      () => found('every-hour-29380001')?.status?.phase === 'Failed' && found('every-hour-29380001'),
    );
    expect(failed).toMatchObject({
      metadata: {
        labels: { 'cdk8s-etcd.dev/schedule': 'hourly' },
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'every-hour-29380001' }],
      },
      spec: { clusterName: 'orders', schedule: 'hourly' },
      status: { reason: 'StoreRefused', message: 'Job every-hour-29380001: access denied', completionTime: ran },
    });
    await until(() => found('orders-nightly-29380000')?.status?.phase === 'Completed');
    const cluster = await until(() => {
      const status = api.object<{ status?: { lastBackup?: object } }>(paths.of('etcdclusters', 'orders'))?.status;
      return status?.lastBackup && status;
    });
    expect(cluster.lastBackup).toEqual({
      id: 'the-id',
      at: ran,
      schedule: 'nightly',
      revision: 7,
      sizeBytes: 20,
      sha256: 'ab',
      verified: 'read',
    });
    const { body } = await get('/metrics');
    expect(body).toContain('etcd_cluster_backup_run_failed{etcd_cluster="orders",schedule="hourly"} 1');
    expect(body).toContain('etcd_cluster_backup_run_failed{etcd_cluster="orders",schedule="nightly"} 0');
    expect(body).toContain('etcd_reconciler_backups{phase="Failed"} 1');
    expect(body).toContain(
      `etcd_cluster_last_backup_timestamp_seconds{etcd_cluster="orders"} ${Date.parse(ran) / 1000}`,
    );
    expect(found('of-somebody-else-29380001')).toBeUndefined();
    expect(api.asked(`POST ${paths.of('etcdbackups')}`)).toBe(2);
    expect(api.asked(`POST ${paths.of('jobs')}`)).toBe(0);
    // Kubernetes deletes it with its Job, and it is not created again.
    api.delete(paths.of('etcdbackups', 'orders-nightly-29380000'));
    put('search');
    await until(() => statusOf('search'));
    expect(api.asked(`POST ${paths.of('etcdbackups')}`)).toBe(2);
  });

  test('a requested backup is taken, also if it is older than the reconciler', async () => {
    const spec = { endpoints: ['http://10.0.0.1:2379'], store: stores[0] };
    api.put(paths.of('etcdbackups', 'first'), { spec });
    start();
    const job = await until(() => api.objects<object>(paths.of('jobs'))[0]);
    expect(job.metadata.ownerReferences?.[0]?.name).toBe('first');
    api.put(paths.of('etcdbackups', 'second'), { spec });
    await until(() => api.objects(paths.of('jobs')).length === 2);
    await until(() => found('second')?.status?.phase === 'BackingUp');
  });

  test('with a selector only backups of its clusters are taken', async () => {
    for (const name of ['orders', 'search']) {
      put(name);
      api.put(paths.of('etcdbackups', name), { spec: { clusterName: name, store: stores[0] } });
    }
    api.put(paths.of('etcdbackups', 'foreign'), { spec: { endpoints: ['http://10.0.0.1:2379'], store: stores[0] } });
    start({ selector: 'team=search' });
    await until(() => found('search')?.status?.reason === 'ManifestsMissing');
    await sleep(100);
    expect([found('orders')?.status, found('foreign')?.status]).toEqual([undefined, undefined]);
  });
});
