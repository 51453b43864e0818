import { Chart, Testing } from 'cdk8s';
import { cluster, manifestsOf } from '../../test/clusters';
import { EtcdCluster, EtcdReconciler, EtcdTls } from '..';

describe('a name that is taken', () => {
  const problems = (...ids: [string, string][]) => {
    const app = Testing.app();
    for (const [chart, id] of ids) {
      const shop = (app.node.tryFindChild(chart) as Chart | undefined) ?? new Chart(app, chart, { namespace: 'shop' });
      new EtcdCluster(shop, `${chart}-${id}`, { name: id, reconciler: EtcdReconciler.external() });
    }
    return app.node.findAll().flatMap(({ node }) => node.validate());
  };

  test('is reported once per cluster, whichever chart has the other', () => {
    const namesake = (place: string) =>
      `another etcd cluster of this ${place} is called 'orders' too; give each its own name`;
    expect(problems(['a', 'orders'], ['b', 'orders'])).toEqual([namesake('namespace'), namesake('namespace')]);
  });

  test('is reported when only the name of one object is taken', () => {
    const app = Testing.app();
    const chart = new Chart(app, 'a');
    new EtcdReconciler(chart, 'reconciler', { name: 'orders' });
    new EtcdCluster(chart, 'orders', { reconciler: EtcdReconciler.external() });
    const told = app.node.findAll().flatMap(({ node }) => node.validate());
    expect(told).toContain("another Service of this chart is called 'orders' too; give each its own name");
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

describe('no object of a cluster has the name of one of another cluster, which another app may make', () => {
  const objectsOf = (name: string) => {
    const subject = cluster(
      { name, tls: EtcdTls.certManager({ issuer: 'ca' }), reconciler: EtcdReconciler.external() },
      'shop',
    );
    const names = manifestsOf(subject).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    return { names, problems: subject.node.findAll().flatMap(({ node }) => node.validate()) };
  };
  const etcd = objectsOf('etcd');
  const derived = [...new Set(etcd.names.map((each) => each.split(' ')[1]!))].filter((name) => name !== 'etcd');

  test.each(derived.map((name) => [name]))('be it called %s', (name) => {
    const app = Testing.app();
    const other = new EtcdCluster(new Chart(app, 'shop', { namespace: 'shop' }), 'other', { name });
    const isRefused = other.node.validate().some((problem) => problem.startsWith('name: '));
    const shared = isRefused
      ? []
      : Testing.synth(Chart.of(other))
          .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
          .filter((each) => each !== 'Deployment etcd-reconciler' && etcd.names.includes(each));
    expect(shared).toEqual([]);
  });

  test.each(['etcd-0', 'etcd-2', 'etcd-6', 'etcd-client', 'etcd-settings', 'etcd-reconcilers'])(
    'and %s is free',
    (name) => {
      expect(objectsOf(name).problems).toEqual([]);
      expect(objectsOf(name).names.filter((each) => etcd.names.includes(each))).toEqual([]);
    },
  );

  test.each(['etcd-peers', 'etcd-jobs', 'etcd-etcd-reconciler', 'etcd-2-client', 'etcd-12-client'])(
    'while %s is refused',
    (name) => {
      expect(cluster({ name }).node.validate()).toEqual([
        `name: '${name}' is the name of an object of cluster 'etcd'; use a name that does not end in '${name.slice('etcd'.length)}'`,
      ]);
    },
  );
});
