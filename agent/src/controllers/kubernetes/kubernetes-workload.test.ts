import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiClient } from '../../kube/api-client.ts';
import { Troubles } from '../../kube/event-reader.ts';
import type { StatefulSetObject } from '../../kube/objects.ts';
import { Paths } from '../../kube/paths.ts';
import { agent } from '../port/observed.fixture.ts';
import { defaultSettings } from '../port/settings.ts';
import { ClientTls } from './client-tls.ts';
import { ClusterContext } from './cluster-context.ts';
import { FakeApi, failure } from './fake-api.fixture.ts';
import { KubernetesWorkload } from './kubernetes-workload.ts';
import { ResponseCache } from './response-cache.ts';

const paths = new Paths('shop');
const pod = paths.of('pods', 'orders-1');
const log = { info() {}, warn() {}, error() {}, debug() {} };

let api: FakeApi;
let client: ApiClient;
let cluster: ClusterContext;
let workload: KubernetesWorkload;

beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 1_000);
  const context = { client, paths, namespace: 'shop', name: 'orders', settings: defaultSettings, log };
  const others = { events: { emit() {} } as never, clientTls: new ClientTls(client, paths) };
  const troubles = new Troubles({ client, paths, log });
  cluster = new ClusterContext({ ...context, ...others, troubles, cache: new ResponseCache(() => false) });
  workload = new KubernetesWorkload(cluster);
});
async function answering(body: string) {
  const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const end = async () => void server.close();
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: end };
}

afterEach(async () => {
  client.close();
  await api[Symbol.asyncDispose]();
});

test('the template names the roots to load, and reads back', async () => {
  const set = paths.of('statefulsets', 'orders');
  const template = { metadata: { annotations: { team: 'a' } }, spec: { containers: [] } };
  api.put(set, { metadata: { name: 'orders', uid: 'u1', generation: 1 }, spec: { replicas: 3, template }, status: {} });
  const { rv } = (await workload.statefulSet())!;
  await workload.annotateRoots('aa-bb', rv);
  expect(await client.get(set)).toMatchObject({
    spec: { replicas: 3, template: { metadata: { annotations: { team: 'a', 'cdk8s-etcd.dev/roots': 'aa-bb' } } } },
  });
  expect(await workload.statefulSet()).toMatchObject({ roots: 'aa-bb', minEpoch: 0 });
  await expect(workload.annotateRoots('cc-dd', rv)).rejects.toThrow(/409|conflict|modified/i);
});

test.each([
  [undefined, 'Normal Scaled: Scaled the StatefulSet to 3 pods'],
  [
    1,
    'Warning PodsSetBack: Something else changed the number of pods of the StatefulSet from 3 to 1; it was set back to 3',
  ],
])('an Event says why the number of pods was changed: set back from %p', async (setBackFrom, said) => {
  const set = paths.of('statefulsets', 'orders');
  api.put(set, { metadata: { name: 'orders' }, spec: { replicas: 1 } });
  const events: string[] = [];
  cluster.emitEvent = (type, reason, message) => void events.push(`${type} ${reason}: ${message}`);
  await workload.scale(3, (await client.get<StatefulSetObject>(set)).metadata.resourceVersion, setBackFrom);
  expect(events).toEqual([said]);
});

test('an agent of another pod answers at the address: both pods are named', async () => {
  const labels = { 'app.kubernetes.io/instance': 'orders', 'app.kubernetes.io/component': 'member' };
  api.put(pod, { metadata: { uid: 'u1', labels }, status: { podIP: '127.0.0.1' } });
  const [found] = await workload.pods();
  const answer = JSON.stringify({ ...agent(2), pod: 'orders-2', podUid: 'u2' });
  await using server = await answering(answer);
  cluster.urlOf = () => server.url;
  await expect(workload.agent(found!)).rejects.toThrow(
    'pod orders-2 (uid u2) answers at 127.0.0.1, not orders-1 (uid u1); trying again',
  );
});

describe('while TLS is switched on or off', () => {
  const labels = { 'app.kubernetes.io/instance': 'orders', 'app.kubernetes.io/component': 'member' };
  const tls = { clientSecret: 'orders-client-tls', backupSecret: 'orders-backup-tls' };
  const certificates = [{ name: 'server-tls', secret: { secretName: 'orders-server-tls' } }];
  const initContainers = [{ name: 'agent', ports: [{ name: 'backup', containerPort: 2382 }] }];

  const put = (ordinal: number, spec: object) => {
    const status = { podIP: `127.0.0.${ordinal + 1}` };
    api.put(paths.of('pods', `orders-${ordinal}`), { metadata: { uid: `u${ordinal}`, labels }, spec, status });
  };
  /** Its agent reports the schemes of its etcd. */
  const reports = async (ordinal: number, clients: 'http' | 'both' | 'https') => {
    const transport = { peers: 'http', clients, hasCertificates: true };
    await using server = await answering(JSON.stringify({ ...agent(ordinal), podUid: `u${ordinal}`, transport }));
    const { urlOf } = cluster;
    cluster.urlOf = () => server.url;
    cluster.tls = async () => undefined;
    await workload.agent((await workload.pods()).find((each) => each.ordinal === ordinal)!);
    cluster.urlOf = urlOf;
  };
  const apply = (spec: object) => cluster.setCluster({ metadata: { name: 'orders' }, spec } as never);

  test('a pod with certificates is asked by https before the EtcdCluster has been read', async () => {
    put(1, { volumes: certificates, initContainers });
    await workload.pods();
    expect(await workload.clientUrls()).toEqual(['https://127.0.0.2:2379']);
  });

  test('each pod is asked as it is: with certificates by https, without by http', async () => {
    apply({ tls });
    put(0, {});
    put(1, { volumes: certificates, initContainers });
    await workload.pods();
    expect(await workload.clientUrls()).toEqual(['http://127.0.0.1:2379', 'https://127.0.0.2:2379']);
    expect(await workload.backupPorts()).toEqual(
      new Map([
        [0, { scheme: 'http', port: 2379 }],
        [1, { scheme: 'https', port: 2382 }],
      ]),
    );
  });

  test('a pod that no longer serves clients by https is asked by http', async () => {
    apply({ tls: { clientSecret: 'orders-client-tls' } });
    put(1, { volumes: certificates });
    await reports(1, 'both');
    expect(await workload.clientUrls()).toEqual(['https://127.0.0.2:2379']);
    await reports(1, 'http');
    expect(await workload.clientUrls()).toEqual(['http://127.0.0.2:2379']);
    // Another pod of that name starts again from what it mounts.
    api.put(paths.of('pods', 'orders-1'), {
      metadata: { uid: 'u9', labels },
      spec: { volumes: certificates },
      status: { podIP: '127.0.0.2' },
    });
    await workload.pods();
    expect(await workload.clientUrls()).toEqual(['https://127.0.0.2:2379']);
  });

  test('once the manifests have no certificates, the last pods with some are asked by http', async () => {
    apply({});
    put(1, { volumes: certificates });
    await workload.pods();
    expect(await workload.clientUrls()).toEqual(['http://127.0.0.2:2379']);
  });
});

test('the backup port is that of the sidecar, which is among the init containers', async () => {
  const labels = { 'app.kubernetes.io/instance': 'orders', 'app.kubernetes.io/component': 'member' };
  const initContainers = [{ name: 'gate' }, { name: 'agent', ports: [{ name: 'backup', containerPort: 2382 }] }];
  api.put(pod, {
    metadata: { uid: 'u1', labels },
    spec: { initContainers, containers: [{ name: 'etcd' }] },
    status: { podIP: '127.0.0.1' },
  });
  cluster.setCluster({ metadata: {}, spec: { tls: { clientSecret: 'c', backupSecret: 'b' } } } as never);
  await workload.pods();
  expect([...(await workload.backupPorts())]).toEqual([[1, { scheme: 'https', port: 2382 }]]);
});

describe('eviction', () => {
  const answers = (status: number, reason: string, message: string) => {
    api.fault = (_, response, path) => {
      if (path !== `${pod}/eviction`) return false;
      failure(response, status, reason, message);
      return true;
    };
  };

  test('evicts exactly one pod, by its uid', async () => {
    api.put(pod, { metadata: { uid: 'u1' } });
    await workload.evictPod(1, 'u1');
    expect(api.requests).toEqual([`POST ${pod}/eviction`]);
    expect(api.bodies).toEqual([
      expect.objectContaining({
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: 'orders-1', namespace: 'shop' },
        deleteOptions: expect.objectContaining({ preconditions: { uid: 'u1' } }),
      }),
    ]);
  });

  test('refused by the budget: not now, with the message of Kubernetes', async () => {
    const message = "Cannot evict pod as it would violate the pod's disruption budget.";
    answers(429, 'TooManyRequests', message);
    const refused = expect.objectContaining({ name: 'NotNow', message: expect.stringMatching(/disruption budget$/) });
    await expect(workload.evictPod(1, 'u1')).rejects.toEqual(refused);
  });

  test('a pod that no longer exists counts as evicted', async () => {
    answers(404, 'NotFound', 'pods "orders-1" not found');
    await workload.evictPod(1, 'u1');
  });

  test.each([
    { status: 500, reason: 'InternalError', message: 'This pod has more than one PodDisruptionBudget' },
    { status: 403, reason: 'Forbidden', message: 'admission webhook "guard" denied the request' },
  ])('refused otherwise ($status): not now either', async ({ status, reason, message }) => {
    answers(status, reason, message);
    const refused = expect.objectContaining({ name: 'NotNow', message: expect.stringContaining(message) });
    await expect(workload.evictPod(1, 'u1')).rejects.toEqual(refused);
  });

  test('another pod with that name, or no response: a failure', async () => {
    answers(409, 'Conflict', 'the UID in the precondition does not match');
    await expect(workload.evictPod(1, 'u1')).rejects.toMatchObject({ name: 'ApiError', status: 409 });
    api.fault = (_, response) => {
      response.destroy();
      return true;
    };
    await expect(workload.evictPod(1, 'u1')).rejects.not.toMatchObject({ name: 'NotNow' });
  });
});
