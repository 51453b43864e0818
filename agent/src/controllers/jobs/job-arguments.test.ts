import { buildProgram, type Invocation } from '../../commands/cli/program.ts';
import { Settings } from '../../commands/cli/settings.ts';
import type { JobRequest } from '../port/effect.ts';
import { type JobFacts, jobCommand } from './job-arguments.ts';

const facts: JobFacts = {
  cluster: 'orders',
  namespace: 'shop',
  endpoints: { 0: 'https://10.0.0.1:2379', 2: 'https://10.0.0.3:2379' },
  schedules: {
    nightly: {
      stores: ['file:///one', 'file:///two'],
      compression: 'gzip',
      ageRecipients: ['age1a', 'age1b'],
      verify: 'open',
      fileName: 'orders-%Y',
      fileNameTimeZone: 'Europe/Berlin',
      timeout: '1h',
    },
  },
  storeOf: (store) => JSON.stringify(store),
  backupOf: (name) => ({ store: `file:///${name}`, id: 'the-id' }),
  identityFiles: (secret) => [`/secrets/${secret}/one`, `/secrets/${secret}/two`],
  clientTls: { cacert: '/tls/ca.crt', cert: '/tls/tls.crt', key: '/tls/tls.key' },
  peerTlsDir: '/peer',
  serverName: 'orders-0.orders-peers.shop.svc.cluster.local',
  listen: '0.0.0.0:8080',
  scratch: '/scratch',
};
const restore = { source: { store: { filesystem: { path: '/old' } } }, minor: '3.6', token: 'secret-token' };
const request = (change: Partial<JobRequest>): JobRequest => ({ kind: 'safety', op: 'op-1', ...change });

/** Returns the result of the agent's own parser. */
async function parsed(args: readonly string[]): Promise<{ invocation: Invocation; settings: Settings }> {
  let invocation: Invocation | undefined;
  await buildProgram(async (found) => {
    invocation = found;
  }).parseAsync(args, { from: 'user' });
  return { invocation: invocation!, settings: await Settings.load(invocation!) };
}

test('a backup: with the settings of its schedule, of every endpoint', async () => {
  const { args, env } = jobCommand(request({ schedule: 'nightly' }), facts);
  const { invocation, settings } = await parsed(args);
  expect(invocation.command).toBe('backup');
  expect(settings.list('endpoints')).toEqual(Object.values(facts.endpoints));
  expect(settings.stores()).toMatchObject([{ filesystem: { path: '/one' } }, { filesystem: { path: '/two' } }]);
  expect(
    ['compression', 'verify', 'fileName', 'fileNameTimeZone', 'timeout', 'trigger'].map((name) => settings.text(name)),
  ).toEqual(['gzip', 'open', 'orders-%Y', 'Europe/Berlin', '1h', 'safety']);
  expect(settings.text('request')).toBe('safety-op-1');
  expect(settings.list('ageRecipient')).toEqual(['age1a', 'age1b']);
  expect(['cacert', 'cert', 'key'].map((name) => settings.text(name))).toEqual(Object.values(facts.clientTls!));
  expect(settings.text('output')).toBe('json');
  expect(env).toEqual({ ETCD_AGENT_NAMESPACE: 'shop', ETCD_AGENT_REQUEST_AGE: '10m' });
});

test('of a survivor: its endpoint alone', async () => {
  const { args } = jobCommand(request({ kind: 'recovery', schedule: 'nightly', survivor: 2 }), facts);
  const { settings } = await parsed(args);
  expect(settings.text('survivor')).toBe('https://10.0.0.3:2379');
  expect(settings.list('endpoints')).toEqual([]);
  expect(() => jobCommand(request({ schedule: 'nightly', survivor: 1 }), facts)).toThrow(
    /^the survivor orders-1 has no address, .*kubectl describe pod orders-1 says why$/,
  );
});

test('a salvage: the secret is in the environment, and nowhere else', async () => {
  const source = { url: 'https://10.0.0.3:8080/salvage', token: 'secret-token', sha256: 'a'.repeat(64) };
  const salvage = { ...source, clusterId: 'cdf818194e3a8c32' };
  const { args, env } = jobCommand(request({ kind: 'salvage', schedule: 'nightly', salvage }), facts);
  const { invocation, settings } = await parsed(args);
  expect(invocation.command).toBe('salvage');
  expect(settings.stores()).toHaveLength(2);
  expect(['peerTlsDir', 'serverName', 'cacert', 'clusterId'].map((name) => settings.text(name))).toEqual([
    '/peer',
    facts.serverName,
    '/tls/ca.crt',
    'cdf818194e3a8c32',
  ]);
  expect(args.join(' ')).not.toMatch(/secret-token|10\.0\.0\.3/);
  expect(env).toMatchObject({
    ETCD_AGENT_SOURCE_URL: salvage.url,
    ETCD_AGENT_SOURCE_TOKEN: salvage.token,
    ETCD_AGENT_SOURCE_SHA256: salvage.sha256,
  });
});

test('with TLS, a salvage and a restore are given no token', async () => {
  const salvage = { url: 'https://10.0.0.3:8080/salvage', token: '', sha256: 'a'.repeat(64) };
  const { env } = jobCommand(request({ kind: 'salvage', schedule: 'nightly', salvage }), facts);
  expect(env).not.toHaveProperty('ETCD_AGENT_SOURCE_TOKEN');
  const keys = [1, 2].map(() => {
    const { args } = jobCommand(request({ kind: 'restore', restore: { ...restore, token: '' } }), facts);
    return args.find((arg) => arg.startsWith('--token-sha256='));
  });
  expect(keys[0]).toMatch(/=[0-9a-f]{64}$/);
  expect(keys[0]).not.toBe(keys[1]);
});

describe('a restore', () => {
  const command = (change: Partial<NonNullable<JobRequest['restore']>>) =>
    jobCommand(request({ kind: 'restore', restore: { ...restore, ...change } }), facts);

  test('is given the hash of the token alone', async () => {
    const { args, env } = command({ identitySecret: 'keys', sha256: 'b'.repeat(64), expectedRevision: 7 });
    const { invocation, settings } = await parsed(args);
    expect(invocation.command).toBe('restore serve');
    expect(invocation.args).toEqual([]);
    expect(settings.list('ageIdentityFile')).toEqual(['/secrets/keys/one', '/secrets/keys/two']);
    expect(
      ['sha256', 'expectedRevision', 'serverVersion', 'listen', 'peerTlsDir', 'cluster'].map((name) =>
        settings.text(name),
      ),
    ).toEqual(['b'.repeat(64), '7', '3.6', '0.0.0.0:8080', '/peer', 'orders']);
    expect(settings.text('tokenSha256')).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify({ args, env })).not.toContain('secret-token');
  });

  test.each([
    [{ snapshotId: 'the-id' }, ['the-id'], { filesystem: { path: '/old' } }, {}],
    [
      { snapshotId: 'the-id', clusterName: 'bills' },
      ['the-id'],
      { filesystem: { path: '/old' } },
      { cluster: 'bills' },
    ],
    [
      { snapshotId: 'the-id', clusterNamespace: 'prod' },
      ['the-id'],
      { filesystem: { path: '/old' } },
      { cluster: 'orders', namespace: 'prod' },
    ],
    [{ key: 'a/b.db' }, [], { filesystem: { path: '/old' } }, { objectKey: 'a/b.db', adopt: 'true' }],
    [
      { latestVerifiedBefore: '2026-11-21T02:30:00Z' },
      [],
      { filesystem: { path: '/old' } },
      { latestVerifiedBefore: '2026-11-21T02:30:00Z' },
    ],
    [{ store: undefined, schedule: 'nightly', snapshotId: 'the-id' }, ['the-id'], { filesystem: { path: '/one' } }, {}],
    [{ store: undefined, backupName: 'monday' }, ['the-id'], { filesystem: { path: '/monday' } }, {}],
  ])('from %j', async (source, ids, store, flags) => {
    const { invocation, settings } = await parsed(command({ source: { ...restore.source, ...source } }).args);
    expect(invocation.args).toEqual(ids);
    expect(settings.store()).toMatchObject(store);
    for (const [name, value] of Object.entries(flags)) expect(settings.text(name)).toBe(value);
  });
});

test('no schedule, or one that is gone or has no store', () => {
  expect(() => jobCommand(request({}), facts)).toThrow('no backup schedule');
  expect(() => jobCommand(request({ schedule: 'weekly' }), facts)).toThrow(
    "spec.backup.schedules has no schedule 'weekly'; add it, or name another",
  );
  expect(() => jobCommand(request({ schedule: 'constructor' }), facts)).toThrow("has no schedule 'constructor'");
  const without = { ...facts, schedules: { weekly: { stores: [] } } };
  expect(() => jobCommand(request({ schedule: 'weekly' }), without)).toThrow("the schedule 'weekly'");
});
