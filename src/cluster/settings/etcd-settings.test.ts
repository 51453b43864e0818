import { Size } from 'cdk8s';
import { EtcdTuning, EtcdVersion } from '../..';
import { problemsOfSettings, translate } from '../../etcd/etcd-config-keys';
import { writeCluster } from '../cluster-spec';
import type { EtcdClusterProps } from '../etcd-cluster-props';
import { resolveCluster } from '../resolved-cluster';
import { etcdSettings } from './etcd-settings';
import { tuningSettings } from './etcd-tuning';

function settingsOfCluster(props: EtcdClusterProps) {
  const { spec } = writeCluster(props, 'orders', undefined);
  return resolveCluster({ metadata: { name: 'orders' }, spec }).settings;
}

const versions = [EtcdVersion.V3_5, EtcdVersion.V3_6, EtcdVersion.V3_7];

function settingsOf(settings: Record<string, unknown> = {}, version = EtcdVersion.V3_6) {
  return etcdSettings({ version, quotaBytes: 1024 ** 3, tuning: undefined, settings });
}

test.each(versions)('by default there are a quota, a tuning and the checks for corruption: %j', (version) => {
  const { settings, problems } = settingsOf({}, version);
  expect(problems).toEqual([]);
  expect(problemsOfSettings(settings, version.minor)).toEqual([]);
  expect(settings).toEqual({
    'quota-backend-bytes': 1024 ** 3,
    ...tuningSettings(),
    'corrupt-check-time': '12h',
    CompactHashCheck: true,
    InitialCorruptCheck: true,
    'warning-apply-duration': '1h',
  });
});

test('a quota is written in bytes', () => {
  const { settings } = settingsOfCluster({
    volume: { size: Size.gibibytes(20) },
    quota: Size.mebibytes(512),
    tuning: EtcdTuning.WAN,
  });
  expect(settings).toMatchObject({ 'quota-backend-bytes': 536_870_912, 'heartbeat-interval': 500 });
});

test('the default quota follows from the default volume', () => {
  const { settings } = settingsOfCluster({});
  expect(settings).toMatchObject({ 'quota-backend-bytes': 3.5 * 1024 ** 3 });
});

test.each([
  [EtcdVersion.V3_5, { 'experimental-corrupt-check-time': '6h', 'experimental-enable-lease-checkpoint': true }],
  [EtcdVersion.V3_6, { 'corrupt-check-time': '6h', 'feature-gates': 'LeaseCheckpoint=true' }],
  [EtcdVersion.V3_7, { 'corrupt-check-time': '6h', 'feature-gates': ' LeaseCheckpoint=true, CompactHashCheck=true' }],
])('the spelling of %j is the same setting', (version, given) => {
  const { settings, problems } = settingsOf({ ...given, 'max-request-bytes': 10_485_760 }, version);
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({
    'corrupt-check-time': '6h',
    LeaseCheckpoint: true,
    CompactHashCheck: true,
    InitialCorruptCheck: true,
    'max-request-bytes': 10_485_760,
  });
  expect(translate(settings, version.minor)).toMatchObject({ 'max-request-bytes': 10_485_760 });
});

test.each<[EtcdVersion, Record<string, unknown>, string]>([
  [
    EtcdVersion.V3_6,
    { 'quota-backend-bytes': 1 },
    "settings: 'quota-backend-bytes' is set by the property quota; use that",
  ],
  [EtcdVersion.V3_6, { 'heartbeat-interval': 1 }, "settings: 'heartbeat-interval' is set by the property tuning"],
  [EtcdVersion.V3_6, { 'data-dir': '/x' }, "settings: 'data-dir' is set by the agent for each member; remove it"],
  [EtcdVersion.V3_6, { 'client-transport-security': {} }, "'client-transport-security' is set by the agent"],
  [
    EtcdVersion.V3_6,
    { 'force-new-cluster': true },
    "'force-new-cluster' cannot be set, because it removes every other member",
  ],
  [
    EtcdVersion.V3_6,
    { 'max-requests': 1 },
    "'max-requests' is not a key of etcd's configuration; check it for typing errors",
  ],
  [EtcdVersion.V3_6, { toString: 1 }, "'toString' is not a key of etcd's configuration"],
  [EtcdVersion.V3_6, { '--max-txn-ops': 1 }, "'--max-txn-ops' is 'max-txn-ops' in etcd 3.6; write that"],
  [EtcdVersion.V3_6, { ETCD_MAX_TXN_OPS: 1 }, "'ETCD_MAX_TXN_OPS' is 'max-txn-ops' in etcd 3.6; write that"],
  [
    EtcdVersion.V3_6,
    { 'max-txn-ops': 'many' },
    'settings: \'max-txn-ops\' is "many"; write a whole number of at least 1',
  ],
  [
    EtcdVersion.V3_6,
    { 'experimental-corrupt-check-time': '1h' },
    "'experimental-corrupt-check-time' is 'corrupt-check-time' in etcd 3.6; write that",
  ],
  [EtcdVersion.V3_5, { 'corrupt-check-time': '1h' }, "is 'experimental-corrupt-check-time' in etcd 3.5; write that"],
  [
    EtcdVersion.V3_7,
    { 'experimental-initial-corrupt-check': true },
    "is a feature gate in etcd 3.7; write 'feature-gates': 'InitialCorruptCheck=true' or false",
  ],
  [EtcdVersion.V3_6, { LeaseCheckpoint: true }, "'LeaseCheckpoint' is a feature gate in etcd 3.6"],
  [EtcdVersion.V3_5, { 'log-format': 'json' }, "'log-format' is not in etcd 3.5, which would silently ignore it"],
  [EtcdVersion.V3_5, { 'feature-gates': 'A=true' }, "etcd 3.5 has no 'feature-gates'; write its own keys"],
  [EtcdVersion.V3_6, { 'feature-gates': { A: true } }, '\'feature-gates\' is {"A":true}; write one string, such as'],
  [EtcdVersion.V3_6, { 'feature-gates': 'LeaseCheckpoint' }, "'feature-gates' has 'LeaseCheckpoint'; write it like"],
  [
    EtcdVersion.V3_6,
    { 'feature-gates': 'FastLeaseKeepAlive=true' },
    "etcd 3.6 has no gate 'FastLeaseKeepAlive' and would not start with it; remove it",
  ],
  [EtcdVersion.V3_6, { 'feature-gates': 'toString=true' }, "etcd 3.6 has no gate 'toString'"],
  [EtcdVersion.V3_7, { 'feature-gates': 'max-wals=true' }, "'feature-gates' has 'max-wals=true'"],
])('%j: %j', (version, given, message) => {
  expect(settingsOf(given, version).problems).toEqual([expect.stringContaining(message)]);
});
