import { setTimeout as sleep } from 'node:timers/promises';
import { FakeApi, failure } from '../controllers/kubernetes/fake-api.fixture.ts';
import { ApiClient } from './api-client.ts';
import { isHolderPodGone } from './holder-pod.ts';
import { Lease } from './lease.ts';
import type { LeaseObject } from './objects.ts';
import { Paths } from './paths.ts';

const paths = new Paths('shop');
const path = paths.of('leases', 'etcd-reconciler');
const settings = { lease: 1_000, renew: 400, retry: 50 };
const log = { info: () => {}, warn: () => {} };

let api: FakeApi;
let client: ApiClient;
const stop = new AbortController();
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 2_000);
});
afterEach(async () => {
  client.close();
  await api[Symbol.asyncDispose]();
});

const lease = (holder: string) => new Lease({ client, paths, name: 'etcd-reconciler', holder, settings, log });
const specOf = () => api.object<LeaseObject>(path)?.spec;

test('is created if there is none, with times that Kubernetes accepts', async () => {
  await lease('a').acquire(stop.signal);
  expect(specOf()).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 1, leaseTransitions: 0 });
  expect(specOf()?.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
});

test('without a holder, as in the manifests, is taken', async () => {
  api.put(path, { metadata: { labels: { 'app.kubernetes.io/name': 'etcd-reconciler' } } });
  await lease('a').acquire(stop.signal);
  expect(specOf()?.holderIdentity).toBe('a');
  expect(api.object(path)?.metadata.labels).toEqual({ 'app.kubernetes.io/name': 'etcd-reconciler' });
});

test('a second process waits while the first one renews, and begins when it stops', async () => {
  const [first, second] = [lease('a'), lease('b')];
  await first.acquire(stop.signal);
  const ended = new AbortController();
  const holding = first.hold(ended.signal);
  let taken = false;
  const taking = second.acquire(stop.signal).then(() => {
    taken = true;
  });
  await sleep(1_500);
  expect(taken).toBe(false);
  ended.abort();
  await holding;
  await taking;
  expect(specOf()).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  expect(first.held).toBe(false);
});

test('a released Lease is taken at once', async () => {
  const [first, second] = [lease('a'), lease('b')];
  await first.acquire(stop.signal);
  await first.release();
  expect(specOf()?.holderIdentity).toBe('');
  const before = performance.now();
  await second.acquire(stop.signal);
  expect(performance.now() - before).toBeLessThan(settings.lease);
});

describe('a Lease that somebody deletes', () => {
  test('is not free before its holder has certainly ended', async () => {
    const [first, other] = [lease('a'), lease('b')];
    await first.acquire(stop.signal);
    expect(await other.isFree()).toBe(false);
    api.delete(path);
    expect(first.held).toBe(true);
    expect(await other.isFree()).toBe(false);
    await sleep(settings.lease + 50);
    expect([await other.isFree(), first.held]).toEqual([true, false]);
  });

  test('is not taken at once by a process that has never seen it, if something says that there was one', async () => {
    const first = lease('a');
    await first.acquire(stop.signal);
    api.delete(path);
    const fresh = new Lease({
      ...{ client, paths, name: 'etcd-reconciler', holder: 'b', settings, log },
      wasHeld: async () => true,
    });
    const before = performance.now();
    await fresh.acquire(stop.signal);
    expect(performance.now() - before).toBeGreaterThanOrEqual(settings.lease);
    expect(first.held).toBe(false);
  });

  test('is not taken by one that waits for it, but made again by its holder', async () => {
    const [first, second] = [lease('a'), lease('b')];
    await first.acquire(stop.signal);
    await expect(second.acquire(AbortSignal.timeout(150))).rejects.toThrow();
    api.delete(path);
    await expect(second.acquire(AbortSignal.timeout(150))).rejects.toThrow();
    const ended = new AbortController();
    const holding = first.hold(ended.signal);
    await sleep(150);
    ended.abort();
    await holding;
    expect(specOf()?.holderIdentity).toBe('a');
  });
});

test('of two processes at the same time one gets it', async () => {
  api.put(path, {});
  const [first, second] = [lease('a'), lease('b')];
  const ended = new AbortController();
  const winners: string[] = [];
  const takes = [first, second].map((each, index) =>
    each.acquire(ended.signal).then(
      () => winners.push('ab'[index]!),
      () => {},
    ),
  );
  await sleep(300);
  ended.abort();
  await Promise.all(takes);
  expect(winners).toEqual([specOf()?.holderIdentity]);
});

describe('of a pod that was deleted together with its rights', () => {
  const pod = (name: string) => paths.of('pods', name);
  const next = () =>
    new Lease({
      ...{
        client,
        paths,
        name: 'etcd-reconciler',
        holder: 'b',
        settings: { lease: 30_000, renew: 400, retry: 50 },
        log,
      },
      isGone: (holder) => isHolderPodGone({ client, paths }, holder),
    });

  test('is taken before it ends, but not at once', async () => {
    await lease('a').acquire(stop.signal);
    const before = performance.now();
    await next().acquire(stop.signal);
    expect(performance.now() - before).toBeGreaterThan(150);
    expect(specOf()?.holderIdentity).toBe('b');
  });

  test.each([
    ['its pod exists', 'a', () => api.put(pod('a'), {})],
    ['it is no pod', 'laptop_1234', () => undefined],
    [
      'nobody knows of its pod',
      'a',
      () => {
        api.fault = (_, response, path) => {
          if (!path.startsWith(paths.of('pods'))) return false;
          failure(response, 403, 'Forbidden', 'no');
          return true;
        };
      },
    ],
  ])('is waited for while %s', async (_, holder, arrange) => {
    arrange();
    api.put(path, { spec: { holderIdentity: holder, leaseDurationSeconds: 30, renewTime: 'x' } });
    const ended = AbortSignal.timeout(600);
    await expect(next().acquire(ended)).rejects.toThrow();
    expect(specOf()?.holderIdentity).toBe(holder);
  });
});

test('is lost when the API server does not answer for too long', async () => {
  const held = lease('a');
  await held.acquire(stop.signal);
  api.fault = (_, response) => {
    failure(response, 500, 'InternalError', 'down');
    return true;
  };
  await expect(held.hold(stop.signal)).rejects.toThrow(/the Lease etcd-reconciler is lost: .*down/);
  expect(held.held).toBe(false);
});

test('is lost if another process holds it', async () => {
  const held = lease('a');
  await held.acquire(stop.signal);
  api.put(path, { spec: { holderIdentity: 'b', leaseDurationSeconds: 30, renewTime: 'now' } });
  await expect(held.hold(stop.signal)).rejects.toThrow('another reconciler holds it');
});

test('a write that was refused because of another client’s label is not a loss', async () => {
  const held = lease('a');
  await held.acquire(stop.signal);
  let conflicts = 0;
  api.fault = (request, response) => {
    if (request.method !== 'PUT' || conflicts++ > 0) return false;
    failure(response, 409, 'Conflict', 'the object has been modified');
    return true;
  };
  const ended = new AbortController();
  const holding = held.hold(ended.signal);
  await sleep(300);
  ended.abort();
  await holding;
  expect(conflicts).toBeGreaterThan(1);
});
