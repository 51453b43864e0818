import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NamedTls } from '../../../../src/tls/default-names.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { Paths } from '../../kube/paths.ts';
import { certificatesIn } from '../../lib/certificates.ts';
import { createLog } from '../../lib/log.ts';
import { Queue } from '../../lib/queue.ts';
import { FakeApi, failure } from '../kubernetes/fake-api.fixture.ts';
import type { TrustReport } from '../port/observed.ts';
import { defaultSettings } from '../port/settings.ts';
import { issueRoot } from './issue.ts';
import { TrustBundle } from './trust-bundle.ts';

// The API server is a fake one, which refuses nothing by itself; `operations/source` shows the Secret on Kubernetes.

const paths = new Paths('shop');
const pathOf = (name: string) => paths.of('secrets', name);
const settings = { ...defaultSettings, backoffMin: 20, certificatesRetry: 50, certificatesGlance: 100 };
const secretsOf = (name: string) => ({
  ...{ peerSecret: `${name}-peer`, serverSecret: `${name}-server`, clientSecret: `${name}-client` },
});
const both: NamedTls = { ...secretsOf('a'), alsoTrust: { trustSecret: 'trust', ...secretsOf('b') } };

let api: FakeApi;
let client: ApiClient;
let queue: Queue;
let points: string[];
let log: string[];
const roots: Record<string, string> = {};
beforeAll(async () => {
  for (const name of ['a', 'b', 'c']) roots[name] = (await issueRoot(name, Date.now())).cert;
});
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 10_000);
  queue = new Queue();
  [points, log] = [[], []];
  api.put(pathOf('trust'), { apiVersion: 'v1', kind: 'Secret' });
});
afterEach(async () => {
  const stopped = queue.stop(60_000);
  api.closeConnections();
  await stopped;
  client.close();
  await api[Symbol.asyncDispose]();
});

const isDone = ({ isComplete, why }: TrustReport): boolean => isComplete && why === undefined;

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = (name: string, ca: string) =>
  api.put(pathOf(name), { data: { 'ca.crt': base64(ca), 'tls.crt': base64('x'), 'tls.key': base64('x') } });
const source = (name: string) => {
  for (const end of ['peer', 'server', 'client']) secret(`${name}-${end}`, roots[name]!);
};

function start(change: { paused?: boolean } = {}, at?: (point: string) => Promise<void>): TrustBundle {
  const stderr = new Writable({
    write: (chunk, _, done) => {
      log.push(`${chunk}`);
      done();
    },
  });
  const bundle = new TrustBundle({
    ...{ client, paths, settings, log: createLog(stderr), onChange() {}, follow: queue.follow },
    at: async (point) => {
      points.push(point);
      await at?.(point);
    },
  });
  bundle.follow({ tls: both, ...change });
  bundle.run();
  return bundle;
}

const written = () => {
  const { data = {} } = api.object<{ data?: Record<string, string> }>(pathOf('trust')) ?? {};
  const names = (pem: string) =>
    certificatesIn(Buffer.from(pem, 'base64').toString())!
      .map(({ subject }) => subject)
      .sort();
  return Object.fromEntries(Object.entries(data).map(([key, pem]) => [key, names(pem)]));
};
const of = (...names: string[]) => {
  const all = names.map((name) => `CN=${name}`);
  return { 'peer-ca.crt': all, 'server-ca.crt': all, 'client-ca.crt': all };
};

async function until(what: () => boolean): Promise<void> {
  while (!what()) await sleep(5);
}

test('the authorities of both', async () => {
  source('a');
  source('b');
  const bundle = start();
  expect(bundle.report(both)).toEqual({ isComplete: false });
  await until(() => isDone(bundle.report(both)));
  expect(written()).toEqual(of('a', 'b'));
  expect(points).toEqual(['before WriteTrust', 'after WriteTrust']);
});

test('an authority that is in both appears once', async () => {
  source('a');
  for (const name of ['peer', 'server', 'client']) secret(`b-${name}`, `${roots.b}${roots.a}`);
  const bundle = start();
  await until(() => isDone(bundle.report(both)));
  expect(written()).toEqual(of('a', 'b'));
});

test.each([
  [
    'a Secret that is missing',
    () => {},
    /^Secret b-peer does not exist; create it with ca.crt, tls.crt and tls.key; Secret b-server does not exist/,
  ],
  [
    'a Secret without data',
    () => ['peer', 'server', 'client'].map((name) => api.put(pathOf(`b-${name}`), {})),
    /Secret b-\w+ has no ca.crt yet/,
  ],
  [
    'garbage',
    () => ['peer', 'server', 'client'].map((name) => secret(`b-${name}`, 'x')),
    /ca.crt in Secret b-\w+ is not a list of PEM/,
  ],
])('%s: nothing is written until it has its authority', async (_, given, why) => {
  source('a');
  given();
  const bundle = start();
  await until(() => why.test(bundle.report(both).why ?? ''));
  expect(bundle.report(both).isComplete).toBe(false);
  // Clients, backups and metrics need not wait.
  await until(() => 'client-ca.crt' in written());
  expect(written()).toEqual({ 'client-ca.crt': ['CN=a'] });
  source('b');
  await until(() => isDone(bundle.report(both)));
  expect(written()).toEqual(of('a', 'b'));
});

test('it never has fewer: a source that loses its authority later is reported, and the Secret stays', async () => {
  source('a');
  source('b');
  const bundle = start();
  await until(() => isDone(bundle.report(both)));
  api.put(pathOf('b-peer'), { data: {} });
  await until(() => bundle.report(both).why !== undefined);
  expect(bundle.report(both)).toEqual({ isComplete: true, why: 'Secret b-peer has no ca.crt yet' });
  expect(written()).toEqual(of('a', 'b'));
});

test('a conflict, a lost answer or a server error is tried again', async () => {
  source('a');
  source('b');
  let tries = 0;
  api.fault = (request, response) => {
    if (request.method !== 'PUT' || ++tries > 3) return false;
    failure(response, [409, 500, 503][tries - 1]!, 'Conflict', 'the object has been modified');
    return true;
  };
  const bundle = start();
  await until(() => isDone(bundle.report(both)));
  expect(written()).toEqual(of('a', 'b'));
});

test('without the Lease, or while the cluster is paused, it writes nothing and says so', async () => {
  source('a');
  source('b');
  const without = start({}, () => Promise.reject(new Error('another reconciler may hold the Lease')));
  await until(() => without.report(both).why === 'another reconciler may hold the Lease');
  const paused = start({ paused: true });
  await until(() => /paused/.test(paused.report(both).why ?? ''));
  expect(written()).toEqual({});
});

test('another source: what the former pass found no longer counts', async () => {
  source('a');
  source('b');
  const bundle = start();
  await until(() => isDone(bundle.report(both)));
  const other = { ...both, alsoTrust: { ...both.alsoTrust!, peerSecret: 'c-peer' } };
  bundle.follow({ tls: other });
  expect(bundle.report(both).isComplete).toBe(false);
  expect(bundle.report(other)).toEqual({ isComplete: false });
  await until(() => /c-peer/.test(bundle.report(other).why ?? ''));
  expect(bundle.report(other).isComplete).toBe(false);
  secret('c-peer', roots.c!);
  await until(() => isDone(bundle.report(other)));
  expect(written()).toEqual({ ...of('a', 'b'), 'peer-ca.crt': ['CN=a', 'CN=c'] });
});

test('the other source loses its certificates: the step before can be taken again, and this one waits', async () => {
  source('a');
  source('b');
  const bundle = start();
  await until(() => isDone(bundle.report(both)));
  const swapped = { ...secretsOf('b'), alsoTrust: { trustSecret: 'trust', ...secretsOf('a') } };
  const before = api.object<{ data: object }>(pathOf('trust'))!.data;
  bundle.follow({ tls: swapped });
  await until(() => isDone(bundle.report(swapped)));
  // Members compare what they have loaded with what they see.
  expect(api.object<{ data: object }>(pathOf('trust'))!.data).toEqual(before);
  api.put(pathOf('b-peer'), { data: {} });
  await until(() => bundle.report(swapped).why !== undefined);
  expect(bundle.report(swapped)).toEqual({ isComplete: false, why: 'Secret b-peer has no ca.crt yet' });
  bundle.follow({ tls: both });
  await until(() => /b-peer/.test(bundle.report(both).why ?? ''));
  expect(bundle.report(both).isComplete).toBe(true);
  expect(written()['peer-ca.crt']).toHaveLength(2);
});

test('a Secret of an earlier change is not taken for this one if an authority is another since', async () => {
  source('a');
  source('b');
  const first = start();
  await until(() => isDone(first.report(both)));
  for (const name of ['peer', 'server', 'client']) {
    secret(`a-${name}`, roots.c!);
    api.put(pathOf(`b-${name}`), {});
  }
  const later = start();
  await until(() => later.report(both).why !== undefined);
  expect(later.report(both).isComplete).toBe(false);
  // Clients trust the members at once.
  await until(() => written()['client-ca.crt']!.length === 3);
  expect(written()['client-ca.crt']).toEqual(['CN=a', 'CN=b', 'CN=c']);
  source('b');
  await until(() => isDone(later.report(both)));
  expect(written()).toEqual(of('b', 'c'));
});
