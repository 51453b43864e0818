import { setTimeout as sleep } from 'node:timers/promises';
import { FakeApi, failure } from '../controllers/kubernetes/fake-api.fixture.ts';
import { belonging } from '../controllers/objects/cluster-changes.ts';
import { ApiClient } from './api-client.ts';
import { Informer, type InformerOptions } from './informer.ts';
import type { KubeObject } from './objects.ts';
import { Paths } from './paths.ts';

const path = new Paths('shop').of('etcdclusters');
const times = { backoffMin: 20, backoffMax: 100, watch: 60_000, silence: 60_000 };

let api: FakeApi;
let client: ApiClient;
let stop: AbortController;
let changes: string[];
let troubles: (string | undefined)[];
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 60_000);
  stop = new AbortController();
  changes = [];
  troubles = [];
});
let running: Promise<void>;
afterEach(async () => {
  stop.abort();
  await running;
  client.close();
  await api[Symbol.asyncDispose]();
});

function follow(
  more: Partial<typeof times> = {},
  which: Pick<InformerOptions<KubeObject>, 'keep' | 'metadataOnly'> = {},
): Informer<KubeObject> {
  const informer = new Informer<KubeObject>({
    ...which,
    client,
    path,
    onChange: ({ metadata }, gone) => changes.push(`${gone ? '-' : '+'}${metadata.name}`),
    onTrouble: (trouble) => troubles.push(trouble),
    times: { ...times, ...more },
  });
  running = informer.run(stop.signal);
  return informer;
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await sleep(5);
}

const watched = () => until(() => api.asked(`WATCH ${path}`) > 0);

test('knows all objects and their changes', async () => {
  api.put(`${path}/orders`, {});
  const informer = follow();
  await watched();
  api.put(`${path}/search`, {});
  api.put(`${path}/orders`, { spec: {} });
  api.delete(`${path}/orders`);
  await until(() => changes.length === 4);
  expect(changes).toEqual(['+orders', '+search', '+orders', '-orders']);
  expect(informer.items.map(({ metadata }) => metadata.name)).toEqual(['search']);
});

test('keeps only the requested parts of an object', async () => {
  const labels = { 'app.kubernetes.io/instance': 'orders', 'app.kubernetes.io/name': 'etcd' };
  const object = { metadata: { labels, annotations: { a: 'b' } }, spec: { size: 3 } };
  api.put(`${path}/orders`, object);
  const informer = follow({}, { keep: belonging, metadataOnly: true });
  await watched();
  api.put(`${path}/search`, object);
  await until(() => changes.length === 2);
  for (const { metadata, ...more } of informer.items) {
    expect(metadata.labels).toEqual({ 'app.kubernetes.io/instance': 'orders' });
    expect(metadata).not.toHaveProperty('annotations');
    expect(more).toEqual({});
  }
});

test('a failed list is tried again, and reported once', async () => {
  let failures = 0;
  api.fault = (_, response) => {
    if (failures++ >= 3) return false;
    failure(response, 404, 'NotFound', 'the server could not find the requested resource');
    return true;
  };
  const informer = follow();
  api.put(`${path}/orders`, {});
  await until(() => changes.length === 1);
  expect(troubles).toEqual([expect.stringContaining('could not find the requested resource'), undefined]);
  expect(informer.trouble).toBeUndefined();
});

test('a deletion during a gap of the watch is noticed', async () => {
  api.put(`${path}/orders`, {});
  follow();
  await watched();
  api.fault = (_, response) => {
    failure(response, 500, 'InternalError', 'down');
    return true;
  };
  api.endWatches();
  await until(() => troubles.length > 1);
  api.delete(`${path}/orders`);
  api.put(`${path}/search`, {});
  api.fault = () => false;
  await until(() => changes.length === 3);
  expect(changes).toEqual(['+orders', '-orders', '+search']);
});

test('after a version that is too old, everything is listed again', async () => {
  const informer = follow();
  await watched();
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };
  const line = JSON.stringify({ type: 'ERROR', object: status });
  api.sendToWatches(line.slice(0, 20));
  await sleep(20);
  api.sendToWatches(`${line.slice(20)}\n`);
  await until(() => informer.lists === 2 && api.asked(`WATCH ${path}`) === 2);
  api.put(`${path}/orders`, {});
  await until(() => changes.length === 1);
});

test('a silent watch is not trusted', async () => {
  const informer = follow({ silence: 100 });
  await until(() => informer.lists >= 3);
});

test('a server that ends each watch at once is asked again only after a pause', async () => {
  follow({ backoffMin: 1_000 });
  await watched();
  const ended = setInterval(() => api.endWatches(), 5);
  await sleep(300);
  clearInterval(ended);
  expect(api.asked(`WATCH ${path}`)).toBeLessThan(3);
});
