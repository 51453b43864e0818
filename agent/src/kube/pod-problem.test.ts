import { FakeApi, failure } from '../controllers/kubernetes/fake-api.fixture.ts';
import { ApiClient } from './api-client.ts';
import { Troubles } from './event-reader.ts';
import type { EventObject, PodObject } from './objects.ts';
import { Paths } from './paths.ts';
import { creationProblem, inWords, isSilent, podProblem } from './pod-problem.ts';

const metadata = { name: 'orders-2', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-23T12:00:00Z' };
const pod = (status: PodObject['status']): PodObject => ({ metadata, ...(status && { status }) });
const waiting = (reason: string, message?: string) => ({
  name: 'etcd',
  state: { waiting: { reason, ...(message && { message }) } },
});
const event = (minute: number, reason: string, message: string, type = 'Warning'): EventObject => ({
  metadata,
  ...{ type, reason, message },
  lastTimestamp: `2026-11-23T12:0${minute}:00Z`,
});
const words = (status: PodObject['status'], events?: EventObject[]) => {
  const found = podProblem(pod(status), events);
  return found && inWords(found);
};

describe('a pod that ran and is no longer ready', () => {
  const status = (ready: string): PodObject['status'] => ({
    containerStatuses: [{ name: 'etcd', state: { running: {} } }],
    conditions: [{ type: 'Ready', status: ready, lastTransitionTime: '2026-11-23T12:05:01Z' }],
  });
  const away = event(5, 'NodeNotReady', 'Node is not ready');

  test('because its node is away names that', () => {
    expect(words(status('False'), [away, event(1, 'Unhealthy', 'Readiness probe failed')])).toBe(
      'NodeNotReady: Node is not ready',
    );
    expect(isSilent(pod(status('False')))).toBe(true);
  });

  test('for another reason, or that is ready again, does not', () => {
    expect(words(status('False'), [event(1, 'NodeNotReady', 'Node is not ready')])).toBeUndefined();
    expect(words(status('True'), [away])).toBeUndefined();
    expect(isSilent(pod(status('True')))).toBe(false);
  });
});

test.each<[string, PodObject['status'], string | undefined]>([
  ['starts', { containerStatuses: [waiting('ContainerCreating')] }, undefined],
  ['runs', { containerStatuses: [{ name: 'etcd', state: { running: {} } }] }, undefined],
  ['nothing is known', undefined, undefined],
  [
    'an image of the member that cannot be pulled, behind a gate that has ended',
    {
      initContainerStatuses: [{ name: 'gate', state: { terminated: { exitCode: 0 } } }],
      containerStatuses: [waiting('ImagePullBackOff', 'Back-off pulling image "x:1":\n ErrImagePull: not found')],
    },
    'ImagePullBackOff: Back-off pulling image "x:1": ErrImagePull: not found',
  ],
  [
    'the image of the agent',
    {
      initContainerStatuses: [waiting('ErrImagePull', 'no such host')],
      containerStatuses: [waiting('PodInitializing')],
    },
    'ErrImagePull: no such host',
  ],
  [
    'a Secret as a variable',
    { containerStatuses: [waiting('CreateContainerConfigError', 'secret "s" not found')] },
    'CreateContainerConfigError: secret "s" not found',
  ],
  [
    'no node',
    {
      phase: 'Pending',
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes: 3 Insufficient cpu.' },
      ],
    },
    'Unschedulable: 0/3 nodes: 3 Insufficient cpu',
  ],
  [
    'evicted',
    { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' },
    'Evicted: The node was low on resource: memory',
  ],
])('a pod: %s', (_, status, expected) => {
  expect(words(status)).toBe(expected);
});

test('a failed mount is reported from the newest Event, until a container runs', () => {
  const creating = { containerStatuses: [waiting('ContainerCreating')] };
  const events = [
    event(4, 'FailedMount', 'secret "orders-peer" not found'),
    event(3, 'FailedMount', 'configmap "x" not found'),
    event(5, 'Scheduled', 'assigned', 'Normal'),
    event(5, 'Unhealthy', 'probe'),
  ];
  expect(isSilent(pod(creating))).toBe(true);
  expect(words(creating, events)).toBe('FailedMount: secret "orders-peer" not found');
  const runs = { containerStatuses: [{ name: 'etcd', state: { running: {} } }] };
  expect(isSilent(pod(runs))).toBe(false);
  expect(words(runs, events)).toBeUndefined();
});

test('a pod that no scheduler looks at is reported after a minute, if it has no Event', () => {
  const made = (secondsAgo: number, more: Partial<PodObject> = {}): PodObject => {
    const creationTimestamp = new Date(Date.now() - secondsAgo * 1000).toISOString();
    return { metadata: { ...metadata, creationTimestamp }, status: { phase: 'Pending' }, ...more };
  };
  const left = made(70);
  expect(isSilent(left)).toBe(true);
  expect(inWords(podProblem(left, [])!)).toBe(
    'NotScheduled: it is not assigned to a node, and no event says why; check kube-scheduler',
  );
  expect(podProblem(left)).toBeUndefined();
  expect(podProblem(left, [event(1, 'Scheduled', 'assigned', 'Normal')])).toBeUndefined();
  expect(podProblem(made(50), [])).toBeUndefined();
  expect(podProblem(made(70, { spec: { nodeName: 'node1' } }), [])).toBeUndefined();
  expect(podProblem(made(70, { status: { containerStatuses: [waiting('ContainerCreating')] } }), [])).toBeUndefined();
});

test('a pod that could not be created is reported, unless it was created later', () => {
  const failed = event(3, 'FailedCreate', 'create Pod orders-2 in StatefulSet orders failed error: exceeded quota: q');
  const made = (minute: number) =>
    event(minute, 'SuccessfulCreate', 'create Pod orders-2 in StatefulSet orders', 'Normal');
  expect(creationProblem([made(2), failed], 'orders-2 ')).toMatchObject({ reason: 'FailedCreate' });
  expect(creationProblem([failed, made(4)], 'orders-2 ')).toBeUndefined();
  expect(creationProblem([failed], 'orders-1 ')).toBeUndefined();
  expect(creationProblem([failed])?.message).toContain('exceeded quota: q');
});

describe('events', () => {
  let api: FakeApi;
  const paths = new Paths('shop');
  const list = `GET ${paths.of('events')}`;
  beforeEach(async () => {
    api = await FakeApi.listen();
  });
  afterEach(() => api[Symbol.asyncDispose]());

  const troubles = (times: ConstructorParameters<typeof Troubles>[1]) =>
    new Troubles({ client: new ApiClient(api.access, 1_000), paths, log: { debug() {} } }, times);
  const none = { patience: 0, again: 0, gap: 0 };

  test('are read for requested objects, and not repeatedly', async () => {
    api.put(paths.of('events', 'e1'), { ...event(1, 'FailedMount', 'm'), involvedObject: { uid: 'u1' } });
    api.put(paths.of('events', 'e2'), { ...event(1, 'FailedMount', 'n'), involvedObject: { uid: 'u2' } });
    const asked = troubles({ ...none, again: 60_000 });
    const messages = async (uid: string) => (await asked.of(uid))?.map(({ message }) => message);
    expect(await messages('u1')).toEqual(['m']);
    expect(await messages('u1')).toEqual(['m']);
    expect(await messages('u2')).toEqual(['n']);
    expect(api.asked(list)).toBe(2);
  });

  test('are not read for objects that may still start, nor for many at once', async () => {
    expect(await troubles({ ...none, patience: 60_000 }).of('u1')).toBeUndefined();
    expect(api.asked(list)).toBe(0);
    const slow = troubles({ ...none, gap: 60_000 });
    await Promise.all(['u1', 'u2', 'u3'].map((uid) => slow.of(uid)));
    expect(api.asked(list)).toBe(1);
  });

  test('that cannot be read are not known', async () => {
    api.fault = (_, response) => {
      failure(response, 403, 'Forbidden', 'no');
      return true;
    };
    expect(await troubles(none).of('u1')).toBeUndefined();
    api.fault = () => false;
    expect(await troubles(none).of('u1')).toEqual([]);
  });
});
