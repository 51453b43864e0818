import { agentKeys, configKeys, minors, nanoseconds, problemsOfSettings, translate } from './etcd-config-keys';

const checks = {
  'corrupt-check-time': '12h',
  'compact-hash-check-time': '90s',
  CompactHashCheck: true,
  InitialCorruptCheck: false,
  'snapshot-catchup-entries': 100,
};
const hours12 = 43_200_000_000_000;

test.each([
  ['3.4', { 'experimental-corrupt-check-time': hours12, 'experimental-initial-corrupt-check': false }],
  [
    '3.5',
    {
      'experimental-corrupt-check-time': hours12,
      'experimental-compact-hash-check-time': 90_000_000_000,
      'experimental-compact-hash-check-enabled': true,
      'experimental-initial-corrupt-check': false,
      'experimental-snapshot-catch-up-entries': 100,
    },
  ],
  [
    '3.6',
    {
      'corrupt-check-time': hours12,
      'compact-hash-check-time': 90_000_000_000,
      'snapshot-catchup-entries': 100,
      'feature-gates': 'CompactHashCheck=true,InitialCorruptCheck=false',
    },
  ],
])('etcd %s is given its own spelling, and nothing that it lacks', (minor, file) => {
  expect(translate(checks, minor)).toEqual(file);
});

test('3.7 has the keys of 3.6, but not one that begins with experimental-', () => {
  expect(translate(checks, '3.7')).toEqual(translate(checks, '3.6'));
  for (const minor of ['3.6', '3.7']) {
    const spellings = Object.values(configKeys).flatMap((key) => key.spellings[minor] ?? []);
    expect(spellings.filter((spelling) => spelling.startsWith('experimental-'))).toEqual([]);
  }
});

test('gates of a newer minor version are left out, and without gates the key is missing', () => {
  const gates = { PriorityRequest: true, FastLeaseKeepAlive: false };
  expect(translate(gates, '3.7')).toEqual({ 'feature-gates': 'FastLeaseKeepAlive=false,PriorityRequest=true' });
  expect(translate(gates, '3.6')).toEqual({});
});

test('a map loses the fields that a minor lacks', () => {
  const security = { 'cert-file': '/tls.crt', 'client-cert-auth': true, 'skip-client-san-verification': true };
  const { 'skip-client-san-verification': _, ...old } = security;
  expect(translate({ 'peer-transport-security': security }, '3.5')).toEqual({ 'peer-transport-security': old });
  expect(translate({ 'peer-transport-security': security }, '3.6')).toEqual({ 'peer-transport-security': security });
});

test('what would break a cluster is in no minor', () => {
  const forbidden = [
    'force-new-cluster',
    'unsafe-no-fsync',
    'discovery',
    'discovery-srv',
    'enable-v2',
    'proxy',
    'v2-deprecation',
  ];
  for (const minor of minors) {
    expect(translate(Object.fromEntries(forbidden.map((key) => [key, true])), minor)).toEqual({});
  }
  for (const key of forbidden) {
    expect(problemsOfSettings({ [key]: true }, '3.6')).toEqual([
      expect.stringContaining(`'${key}' cannot be set, because`),
    ]);
  }
});

test.each(agentKeys)('%s is the agent`s own', (key) => {
  expect(problemsOfSettings({ [key]: 'x' }, '3.6')).toEqual([`'${key}' is set by the agent; remove it`]);
});

test.each<[string, unknown, string]>([
  ['pre-vote', 'true', '\'pre-vote\' is "true"; write true or false'],
  ['InitialCorruptCheck', 1, "'InitialCorruptCheck' is 1; write true or false"],
  ['max-request-bytes', '10485760', 'is "10485760"; write a whole number of at least 1'],
  ['max-wals', -1, 'is -1; write a whole number of at least 0'],
  ['corrupt-check-time', 43200, "is 43200; write a duration such as '10s', '90m' or '12h'"],
  ['corrupt-check-time', '1d', 'is "1d"; write a duration such as'],
  ['corrupt-check-time', '3000h', 'is "3000h"; write a duration such as'],
  ['compact-hash-check-time', '0s', 'write a duration above zero'],
  ['auto-compaction-retention', 1000, 'is 1000; write text in quotes'],
  ['metrics', 'all', "is \"all\"; write 'basic' or 'extensive'"],
  ['log-outputs', 'stderr', 'is "stderr"; write a list such as [\'stderr\']'],
  ['log-outputs', [], 'write a list'],
  ['socket-options', { 'reuse-prot': true }, 'write a map of reuse-port, reuse-address'],
  ['socket-options', { 'reuse-port': 'yes' }, 'write a map of reuse-port, reuse-address'],
  ['FastLeaseKeepAlive', true, "'FastLeaseKeepAlive' is not in etcd 3.6; remove it"],
  ['nonsense', true, "'nonsense' is not a setting of etcd"],
])('%s: %j', (key, value, message) => {
  expect(problemsOfSettings({ [key]: value }, '3.6')).toEqual([expect.stringContaining(message)]);
});

test.each([
  ['0', 0],
  ['1500ms', 1_500_000_000],
  ['1h30m', 5_400_000_000_000],
  ['1.5s', 1_500_000_000],
  ['250us', 250_000],
  ['', undefined],
  ['10', undefined],
  ['-1s', undefined],
  ['1d', undefined],
])('%s is %s nanoseconds', (text, expected) => {
  expect(nanoseconds(text)).toBe(expected);
});
