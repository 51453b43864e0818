import { ApiClient } from '../../kube/api-client.ts';
import type { Secret } from '../../kube/objects.ts';
import { Paths } from '../../kube/paths.ts';
import { FakeApi, failure } from '../cluster/kubernetes/fake-api.fixture.ts';
import { apply } from './apply.ts';
import { described, type WantedAuth } from './decide.ts';
import { FakeEtcd } from './fake-etcd.fixture.ts';
import type { EtcdUserObject } from './object.ts';
import { passwordsOf } from './passwords.ts';
import { user } from './users.fixture.ts';

// Here no API server refuses what the Role does not permit, and etcd is a fake one: the suites `security` (users) and `etcd`
// (users) have real ones.

const paths = new Paths('shop');
const path = paths.of('secrets', 'orders-user-api');
const api$ = user('api', [{ prefix: '/api/', access: 'ReadWrite' }], { passwordSecret: 'orders-user-api' });

let api: FakeApi;
let client: ApiClient;
let written: string[];
let points: string[];
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 10_000);
  [written, points] = [[], []];
});
afterEach(async () => {
  api.closeConnections();
  client.close();
  await api[Symbol.asyncDispose]();
});

const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');
const put = (data: Record<string, string | Buffer> = {}, more: object = {}) =>
  api.put(path, {
    ...{ apiVersion: 'v1', kind: 'Secret', ...more },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, base64(value)])),
  });

type Change = { isPaused?: boolean; taken?: Map<string, string>; users?: EtcdUserObject[]; at?: () => void };

const find = ({ users = [api$], isPaused = false, taken = new Map(), at = () => {} }: Change = {}) =>
  passwordsOf(users, {
    ...{ client, paths, cluster: 'orders', isPaused, taken },
    at: (point) => {
      points.push(point);
      at();
    },
    onWrite: (secret) => written.push(secret),
  });
const one = async (change?: Change) => (await find(change)).get('uid-api');
const saved = () => {
  const { data = {} } = api.object<Secret>(path)!;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
};

test('a Secret without a password gets one, with the name of the user, and keeps what it has', async () => {
  put({ note: 'mine' });
  const password = await one();
  expect(password).toMatch(/^[-\w]{43}$/);
  expect(saved()).toEqual({ note: 'mine', username: 'api', password });
  expect(written).toEqual(['orders-user-api']);
  expect(points).toEqual(['before WritePassword', 'after WritePassword']);
  expect(await one()).toBe(password);
  expect(points).toHaveLength(2);
});

test('a password that is there is used as it is', async () => {
  put({ password: ' of mine\n' }, { type: 'kubernetes.io/basic-auth' });
  expect(await one()).toBe(' of mine\n');
  expect(saved()).toEqual({ password: ' of mine\n' });
});

test.each<[string, () => unknown, RegExp]>([
  ['no Secret', () => {}, /orders-user-api does not exist; apply the manifests/],
  ['the Secret of a certificate', () => put({}, { type: 'kubernetes.io/tls' }), /has the type kubernetes.io\/tls; use/],
  ['another user', () => put({ username: 'web', password: 'x' }), /username in Secret orders-user-api is not api; /],
  ['a long one', () => put({ password: 'x'.repeat(73) }), /has 73 bytes, of which etcd compares 72/],
  ['bytes', () => put({ password: Buffer.from([0xff]) }), /is not UTF-8/],
  [
    'no right',
    () => {
      put();
      api.fault = (_request, response) => {
        failure(response, 403, 'Forbidden', 'not yours');
        return true;
      };
    },
    /may not be read or filled; apply the Role/,
  ],
  [
    'an immutable one',
    () => {
      put();
      api.fault = ({ method }, response) => {
        if (method !== 'PUT') return false;
        points.length = 0;
        failure(response, 422, 'Invalid', 'field is immutable when `immutable` is set');
        return true;
      };
    },
    /cannot be filled: .*immutable/,
  ],
])('%s: nothing is written, and the user says why', async (_name, prepare, message) => {
  prepare();
  expect(await one()).toMatchObject({ reason: 'PasswordProblem', message: expect.stringMatching(message) });
  expect(points).toEqual([]);
});

test('while the cluster is paused, without the Lease, or in the Secret of somebody else, nothing is written', async () => {
  put();
  expect(await one({ isPaused: true })).toMatchObject({ reason: 'Paused' });
  const taken = new Map([['uid-api', 'it is that of another']]);
  expect(await one({ taken })).toMatchObject({ reason: 'SecretTaken', message: 'it is that of another' });
  const at = () => {
    throw new Error('another reconciler may hold the Lease');
  };
  await expect(find({ at })).rejects.toThrow('Lease');
  expect(saved()).toEqual({});
});

test('a younger EtcdUser of the same user, and one with a certificate, get none', async () => {
  put();
  const younger = user('b', [], { userName: 'api', passwordSecret: 'other', age: 0 });
  const found = await find({ users: [younger, api$, user('web', [], { certificateSecret: 'web' })] });
  expect([...found.keys()]).toEqual(['uid-api']);
});

describe('in etcd', () => {
  let etcd: FakeEtcd;
  beforeEach(() => {
    etcd = new FakeEtcd();
    put();
  });

  async function pass(change: Partial<WantedAuth> = {}) {
    const wanted = { cluster: 'orders', users: [api$], passwords: await find(), ...change };
    return etcd.withLeader(undefined, (call) => apply({ etcd: call, wanted, at: async () => {} }));
  }

  test('the user has the password of its Secret, and gets another one as soon as the Secret has it', async () => {
    expect((await pass()).verdicts.get('uid-api')).toEqual({ kind: 'done' });
    expect(etcd.passwords.get('api')).toBe(saved().password);
    expect((await pass()).calls).toEqual([]);
    put({ password: 'another' });
    const { calls, verdicts } = await pass();
    expect(calls).toEqual([{ kind: 'UserChangePassword', user: 'api' }]);
    expect(verdicts.get('uid-api')).toEqual({ kind: 'done' });
    expect(etcd.passwords.get('api')).toBe('another');
  });

  test('somebody changes it in etcd: it is changed back', async () => {
    await pass();
    etcd.passwords.set('api', 'foreign');
    expect((await pass()).calls.map(described)).toEqual(['UserChangePassword api']);
  });

  test('it is tried again only after a change in etcd or in the Secret', async () => {
    const { read } = await pass();
    const logins = () => etcd.calls.filter((call) => call === 'Authenticate').length;
    const before = logins();
    const look = async () => {
      const wanted = { cluster: 'orders', users: [api$], passwords: await find() };
      await etcd.withLeader(undefined, (call) => apply({ etcd: call, wanted, last: read, at: async () => {} }));
      return logins() - before;
    };
    expect(await look()).toBe(0);
    etcd.revision++;
    expect(await look()).toBe(1);
  });

  test('a certificate instead: the password is no longer taken', async () => {
    await pass();
    await pass({ users: [user('api', [], { certificateSecret: 'orders-user-api' })], passwords: new Map() });
    expect(etcd.users.has('api')).toBe(true);
    expect(etcd.passwords.has('api')).toBe(false);
  });
});
