// Allowed and forbidden changes of an existing resource.
import type { Manifest } from '../synth';
import { type Answer, Api } from './api';
import { backup, cluster, restore, user } from './good';
import { TestNamespace } from './namespace';

let api: Api;
let namespace: TestNamespace;
const managed = { peerAuthority: 'managed-peer-ca', clientAuthority: 'managed-client-ca' };
const members = { peerSecret: 'managed-peer-tls', serverSecret: 'managed-server-tls' };
const alsoTrust = {
  ...{ trustSecret: 'managed-tls-trust', peerSecret: 'own-peer', serverSecret: 'own-server' },
  clientSecret: 'own-client',
};
const bothSources = {
  ...members,
  clientSecret: 'managed-client',
  rootSecret: 'b',
  backupSecret: 'c',
  managed,
  alsoTrust,
};

const ofClaims = (team: string) => [{ target: 'Claims', patch: { metadata: { labels: { team } } } }];
const ofPods = { target: 'MemberPods', patch: { metadata: { labels: { team: 'b' } } } };
const storageOfClaims = {
  ...{ size: '4Gi', labels: { team: 'a' }, annotations: { team: 'a' } },
  selector: { matchLabels: { disk: 'ssd' } },
};

beforeAll(async () => {
  namespace = await TestNamespace.create('changes');
  api = await Api.connect();
  const bucket = { s3: { bucket: 'backups' } };
  const schedules = [{ name: 'hourly', cron: '@hourly', stores: [bucket] }];
  const named = (name: string, spec: Manifest) => cluster(spec, name);
  const resources = [
    named('plain', {}),
    named('secure', { tls: { ...members, clientSecret: 'secure-client' } }),
    named('managed', { tls: { ...members, clientSecret: 'managed-client', managed } }),
    named('changing', { tls: bothSources }),
    named('trusting', { tls: bothSources }),
    named('disabling', { tls: { ...members, clientSecret: 'a', rootSecret: 'b', backupSecret: 'c', disabling: true } }),
    named('restored', { origin: { source: { store: bucket, key: 'a' } } }),
    named('volatile', { storage: { size: '4Gi', ephemeral: true } }),
    named('durable', { storage: { size: '4Gi' }, backup: { schedules } }),
    named('claimed', { storage: storageOfClaims, overrides: ofClaims('a') }),
    backup({ clusterName: 'plain', store: bucket }),
    restore({ source: { backupName: 'a' } }),
    user({}, 'unnamed'),
    user({ userName: 'api' }, 'named'),
  ];
  for (const resource of resources) {
    const plural = `${resource.kind.toLowerCase()}s`;
    expect((await api.create(pathOf(plural), resource)).refusals).toEqual([]);
  }
});
afterAll(async () => {
  api?.close();
  await namespace?.delete();
});

const pathOf = (...parts: string[]) => `/apis/cdk8s-etcd.dev/v1alpha1/namespaces/${namespace.name}/${parts.join('/')}`;
const patch = (name: string, spec: Manifest): Promise<Answer> => api.tryPatch(pathOf('etcdclusters', name), { spec });

const inOneStep = 'managed cannot be added or removed in one step';
const newCluster = 'create a new EtcdCluster';
const once = 'origin is used only when the cluster is created, so it cannot be added, changed or removed';
const origin = { source: { backupName: 'a' } };
const sameClaims = 'storage.annotations and storage.selector cannot be changed';
const sameOverrides = 'overrides of Claims cannot be changed';

test.each<[string, string, Manifest, string]>([
  ['users while TLS is switched off', 'disabling', { auth: true }, 'auth needs TLS, which tls.disabling switches off'],
  ['managed certificates on', 'secure', { tls: { managed } }, inOneStep],
  ['managed certificates off', 'managed', { tls: { managed: null } }, inOneStep],
  [
    'certificates of others, and trust of the former at once',
    'managed',
    { tls: { managed: null, alsoTrust } },
    inOneStep,
  ],
  ['users while the source of the certificates changes', 'changing', { auth: true }, 'auth cannot be combined with'],
  [
    'an origin added',
    'plain',
    { origin },
    `${once}, except how its Job runs (resources, image, serviceAccountName): to restore into this cluster, create an EtcdRestore`,
  ],
  ['an origin removed', 'restored', { origin: null }, once],
  ['an origin changed', 'restored', { origin: { expectedRevision: 5 } }, once],
  ['another source of an origin', 'restored', { origin: { source: { key: 'b' } } }, once],
  [
    'ephemeral on',
    'durable',
    { storage: { ephemeral: true } },
    `storage.ephemeral cannot be changed in place: ${newCluster}`,
  ],
  ['a smaller volume', 'durable', { storage: { size: '3Gi' } }, 'storage.size cannot be changed'],
  ['a larger volume', 'durable', { storage: { size: '5000Mi' } }, 'storage.size cannot be changed'],
  ['another size than that by default', 'plain', { storage: { size: '4Gi' } }, 'storage.size cannot be changed'],
  ['storage not named', 'durable', { storage: null }, 'storage.size cannot be changed'],
  ['another class', 'durable', { storage: { storageClassName: 'fast' } }, sameClaims],
  ['another mode', 'durable', { storage: { accessModes: ['ReadWriteOncePod'] } }, sameClaims],
  ['labels of claims added', 'durable', { storage: { labels: { team: 'a' } } }, sameClaims],
  ['labels of claims changed', 'claimed', { storage: { labels: { team: 'b' } } }, sameClaims],
  ['annotations of claims removed', 'claimed', { storage: { annotations: null } }, sameClaims],
  ['another selector of claims', 'claimed', { storage: { selector: { matchLabels: { disk: 'hdd' } } } }, sameClaims],
  ['an override of claims added', 'durable', { overrides: ofClaims('a') }, sameOverrides],
  ['an override of claims changed', 'claimed', { overrides: ofClaims('b') }, sameOverrides],
  ['an override of claims removed', 'claimed', { overrides: null }, sameOverrides],
  ['ephemeral off', 'volatile', { storage: { ephemeral: false } }, 'storage.ephemeral cannot be changed in place'],
  ['ephemeral gone with storage', 'volatile', { storage: null }, 'storage.ephemeral cannot be changed in place'],
  ['ephemeral come with storage', 'plain', { storage: { size: '4Gi', ephemeral: true } }, 'cannot be changed in place'],
])('refuses %s', async (_, name, spec, says) => {
  expect((await patch(name, spec)).refusals).toEqual([expect.stringContaining(says)]);
});

test.each<[string, string, Manifest]>([
  ['another size', 'plain', { size: 5 }],
  ['another version', 'plain', { version: '3.7.3' }],
  ['storage named', 'plain', { storage: { size: '8192Mi', accessModes: ['ReadWriteOnce'] } }],
  ['an override of pods', 'claimed', { overrides: [...ofClaims('a'), ofPods] }],
  ['labels of claims that are none', 'durable', { storage: { labels: {} } }],
  ['a smaller ephemeral volume', 'volatile', { storage: { size: '3Gi' } }],
  [
    'how the Job of an origin runs',
    'restored',
    { origin: { resources: { limits: { memory: '2Gi' } }, image: 'a/b:1', serviceAccountName: 'a' } },
  ],
  ['a recovery', 'durable', { recovery: { id: 'a', acceptDataLoss: true } }],
  ['a deletion with its volumes', 'durable', { pvcPolicy: { onDelete: 'Delete' } }],
  ['TLS on', 'plain', { tls: { ...members, clientSecret: 'a', acceptPlaintextFor: '0s' } }],
  ['TLS on no more, before any member has it', 'secure', { tls: null }],
  ['TLS off', 'secure', { tls: { disabling: true } }],
  ['TLS off no more', 'disabling', { tls: { disabling: null } }],
  ['no certificates any more', 'disabling', { tls: null }],
  ['another client certificate', 'secure', { tls: { clientSecret: 'b' } }],
  ['users', 'secure', { auth: true, tls: { rootSecret: 'b', backupSecret: 'c' } }],
  ['users of managed certificates', 'managed', { auth: true, tls: { rootSecret: 'b', backupSecret: 'c' } }],
  ['another name of the servers', 'managed', { tls: { managed: { serverNames: ['etcd.example.com', '192.0.2.7'] } } }],
  ['earlier intermediates revoked', 'managed', { tls: { managed: { intermediateRevocation: '2026-11' } } }],
  ['the other source', 'trusting', { tls: { managed: null, alsoTrust: { managed } } }],
  ['the other source alone', 'trusting', { tls: { alsoTrust: null } }],
  ['new intermediates', 'managed', { tls: { managed: { intermediateRotation: '2026-11' } } }],
  ['no schedule any more', 'durable', { backup: null }],
])('takes %s', async (_, name, spec) => {
  expect((await patch(name, spec)).refusals).toEqual([]);
});

describe('TLS on no more', () => {
  const drop = { tls: null };
  const create = async (name: string, reason: string, tls: Manifest = {}) => {
    const path = pathOf('etcdclusters');
    expect(
      (await api.create(path, cluster({ tls: { ...members, clientSecret: 'a', ...tls } }, name))).refusals,
    ).toEqual([]);
    const condition = { type: 'TransportReady', status: 'True', reason, message: '', lastTransitionTime: then };
    const conditions = [{ ...condition, type: 'Ready', reason: 'Ready' }, condition];
    const body = JSON.stringify({ status: { conditions } });
    await namespace.kubectl(['patch', `etcdcluster/${name}`, '--subresource=status', '--type=merge', '-p', body]);
  };

  test('is refused while the members use it, and the answer says what to apply instead', async () => {
    await create('encrypted', 'Tls');
    expect((await patch('encrypted', drop)).refusals).toEqual([expect.stringMatching(dropped)]);
    expect((await patch('encrypted', { tls: { disabling: true } })).refusals).toEqual([]);
    expect((await patch('encrypted', { paused: true })).refusals).toEqual([]);
  });

  test.each([
    ['before clients must use it', 'on-half', 'PlaintextAccepted', {}],
    ['once it is being switched off', 'off-half', 'Tls', { disabling: true }],
  ])('is taken %s', async (_, name, reason, tls) => {
    await create(name, reason, tls);
    expect((await patch(name, drop)).refusals).toEqual([]);
  });
});

const then = '2026-01-01T00:00:00Z';
const dropped =
  /^spec\.tls: .*members use their certificates.*EtcdTls\.none\(\{ previous: … \}\).*tls\.disabling: true/;

test.each([
  [
    'etcdbackups',
    'before-3.7',
    { prefix: 'b' },
    'an EtcdBackup is one snapshot and cannot be changed: create another one',
  ],
  [
    'etcdrestores',
    'monday',
    { safetyBackup: false },
    'an EtcdRestore happens once and cannot be changed: create another one',
  ],
])('refuses any change of %s', async (plural, name, spec, says) => {
  const path = pathOf(plural, name);
  expect((await api.tryPatch(path, { spec })).refusals).toEqual([expect.stringContaining(says)]);
  expect((await api.tryPatch(path, { metadata: { labels: { a: 'b' } } })).refusals).toEqual([]);
});

const otherUser = 'cannot be changed: create another EtcdUser';
test.each([
  ['another cluster', 'unnamed', { clusterName: 'carts' }, `clusterName ${otherUser}`],
  ['a name', 'unnamed', { userName: 'api' }, `userName ${otherUser}`],
  ['another name', 'named', { userName: 'other' }, `userName ${otherUser}`],
  ['no name any more', 'named', { userName: null }, `userName ${otherUser}`],
])('refuses %s of a user', async (_, name, spec, says) => {
  const { refusals } = await api.tryPatch(pathOf('etcdusers', name), { spec });
  expect(refusals).toEqual([expect.stringContaining(says)]);
});

test('takes other permissions and another Secret of a user', async () => {
  const spec = { permissions: [{ all: true, access: 'Read' }], certificateSecret: 'a' };
  expect((await api.tryPatch(pathOf('etcdusers', 'named'), { spec })).refusals).toEqual([]);
});

test.each([
  ['a password instead of its certificate', { certificateSecret: null, passwordSecret: 'a' }, []],
  ['neither', { certificateSecret: null }, []],
  ['both', { certificateSecret: 'b', passwordSecret: 'a' }, [expect.stringContaining('remove one of them')]],
])('a user may get %s or not', async (_, spec, expected) => {
  expect((await api.tryPatch(pathOf('etcdusers', 'named'), { spec })).refusals).toEqual(expected);
});

test('a new user says that no reconciler has seen it', async () => {
  const { status } = await namespace.get('etcduser/named');
  expect(status.conditions).toEqual([expect.objectContaining({ type: 'Ready', status: 'Unknown', reason: 'NotSeen' })]);
});

describe('kubectl scale', () => {
  const scale = (replicas: number) =>
    namespace.kubectl(['scale', 'etcdcluster/plain', `--replicas=${replicas}`]).then(
      () => '',
      ({ stderr }) => stderr,
    );

  test('sets the size', async () => {
    expect(await scale(5)).toBe('');
    expect((await namespace.get('etcdcluster/plain')).spec.size).toBe(5);
  });

  test('refuses an even size, and one that is too large', async () => {
    expect(await scale(4)).toContain('choose 1, 3, 5 or 7, or set allowEvenSize: true');
    expect(await scale(9)).toContain('should be less than or equal to 7');
  });

  test('shows the number of voters', async () => {
    const status = { status: { voters: 4 } };
    const patch = ['--subresource=status', '--type=merge', '-p', JSON.stringify(status)];
    await namespace.kubectl(['patch', 'etcdcluster/plain', ...patch]);
    const { stdout } = await namespace.kubectl(['get', 'etcdcluster/plain', '--subresource=scale', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ spec: { replicas: 5 }, status: { replicas: 4 } });
  });

  test.each([
    ['client-side', []],
    ['server-side', ['--server-side']],
  ])('and a %s apply of a manifest without a size leaves it alone', async (way, flags) => {
    const name = `scaled-${way}`;
    const apply = () => namespace.kubectl(['apply', ...flags, '-f', '-'], JSON.stringify(cluster({}, name)));
    await apply();
    await namespace.kubectl(['scale', `etcdcluster/${name}`, '--replicas=7']);
    await apply();
    expect((await namespace.get(`etcdcluster/${name}`)).spec.size).toBe(7);
  });
});
