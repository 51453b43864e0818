import { ApiObject, type App, Chart, type ChartProps, Lazy, Testing } from 'cdk8s';
import type { Construct } from 'constructs';
import { EtcdTls } from '../tls/etcd-tls';
import { EtcdUser } from '../users/etcd-user';
import { EtcdCluster } from './etcd-cluster';

const chartOf = (props: ChartProps = { namespace: 'shop' }, app = Testing.app()) => new Chart(app, 'chart', props);
const problemsOf = (chart: Chart) => chart.node.validate();

describe('an object of the app with the name of one of ours', () => {
  const service = (chart: Chart, name: string, metadata: object = {}) =>
    new ApiObject(chart, `Mine-${name}`, { apiVersion: 'v1', kind: 'Service', metadata: { name, ...metadata } });

  test('is refused', () => {
    const chart = chartOf();
    service(chart, 'orders');
    new EtcdCluster(chart, 'orders');
    expect(problemsOf(chart)).toEqual([
      expect.stringMatching(
        /^chart\/orders\/\S+: chart\/Mine-orders is a Service with the name 'orders' too, and one would replace the other; give one of them another name$/,
      ),
    ]);
  });

  test('is found in another chart of the namespace, and whoever comes first', () => {
    const chart = chartOf();
    new EtcdCluster(chart, 'orders');
    service(new Chart(chart.node.root as App, 'own', { namespace: 'shop' }), 'orders');
    expect(problemsOf(chart)).toHaveLength(1);
  });

  test('is not a problem elsewhere, or of another kind, or after its removal', () => {
    const chart = chartOf();
    new EtcdCluster(chart, 'orders');
    service(chart, 'search');
    service(chart, 'orders', { namespace: 'other' });
    new ApiObject(chart, 'Other', { apiVersion: 'example.com/v1', kind: 'Service', metadata: { name: 'orders' } });
    expect(problemsOf(chart)).toEqual([]);
    service(new Chart(chart.node.root as App, 'own', { namespace: 'shop' }), 'orders');
    expect(problemsOf(chart)).toHaveLength(1);
    chart.node.root.node.tryRemoveChild('own');
    expect(problemsOf(chart)).toEqual([]);
  });

  test.each<[string, string, string, EtcdTls]>([
    ['ConfigMap', 'orders-record', 'the reconciler', EtcdTls.managed()],
    ['Job', 'orders-restore', 'the reconciler', EtcdTls.managed()],
    ['Secret', 'orders-client-cert', 'cert-manager', EtcdTls.certManager({ issuer: 'ca' })],
    ['Secret', 'orders-user-api', 'cert-manager', EtcdTls.certManager({ issuer: 'ca' })],
  ])('is refused if it is written at run time: %s %s', (kind, name, writer, tls) => {
    const chart = chartOf();
    const cluster = new EtcdCluster(chart, 'orders', { tls });
    cluster.addUser('api', { can: [] });
    const version = kind === 'Job' ? 'batch/v1' : 'v1';
    const object = (scope: Construct, apiVersion = version) =>
      new ApiObject(scope, 'Mine', { apiVersion, kind, metadata: { name } });
    object(new Chart(chart.node.root as App, 'other', { namespace: 'other' }));
    object(new Chart(chart.node.root as App, 'group', { namespace: 'shop' }), 'example.com/v1');
    expect(problemsOf(chart)).toEqual([]);
    object(chart);
    expect(problemsOf(chart)).toEqual([
      expect.stringMatching(
        new RegExp(`chart/Mine is the ${kind} '${name}', which ${writer} writes; give it another name$`),
      ),
    ]);
  });

  test('is not a problem if its Secrets are those of others', () => {
    const chart = chartOf();
    const secret = (name: string) =>
      new ApiObject(chart, name, { apiVersion: 'v1', kind: 'Secret', metadata: { name } });
    const clients = { client: secret('c'), root: secret('r'), backup: secret('b') };
    const tls = EtcdTls.fromSecrets({ peer: secret('p'), server: secret('s'), ...clients });
    const cluster = new EtcdCluster(chart, 'orders', { tls });
    cluster.addUser('api', { can: [], secretName: secret('api') });
    expect(problemsOf(chart)).toEqual([]);
  });

  test('is none of our business between others', () => {
    const chart = chartOf();
    new EtcdCluster(chart, 'orders');
    service(chart, 'search');
    service(new Chart(chart.node.root as App, 'own', { namespace: 'shop' }), 'search');
    expect(problemsOf(chart)).toEqual([]);
  });
});

test.each<unknown>(['', 'Shop_1', 'n'.repeat(64), Lazy.any({ produce: () => 'shop' })])(
  'the namespace %j is refused',
  (namespace) => {
    const chart = chartOf({ namespace: namespace as string });
    new EtcdCluster(chart, 'orders');
    expect(problemsOf(chart)).toEqual([expect.stringMatching(/^namespace: '.*' is not a valid namespace; /s)]);
  },
);

test('labels of the chart, which all objects get, are checked', () => {
  const chart = chartOf({ namespace: 'shop', labels: { team: 't'.repeat(64) } });
  new EtcdCluster(chart, 'orders');
  expect(problemsOf(chart)).toEqual([
    expect.stringMatching(/^labels of the chart.team: has 64 characters: give at most 63/),
  ]);
});

test('the longest names of users fit into labels and into the names of their Roles', () => {
  const chart = chartOf();
  const cluster = new EtcdCluster(chart, 'c'.repeat(50));
  const long = cluster.addUser('u'.repeat(30), { can: [] });
  const labels = long.customResource.toJson().metadata.labels;
  expect(labels['app.kubernetes.io/instance']).toBe(`${'c'.repeat(50)}-${'u'.repeat(12)}`);
  const secretOf = (length: number) => cluster.addUser(`u${length}`, { can: [], secretName: 's'.repeat(length) });
  expect(secretOf(242).node.validate()).toEqual([]);
  expect(secretOf(243).node.validate()).toEqual([expect.stringContaining('has 243 characters: give at most 242')]);
});

test('a cluster of another app has the name of an EtcdCluster', () => {
  const chart = chartOf();
  const attributes = { clusterName: 'c'.repeat(51), clientEndpoints: ['http://a:1'] };
  const cluster = EtcdCluster.fromAttributes(chart, 'known', attributes);
  new EtcdUser(chart, 'user', { cluster, can: [], name: 'a', secretName: 'b' });
  expect(cluster.node.validate()).toEqual([expect.stringContaining('has 51 characters; use at most 50')]);
});
