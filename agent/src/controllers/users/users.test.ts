import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../kube/api-client.ts';
import { Paths } from '../../kube/paths.ts';
import { createLog } from '../../lib/log.ts';
import { recordOf } from '../../protocol/record.fixture.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { issueIntermediate, issueLeaf, issueRoot } from '../certificates/issue.ts';
import type { UserWish } from '../certificates/wanted.ts';
import type { EtcdClusterObject, EtcdClusterSpec } from '../cluster/kubernetes/cluster-object.ts';
import { FakeApi } from '../cluster/kubernetes/fake-api.fixture.ts';
import { FakeEtcd } from './fake-etcd.fixture.ts';
import type { EtcdUserObject } from './object.ts';
import { OrphanUsers } from './orphan-users.ts';
import { user } from './users.fixture.ts';
import { Users } from './users.ts';

const paths = new Paths('shop');
const log = createLog(new Writable({ write: (_chunk, _encoding, done) => done() }));

let pem: Record<'root' | 'other', Buffer>;
beforeAll(async () => {
  const now = Date.now();
  const authority = await issueIntermediate('CA', await issueRoot('root', now), now);
  const leaf = async (commonName: string) => {
    const { cert } = await issueLeaf({ commonName, dnsNames: [], ipAddresses: [], isServer: false }, authority, now);
    return Buffer.from(cert);
  };
  pem = { root: await leaf('root'), other: await leaf('orders-client') };
});

let api: FakeApi;
let client: ApiClient;
let etcd: FakeEtcd;
let stop: AbortController;
let running: Promise<void>;
let users: Users;
let isCurrent: boolean;
let wishes: readonly UserWish[];
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 10_000);
  etcd = new FakeEtcd();
  etcd.pem = pem.root;
  stop = new AbortController();
  running = Promise.resolve();
  isCurrent = true;
  wishes = [];
});
afterEach(async () => {
  stop.abort();
  await running;
  client.close();
  await api[Symbol.asyncDispose]();
});

const tls = { clientSecret: 'orders-client-tls', rootSecret: 'orders-root-tls', backupSecret: 'orders-backup-tls' };

function putCluster(change: Partial<EtcdClusterSpec> = {}): EtcdClusterObject {
  const spec = { size: 3, version: '3.6.16', tls, ...change };
  return api.put(paths.of('etcdclusters', 'orders'), { spec }) as unknown as EtcdClusterObject;
}

function putRecord(change: Partial<RecordDoc> = {}): void {
  api.put(paths.of('configmaps', 'orders-record'), { data: { 'record.json': JSON.stringify(recordOf(change)) } });
}

function putUser(name: string, ...more: Parameters<typeof user> extends [unknown, ...infer T] ? T : never): void {
  const { spec } = user(name, ...more);
  api.put(paths.of('etcdusers', name), {
    metadata: { name, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
  });
}

function start(cluster: EtcdClusterObject, settings: { quorumLost?: number } = {}): void {
  users = new Users(cluster, {
    ...{ client, paths, name: 'orders', etcd, log, at: () => {}, emit: () => {} },
    settings: { users: 40, backoffMin: 20, quorumLost: 0, ...settings },
    observed: () => (isCurrent ? api.objects<EtcdUserObject>(paths.of('etcdusers')) : undefined),
    certificates: {
      followUsers: (found) => {
        wishes = found;
      },
      ofUser: () => undefined,
    },
  });
  running = users.run(stop.signal);
}

const ready = (name: string) =>
  api.object<EtcdUserObject>(paths.of('etcdusers', name))?.status?.conditions?.find(({ type }) => type === 'Ready');

async function until<T>(what: () => T): Promise<NonNullable<T>> {
  for (;;) {
    const found = what();
    if (found) return found;
    await sleep(10);
  }
}

const reason = (name: string, wanted: string) => until(() => ready(name)?.reason === wanted);
/** Passes begin again and again. */
const passes = async (count: number) => {
  for (const before = etcd.calls.length; etcd.calls.length < before + count; ) await sleep(10);
};

test('a new user is made and ready, a deleted one is deleted, and the rest is left alone', async () => {
  putRecord();
  putUser('api', [{ prefix: '/api/', access: 'ReadWrite' }]);
  // A slow machine is not an outage.
  start(putCluster(), { quorumLost: 60_000 });
  await reason('api', 'UserReady');
  expect(etcd.isEnabled).toBe(true);
  const before = etcd.changes.length;
  await passes(3);
  expect(etcd.changes).toHaveLength(before);
  // While nothing changes, etcd is asked for its revision only.
  expect(etcd.calls.slice(-3)).toEqual(['AuthStatus', 'AuthStatus', 'AuthStatus']);
  const patches = api.asked(`PATCH ${paths.of('etcdusers', 'api', 'status')}`);
  expect(patches).toBe(1);
  api.delete(paths.of('etcdusers', 'api'));
  users.changed();
  await until(() => !etcd.users.has('api') && etcd.roles.size === 0);
});

test('a list that may be outdated deletes nobody', async () => {
  putRecord();
  putUser('api');
  start(putCluster());
  await reason('api', 'UserReady');
  isCurrent = false;
  api.delete(paths.of('etcdusers', 'api'));
  await sleep(200);
  expect(etcd.users.has('api')).toBe(true);
  // The list of the watch lacks a user that the API server has.
  putUser('api');
  api.fault = (request, response, path) => {
    if (request.method !== 'GET' || path !== paths.of('etcdusers')) return false;
    response.writeHead(500).end();
    return true;
  };
  isCurrent = true;
  api.delete(paths.of('etcdusers', 'api'));
  await passes(3);
  expect(etcd.users.has('api')).toBe(true);
});

describe('changes nothing, and says so', () => {
  test.each<[string, Partial<RecordDoc>, Partial<EtcdClusterSpec>, string]>([
    ['while paused', {}, { paused: true }, 'Paused'],
    ['during a restore', { op: restoreOp('Restore') }, {}, 'ClusterNotServing'],
    ['during a recovery', { op: restoreOp('Recover') }, {}, 'ClusterNotServing'],
    ['before the cluster serves', { seeded: false }, {}, 'ClusterNotServing'],
    ['without the certificate of root', {}, { tls: { clientSecret: 'c' } }, 'RootCertificateMissing'],
    ['without TLS', {}, { tls: undefined }, 'RootCertificateMissing'],
  ])('%s', async (_, record, spec, wanted) => {
    putRecord(record);
    putUser('api');
    start(putCluster(spec));
    await reason('api', wanted);
    await sleep(100);
    expect(etcd.changes).toEqual([]);
  });

  test('with a certificate of another name: it would shut itself out', async () => {
    etcd.pem = pem.other;
    putRecord();
    putUser('api');
    start(putCluster());
    await reason('api', 'RootCertificateUnusable');
    expect(ready('api')?.message).toContain("has the name 'orders-client', not root");
    expect(etcd.calls).toEqual([]);
  });
});

test('an election changes no status', async () => {
  putRecord();
  putUser('api');
  start(putCluster(), { quorumLost: 60_000 });
  await reason('api', 'UserReady');
  etcd.fault = new Error('no leader answers');
  await sleep(200);
  expect(ready('api')?.status).toBe('True');
});

test('an outage that lasts is reported', async () => {
  putRecord();
  putUser('api');
  start(putCluster());
  await reason('api', 'UserReady');
  etcd.fault = new Error('no leader answers');
  await reason('api', 'ClusterNotServing');
  expect(ready('api')).toMatchObject({ status: 'Unknown', message: expect.stringContaining('no leader answers') });
});

test('what etcd refuses of one user is its own problem', async () => {
  putRecord();
  putUser('bad', [{ key: 'forbidden', access: 'Read' }]);
  putUser('api', [], { certificateSecret: 'orders-user-api' });
  start(putCluster({ auth: true }));
  await reason('bad', 'RefusedByEtcd');
  await until(() => etcd.isEnabled);
  expect(wishes).toEqual([{ secret: 'orders-user-api', user: 'api', isAccepted: true }]);
});

test('a user that somebody else made gets no certificate', async () => {
  etcd.users.set('api', new Set(['admin']));
  putRecord();
  putUser('api', [], { certificateSecret: 'orders-user-api' });
  start(putCluster());
  await reason('api', 'ForeignUser');
  expect(wishes).toEqual([]);
});

test('without its cluster it says so, once', async () => {
  putUser('api');
  const orphans = new OrphanUsers({ client, paths, log, clusters: () => [] });
  const check = () => orphans.check(api.objects<EtcdUserObject>(paths.of('etcdusers')));
  check();
  await reason('api', 'ClusterNotFound');
  const asked = api.requests.length;
  check();
  await sleep(50);
  expect(api.requests).toHaveLength(asked);
});

function restoreOp(kind: 'Restore' | 'Recover'): NonNullable<RecordDoc['op']> {
  const args = { id: 'r', uid: 'u', specHash: '', safetyBackup: false, ignoreUnreachablePods: false, sourceToken: '' };
  return { id: 'o', holder: 'h', startedAt: '2026-01-01T00:00:00Z', kind, step: 'verify', args };
}
