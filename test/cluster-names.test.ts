import { Chart, Testing } from 'cdk8s';
import { EtcdCluster } from '../src';
import { cluster, manifestsOf } from './clusters';

describe('a name that is taken', () => {
  const problems = (...ids: [string, string][]) => {
    const app = Testing.app();
    for (const [chart, id] of ids) {
      const shop = (app.node.tryFindChild(chart) as Chart | undefined) ?? new Chart(app, chart, { namespace: 'shop' });
      new EtcdCluster(shop, `${chart}-${id}`, { name: id });
    }
    return app.node.findAll().flatMap(({ node }) => node.validate());
  };

  test('is told once per cluster, whichever chart has the other', () => {
    const namesake = (place: string) =>
      `name: another etcd cluster of this ${place} is called 'orders' too; give each its own name`;
    expect(problems(['a', 'orders'], ['b', 'orders'])).toEqual([namesake('namespace'), namesake('namespace')]);
  });

  test('is told when only an object of it is taken', () => {
    expect(problems(['a', 'orders'], ['a', 'orders-peers'])).toEqual(
      Array(2).fill("name: another Service of this chart is called 'orders-peers' too; give each its own name"),
    );
  });

  test('is free although a cluster is called etcd, and its reconciler etcd-reconciler', () => {
    expect(problems(['a', 'etcd'])).toEqual([]);
    const names = manifestsOf(cluster({ name: 'etcd' })).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names).toEqual([...new Set(names)]);
  });

  test('is free elsewhere', () => {
    expect(problems(['a', 'orders'], ['a', 'carts'])).toEqual([]);
    const app = Testing.app();
    for (const namespace of ['one', 'two']) new EtcdCluster(new Chart(app, namespace, { namespace }), 'orders');
    expect(app.node.findAll().flatMap(({ node }) => node.validate())).toEqual([]);
  });
});
