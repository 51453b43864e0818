import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdClusterSpec } from '../../../../src/resource/types.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { Paths } from '../../kube/paths.ts';
import { createLog } from '../../lib/log.ts';
import { Queue } from '../../lib/queue.ts';
import { recordOf } from '../../protocol/record.fixture.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { FakeApi, failure } from '../kubernetes/fake-api.fixture.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import type { EtcdUserObject, UserCertificate, UserWish } from '../objects/user-object.ts';
import { reportOrphans } from '../orphans.ts';
import type { MemberStatus } from '../port/observed.ts';
import { FakeEtcd } from './fake-etcd.fixture.ts';
import { mark, pemOf, user } from './users.fixture.ts';
import { Users } from './users.ts';

const paths = new Paths('shop');
const logged: string[] = [];
const write = (chunk: Buffer, _encoding: string, done: () => void) => {
  logged.push(String(chunk));
  done();
};
const log = createLog(new Writable({ write }));

let pem: Record<'root' | 'other', Buffer>;
beforeAll(async () => {
  pem = { root: await pemOf('root'), other: await pemOf('orders-client') };
});

let api: FakeApi;
let client: ApiClient;
let etcd: FakeEtcd;
let queue: Queue;
let isOver: boolean;
let users: Users;
let isCurrent: boolean;
let isHeld: boolean;
/** The list of the watch. */
let observe: () => readonly EtcdUserObject[];
/** Undefined until the first ones are reported. */
let wishes: readonly UserWish[] | undefined;
let certificate: UserCertificate | undefined;
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 10_000);
  etcd = new FakeEtcd();
  etcd.pem = pem.root;
  queue = new Queue();
  isOver = false;
  isCurrent = true;
  isHeld = true;
  observe = () => api.objects<EtcdUserObject>(paths.of('etcdusers'));
  wishes = undefined;
  certificate = undefined;
  logged.length = 0;
});
afterEach(async () => {
  isOver = true;
  await queue.stop(60_000);
  client.close();
  await api[Symbol.asyncDispose]();
});

const tls = {
  ...{ peerSecret: 'orders-peer-tls', serverSecret: 'orders-server-tls', clientSecret: 'orders-client-tls' },
  ...{ rootSecret: 'orders-root-tls', backupSecret: 'orders-backup-tls' },
};

function putCluster(change: Partial<EtcdClusterSpec> = {}): EtcdClusterObject {
  const spec = { size: 3, version: '3.6.16', tls, ...change };
  return api.put(paths.of('etcdclusters', 'orders'), { spec }) as unknown as EtcdClusterObject;
}

const managed = { peerAuthority: 'orders-peer-ca', clientAuthority: 'orders-client-ca' };

function putRecord(change: Partial<RecordDoc> = {}): void {
  api.put(paths.of('configmaps', 'orders-record'), { data: { 'record.json': JSON.stringify(recordOf(change)) } });
}

function putUser(name: string, ...more: Parameters<typeof user> extends [unknown, ...infer T] ? T : never): void {
  const { spec } = user(name, ...more);
  api.put(paths.of('etcdusers', name), {
    metadata: { name, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
    // The default of the custom resource.
    status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NotSeen' }] },
  });
}

function start(
  cluster: EtcdClusterObject,
  { isAsked = true, ...settings }: { quorumLost?: number; isAsked?: boolean } = {},
): void {
  users = new Users(cluster, {
    ...{ client, paths, name: 'orders', etcd, log, emit: () => {}, follow: queue.follow },
    at: () => {
      if (!isHeld) throw new Error('another reconciler may hold the Lease');
    },
    settings: { users: 40, backoffMin: 20, quorumLost: 0, ...settings },
    observed: () => (isCurrent ? observe() : undefined),
    clusters: () => api.objects<EtcdClusterObject>(paths.of('etcdclusters')),
    certificates: {
      followUsers: (found) => {
        wishes = found;
      },
      ofUser: () => certificate,
    },
  });
  if (isAsked) see('https');
  users.run();
}

/** The members have peer URLs of these schemes. */
function see(...schemes: string[]): void {
  const doc = api.object<{ data: Record<string, string> }>(paths.of('configmaps', 'orders-record'))?.data[
    'record.json'
  ];
  const peerUrls = schemes.map((scheme) => `${scheme}://orders-0.orders-peers:2380`);
  const member = { id: '1', name: 'orders-0', isLearner: false };
  users.see({
    cluster: { known: true, v: undefined },
    record: { known: true, v: doc === undefined ? undefined : { doc: JSON.parse(doc), rv: '1' } },
    members: {
      known: true,
      v: [
        { ...member, peerUrls: ['https://orders-1.orders-peers:2380'] },
        { ...member, peerUrls },
      ],
    },
    status: { '1': { known: true, v: { version: '3.6.16' } as MemberStatus } },
  });
}

const ready = (name: string) =>
  api.object<EtcdUserObject>(paths.of('etcdusers', name))?.status?.conditions?.find(({ type }) => type === 'Ready');

async function until<T>(what: () => T): Promise<NonNullable<T>> {
  // Ends with the test, also with one that has failed.
  while (!isOver) {
    const found = what();
    if (found) return found;
    await sleep(10);
  }
  throw new Error('the test is over');
}

const reason = (name: string, wanted: string) => until(() => ready(name)?.reason === wanted);
/** Passes begin again and again. */
const passes = async (count: number) => {
  const before = etcd.calls.length;
  await until(() => etcd.calls.length >= before + count);
};

test('the log warns only once a pass has read the cluster', async () => {
  putUser('api');
  start(putCluster(), { isAsked: false });
  await reason('api', 'ClusterNotServing');
  expect(logged).toEqual([]);
  see('https');
  await until(() => logged.some((line) => line.includes('warn')));
});

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

describe('the CRD of EtcdUsers is being deleted, and all EtcdUsers with it', () => {
  beforeEach(async () => {
    putRecord();
    putUser('api');
    start(putCluster());
    await reason('api', 'UserReady');
  });
  const goes = async () => {
    const discovery = () => api.asked('GET /apis/cdk8s-etcd.dev/v1alpha1');
    api.delete(paths.of('etcdusers', 'api'));
    const before = discovery();
    users.changed();
    await until(() => discovery() >= before + 2);
    expect(etcd.users.has('api')).toBe(true);
    expect(users.report()?.why).toContain('the custom resource EtcdUser is being deleted');
  };

  test('nobody is deleted in etcd, until the CRD is there again', async () => {
    api.verbs = ['delete', 'get', 'list', 'watch'];
    await goes();
    api.verbs = ['create', 'list'];
    await until(() => !etcd.users.has('api'));
  });

  test.each([
    ['the API server knows the group no more', 404, { message: 'gone' }],
    ['it knows other resources only', 200, { resources: [{ name: 'etcdclusters', verbs: ['create'] }] }],
  ])('nobody is deleted if %s', async (_, status, body) => {
    answerDiscovery(status, body);
    await goes();
  });

  test('without the permission to ask, users are deleted as ever', async () => {
    answerDiscovery(403, { message: 'forbidden' });
    api.delete(paths.of('etcdusers', 'api'));
    users.changed();
    await until(() => !etcd.users.has('api'));
  });

  function answerDiscovery(status: number, body: object): void {
    api.fault = (_, response, path) => {
      if (path !== '/apis/cdk8s-etcd.dev/v1alpha1') return false;
      response.writeHead(status).end(JSON.stringify(body));
      return true;
    };
  }
});

describe('changes nothing, and says so', () => {
  test.each<[string, Partial<RecordDoc>, Partial<EtcdClusterSpec>, string]>([
    ['while paused', {}, { paused: true }, 'Paused'],
    ['during a restore', { op: restoreOp('Restore') }, {}, 'ClusterNotServing'],
    ['during a recovery', { op: restoreOp('Recover') }, {}, 'ClusterNotServing'],
    ['before the cluster serves', { seeded: false }, {}, 'ClusterNotServing'],
    [
      'without the certificate of root',
      {},
      { tls: { peerSecret: 'p', serverSecret: 's', clientSecret: 'c' } },
      'RootCertificateMissing',
    ],
    ['without TLS', {}, { tls: undefined }, 'RootCertificateMissing'],
  ])('%s', async (_, record, spec, wanted) => {
    putRecord(record);
    putUser('api');
    start(putCluster(spec));
    await reason('api', wanted);
    await sleep(100);
    expect(etcd.changes).toEqual([]);
  });

  describe('until each member accepts https alone', () => {
    const on = { peers: 'https', clients: 'https', target: 'https', since: '' } as const;

    test.each([
      ['the record says so, and one may not have restarted', { transport: on }],
      ['an older release wrote the record', {}],
    ])('%s', async (_, record) => {
      putRecord(record);
      putUser('api');
      start(putCluster());
      see('http', 'https');
      await reason('api', 'ClusterNotServing');
      expect(ready('api')?.message).toContain('until every client uses https');
      expect(etcd.changes).toEqual([]);
      expect(users.report()?.seen).toMatchObject({ isEnabled: false });
      // Without a quorum nothing new is known.
      const nothing = { known: false, why: 'x' } as const;
      users.see({ cluster: nothing, record: nothing, members: nothing, status: {} });
      await sleep(100);
      expect(etcd.changes).toEqual([]);
      see('https');
      await reason('api', 'UserReady');
    });

    const off = { ...on, target: 'http' } as const;
    const both = { ...off, peers: 'http', clients: 'both' } as const;

    test('but while TLS is switched off, a password is put into its Secret, and the user is made', async () => {
      const secret = paths.of('secrets', 'orders-user-api');
      api.put(secret, {});
      etcd.roles.set(`password.${mark('api')}`, new Map());
      putRecord({ transport: off });
      putUser('api', [], { passwordSecret: 'orders-user-api' });
      start(putCluster());
      see('http', 'https');
      await until(() => etcd.users.has('api'));
      expect(api.object<{ data: object }>(secret)?.data).toMatchObject({ password: expect.anything() });
      expect(etcd.isEnabled).toBe(false);
    });

    test('but while TLS is switched off, which needs users gone, they are changed', async () => {
      etcd.users.set('gone', new Set([mark('gone')]));
      etcd.roles.set(mark('gone'), new Map());
      putRecord({ transport: off });
      putUser('api');
      start(putCluster());
      see('http', 'https');
      await until(() => etcd.roles.has(mark('api')) && !etcd.users.has('gone'));
      await reason('api', 'ClusterNotServing');
      expect(etcd.changes).not.toContain('AuthEnable');
      expect(users.report()?.why).toContain('TLS is being switched');
    });

    test('also authentication that is on is seen meanwhile, and switched off if that is asked for', async () => {
      etcd.isEnabled = true;
      etcd.users.set('root', new Set(['root']));
      etcd.users.set('gone', new Set([mark('gone')]));
      etcd.roles.set(mark('gone'), new Map());
      putRecord({ transport: both });
      start(putCluster());
      see('http', 'https');
      await until(() => users.report()?.seen?.isEnabled);
      expect(etcd.changes).toEqual([]);
      users.follow(putCluster({ auth: false }));
      await until(() => users.report()?.seen?.isEnabled === false);
      expect(etcd.changes).toEqual(['AuthDisable']);
    });

    test('a user that is added meanwhile asks for authentication, which is not switched on', async () => {
      putRecord({ transport: off });
      start(putCluster());
      await until(() => users.report()?.isWanted === false);
      putRecord({ transport: both });
      see('http', 'https');
      putUser('api');
      users.changed();
      await until(() => users.report()?.isWanted);
      expect(etcd.changes).toEqual([]);
    });

    test('authentication that was on is remembered without a certificate of root', async () => {
      etcd.isEnabled = true;
      putRecord({ transport: both });
      start(putCluster({ paused: true }));
      await until(() => users.report()?.seen?.isEnabled);
      users.follow(putCluster({ tls: undefined }));
      await until(() => users.report()?.refusal);
      expect(users.report()).toMatchObject({
        isWanted: true,
        seen: { isEnabled: true },
        refusal: { reason: 'AuthRefused' },
      });
    });
  });

  test('before the members have been asked', async () => {
    putRecord();
    putUser('api');
    start(putCluster(), { isAsked: false });
    await reason('api', 'ClusterNotServing');
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

describe('a status', () => {
  const path = () => paths.of('etcdusers', 'api');
  const patches = () => api.asked(`PATCH ${path()}/status`);

  test('that something else wrote is corrected', async () => {
    putRecord();
    putUser('api');
    start(putCluster(), { quorumLost: 60_000 });
    await reason('api', 'UserReady');
    const { status } = api.object<EtcdUserObject>(path())!;
    const conditions = [{ ...status!.conditions![0]!, status: 'False', reason: 'Other' }];
    api.put(path(), { ...api.object(path()), status: { ...status, conditions } });
    await reason('api', 'UserReady');
  });

  test('is written once, while the watch has not brought it', async () => {
    putRecord();
    putUser('api');
    const old = api.objects<EtcdUserObject>(paths.of('etcdusers'));
    observe = () => old;
    start(putCluster(), { quorumLost: 60_000 });
    await reason('api', 'UserReady');
    await passes(3);
    expect(patches()).toBe(1);
  });

  test('is not written without the Lease', async () => {
    putRecord();
    putUser('api');
    isHeld = false;
    start(putCluster({ paused: true }));
    await passes(5);
    expect(patches()).toBe(0);
    isHeld = true;
    await reason('api', 'Paused');
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

test('a change that nobody has compared with etcd yet is not called ready', async () => {
  putRecord();
  putUser('api');
  start(putCluster());
  await reason('api', 'UserReady');
  etcd.fault = new Error('no leader answers');
  const path = paths.of('etcdusers', 'api');
  const user = api.object<EtcdUserObject>(path)!;
  api.put(path, { ...user, metadata: { ...user.metadata, generation: 2 } });
  users.changed();
  await reason('api', 'ClusterNotServing');
  expect(ready('api')).toMatchObject({ status: 'Unknown', observedGeneration: 2 });
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

test('an etcd that answers some calls only is reported, too', async () => {
  putRecord();
  putUser('api');
  start(putCluster(), { quorumLost: 100 });
  await reason('api', 'UserReady');
  etcd.silent = 'UserList';
  etcd.revision++;
  await reason('api', 'ClusterNotServing');
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

describe('with a certificate of the reconciler', () => {
  const secret = { certificateSecret: 'orders-user-api' };

  test('a user that is refused says so, though nothing is known of its certificate', async () => {
    etcd.users.set('api', new Set(['admin']));
    putRecord();
    putUser('api', [], secret);
    putUser('later', [], { userName: 'api', certificateSecret: 'orders-user-later' });
    start(putCluster({ tls: { ...tls, managed } }));
    await reason('api', 'ForeignUser');
    await reason('later', 'NameTaken');
  });

  test('a user that was ready is no longer, once an older EtcdUser has its name', async () => {
    putRecord();
    putUser('api', [], secret);
    certificate = { certificate: { secret: 'orders-user-api', notAfter: '', span: { notBefore: 0, notAfter: 0 } } };
    start(putCluster({ tls: { ...tls, managed } }));
    await reason('api', 'UserReady');
    certificate = undefined;
    putUser('aaa', [], { userName: 'api', certificateSecret: 'orders-user-aaa' });
    users.changed();
    await reason('api', 'NameTaken');
  });

  test('after a start, a status of before stays until the certificate is known', async () => {
    putRecord();
    putUser('api', [], secret);
    start(putCluster({ tls: { ...tls, managed } }));
    await passes(5);
    expect(ready('api')?.reason).toBe('NotSeen');
    certificate = {};
    await reason('api', 'CertificatePending');
  });
});

describe('an EtcdUser that is being deleted, and held by a finalizer', () => {
  const going = (name: string) => {
    const object = api.object<EtcdUserObject>(paths.of('etcdusers', name))!;
    const metadata = { ...object.metadata, deletionTimestamp: '2026-01-02T00:00:00Z', finalizers: ['example.com/x'] };
    api.put(paths.of('etcdusers', name), { ...object, metadata });
    users.changed();
  };

  test('is not ready, and says that its user is gone', async () => {
    putRecord();
    putUser('api', [], { certificateSecret: 'orders-user-api' });
    start(putCluster());
    await until(() => wishes?.length === 1);
    going('api');
    await until(() => ready('api')?.reason === 'Deleting' && ready('api')?.status === 'False');
    expect(ready('api')?.message).toBe(
      'the EtcdUser is being deleted, and etcd has no user api any more; it stays until its finalizers are removed: example.com/x',
    );
    expect([...etcd.users.keys()]).toEqual(['root']);
    expect(wishes).toEqual([]);
  });

  test('says who has its user now', async () => {
    putRecord();
    putUser('api');
    putUser('later', [], { userName: 'api' });
    start(putCluster());
    await reason('later', 'NameTaken');
    going('api');
    await reason('later', 'UserReady');
    await until(() => ready('api')?.message.includes('EtcdUser later has the user api now'));
  });

  const windowOpen = { peers: 'http', clients: 'both', target: 'https', since: '' } as const;

  test.each<[string, () => unknown, string]>([
    ['the cluster is paused', () => users.follow(putCluster({ paused: true })), 'spec.paused'],
    ['a restore is in progress', () => putRecord({ op: restoreOp('Restore') }), 'a restore is in progress'],
    ['TLS is being switched on', () => putRecord({ transport: windowOpen }), 'until every client uses https'],
    ['etcd does not answer', () => Object.assign(etcd, { fault: new Error('no quorum') }), 'no quorum'],
  ])('says what it waits for: %s', async (_, hold, message) => {
    putRecord();
    putUser('api');
    start(putCluster());
    await reason('api', 'UserReady');
    hold();
    going('api');
    await reason('api', 'Deleting');
    expect(ready('api')).toMatchObject({ status: 'Unknown', message: expect.stringContaining(message) });
    expect(etcd.users.has('api')).toBe(true);
  });
});

describe('a Secret that somebody else has', () => {
  const secret = { certificateSecret: 'orders-user-api' };
  const wish = { secret: 'orders-user-api', user: 'api', isAccepted: true };
  beforeEach(() => putRecord());

  test('the older of two EtcdUsers keeps it, and the other one says so', async () => {
    putUser('api', [], secret);
    start(putCluster({ tls: { ...tls, managed } }));
    await until(() => wishes?.length === 1);
    putUser('later', [], secret);
    users.changed();
    await reason('later', 'SecretTaken');
    expect(ready('later')?.message).toContain('Secret orders-user-api is that of the older EtcdUser api');
    expect(wishes).toEqual([wish]);
    // It gets the Secret when the older one goes.
    api.delete(paths.of('etcdusers', 'api'));
    users.changed();
    await until(() => wishes?.[0]?.user === 'later');
  });

  test('an older EtcdUser of another cluster keeps it, unless it is being deleted', async () => {
    putUser('aaa', [], { ...secret, clusterName: 'other' });
    putUser('api', [], secret);
    start(putCluster({ tls: { ...tls, managed } }));
    await reason('api', 'SecretTaken');
    expect(wishes).toEqual([]);
    const other = api.object<EtcdUserObject>(paths.of('etcdusers', 'aaa'))!;
    const metadata = { ...other.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' };
    api.put(paths.of('etcdusers', 'aaa'), { ...other, metadata });
    users.changed();
    await until(() => wishes?.length === 1);
    expect(wishes).toEqual([wish]);
  });

  test.each(['orders-peer-ca', 'orders-root-tls', 'other-server-tls'])('%s is that of a cluster', async (name) => {
    const spec = { tls: { clientSecret: 'other', serverSecret: 'other-server-tls', managed } };
    api.put(paths.of('etcdclusters', 'other'), { spec });
    putUser('api', [], { certificateSecret: name });
    start(putCluster({ tls: { ...tls, managed } }));
    await reason('api', 'SecretTaken');
    expect(ready('api')?.message).toMatch(/is that of EtcdCluster (orders|other);/);
    expect(wishes).toEqual([]);
  });
});

test('a pass that fails tells nothing of who gets a certificate, and takes none back', async () => {
  etcd.fault = new Error('no leader answers');
  putRecord();
  putUser('api', [], { certificateSecret: 'orders-user-api' });
  start(putCluster());
  await reason('api', 'ClusterNotServing');
  expect(wishes).toBeUndefined();
  etcd.fault = undefined;
  await until(() => wishes);
  const known = [{ secret: 'orders-user-api', user: 'api', isAccepted: true }];
  expect(wishes).toEqual(known);
  etcd.fault = new Error('no leader answers');
  await reason('api', 'ClusterNotServing');
  expect(wishes).toEqual(known);
});

describe('a user with a password', () => {
  const secret = paths.of('secrets', 'orders-user-api');
  const begin = async () => {
    putRecord();
    api.put(secret, {});
    putUser('api', [], { passwordSecret: 'orders-user-api' });
    start(putCluster());
    await reason('api', 'UserReady');
  };

  test('is ready when etcd takes what is in its Secret, and gets no certificate', async () => {
    await begin();
    const { data } = api.object<{ data: Record<string, string> }>(secret)!;
    expect(Buffer.from(data.password!, 'base64').toString()).toBe(etcd.passwords.get('api'));
    expect(wishes).toEqual([]);
    expect(ready('api')?.message).toContain('the password that its Secret had when it was last read');
  });

  test('is not called ready while the cluster is paused and its password is not there, or another one', async () => {
    await begin();
    api.put(secret, {});
    users.follow(putCluster({ paused: true }));
    await reason('api', 'Paused');
    expect(api.object<{ data?: object }>(secret)?.data).toBeUndefined();
    users.follow(putCluster());
    await reason('api', 'UserReady');
    api.put(secret, { data: { password: Buffer.from('another').toString('base64') } });
    users.follow(putCluster({ paused: true }));
    await reason('api', 'Paused');
    expect(etcd.passwords.get('api')).not.toBe('another');
    users.follow(putCluster());
    await until(() => etcd.passwords.get('api') === 'another');
  });

  test('is not made in a cluster that changes half-way to TLS', async () => {
    putRecord();
    api.put(secret, {});
    putUser('api', [], { passwordSecret: 'orders-user-api' });
    start(putCluster(), { isAsked: false });
    see('http');
    await reason('api', 'ClusterNotServing');
    expect(api.object<{ data?: object }>(secret)?.data).toBeUndefined();
  });

  test('with a Secret that cannot be read says so, and nobody else waits', async () => {
    await begin();
    api.fault = (_request, response, path) => {
      if (path !== secret) return false;
      failure(response, 500, 'InternalError', 'no matching prefix');
      return true;
    };
    await reason('api', 'PasswordProblem');
    putUser('web');
    users.changed();
    await reason('web', 'UserReady');
    expect(etcd.users.has('api')).toBe(true);
  });
});

test('that there is no EtcdUser is known without etcd', async () => {
  etcd.fault = new Error('no leader answers');
  putRecord();
  start(putCluster());
  await until(() => wishes);
  expect(wishes).toEqual([]);
});

test('without its cluster it says so, once, and not without the Lease', async () => {
  putUser('api');
  const at = () => {
    if (!isHeld) throw new Error('another reconciler may hold the Lease');
  };
  const options = { client, paths, log, at, clusters: () => [] };
  const check = () => reportOrphans(options, [], api.objects<EtcdUserObject>(paths.of('etcdusers')));
  isHeld = false;
  await check();
  expect(api.requests).toEqual([]);
  isHeld = true;
  await check();
  expect(ready('api')?.reason).toBe('ClusterNotFound');
  const asked = api.requests.length;
  await check();
  expect(api.requests).toHaveLength(asked);
});

function restoreOp(kind: 'Restore' | 'Recover'): NonNullable<RecordDoc['op']> {
  const args = { id: 'r', uid: 'u', specHash: '', safetyBackup: false, ignoreUnreachablePods: false, sourceToken: '' };
  return { id: 'o', holder: 'h', startedAt: '2026-01-01T00:00:00Z', kind, step: 'verify', args };
}
