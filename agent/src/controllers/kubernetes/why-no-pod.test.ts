import { ApiClient } from '../../kube/api-client.ts';
import { Troubles } from '../../kube/event-reader.ts';
import { Paths } from '../../kube/paths.ts';
import { defaultSettings } from '../port/settings.ts';
import { ClusterContext } from './cluster-context.ts';
import { FakeApi } from './fake-api.fixture.ts';
import { KubernetesWorkload } from './kubernetes-workload.ts';
import { ResponseCache } from './response-cache.ts';

const paths = new Paths('shop');
let api: FakeApi;
let workload: KubernetesWorkload;
beforeEach(async () => {
  api = await FakeApi.listen();
  const client = new ApiClient(api.access, 1_000);
  const log = { info() {}, warn() {}, error() {}, debug() {} };
  const context = new ClusterContext({
    ...{ client, paths, log, namespace: 'shop', name: 'orders', settings: defaultSettings },
    cache: new ResponseCache(() => true),
    troubles: new Troubles({ client, paths, log }, { patience: 0, again: 0, gap: 0 }),
    events: { emit() {} } as never,
    clientTls: {} as never,
  });
  workload = new KubernetesWorkload(context);
});
afterEach(() => api[Symbol.asyncDispose]());

const labels = { 'app.kubernetes.io/instance': 'orders', 'app.kubernetes.io/component': 'member' };
const putSet = (pods: number) =>
  api.put(paths.of('statefulsets', 'orders'), {
    spec: { replicas: 3, template: { spec: { containers: [] } } },
    status: { replicas: pods, updateRevision: 'r1' },
  });
const putPod = (ordinal: number, status: object) =>
  api.put(paths.of('pods', `orders-${ordinal}`), { metadata: { labels }, status });
const event = (uid: string, reason: string, message: string, minute = 0) =>
  api.put(paths.of('events', `e${Math.random()}`), {
    ...{ type: reason.startsWith('Failed') ? 'Warning' : 'Normal', reason, message },
    involvedObject: { uid },
    lastTimestamp: `2026-11-23T12:0${minute}:00Z`,
  });

test('a pod that a quota prevents is reported with the message of Kubernetes, until it exists', async () => {
  const { uid } = putSet(2).metadata;
  expect((await workload.statefulSet())?.lacks).toEqual({});
  const refused = 'create Pod orders-2 in StatefulSet orders failed error: exceeded quota: small';
  event(uid, 'SuccessfulCreate', 'create Pod orders-1 in StatefulSet orders successful', 2);
  event(uid, 'FailedCreate', refused, 1);
  expect((await workload.statefulSet())?.lacks).toEqual({ why: `FailedCreate: ${refused}` });
  putSet(3);
  expect((await workload.statefulSet())?.lacks).toBeUndefined();
});

test('the status or the Events of a pod say why it does not run', async () => {
  const waiting = (reason: string, message?: string) => [{ name: 'etcd', state: { waiting: { reason, message } } }];
  putPod(0, { containerStatuses: waiting('ImagePullBackOff', 'no such image') });
  const { uid } = putPod(1, { containerStatuses: waiting('ContainerCreating') }).metadata;
  putPod(2, { containerStatuses: [{ name: 'etcd', state: { running: {} } }] });
  event(uid, 'FailedMount', 'secret "orders-peer" not found');
  const problems = (await workload.pods()).map(({ problem }) => problem);
  expect(problems).toEqual([
    'ImagePullBackOff: no such image',
    'FailedMount: secret "orders-peer" not found',
    undefined,
  ]);
  expect(api.asked(`GET ${paths.of('events')}`)).toBe(1);
});
