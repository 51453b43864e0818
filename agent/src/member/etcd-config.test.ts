import { parse } from 'yaml';
import { minors } from '../../../src/etcd/etcd-config-keys.ts';
import { etcdConfig, isUntouched, permitConfig, sealConfig } from './etcd-config.ts';
import { permit, TestGate } from './gate/gate.fixture.ts';

const GIB = 2 ** 30;
const form = { state: 'existing', cluster: 'c-0=http://127.0.0.1:2380', token: 't' } as const;

async function keys(settings: Record<string, unknown>, version = '3.6.16', volume = 100 * GIB) {
  await using gate = await TestGate.make();
  gate.env.ETCD_VERSION = version;
  return etcdConfig(gate.config, form, settings, volume);
}

test('settings are written in the spelling of the minor, without those that it lacks', async () => {
  const settings = { 'corrupt-check-time': '4h', CompactHashCheck: true, 'log-format': 'json' };
  expect(await keys(settings, '3.4.30')).toMatchObject({ 'experimental-corrupt-check-time': 14_400_000_000_000 });
  expect(Object.keys(await keys(settings, '3.4.30')).filter((key) => /hash|format|learners/.test(key))).toEqual([]);
  expect(await keys(settings, '3.5.30')).toMatchObject({
    'experimental-corrupt-check-time': 14_400_000_000_000,
    'experimental-compact-hash-check-enabled': true,
  });
  expect(await keys(settings, '3.7.3')).toMatchObject({
    'corrupt-check-time': 14_400_000_000_000,
    'feature-gates': 'CompactHashCheck=true',
    'log-format': 'json',
    'max-learners': 1,
  });
});

test.each(minors)('%s: settings cannot override what the protocol depends on', async (minor) => {
  const meant = { name: 'x', 'initial-cluster': 'x=y', 'strict-reconfig-check': false, 'data-dir': '/x' };
  expect(await keys(meant, `${minor}.99`)).toMatchObject({
    name: 'c-0',
    'initial-cluster': 'c-0=http://127.0.0.1:2380',
    'initial-cluster-state': 'existing',
    'strict-reconfig-check': true,
    'data-dir': expect.stringMatching(/\/data\/etcd$/),
  });
});

test.each(minors)('%s: the JSON gateway is off unless a setting turns it on', async (minor) => {
  expect(await keys({}, `${minor}.99`)).toMatchObject({ 'enable-grpc-gateway': false });
  const on = { 'enable-grpc-gateway': true };
  expect(await keys(on, `${minor}.99`)).toMatchObject(on);
});

test('the quota leaves room on the real size of the volume', async () => {
  const quota = async (wanted: number | undefined, volume: number) =>
    (await keys(wanted === undefined ? {} : { 'quota-backend-bytes': wanted }, '3.6.16', volume))[
      'quota-backend-bytes'
    ];
  expect(await quota(8 * GIB, 100 * GIB)).toBe(8 * GIB);
  expect(await quota(8 * GIB, 5 * GIB)).toBe(4 * GIB);
  expect(await quota(8 * GIB, GIB)).toBe(GIB / 2);
  expect(await quota(undefined, 100 * GIB)).toBeUndefined();
  expect(await quota(undefined, 2.5 * GIB)).toBe(1.5 * GIB);
});

test('the three forms differ in how a member finds its cluster, and in nothing else', async () => {
  await using gate = await TestGate.make();
  const read = async () => parse(await gate.read('etcd.yaml'));
  await permitConfig(gate.config, permit({ mode: 'new', initialCluster: 'somebody=else' }));
  const first = await read();
  await permitConfig(
    gate.config,
    permit({ mode: 'existing', initialCluster: 'c-0=http://127.0.0.1:2380,c-1=http://b:1' }),
  );
  const joining = await read();
  await sealConfig(gate.config, { token: 'token-1' });
  const sealed = await read();
  const find = (config: Record<string, unknown>) => [config['initial-cluster-state'], config['initial-cluster']];
  expect([first, joining, sealed].map(find)).toEqual([
    ['new', 'c-0=http://127.0.0.1:2380'],
    ['existing', 'c-0=http://127.0.0.1:2380,c-1=http://b:1'],
    ['existing', 'c-0=http://127.0.0.1:2380'],
  ]);
  const same = { 'initial-cluster-state': 0, 'initial-cluster': 0 };
  expect({ ...first, ...same }).toEqual({ ...joining, ...same });
  expect({ ...first, ...same }).toEqual({ ...sealed, ...same });
});

test('with TLS each side presents a certificate and requires one', async () => {
  await using gate = await TestGate.make();
  Object.assign(gate.args, { 'peer-tls-dir': '/p', 'peer-url': 'https://127.0.0.1:2380' });
  Object.assign(gate.args, { 'server-tls-dir': '/s', 'client-url': 'https://127.0.0.1:2379' });
  expect(etcdConfig(gate.config, form, {}, GIB)).toMatchObject({
    'peer-transport-security': {
      ...{ 'cert-file': '/p/tls.crt', 'key-file': '/p/tls.key', 'trusted-ca-file': '/p/ca.crt' },
      'client-cert-auth': true,
    },
    'client-transport-security': { 'trusted-ca-file': '/s/ca.crt', 'client-cert-auth': true },
    'listen-metrics-urls': 'http://0.0.0.0:2381',
  });
});

test('an unchanged file is not rewritten, and an edit is detected', async () => {
  await using gate = await TestGate.make();
  const seal = () => sealConfig(gate.config, { token: 't' });
  expect(await seal()).toBe('written');
  expect(await seal()).toBe('same');
  const ours = await gate.read('etcd.yaml');
  expect(isUntouched(ours)).toBe(true);
  await gate.settings({ 'snapshot-count': 5000 });
  expect(await seal()).toBe('written');
  await gate.file('etcd.yaml', ours.replace('strict-reconfig-check: true', 'strict-reconfig-check: false'));
  expect(await seal()).toBe('edited');
});

test.each([
  ['no JSON', /does not hold a JSON object/],
  ['[]', /does not hold a JSON object/],
  ['{"snapshot-count":"5"}', /'snapshot-count' is "5"; write a whole number/],
  ['{"force-new-cluster":true}', /'force-new-cluster' cannot be set/],
  ['{"snapshot-cuont":5}', /'snapshot-cuont' is not a setting of etcd/],
])('settings that are %s are reported', async (text, message) => {
  await using gate = await TestGate.make();
  await gate.file('../settings.json', text);
  await expect(sealConfig(gate.config, { token: 't' })).rejects.toThrow(message);
});

test('no text in a setting changes its meaning in YAML 1.1', async () => {
  await using gate = await TestGate.make();
  await gate.settings({ 'auto-compaction-retention': '12', 'auto-compaction-mode': 'periodic', cors: 'on' });
  await sealConfig(gate.config, { token: '0123' });
  expect(await gate.read('etcd.yaml')).toMatch(/retention: "12"\n[\s\S]*cors: "on"\n[\s\S]*token: "0123"/);
});
