// Users, roles and the switch in three real members of each minor, with certificates: what the reconciler's calls do, under writers.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Etcd3 } from 'etcd3';
import { type AuthStatus, authStatus } from '../../src/controllers/etcd/auth-calls.ts';
import { EtcdPort } from '../../src/controllers/etcd/etcd-port.ts';
import { type Applied, apply } from '../../src/controllers/users/apply.ts';
import { described, type WantedAuth } from '../../src/controllers/users/decide.ts';
import { Logins } from '../../src/controllers/users/logins.ts';
import { isOurs, readAuth } from '../../src/controllers/users/read.ts';
import { mark, user } from '../../src/controllers/users/users.fixture.ts';
import { type Certificates, createCertificates, type KeyPair } from '../harness/certificates.ts';
import { availableMinors, etcdOf, missingMinors } from '../harness/etcd-binaries.ts';
import { EtcdClient } from '../harness/etcd-client.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';

const settings = { rpc: 5_000, memberRpc: 10_000, observeRpc: 2_000 };
const patience = 60_000;

const api = user('api', [{ prefix: '/api/', access: 'ReadWrite' }]);
const web = user('web', [
  { key: '/api/shared', access: 'Read' },
  { range: { from: '/w/a', to: '/w/c' }, access: 'Write' },
]);

beforeAll(() => {
  for (const minor of missingMinors()) console.warn(`etcd ${minor} is not at hand: untested`);
});

describe.each(availableMinors())('etcd %s', (minor) => {
  let directory: string;
  let certificates: Certificates;
  let cluster: EtcdCluster;
  let root: EtcdClient;
  let port: EtcdPort;
  let clients: Etcd3[];
  let writers: { stop: () => Promise<void> }[];

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'users-'));
    certificates = await createCertificates(directory);
    cluster = await EtcdCluster.start({ minor, size: 3, tls: certificates });
    root = await as('root');
    port = await portOf(cluster.endpoints);
    clients = [];
    writers = [];
  });
  afterEach(async () => {
    await Promise.all(writers.map((writer) => writer.stop()));
    for (const client of clients) client.close();
    port.close();
    await cluster.stop();
    await rm(directory, { recursive: true });
  });

  /** etcdctl with the certificate of this user. */
  async function as(name: string): Promise<EtcdClient> {
    return new EtcdClient(etcdOf(minor), cluster.endpoints, {
      ...certificates,
      client: await certificates.clientNamed(name),
    });
  }

  const read = async ({ cert, key }: KeyPair) => ({ cert: await readFile(cert), key: await readFile(key) });

  async function portOf(endpoints: readonly string[]): Promise<EtcdPort> {
    const material = { ca: await readFile(certificates.ca), ...(await read(await certificates.clientNamed('root'))) };
    return new EtcdPort({ endpoints: () => endpoints, tls: () => material, settings });
  }

  /** A client that does not try anything again. */
  async function clientOf(name: string): Promise<Etcd3> {
    const { cert, key } = await read(await certificates.clientNamed(name));
    const credentials = { rootCertificate: await readFile(certificates.ca), certChain: cert, privateKey: key };
    const client = new Etcd3({ hosts: [...cluster.endpoints], credentials });
    clients.push(client);
    return client;
  }

  const pass = (wanted: Partial<WantedAuth>, at: (point: string) => Promise<void> = async () => {}): Promise<Applied> =>
    port.withLeader(undefined, (etcd) =>
      apply({ etcd, wanted: { cluster: 'orders', users: [], ...wanted }, logins: new Logins(patience), at }),
    );

  const lines = async (wanted: Partial<WantedAuth>) => (await pass(wanted)).calls.map(described);
  /** Tries again while there is no leader. */
  async function untilDone(work: () => Promise<unknown>): Promise<void> {
    for (;;) {
      const error = await work().then(() => undefined, String);
      if (error === undefined) return;
      expect(error).toMatch(/no leader/);
      await sleep(100);
    }
  }

  const status = (): Promise<AuthStatus> => port.withLeader(undefined, (etcd) => etcd(authStatus));

  /**
   * Makes a call, and again while etcd refuses it for an old revision, as Go's client does by itself. The call was on its way while
   * users changed, or a member that lags behind stamped it.
   */
  async function send<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!/revision of auth store is old/.test(String(error))) throw error;
      }
      await sleep(1);
    }
  }

  /** Puts one key after the other, until it is stopped. */
  function write(client: Etcd3, prefix: string) {
    const failed: string[] = [];
    let count = 0;
    let isStopped = false;
    const put = () => client.put(`${prefix}${count}`).value('x').exec();
    const ended = (async () => {
      while (!isStopped) {
        try {
          await send(put);
        } catch (error) {
          failed.push(String(error));
          await sleep(1);
        }
        count++;
      }
    })();
    const more = async (n: number) => {
      for (const before = count; count < before + n; ) await sleep(10);
    };
    const stop = () => {
      isStopped = true;
      return ended;
    };
    writers.push({ stop });
    return { failed, more, stop };
  }

  test('it is switched on under a writer without one failed put, drift is corrected, and it is switched off', async () => {
    expect(await status()).toMatchObject({ isEnabled: false });
    const writer = write(await clientOf('api'), '/api/');
    const stranger = await clientOf('orders-client');
    await send(() => stranger.put('/other').value('x').exec());
    await writer.more(20);
    const switched = await lines({ users: [api, web] });
    expect(switched.at(-1)).toBe('AuthEnable');
    expect(await status()).toMatchObject({ isEnabled: true });
    await writer.more(50);
    expect(writer.failed).toEqual([]);
    await expect(send(() => stranger.put('/other').value('y').exec())).rejects.toThrow(/permission denied/);
    const other = await clientOf('api');
    await expect(send(() => other.get('/other').string())).rejects.toThrow(/permission denied/);
    const reader = await clientOf('web');
    expect(await send(() => reader.get('/api/shared').string())).toBe(null);
    await send(() => reader.put('/w/b').value('x').exec());
    await expect(send(() => reader.put('/w/c').value('x').exec())).rejects.toThrow(/permission denied/);

    // Nothing is left to do, and nothing is done.
    expect(await lines({ users: [api, web] })).toEqual([]);

    // Drift: a permission, a role, a role too many, and the switch.
    await root.etcdctl('role', 'revoke-permission', mark('web'), '/api/shared');
    await root.etcdctl('role', 'grant-permission', mark('web'), 'readwrite', '/', '--prefix');
    await root.etcdctl('role', 'add', 'admin');
    await root.etcdctl('user', 'grant-role', 'api', 'admin');
    await root.etcdctl('auth', 'disable');
    expect(await lines({ users: [api, web] })).toEqual([
      'UserRevokeRole api admin',
      `RoleGrantPermission ${mark('web')} Read "/api/shared"`,
      `RoleRevokePermission ${mark('web')} ReadWrite "/" to "0"`,
      'AuthEnable',
    ]);
    await expect(send(() => reader.put('/x').value('x').exec())).rejects.toThrow(/permission denied/);
    await writer.more(20);

    // Its next call is refused, also for a client that is connected.
    expect(await lines({ users: [api] })).toEqual(['UserDelete web', `RoleDelete ${mark('web')}`]);
    await expect(send(() => reader.get('/api/shared').string())).rejects.toThrow(
      /permission denied|user name not found/,
    );

    const off = await lines({ auth: false, users: [api] });
    expect(off).toEqual(['AuthDisable']);
    await send(() => stranger.put('/other').value('z').exec());
    await writer.more(20);
    await writer.stop();
    expect(writer.failed).toEqual([]);
  });

  test('permissions that begin with the same key: a wider one never refuses a call in between, a narrower one is narrower', async () => {
    const asking = (access: 'Read' | 'ReadWrite') =>
      user('api', [
        { key: '/api/', access: 'Read' },
        { prefix: '/api/', access },
      ]);
    await pass({ users: [asking('Read')] });
    const [reader, writer] = [await clientOf('api'), await clientOf('api')];
    for (let round = 0; round < 3; round++) {
      let isDone = false;
      const read = async () => {
        for (; !isDone; await sleep(1)) await send(() => reader.getAll().prefix('/api/').strings());
      };
      const widen = async () => {
        await pass({ users: [asking('ReadWrite')] });
        await sleep(50);
        isDone = true;
      };
      await Promise.all([read(), widen()]);
      expect(await lines({ users: [asking('ReadWrite')] })).toEqual([]);
      await send(() => writer.put('/api/x').value('x').exec());
      await pass({ users: [asking('Read')] });
      expect(await lines({ users: [asking('Read')] })).toEqual([]);
      await expect(send(() => writer.put('/api/x').value('x').exec())).rejects.toThrow(/permission denied/);
    }
  });

  test('what has not the mark is left alone', async () => {
    await root.etcdctl('role', 'add', 'admin');
    await root.etcdctl('user', 'add', 'api:password');
    await root.etcdctl('user', 'grant-role', 'api', 'admin');
    await root.etcdctl('user', 'add', 'someone:password');
    const { calls, verdicts } = await pass({ users: [api, web], auth: true });
    expect(calls.map(described)).not.toContainEqual(expect.stringMatching(/ (api|admin|someone)/));
    expect(verdicts.get('uid-api')).toMatchObject({ reason: 'ForeignUser' });
    expect(verdicts.get('uid-web')).toEqual({ kind: 'done' });
    expect(await lines({ auth: true })).toEqual(['UserDelete web', `RoleDelete ${mark('web')}`]);
    expect(await root.etcdctl('user', 'list')).toBe('api\nroot\nsomeone\n');
    expect(await root.etcdctl('role', 'list')).toBe('admin\n');
  });

  test('a user without a role is taken over without its password', async () => {
    await root.etcdctl('user', 'add', 'api:password');
    await pass({ users: [api] });
    const login = new EtcdClient(etcdOf(minor), cluster.endpoints, {
      ...certificates,
      client: await certificates.clientNamed('orders-client'),
    });
    login.user = { name: 'api', password: 'password' };
    await expect(login.etcdctl('get', '/api/x')).rejects.toThrow(/authentication failed|invalid user ID or password/);
    const client = await clientOf('api');
    await send(() => client.put('/api/x').value('x').exec());
  });

  test('a password: it is right in etcd, whatever happens to it, and ends with its user', async () => {
    const byPassword = user('api', [{ prefix: '/api/', access: 'ReadWrite' }], { passwordSecret: 'orders-user-api' });
    const wanted = (password: string) => ({ users: [byPassword], passwords: new Map([['uid-api', password]]) });
    const clientCertificate = await certificates.clientNamed('orders-client');
    const put = (password: string) => {
      const login = new EtcdClient(etcdOf(minor), cluster.endpoints, { ...certificates, client: clientCertificate });
      login.user = { name: 'api', password };
      return login.etcdctl('put', '/api/x', 'x');
    };
    const refused = /authentication failed|invalid user ID or password/;
    // 72 bytes, which is all that bcrypt compares.
    const [first, second] = ['ä'.repeat(36), 'second: with : and "'];

    expect((await pass(wanted(first))).verdicts.get('uid-api')).toEqual({ kind: 'done' });
    expect(await put(first)).toBe('OK\n');
    await expect(put(first.slice(1))).rejects.toThrow(refused);
    expect(await lines(wanted(first))).toEqual([]);

    expect(await lines(wanted(second))).toEqual(['UserChangePassword api']);
    await expect(put(first)).rejects.toThrow(refused);
    expect(await put(second)).toBe('OK\n');

    // Drift: the user again, without a password or with a foreign one; and a change while authentication is off.
    await root.etcdctl('user', 'delete', 'api');
    await root.etcdctl('user', 'add', 'api', '--no-password');
    await root.etcdctl('user', 'grant-role', 'api', `password.${mark('api')}`);
    expect(await lines(wanted(second))).toEqual([
      'UserDelete api',
      'UserAdd api',
      `UserGrantRole api password.${mark('api')}`,
    ]);
    expect(await put(second)).toBe('OK\n');
    await root.etcdctl('user', 'delete', 'api');
    await root.etcdctl('user', 'add', 'api:foreign');
    await root.etcdctl('user', 'grant-role', 'api', `password.${mark('api')}`);
    expect(await lines(wanted(second))).toEqual(['UserChangePassword api']);
    await expect(put('foreign')).rejects.toThrow(refused);
    await root.etcdctl('auth', 'disable');
    expect(await lines(wanted(first))).toEqual(['UserChangePassword api', 'AuthEnable']);
    expect(await put(first)).toBe('OK\n');

    // A certificate instead, and nobody.
    await pass({ users: [api] });
    await expect(put(first)).rejects.toThrow(refused);
    await pass(wanted(first));
    expect(await put(first)).toBe('OK\n');
    expect(await lines({ auth: true })).toEqual(['UserDelete api', `RoleDelete password.${mark('api')}`]);
    await expect(put(first)).rejects.toThrow(refused);
    expect(await root.etcdctl('role', 'list')).toBe('');
  });

  // Half a minute for one version: the limit is the reconciler's.
  if (minor === availableMinors().at(-1))
    test('a password whose hash takes too long keeps no other user waiting', async () => {
      await cluster.stop();
      cluster = await EtcdCluster.start({ minor, size: 3, tls: certificates, extraArgs: ['--bcrypt-cost=31'] });
      port.close();
      port = await portOf(cluster.endpoints);
      const slow = user('slow', [], { passwordSecret: 'slow' });
      const { calls, cut, verdicts } = await pass({ users: [slow, web], passwords: new Map([['uid-slow', 'one']]) });
      expect(calls.map(described)).toContain('UserAdd web');
      expect(verdicts.get('uid-slow')).toEqual({ kind: 'call' });
      expect(cut?.silence).toMatch(/^UserAdd slow: .* did not answer .* within 30s; its members may need more CPU$/);
    });

  test('each call but the switch on makes one revision', async () => {
    const see = () => port.withLeader(undefined, (etcd) => readAuth(etcd, []));
    const byPassword = user('legacy', [], { passwordSecret: 'legacy' });
    const steps: Partial<WantedAuth>[] = [
      { users: [api, web] },
      { users: [web, byPassword], passwords: new Map([['uid-legacy', 'one']]) },
      { users: [byPassword], passwords: new Map([['uid-legacy', 'two']]) },
      { users: [], auth: false },
    ];
    for (const step of steps) {
      const before = await see();
      const { calls } = await pass(step);
      expect(calls.length).toBeGreaterThan(0);
      // etcd 3.4 has no revision to ask for.
      expect(isOurs(before, await see(), calls)).toBe(minor !== '3.4');
      expect(isOurs(before, await see(), calls.slice(1))).toBe(false);
    }
  });

  test('a stop after every call: each pass goes on from what etcd has', async () => {
    /** Passes without a memory, each of which is stopped after one call. Returns the calls. */
    const oneByOne = async (wanted: Partial<WantedAuth>): Promise<string[]> => {
      const made: string[] = [];
      for (;;) {
        const stop = async (point: string) => {
          if (!point.startsWith('after')) return;
          made.push(point.replace('after ', ''));
          // What stops there each time never ends: a user without a role is made anew.
          if (`${made.slice(-2)}` === 'UserDelete,UserAdd') return;
          throw new Error('stopped');
        };
        const done = await pass(wanted, stop).catch((error) => {
          expect(`${error}`).toBe('Error: stopped');
        });
        if (done) return made;
        expect(made.length).toBeLessThan(40);
      }
    };
    expect(await oneByOne({ users: [api, web] })).toEqual([
      ...['UserAdd', 'UserGrantRole'],
      ...['RoleAdd', 'RoleGrantPermission', 'UserAdd', 'UserDelete', 'UserAdd', 'UserGrantRole'],
      ...['RoleAdd', 'RoleGrantPermission', 'RoleGrantPermission', 'UserAdd', 'UserDelete', 'UserAdd', 'UserGrantRole'],
      'AuthEnable',
    ]);
    expect(await status()).toMatchObject({ isEnabled: true });
    expect(await oneByOne({ users: [api] })).toEqual(['UserDelete', 'RoleDelete']);
    expect(await oneByOne({ users: [], auth: false })).toEqual(['AuthDisable', 'UserDelete', 'RoleDelete']);
    expect(await status()).toMatchObject({ isEnabled: false });
    expect(await root.etcdctl('user', 'list')).toBe('root\n');
    expect(await root.etcdctl('role', 'list')).toBe('');
  });

  test('a permission that etcd refuses is reported, and others go on', async () => {
    const bad = user('bad', [{ range: { from: 'z', to: 'a' }, access: 'Read' }]);
    const { verdicts } = await pass({ users: [bad, web] });
    // etcd 3.4 takes everything.
    const refused = {
      reason: 'RefusedByEtcd',
      message: expect.stringContaining('Read "z" to "a": etcdserver: invalid'),
    };
    expect(verdicts.get('uid-bad')).toMatchObject(minor === '3.4' ? { kind: 'done' } : refused);
    expect(await root.etcdctl('user', 'get', 'web')).toContain(mark('web'));
  });

  test('a member that was away, and another leader: the same users', async () => {
    await pass({ users: [api] });
    await cluster.member(1).kill();
    await untilDone(() => pass({ users: [api, web] }));
    await cluster.member(1).start();
    const followers = await portOf([cluster.endpoints[1]!]);
    const deadline = Date.now() + 10_000;
    for (;;) {
      const found = await followers.withLeader(undefined, (etcd) => etcd(authStatus)).catch((error) => `${error}`);
      if (typeof found !== 'string' || Date.now() > deadline) break;
      expect(found).toMatch(/no leader answers/);
      const [, id] = /^(\w+), .*etcd-1,/m.exec(await root.etcdctl('member', 'list'))!;
      await root.etcdctl('move-leader', id!).catch(() => '');
      await sleep(200);
    }
    followers.close();
    await untilDone(async () => expect(await lines({ users: [api, web] })).toEqual([]));
  });
});
