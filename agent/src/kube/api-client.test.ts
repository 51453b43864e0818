import { FakeApi, failure } from '../controllers/kubernetes/fake-api.fixture.ts';
import { ApiClient } from './api-client.ts';
import type { KubeObject } from './objects.ts';
import { Paths } from './paths.ts';

const paths = new Paths('shop');
const pod = paths.of('pods', 'orders-0');

let api: FakeApi;
let client: ApiClient;
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 60_000);
});
afterEach(async () => {
  client.close();
  await api[Symbol.asyncDispose]();
});

test('a delete has preconditions, and does not delete another object', async () => {
  const { metadata } = api.put(pod, {});
  await expect(client.remove(pod, { uid: 'another' })).rejects.toThrow(/Precondition failed/);
  expect(api.object(pod)).toBeDefined();
  await client.remove(pod, { uid: metadata.uid as string });
  expect(api.object(pod)).toBeUndefined();
});

test('a missing permission is named in one line', async () => {
  const said =
    'pods "orders-0" is forbidden: User "x"\ncannot delete resource "pods" in API group "" in the namespace "shop"';
  api.fault = (_, response) => {
    failure(response, 403, 'Forbidden', said);
    return true;
  };
  const refused = await client.remove(pod, { uid: '1' }).catch((error: Error) => error.message);
  expect(refused).toBe(
    'DELETE /api/v1/namespaces/shop/pods/orders-0: pods "orders-0" is forbidden: User "x" cannot delete resource "pods" in API group "" in the namespace "shop" (a permission is missing: apply the manifests of the cluster and of the reconciler again)',
  );
});

test('a call to a server that does not answer fails', async () => {
  api.fault = () => true;
  const impatient = new ApiClient(api.access, 50);
  await expect(impatient.get(pod)).rejects.toThrow('no answer in 50 ms');
  impatient.close();
});

test('the clocks differ by the date of the last answer, if it has one', async () => {
  expect(client.clockAhead).toBeUndefined();
  let date: string | undefined;
  api.fault = (_, response) => {
    response.sendDate = false;
    if (date !== undefined) response.setHeader('date', date);
    return false;
  };
  const ahead = async (given: string | undefined) => {
    date = given;
    await client.get(pod).catch(() => {});
    return client.clockAhead;
  };
  expect(await ahead(undefined)).toBeUndefined();
  expect(await ahead('tomorrow')).toBeUndefined();
  for (const difference of [0, 3_600_000, -3_600_000]) {
    const found = await ahead(new Date(Date.now() - difference).toUTCString());
    expect(Math.abs(found! - difference)).toBeLessThan(5_000);
  }
  // An answer without a date changes nothing.
  expect(await ahead(undefined)).toBeLessThan(-3_000_000);
});

test('a list has every page', async () => {
  const asked: (string | null)[] = [];
  api.fault = (request, response) => {
    const next = new URL(request.url!, 'http://api').searchParams.get('continue');
    asked.push(next);
    const page = {
      metadata: { resourceVersion: '7', continue: next ? '' : 'more' },
      items: [{ metadata: { name: next } }],
    };
    response.end(JSON.stringify(page));
    return true;
  };
  const { items } = await client.list<KubeObject>(paths.of('pods'));
  expect(items.map(({ metadata }) => metadata.name)).toEqual([null, 'more']);
  expect(asked).toEqual([null, 'more']);
});

test('requests only metadata, and accepts an empty list', async () => {
  let accept: string | undefined;
  api.fault = ({ headers }, response) => {
    accept = headers.accept;
    response.end(JSON.stringify({ metadata: { resourceVersion: '7' }, items: null }));
    return true;
  };
  const listed = await client.list(paths.of('pods'), {}, { metadataOnly: true });
  expect(listed).toEqual({ items: [], resourceVersion: '7' });
  expect(accept).toBe('application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json');
});

test('managed fields are removed', async () => {
  api.put(pod, { metadata: { labels: { a: 'b' }, managedFields: [{ manager: 'kubectl' }] } });
  const { items } = await client.list(paths.of('pods'));
  for (const { metadata } of [await client.get<KubeObject>(pod), ...items]) {
    expect(metadata.labels).toEqual({ a: 'b' });
    expect(metadata).not.toHaveProperty('managedFields');
  }
});

test.each([['<html>'], ['null'], ['5'], ['{"metadata":{},"items":{}}']])(
  'an answer of %s is an error, not a crash',
  async (body) => {
    api.fault = (_, response) => {
      response.end(body);
      return true;
    };
    await expect(client.list(paths.of('pods'))).rejects.toThrow(
      /\/pods: the answer is not (JSON|a list); check whether a proxy/,
    );
    const { signal } = new AbortController();
    const watched = client.watch(paths.of('pods'), {}, 1_000, { signal }).next();
    await expect(watched).rejects.toThrow(/\/pods: the answer is not (JSON|an object); check whether a proxy/);
  },
);
