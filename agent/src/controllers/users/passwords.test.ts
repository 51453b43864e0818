import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../../kube/api-client.ts';
import type { Secret } from '../../kube/objects.ts';
import { Paths } from '../../kube/paths.ts';
import { FakeApi, failure } from '../kubernetes/fake-api.fixture.ts';
import type { EtcdUserObject } from '../objects/user-object.ts';
import { type Applied, apply, look } from './apply.ts';
import { described, type WantedAuth } from './decide.ts';
import { FakeEtcd } from './fake-etcd.fixture.ts';
import { Logins } from './logins.ts';
import { fillPasswords, readPasswords } from './passwords.ts';
import type { Read } from './read.ts';
import { mark, user } from './users.fixture.ts';
import { tried } from './verdicts.ts';

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

interface Change {
  readonly taken?: Map<string, string>;
  readonly refused?: Set<string>;
  readonly users?: EtcdUserObject[];
  readonly at?: () => void;
}

const read = ({ users = [api$], taken = new Map() }: Change = {}) =>
  readPasswords(users, { client, paths, cluster: 'orders', taken });
const fill = async (change: Change = {}) =>
  fillPasswords(await read(change), {
    ...{ client, paths, refused: change.refused ?? new Set() },
    at: (point) => {
      points.push(point);
      change.at?.();
    },
    onWrite: (secret) => written.push(secret),
  });
const one = async (change?: Change) => (await fill(change)).found.get('uid-api');
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

test('a password that is there is used as it is, and nothing is written', async () => {
  put({ password: ' of mine\n' }, { type: 'kubernetes.io/basic-auth' });
  expect(await one()).toBe(' of mine\n');
  expect(points).toEqual([]);
});

test('reading alone writes nothing, and says what is missing', async () => {
  put();
  const { found, unfilled } = await read();
  expect(found.get('uid-api')).toBe('');
  expect([...unfilled.keys()]).toEqual(['uid-api']);
  expect(saved()).toEqual({});
});

test.each<[string, () => unknown, RegExp]>([
  ['no Secret', () => {}, /orders-user-api does not exist; apply the manifests/],
  ['the Secret of a certificate', () => put({}, { type: 'kubernetes.io/tls' }), /has the type kubernetes.io\/tls; use/],
  ['that of somebody else', () => put({ username: 'postgres', accessKey: 'x' }), /username in Secret .* is not api; /],
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
    'one that cannot be decrypted',
    () => {
      put();
      api.fault = (_request, response) => {
        failure(response, 500, 'InternalError', 'no matching prefix');
        return true;
      };
    },
    /cannot be read or filled: .*no matching prefix/,
  ],
  [
    'an immutable one',
    () => {
      put();
      api.fault = ({ method }, response) => {
        if (method !== 'PUT') return false;
        failure(response, 422, 'Invalid', 'field is immutable when `immutable` is set');
        return true;
      };
    },
    /cannot be read or filled: .*immutable/,
  ],
])('%s: nothing is written, and the user says why', async (_name, prepare, message) => {
  prepare();
  expect(await one()).toMatchObject({ reason: 'PasswordProblem', message: expect.stringMatching(message) });
  expect(written).toEqual([]);
});

test('after a Secret whose write gets no answer no other is written in this pass, and the users wait', async () => {
  const users = ['a', 'b'].map((name) => user(name, [], { passwordSecret: name }));
  for (const name of ['a', 'b']) api.put(paths.of('secrets', name), { apiVersion: 'v1', kind: 'Secret', data: {} });
  api.fault = ({ method }) => method === 'PUT';
  client = new ApiClient(api.access, 1_000);
  expect(await fill({ users })).toEqual({
    isSoon: true,
    found: new Map(users.map(({ metadata }) => [metadata.uid, ''])),
    why: expect.stringMatching(/^Secret a cannot be read or filled: .*no answer/),
  });
  expect(points).toHaveLength(2);
});

test('without the Lease, for a user that is refused, or in the Secret of somebody else, nothing is written', async () => {
  put();
  expect(await one({ refused: new Set(['uid-api']) })).toMatchObject({ reason: 'PasswordProblem' });
  const taken = new Map([['uid-api', 'it is that of another']]);
  expect(await one({ taken })).toMatchObject({ reason: 'SecretTaken', message: 'it is that of another' });
  const at = () => {
    throw new Error('another reconciler may hold the Lease');
  };
  await expect(fill({ at })).rejects.toThrow('Lease');
  expect(saved()).toEqual({});
});

test('no answer of the API server says nothing of a user', async () => {
  put();
  api.fault = ({ socket }) => Boolean(socket.destroy());
  await expect(read()).rejects.toThrow();
});

test('an admission webhook that quotes a password does not bring it into a status', async () => {
  put();
  api.fault = (request, response) => {
    if (request.method !== 'PUT') return false;
    const { data } = api.bodies.at(-1) as Secret;
    failure(response, 400, 'Denied', `denied: ${Buffer.from(data!.password!, 'base64')} of ${JSON.stringify(data)}`);
    return true;
  };
  expect([...(await fill()).found.values()]).toEqual([
    expect.objectContaining({ message: expect.stringContaining('in words that quote its secrets') }),
  ]);
});

test('the Secret of one user is not the problem of another', async () => {
  put();
  const other = user('web', [], { passwordSecret: 'missing' });
  const { found } = await fill({ users: [other, api$] });
  expect(found.get('uid-web')).toMatchObject({ reason: 'PasswordProblem' });
  expect(found.get('uid-api')).toBe(saved().password);
  expect((await read({ users: [other] })).isSoon).toBe(true);
});

test('a younger EtcdUser of the same user, one with a certificate, and one of a reserved name, get none', async () => {
  put();
  const younger = user('b', [], { userName: 'api', passwordSecret: 'other', age: 0 });
  const client$ = user('orders-client', [], { passwordSecret: 'other' });
  const { found } = await fill({ users: [younger, api$, client$, user('web', [], { certificateSecret: 'web' })] });
  expect([...found.keys()]).toEqual(['uid-api']);
});

const patience = 200;

describe('in etcd', () => {
  let etcd: FakeEtcd;
  let logins: Logins;
  beforeEach(() => {
    etcd = new FakeEtcd();
    logins = new Logins(patience);
    put();
  });

  async function pass(change: Partial<WantedAuth> = {}) {
    const wanted = { cluster: 'orders', users: [api$], passwords: (await fill()).found, ...change };
    return etcd.withLeader(undefined, (call) => apply({ etcd: call, wanted, logins, at: async () => {} }));
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

  test('it is tried only after a change of somebody else, and after one of the Secret', async () => {
    const tries = () => etcd.calls.filter((call) => call === 'Authenticate').length;
    let last: Read | undefined;
    const look$ = async () => {
      const before = tries();
      const wanted = { cluster: 'orders', users: [api$], passwords: (await fill()).found };
      const { read } = await etcd.withLeader(undefined, (call) =>
        apply({ etcd: call, wanted, last, logins, at: async () => {} }),
      );
      last = read;
      return tries() - before;
    };
    // It was made here.
    expect(await look$()).toBe(0);
    expect(await look$()).toBe(0);
    etcd.revision++;
    expect(await look$()).toBe(1);
    expect(await look$()).toBe(0);
    put({ password: 'another', username: 'api' });
    expect(await look$()).toBe(1);
    expect(etcd.passwords.get('api')).toBe('another');
  });

  test('many are tried in several passes, after what does not need it', async () => {
    const users = Array.from({ length: 40 }, (_, i) => user(`u${i}`, [], { passwordSecret: `s${i}` }));
    const passwords = new Map(users.map(({ metadata }) => [metadata.uid, 'secret']));
    await pass({ users, passwords });
    etcd.calls.length = 0;
    const { verdicts, calls } = await pass({ users: users.slice(1), passwords });
    expect(calls.map(described)).toEqual(['UserDelete u0', `RoleDelete password.${mark('u0')}`]);
    expect(etcd.calls.indexOf('Authenticate')).toBeGreaterThan(etcd.calls.indexOf('RoleDelete'));
    expect(etcd.calls.filter((call) => call === 'Authenticate')).toHaveLength(16);
    const kinds = [...verdicts.values()].map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'done')).toHaveLength(16);
    expect(kinds.filter((kind) => kind === 'untried')).toHaveLength(23);
  });

  test('a login that etcd cannot answer is a problem of its user', async () => {
    await pass();
    etcd.refused = 'Authenticate';
    const web = user('web', []);
    const { verdicts } = await pass({ users: [api$, web] });
    expect(verdicts.get('uid-api')).toMatchObject({
      reason: 'RefusedByEtcd',
      message: 'etcd cannot log api in: refused',
    });
    expect(verdicts.get('uid-web')).toEqual({ kind: 'done' });
  });

  test('before authentication is switched on, a user that is there gets its password', async () => {
    await pass();
    etcd.isEnabled = false;
    etcd.passwords.set('api', 'former');
    expect((await pass()).calls.map(described)).toEqual(['UserChangePassword api', 'AuthEnable']);
    expect(etcd.passwords.get('api')).toBe(saved().password);
  });

  /** A pass that remembers what the one before has read. */
  let last: Read | undefined;
  beforeEach(() => {
    last = undefined;
  });
  async function passOn(change: Partial<WantedAuth> = {}): Promise<string[]> {
    const wanted = { cluster: 'orders', users: [api$], passwords: (await fill()).found, ...change };
    return etcd.withLeader(undefined, async (call) => {
      const seen = await look({ etcd: call, wanted, last, logins });
      const done = await apply({ etcd: call, wanted, last: seen.read, logins, at: async () => {} });
      last = done.read;
      return done.calls.map(described);
    });
  }
  const bad = user('bad', [{ key: 'forbidden', access: 'Read' }]);

  test('a user that etcd refuses keeps no other from its password', async () => {
    await passOn();
    etcd.passwords.set('api', 'foreign');
    etcd.revision++;
    expect(await passOn({ users: [bad, api$] })).toContain('UserChangePassword api');
  });

  test('while the switch waits for such a user, passwords are set once', async () => {
    await passOn();
    etcd.isEnabled = false;
    etcd.revision++;
    expect(await passOn({ users: [bad, api$] })).toContain('UserChangePassword api');
    expect(await passOn({ users: [bad, api$] })).toEqual([]);
    expect(await passOn({ users: [bad, api$] })).toEqual([]);
    expect(etcd.isEnabled).toBe(false);
  });

  test('an odd answer, and none, are tried again, and keep nobody else waiting', async () => {
    await passOn();
    const [web, old] = [user('web', []), user('old', [])];
    await passOn({ users: [api$, old] });
    put({ username: 'api', password: 'another' });
    etcd.silent = 'Authenticate';
    expect(await passOn({ users: [api$, web] })).toEqual(expect.arrayContaining(['UserDelete old', 'UserAdd web']));
    [etcd.silent, etcd.refused] = [undefined, 'Authenticate'];
    expect(await passOn({ users: [api$, web] })).toEqual([]);
    etcd.refused = undefined;
    expect(await passOn({ users: [api$, web] })).toEqual(['UserChangePassword api']);
  });

  const named = (...names: string[]) => names.map((name) => user(name, [], { passwordSecret: name }));
  const secrets = (users: EtcdUserObject[]) =>
    new Map(users.filter(({ spec }) => spec.passwordSecret).map(({ metadata }) => [metadata.uid, 'secret']));
  const kinds = ({ verdicts }: Applied) => [...verdicts.values()].map(({ kind }) => kind);

  test('a call with a password that gets no answer: users with a password wait for the next pass, and no other does', async () => {
    await pass({ users: [user('b', [], { certificateSecret: 'b' }), user('old', [])] });
    const users = [...named('a', 'b'), user('web', [])];
    [etcd.silent, etcd.silentFor] = ['UserAdd', 'a'];
    const held = await pass({ users, passwords: secrets(users) });
    expect(held.cut).toEqual({
      silence: 'UserAdd a: etcd did not answer UserAdd within 5s; its members may need more CPU',
    });
    // One that goes from its certificate to a password is not shut out meanwhile.
    expect([...etcd.users.keys()].sort()).toEqual(['b', 'root', 'web']);
    expect(kinds(held)).toEqual(['call', 'call', 'done']);
    etcd.silent = undefined;
    expect(kinds(await pass({ users, passwords: secrets(users) }))).toEqual(['done', 'done', 'done']);
    expect(etcd.passwords.get('b')).toBe('secret');
  });

  test('authentication is not switched on before they are there', async () => {
    const users = [...named('a'), user('web', [])];
    [etcd.silent, etcd.silentFor] = ['UserAdd', 'a'];
    expect(kinds(await pass({ users, passwords: secrets(users) }))).toEqual(['call', 'call']);
    expect(kinds(await pass({ users, passwords: secrets(users), auth: true }))).toEqual(['call', 'call']);
    etcd.silent = undefined;
    const unfilled = new Map([['uid-a', '']]);
    expect(kinds(await pass({ users, passwords: unfilled, auth: true }))).toEqual(['call', 'call']);
    expect(etcd.isEnabled).toBe(false);
  });

  test('meanwhile other passwords are tried', async () => {
    await pass({ users: named('b'), passwords: secrets(named('b')) });
    const users = named('a', 'b');
    [etcd.silent, etcd.silentFor] = ['UserAdd', 'a'];
    etcd.passwords.set('b', 'foreign');
    etcd.calls.length = 0;
    await pass({ users, passwords: secrets(users) });
    expect(etcd.calls).toContain('Authenticate');
    etcd.silent = undefined;
    await pass({ users, passwords: secrets(users) });
    expect(etcd.passwords.get('b')).toBe('secret');
  });

  test('a user that is made meanwhile: with a password it is not refused, and no call is made again and again', async () => {
    etcd.leaving = ['UserAdd', 9, 'etcdserver: user name already exists'];
    await expect(pass({ users: [user('web')] })).rejects.toThrow('UserAdd root: etcdserver: user name already exists');
    etcd.users.set('root', new Set(['root']));
    const { cut, verdicts } = await pass({ users: named('a'), passwords: secrets(named('a')) });
    expect(cut).toEqual({ silence: 'UserAdd a: etcdserver: user name already exists' });
    expect(verdicts.get('uid-a')).toEqual({ kind: 'call' });
    const other = await pass({ users: [user('web')] });
    expect(other.refused).toEqual([expect.stringContaining('UserAdd web: etcdserver: user name already exists')]);
    expect(etcd.calls.filter((call) => call === 'UserAdd')).toHaveLength(3);
  });

  test('slow hashes end the turn of users with a password, too', async () => {
    const users = [...named('a', 'b', 'c'), user('web', [])];
    const { now } = performance;
    let later = 0;
    performance.now = () => now.call(performance) + later;
    etcd.onCall = (call) => {
      if (call === 'UserAdd') later += 20_000;
    };
    try {
      const first = await pass({ users, passwords: secrets(users) });
      expect(first.cut).toEqual({});
      expect([...etcd.passwords.keys()]).toEqual(['a', 'b']);
      expect(etcd.users.has('web')).toBe(true);
      expect((await pass({ users, passwords: secrets(users) })).cut).toBeUndefined();
      // What is refused takes no time from others.
      const more = [...users, ...named('d', 'e', 'f')];
      etcd.refused = 'UserAdd';
      expect((await pass({ users: more, passwords: secrets(more) })).cut).toBeUndefined();
    } finally {
      performance.now = now;
    }
    expect([...etcd.passwords.keys()]).toEqual(['a', 'b', 'c']);
  });

  test.each<[string, () => void, RegExp]>([
    ['no answer to what has no password', () => (etcd.silent = 'RoleAdd'), /did not answer RoleAdd/],
    ['an election', () => (etcd.leaving = ['UserAdd', 14, 'etcdserver: leader changed']), /leader changed/],
    ['a leader that hands over', () => (etcd.leaving = ['UserAdd', 2, 'raft proposal dropped']), /dropped/],
    ['an etcd that hangs', () => (etcd.hangsAfter = 'RoleAdd'), /did not answer AuthStatus/],
  ])('%s ends the pass', async (_, fail, why) => {
    fail();
    await expect(pass({ users: named('a'), passwords: secrets(named('a')) })).rejects.toThrow(why);
  });

  test('logins that get no answer for long are reported, whoever was tried', async () => {
    await pass({ users: named('a', 'b', 'c'), passwords: secrets(named('a', 'b', 'c')) });
    etcd.silent = 'Authenticate';
    logins.forget();
    const now = () => pass({ users: named('a', 'b', 'c'), passwords: secrets(named('a', 'b', 'c')) });
    expect((await now()).tries).toEqual({ found: 0, isLeft: true });
    await sleep(patience);
    const { tries, verdicts } = await now();
    expect(tries).toEqual({ found: 0, isLeft: true, silence: 'etcd did not answer Authenticate within 5s' });
    expect([...tried(verdicts, tries.silence).values()]).toMatchObject([
      ...[1, 2, 3].map(() => ({ kind: 'unknown', reason: 'ClusterNotServing' })),
    ]);
    expect(tried(verdicts).size).toBe(0);
    etcd.silent = undefined;
    expect(kinds(await now())).toEqual(['done', 'done', 'done']);
    // An answer in between, and what was long ago, end it.
    etcd.silent = 'Authenticate';
    logins.forget();
    expect((await now()).tries).toEqual({ found: 0, isLeft: true });
  });

  test('though somebody changes users all the time, everyone is tried in turn', async () => {
    const users = Array.from({ length: 40 }, (_, i) => user(`u${i}`, [], { passwordSecret: `s${i}` }));
    const passwords = new Map(users.map(({ metadata }) => [metadata.uid, 'secret']));
    await passOn({ users, passwords });
    etcd.passwords.set('u39', 'foreign');
    const made: string[] = [];
    for (let i = 0; i < 3; i++) {
      etcd.revision++;
      made.push(...(await passOn({ users, passwords })));
    }
    expect(made).toEqual(['UserChangePassword u39']);
  });

  test('odd answers alone make no pass follow at once', async () => {
    const users = Array.from({ length: 20 }, (_, i) => user(`u${i}`, [], { passwordSecret: `s${i}` }));
    const passwords = new Map(users.map(({ metadata }) => [metadata.uid, 'secret']));
    await pass({ users, passwords });
    logins.forget();
    etcd.refused = 'Authenticate';
    expect((await pass({ users, passwords })).tries).toEqual({ found: 0, isLeft: true });
  });

  test('somebody else switches authentication on: what was only set is tried', async () => {
    await passOn();
    etcd.passwords.delete('api');
    etcd.isEnabled = false;
    etcd.revision++;
    await passOn({ users: [bad, api$] });
    etcd.isEnabled = true;
    expect(await passOn({ users: [bad, api$] })).toContain('UserDelete api');
    expect(etcd.passwords.get('api')).toBe(saved().password);
  });

  test('a user that takes no password is found when authentication is on', async () => {
    await passOn();
    etcd.passwords.delete('api');
    etcd.isEnabled = false;
    etcd.revision++;
    expect(await passOn()).toEqual([
      ...['UserChangePassword api', 'AuthEnable', 'UserDelete api', 'UserAdd api'],
      `UserGrantRole api password.${mark('api')}`,
    ]);
    expect(etcd.passwords.get('api')).toBe(saved().password);
  });

  test('authentication waits for a user whose former password would be taken, unless it is asked for', async () => {
    await passOn();
    etcd.isEnabled = false;
    etcd.revision++;
    const refusal = { kind: 'refused', reason: 'PasswordProblem', message: 'its Secret is missing' } as const;
    const web = user('web', []);
    const change = { users: [api$, web], passwords: new Map([['uid-api', refusal]]) };
    await passOn(change);
    expect(etcd.isEnabled).toBe(false);
    const { verdicts } = await pass(change);
    expect(verdicts.get('uid-web')).toMatchObject({
      reason: 'RefusedByEtcd',
      message: expect.stringContaining('api: its Secret is missing'),
    });
    await passOn({ ...change, auth: true });
    expect(etcd.isEnabled).toBe(true);
  });

  test('a certificate instead: the password is no longer taken', async () => {
    await pass();
    await pass({ users: [user('api', [], { certificateSecret: 'orders-user-api' })], passwords: new Map() });
    expect(etcd.users.has('api')).toBe(true);
    expect(etcd.passwords.has('api')).toBe(false);
  });
});
