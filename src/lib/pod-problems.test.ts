import { Chart, Cron, Lazy, Testing } from 'cdk8s';
import type { Construct } from 'constructs';
import { schedule as backupSchedule, s3 } from '../../test/synth';
import {
  EtcdBackup,
  EtcdCluster,
  EtcdReconciler,
  EtcdRestore,
  ImagePullPolicy,
  NetworkAccess,
  RestoreSource,
  type Toleration,
} from '..';

// biome-ignore lint/suspicious/noExplicitAny: also what TypeScript would refuse
type Props = any;

const chart = () => new Chart(Testing.app(), 'shop');
const backup = (props: Props) => new EtcdBackup(chart(), 'now', { endpoints: ['etcd:2379'], store: s3, ...props });
const orders = (scope: Chart) => EtcdCluster.fromAttributes(scope, 'o', { clusterName: 'o', clientEndpoints: ['o:1'] });
const restore = (props: Props) => {
  const scope = chart();
  return new EtcdRestore(scope, 'back', { cluster: orders(scope), source: RestoreSource.backup('now'), ...props });
};

/** Constructs that have pods. */
const pods: [string, (props: Props) => Construct][] = [
  ['a cluster', (props) => new EtcdCluster(chart(), 'orders', { ...props, reconciler: EtcdReconciler.external() })],
  ['a reconciler', (props) => new EtcdReconciler(chart(), 'reconciler', props)],
  ['a backup schedule', backupSchedule],
  ['a backup', backup],
  ['a restore', restore],
];

const labels: [object, string][] = [
  [
    { 'a b': 'c' },
    "labels: 'a b' is not a valid name of a label or annotation; write it like team or example.com/team",
  ],
  [{ '': 'c' }, "labels: '' is not a valid name of a label or annotation"],
  [{ 'a/b/c': 'd' }, "labels: 'a/b/c' is not a valid name of a label or annotation"],
  [{ 'Example.com/team': 'd' }, "labels: 'Example.com/team' is not a valid name of a label or annotation"],
  [{ ['n'.repeat(64)]: 'v' }, 'is not a valid name of a label or annotation'],
  [{ team: 'a b' }, "labels.team: 'a b' is not a valid value of a label: use up to 63 letters, digits"],
  [{ team: 'v'.repeat(64) }, 'labels.team: has 64 characters: give at most 63'],
  [{ team: undefined }, "labels: 'team' is undefined; give it a text, or remove it"],
  [{ tier: 1 }, 'labels.tier: 1 is a number, not text'],
];

describe.each(pods)('labels of %s', (_, make) => {
  test.each(labels)('%j', (labels, message) => {
    expect(make({ labels }).node.validate()).toEqual([expect.stringContaining(message)]);
  });

  test('without a mistake', () => {
    const labels = { team: 'storage', empty: '', 'example.com/Tier_1': 'a.B-c_1', ['n'.repeat(63)]: 'v'.repeat(63) };
    expect(make({ labels }).node.validate()).toEqual([]);
  });
});

const mistakes: [Props, string][] = [
  [
    { imagePullPolicy: 'Sometimes' },
    "imagePullPolicy: 'Sometimes' is not one of Always, IfNotPresent, Never: write one of these",
  ],
  [{ priorityClassName: 'High' }, "priorityClassName: 'High' is not a valid name of a PriorityClass"],
  [{ nodeSelector: { disk: 'very fast' } }, "nodeSelector.disk: 'very fast' is not a valid value of a label"],
];

const tolerations: [Toleration, string][] = [
  [
    { key: 'disk', effect: 'NoSchedules' },
    "effect: 'NoSchedules' is not one of NoSchedule, PreferNoSchedule, NoExecute",
  ],
  [{ key: 'disk', operator: '=' }, "operator: '=' is not one of Exists, Equal"],
  [{ key: 'a b', operator: 'Exists' }, "key: 'a b' is not a valid name of a label or annotation"],
  [
    { effect: 'NoSchedule' },
    'tolerations[0].key: is missing: give the key of the taint, or operator: Exists for every taint',
  ],
  [{ key: 'disk', operator: 'Exists', value: 'fast' }, 'tolerations[0].value: has no effect with operator: Exists'],
  [{ key: 'disk', value: 'very fast' }, "value: 'very fast' is not a valid value of a label"],
  [
    { key: 'disk', effect: 'NoSchedule', tolerationSeconds: 5 },
    'tolerations[0].tolerationSeconds: has no effect without effect',
  ],
  [{ key: 'disk', effect: 'NoExecute', tolerationSeconds: 0.5 }, 'tolerationSeconds: 0.5 is not a whole number'],
];

describe.each(pods)('the pods of %s', (_, make) => {
  test.each(mistakes)('%j', (props, message) => {
    expect(make(props).node.validate()).toEqual([expect.stringContaining(message)]);
  });

  test.each(tolerations)('tolerations: %j', (toleration, message) => {
    expect(make({ tolerations: [toleration] }).node.validate()).toEqual([expect.stringContaining(message)]);
  });

  test('without a mistake', () => {
    const props = {
      imagePullPolicy: ImagePullPolicy.NEVER,
      imagePullSecrets: ['mirror'],
      priorityClassName: 'system-cluster-critical',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [
        { operator: 'Exists' },
        { key: 'example.com/disk', value: 'fast', effect: 'NoSchedule' },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    };
    expect(make(props).node.validate()).toEqual([]);
  });
});

test('labels of those who may connect', () => {
  const problems = (peer: Props) => NetworkAccess.peers(peer)._problems('networkAccess');
  expect(problems({ podLabels: { app: 'a b' } })).toEqual([
    expect.stringContaining("networkAccess.peers[0].podLabels.app: 'a b' is"),
  ]);
  expect(problems({ namespaceLabels: { 'a b': '' } })).toEqual([
    expect.stringContaining(
      "networkAccess.peers[0].namespaceLabels: 'a b' is not a valid name of a label or annotation",
    ),
  ]);
});

test('annotations of the pods may have any text', () => {
  const problems = (podAnnotations: Props) => new EtcdCluster(chart(), 'orders', { podAnnotations }).node.validate();
  expect(problems({ 'Example.com/note': 'two words\nand more' })).toEqual([]);
  expect(problems({ 'a b': 'c' })).toEqual([
    expect.stringContaining("podAnnotations: 'a b' is not a valid name of a label or annotation"),
  ]);
  expect(problems({ scrape: true })).toEqual([
    expect.stringContaining('podAnnotations.scrape: is true or false, not text'),
  ]);
});

test.each<[Props, string]>([
  [{ compression: 'lz4' }, "compression: 'lz4' is not one of none, gzip, zstd"],
  [{ verify: 'maybe' }, "verify: 'maybe' is not one of stream, read, open"],
])('a schedule with %j', (props, message) => {
  expect(backupSchedule(props).node.validate()).toEqual([expect.stringContaining(message)]);
});

test('a backup with a compression that there is not', () => {
  expect(backup({ compression: 'lz4' }).node.validate()).toEqual([
    expect.stringContaining("compression: 'lz4' is not one of none, gzip, zstd"),
  ]);
});

test('a schedule of a cluster takes over its labels', () => {
  const cluster = new EtcdCluster(chart(), 'orders', { labels: { team: 'a' } });
  const nightly = cluster.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3, labels: { team: 'b c' } });
  expect(nightly.node.validate()).toEqual([expect.stringContaining("labels.team: 'b c' is not")]);
});

const objects = 'labels annotations podLabels podAnnotations nodeSelector affinity dnsConfig securityContext';
const lists = 'tolerations topologySpreadConstraints volumes initContainers hostAliases overrides imagePullSecrets';
describe.each(pods)('what is made of parts of %s cannot be known only later', (_, make) => {
  const late = (at: string) => `${at}: is known only when the manifests are written; give its value itself`;
  test.each(objects.split(' '))('%s', (name) => {
    expect(() => make({ [name]: Lazy.any({ produce: () => ({}) }) })).toThrow(late(name));
    expect(() => make({ [name]: { resolve: () => ({}) } })).toThrow(late(name));
  });

  test.each(lists.split(' '))('%s', (name) => {
    expect(() => make({ [name]: Lazy.any({ produce: () => [] }) })).toThrow(late(name));
    if (name === 'imagePullSecrets') return;
    expect(() => make({ [name]: [Lazy.any({ produce: () => ({}) })] })).toThrow(late(`${name}[0]`));
  });
});

test.each(pods.slice(0, 3))('a part of an object of %s cannot be known only later either', (_, make) => {
  const later = Lazy.any({ produce: () => ({}) });
  const props = { affinity: { nodeAffinity: later }, securityContext: { seccompProfile: later } };
  expect(make(props).node.validate().sort()).toEqual(
    ['affinity.nodeAffinity', 'securityContext.seccompProfile'].map(
      (at) => `${at}: is known only when the manifests are written; give its value itself`,
    ),
  );
});

test('settings and annotations of the Service of a cluster cannot be known only later', () => {
  const later = Lazy.any({ produce: () => ({}) });
  for (const [props, at] of [
    [{ settings: later }, 'settings'],
    [{ service: { annotations: later } }, 'service.annotations'],
    [{ service: later }, 'service'],
  ] as const)
    expect(() => new EtcdCluster(chart(), 'orders', props as Props)).toThrow(`orders: ${at}: is known only when`);
});
