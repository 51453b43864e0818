import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EtcdClusterSpec } from '../../../../src/resource/types.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { Paths } from '../../kube/paths.ts';
import { createLog } from '../../lib/log.ts';
import { Queue } from '../../lib/queue.ts';
import { type Known, known, unknown } from '../../protocol/known.ts';
import type { Reason } from '../../protocol/reasons.ts';
import { recordOf } from '../../protocol/record.fixture.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { FakeApi } from '../kubernetes/fake-api.fixture.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import type { EtcdUserObject } from '../objects/user-object.ts';
import type { AuthReport, MemberStatus, Observed } from '../port/observed.ts';
import { FakeEtcd } from './fake-etcd.fixture.ts';
import { mark, pemOf, user } from './users.fixture.ts';
import { Users } from './users.ts';

// What a pass over users reports for the condition AuthReady.

const paths = new Paths('shop');
const logged: string[] = [];
const log = createLog(
  new Writable({
    write: (chunk, _encoding, done) => {
      logged.push(String(chunk));
      done();
    },
  }),
);
const tls = { clientSecret: 'orders-client-tls', rootSecret: 'orders-root-tls', backupSecret: 'orders-backup-tls' };

let pem: Buffer;
let otherPem: Buffer;
beforeAll(async () => {
  pem = await pemOf('root');
  otherPem = await pemOf('orders-client');
});

let api: FakeApi;
let client: ApiClient;
let etcd: FakeEtcd;
let queue: Queue;
let users: Users;
let isCurrent: boolean;
let events: string[];
let changes: number;
let status: EtcdClusterObject['status'];
let seen: Pick<Observed, 'members' | 'status'>;
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 10_000);
  etcd = new FakeEtcd();
  etcd.pem = pem;
  queue = new Queue();
  isCurrent = true;
  events = [];
  logged.length = 0;
  changes = 0;
  status = undefined;
  seen = { members: known([]), status: {} };
});
afterEach(async () => {
  await queue.stop(60_000);
  client.close();
  await api[Symbol.asyncDispose]();
});

function start(spec: Partial<EtcdClusterSpec>, names: readonly string[] = [], record: Partial<RecordDoc> = {}): void {
  api.put(paths.of('configmaps', 'orders-record'), { data: { 'record.json': JSON.stringify(recordOf(record)) } });
  for (const name of names)
    api.put(paths.of('etcdusers', name), {
      metadata: { name, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: user(name).spec,
    });
  const full = { size: 3, version: '3.6.16', tls, ...spec };
  const object = { spec: full, ...(status && { status }) };
  const cluster = api.put(paths.of('etcdclusters', 'orders'), object) as unknown as EtcdClusterObject;
  users = new Users(cluster, {
    ...{ client, paths, name: 'orders', etcd, log, at: () => {}, follow: queue.follow },
    emit: ({ reason, message }) => events.push(`${reason}: ${message}`),
    settings: { users: 40, backoffMin: 20, quorumLost: 0 },
    clusters: () => [],
    observed: () => (isCurrent ? api.objects<EtcdUserObject>(paths.of('etcdusers')) : undefined),
    certificates: { followUsers: () => {}, ofUser: () => undefined },
    onChange: () => {
      changes++;
    },
  });
  users.see({ cluster: known(undefined), record: known(undefined), ...seen });
  users.run();
}

async function until(wanted: (report: AuthReport | undefined) => unknown): Promise<AuthReport | undefined> {
  for (;;) {
    const report = users.report();
    if (wanted(report)) return report;
    await sleep(10);
  }
}

test('nothing is reported without a certificate of root, unless it is needed', async () => {
  start({ tls: { peerSecret: 'p', serverSecret: 's', clientSecret: 'c' } });
  await sleep(100);
  expect(users.report()).toBeUndefined();
});

test.each<[string, Partial<EtcdClusterSpec>, string[]]>([
  ['auth: true', { auth: true }, []],
  ['a user', {}, ['api']],
])('%s without a certificate of root', async (_, spec, names) => {
  start({ tls: { peerSecret: 'p', serverSecret: 's', clientSecret: 'c' }, ...spec }, names);
  await until((report) => report?.refusal?.reason === 'AuthRefused');
});

test('a certificate of root with another name', async () => {
  etcd.pem = otherPem;
  start({ auth: true });
  const report = await until((each) => each?.refusal);
  expect(report?.refusal).toEqual({
    reason: 'RootCertificateUnusable',
    message: expect.stringContaining("has the name 'orders-client', not root"),
  });
});

test('it is on as asked for, and the cluster hears of it once', async () => {
  start({}, ['api']);
  await until((report) => report?.seen?.isEnabled);
  expect(users.report()).toMatchObject({ isWanted: true, seen: { hasUsers: true }, removed: 0 });
  const before = changes;
  await sleep(200);
  expect(changes).toBe(before);
});

test('off although it is asked for: paused, refused by etcd, or by the API server', async () => {
  start({ auth: true, paused: true });
  const report = await until((each) => each?.seen);
  expect(report).toMatchObject({ isWanted: true, seen: { isEnabled: false }, why: expect.stringContaining('paused') });
});

test.each<[string, Partial<EtcdClusterSpec>, string[]]>([
  ['auth: true', { auth: true }, []],
  ['a user', {}, ['api']],
])('off although %s asks for it: this version of etcd does not enforce permissions', async (_, spec, names) => {
  start({ version: '3.6.11', ...spec }, names);
  const report = await until((each) => each?.why);
  expect(report).toMatchObject({ isWanted: true, seen: { isEnabled: false } });
  expect(report?.why).toMatch(/^authentication is not switched on: etcd 3.6.11 has known .*; use 3.6.14 or newer$/);
  const upgraded = { size: 3, version: '3.6.16', tls, ...spec };
  users.follow(api.put(paths.of('etcdclusters', 'orders'), { spec: upgraded }) as unknown as EtcdClusterObject);
  await until((each) => each?.seen?.isEnabled && each.why === undefined);
});

describe('off although it is asked for: a member may not enforce permissions', () => {
  const peerUrls = ['https://x:2380'];
  const members = known(['0', '1'].map((each) => ({ id: each, name: `orders-${each}`, peerUrls, isLearner: false })));
  const runs = (version: string): Known<MemberStatus> => known({ version } as MemberStatus);

  test.each([
    ['which is silent', unknown('no answer'), 'the version of member orders-1 is not known, and'],
    ['of which nothing is known', undefined, 'the version of member orders-1 is not known, and'],
    ['which is older than the rest', runs('3.6.11'), 'etcd 3.6.11 has known vulnerabilities'],
  ])('%s', async (_, second, why) => {
    seen = { members, status: { '0': runs('3.6.16'), ...(second && { '1': second }) } };
    start({ auth: true });
    const report = await until((each) => each?.why);
    expect(report).toMatchObject({ seen: { isEnabled: false }, why: expect.stringContaining(why) });
    // What the spec or the status says of the members does not matter, and nothing new is known without a quorum.
    users.see({ cluster: known(undefined), record: known(undefined), members: unknown('no quorum'), status: {} });
    await sleep(100);
    expect(etcd.isEnabled).toBe(false);
    users.see({
      cluster: known(undefined),
      record: known(undefined),
      members,
      status: { '0': runs('3.6.16'), '1': runs('3.6.14') },
    });
    await until((each) => each?.seen?.isEnabled && each.why === undefined);
  });

  test.each<[Reason, boolean]>([
    ['AuthenticationOn', true],
    ['AuthNotSwitchedOff', true],
    ['AuthNotSwitchedOn', false],
    ['AuthenticationOff', false],
  ])('but what was on is switched on again: the last condition was %s', async (reason, isOn) => {
    seen = { members, status: { '0': runs('3.6.11'), '1': runs('3.6.11') } };
    etcd.users.set('root', new Set(['root']));
    status = { conditions: [{ type: 'AuthReady', status: 'True', reason, message: '', lastTransitionTime: '' }] };
    start({ auth: true });
    await until((each) => each?.seen && (isOn ? each.seen.isEnabled : each.why));
    expect(etcd.isEnabled).toBe(isOn);
  });
});

test('off although it is asked for: etcd refuses the switch', async () => {
  etcd.refused = 'AuthEnable';
  start({ auth: true });
  const report = await until((each) => each?.why);
  expect(report).toMatchObject({ seen: { isEnabled: false }, why: expect.stringContaining('AuthEnable: refused') });
});

test('off although it is asked for: the API server lists no EtcdUsers', async () => {
  api.fault = (request, response, path) => {
    if (request.method !== 'GET' || path !== paths.of('etcdusers')) return false;
    response.writeHead(403).end();
    return true;
  };
  start({ auth: true });
  const report = await until((each) => each?.why);
  expect(report).toMatchObject({ isWanted: true, seen: { isEnabled: false }, why: expect.stringContaining('403') });
});

test('the watch of EtcdUsers brings nothing', async () => {
  isCurrent = false;
  start({ auth: true });
  const report = await until((each) => each?.why);
  expect(report).toMatchObject({ isWanted: true, why: expect.stringContaining('EtcdUsers') });
  expect(report?.seen).toBeUndefined();
});

test('on although it is switched off in the spec', async () => {
  etcd.isEnabled = true;
  start({ auth: false, paused: true });
  const report = await until((each) => each?.seen);
  expect(report).toMatchObject({ isWanted: false, seen: { isEnabled: true }, why: expect.stringContaining('paused') });
});

test('the users of a snapshot that no EtcdUser has are deleted: only root is left', async () => {
  etcd.isEnabled = true;
  etcd.users.set('root', new Set(['root']));
  for (const name of ['api', 'web']) {
    etcd.users.set(name, new Set([mark(name)]));
    etcd.roles.set(mark(name), new Map());
  }
  start({});
  const report = await until((each) => each?.seen && !each.seen.hasUsers);
  expect(report).toMatchObject({ isWanted: true, seen: { isEnabled: true }, removed: 2 });
  expect(events).toContainEqual('UsersDeleted: Deleted 2 users of etcd that no EtcdUser has: api, web');
  // The next passes remember it.
  await sleep(150);
  expect(users.report()?.removed).toBe(2);
});

test('a user whom etcd does not let go counts as there, and the log says why, once', async () => {
  etcd.isEnabled = true;
  etcd.users.set('root', new Set(['root']));
  etcd.users.set('api', new Set([mark('api')]));
  etcd.roles.set(mark('api'), new Map());
  etcd.refused = 'UserDelete';
  start({});
  await until(() => logged.some((line) => line.includes('etcd refuses')));
  const passes = () => etcd.calls.filter((call) => call === 'UserDelete').length;
  const before = passes();
  await until(() => passes() > before);
  expect(logged.filter((line) => line.includes('etcd refuses'))).toEqual([expect.stringContaining('api: refused')]);
  expect(events.filter((event) => event.startsWith('UsersDeleted'))).toEqual([]);
  expect(users.report()?.removed).toBe(0);
});

test('etcd 3.4: no user is made, and authentication stays off', async () => {
  start({ version: '3.4.37' }, ['api'], { versions: { current: '3.4', allowedMinors: ['3.4'] } });
  await until((report) => report?.seen);
  await sleep(100);
  expect(etcd.changes).toEqual([]);
  expect(api.object<EtcdUserObject>(paths.of('etcdusers', 'api'))?.status?.conditions?.[0]).toMatchObject({
    status: 'False',
    reason: 'EtcdTooOld',
  });
});

test('before the cluster serves, and during a restore, nothing is known', async () => {
  start({}, ['api'], { seeded: false });
  const report = await until((each) => each?.why);
  expect(report?.seen).toBeUndefined();
});
