import { changedFields, madeFrom, madeFromAnnotation } from '../../../../src/cluster/manifests/made-from.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { Troubles } from '../../kube/event-reader.ts';
import { groupVersion, Paths } from '../../kube/paths.ts';
import { emptyMemory, read } from '../cluster/observe.ts';
import type { EtcdRestoreObject } from '../objects/restore-object.ts';
import { World } from '../port/observed.fixture.ts';
import { defaultSettings } from '../port/settings.ts';
import { ClientTls } from './client-tls.ts';
import { FakeApi } from './fake-api.fixture.ts';
import { KubernetesPort } from './kubernetes-port.ts';
import { Shutdown } from './shutdown.ts';

const paths = new Paths('shop');
const spec = { size: 3, version: '3.6.16', storage: { size: '8Gi' } };
const gate = {
  name: 'gate',
  args: ['gate', '--cluster-domain=corp.example'],
  env: [{ name: 'ETCD_VERSION', value: '3.6.16' }],
};
const fresh = { id: 'a', clusterUid: 'b', token: 'c', secret: 'd' };
const log = { info() {}, warn() {}, error() {}, debug() {} } as never;

let api: FakeApi;
let client: ApiClient;
let port: KubernetesPort;
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 5000);
  api.put(paths.of('etcdclusters', 'orders'), { apiVersion: groupVersion, kind: 'EtcdCluster', spec } as never);
  port = new KubernetesPort({
    ...{
      client,
      paths,
      namespace: 'shop',
      name: 'orders',
      settings: defaultSettings,
      log,
      shutdown: new Shutdown({ client, paths, log }),
    },
    ...{
      events: { emit() {} } as never,
      troubles: new Troubles({ client, paths, log }),
      clientTls: new ClientTls(client, paths),
      isWatched: () => true,
      snapshotOf: (backup) => (backup === 'nightly' ? 'stored' : undefined),
    },
  });
});
afterEach(async () => {
  port.close();
  client.close();
  await api[Symbol.asyncDispose]();
});

const look = () => read(port, 'h', fresh, emptyMemory(0), defaultSettings);

test('the first observation already has the domain that the pod template names', async () => {
  api.put(paths.of('statefulsets', 'orders'), {
    spec: { replicas: 3, template: { metadata: {}, spec: { initContainers: [gate] } } },
  } as never);
  const { cluster } = await look();
  expect(cluster.known && cluster.v?.domain).toBe('corp.example');
});

test('the spec is compared as it is written, with the one that the StatefulSet names', async () => {
  const written = { ...spec, tls: { managed: {} }, labels: { team: 'a' } };
  const annotations = { [madeFromAnnotation]: madeFrom(written) };
  const template = { metadata: {}, spec: { initContainers: [gate], containers: [] } };
  api.put(paths.of('statefulsets', 'orders'), { metadata: { annotations }, spec: { template } } as never);
  const lookAt = async (changed: object) => {
    api.put(paths.of('etcdclusters', 'orders'), {
      apiVersion: groupVersion,
      kind: 'EtcdCluster',
      spec: changed,
    } as never);
    port.lookAgain();
    const { cluster, statefulSet } = await look();
    if (!cluster.known || !statefulSet.known) throw new Error('not read');
    return changedFields(statefulSet.v!.madeFrom!, cluster.v!.madeFrom!);
  };
  expect(await lookAt(written)).toEqual([]);
  expect(await lookAt({ ...written, size: 5, paused: true })).toEqual([]);
  expect(await lookAt({ ...written, nodeSelector: { disk: 'fast' } })).toEqual(['nodeSelector']);
});

test('a mistake in overrides is known before a Job is made', async () => {
  const overrides = [{ target: 'BackupPods', patch: { spec: { restartPolicy: 'Always' } } }];
  const object = { apiVersion: groupVersion, kind: 'EtcdCluster', spec: { ...spec, overrides } };
  api.put(paths.of('etcdclusters', 'orders'), object as never);
  const { cluster } = await look();
  expect(cluster.known && cluster.v?.jobProblem).toMatch(/^spec.overrides\[0\].patch.spec.restartPolicy: cannot be/);
});

test('while the StatefulSet cannot be read, the cluster is unknown', async () => {
  api.fault = (_, response, path) => {
    if (!path.includes('statefulsets')) return false;
    response.writeHead(500).end('{}');
    return true;
  };
  expect((await look()).cluster).toMatchObject({ known: false, why: expect.stringContaining('StatefulSet') });
});

test('without a StatefulSet the cluster is known, and has no domain', async () => {
  const { cluster, statefulSet } = await look();
  expect(statefulSet).toEqual({ known: true, v: undefined });
  expect(cluster.known && cluster.v).toMatchObject({ name: 'orders' });
  expect(cluster.known && cluster.v?.domain).toBeUndefined();
});

test('a pass after the status was written sees it, although no watch has reported it yet', async () => {
  await look();
  const status = { phase: 'Ready', reason: 'UpToDate', message: 'm', members: [], conditions: [] };
  await port.clusters.reportStatus(status);
  const { cluster } = await look();
  expect(cluster.known && cluster.v?.status.phase).toBe('Ready');
});

test('the CRDs may be older than the reconciler: a status with fields that they do not know is not refused', async () => {
  api.fault = ({ headers }, response) => {
    if (headers['content-type'] !== 'application/apply-patch+yaml') return false;
    const why = 'failed to create typed patch object (shop/orders): .status.waiting: field not declared in schema';
    response.writeHead(500).end(JSON.stringify({ kind: 'Status', message: why }));
    return true;
  };
  await look();
  const status = { phase: 'Ready', reason: 'UpToDate', message: 'm', members: [], conditions: [] };
  const at = '2026-11-26T10:00:00Z';
  await port.clusters.reportStatus({ ...status, size: 3, waiting: { for: 'a', since: at } });
  await look();
  await port.clusters.reportStatus(status);
  expect(api.object(paths.of('etcdclusters', 'orders'))).toMatchObject({ status });
  expect(Object.keys(((await look()).cluster as { v: { status: object } }).v.status)).toEqual(Object.keys(status));
});

test('a restore that ends is reported as of its generation, so that an apply knows that it is complete', async () => {
  const path = paths.of('etcdrestores', 'monday');
  api.put(path, { metadata: { generation: 3 }, spec: { clusterName: 'orders', source: {} } } as never);
  await look();
  const { uid } = api.object(path)!.metadata;
  const outcome = { phase: 'Failed', reason: 'SnapshotRefused', message: 'm' };
  await port.clusters.reportRestore({ name: 'monday', uid, ...outcome } as never);
  const { status } = api.object<EtcdRestoreObject>(path)!;
  expect(status).toMatchObject({ ...outcome, observedGeneration: 3 });
  expect(status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'Stalled', status: 'True', observedGeneration: 3 }),
  );
});

test('retention keeps the snapshot of the EtcdBackup that an EtcdRestore waits to restore', async () => {
  const source = { backupName: 'nightly' };
  api.put(paths.of('etcdrestores', 'monday'), { spec: { clusterName: 'orders', source } } as never);
  await look();
  await port.records.write(new World().record);
  const record = api.object<{ data: Record<string, string> }>(paths.of('configmaps', 'orders-record'));
  expect(record?.data['kept-snapshots']).toBe('stored\n');
});
