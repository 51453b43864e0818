import { type App, Chart, type ChartProps, Size, Testing, Yaml } from 'cdk8s';
import { Construct, Node } from 'constructs';
import { errorsOf } from '../../test/rendering';
import type { Manifest } from '../../test/synth';
import { EtcdCluster, type EtcdClusterProps, EtcdReconciler, type EtcdReconcilerProps, OverrideTarget } from '..';
import { ClusterReconciler } from '../cluster/cluster-reconciler';

const shop = { namespace: 'shop' };
const chartOf = (id: string, props: ChartProps = shop, app = Testing.app()) => new Chart(app, id, props);
const cluster = (chart: Chart, id: string, props: EtcdClusterProps = {}) => new EtcdCluster(chart, id, props);
const reconciler = (chart: Chart, props: EtcdReconcilerProps = {}) => new EtcdReconciler(chart, 'reconciler', props);
const sibling = (chart: Chart, id: string, props: ChartProps = shop) => new Chart(chart.node.root, id, props);

/** The names of the reconcilers that are synthesized, and the ServiceAccount that each cluster grants its Role to. */
function synthesis(...charts: Chart[]) {
  const manifests: Manifest[] = charts.flatMap((chart) => Testing.synth(chart));
  const bindings = manifests.filter(
    ({ kind, metadata }) => kind === 'RoleBinding' && metadata.name !== 'etcd-reconciler',
  );
  return {
    reconcilers: manifests.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name),
    accounts: Object.fromEntries(
      bindings
        .filter(({ metadata }) => metadata.name.endsWith('-etcd-reconciler'))
        .map(({ metadata, subjects }) => [metadata.name.replace(/-etcd-reconciler$/, ''), subjects[0].name]),
    ),
  };
}

const problemsOf = (...constructs: Construct[]) =>
  constructs.flatMap(({ node }) => node.findAll().flatMap((each) => each.node.validate()));

describe('a cluster finds its reconciler:', () => {
  test('the first one brings it, for the others too', () => {
    const chart = chartOf('a');
    cluster(chart, 'orders');
    cluster(chart, 'carts');
    expect(synthesis(chart)).toEqual({
      reconcilers: ['etcd-reconciler'],
      accounts: { orders: 'etcd-reconciler', carts: 'etcd-reconciler' },
    });
  });

  test('a reconciler that was created before it', () => {
    const chart = chartOf('a');
    reconciler(chart, { name: 'keeper' });
    cluster(chart, 'orders');
    expect(synthesis(chart)).toEqual({ reconcilers: ['keeper'], accounts: { orders: 'keeper' } });
  });

  test('a reconciler that is created later replaces the implicit one, of which nothing remains', () => {
    const chart = chartOf('a');
    const orders = cluster(chart, 'orders');
    const brought = orders.node.findChild('Reconciler');
    reconciler(chart, { name: 'keeper' });
    cluster(chart, 'carts');
    expect(synthesis(chart)).toEqual({ reconcilers: ['keeper'], accounts: { orders: 'keeper', carts: 'keeper' } });
    expect(chart.node.findAll()).not.toContain(brought);
    const inOrder = chartOf('a');
    reconciler(inOrder, { name: 'keeper' });
    for (const id of ['orders', 'carts']) cluster(inOrder, id);
    const sorted = (each: Chart) =>
      Testing.synth(each)
        .map((manifest) => Yaml.stringify(manifest))
        .sort();
    expect(sorted(chart)).toEqual(sorted(inOrder));
  });

  test('one of the same name takes its place, too', () => {
    const chart = chartOf('a');
    cluster(chart, 'orders');
    reconciler(chart, { replicas: 2 });
    const deployments = Testing.synth(chart).filter(({ kind }) => kind === 'Deployment');
    expect(deployments).toEqual([expect.objectContaining({ spec: expect.objectContaining({ replicas: 2 }) })]);
  });

  test.each(['before', 'after'])('one in another chart of the same namespace, made %s', (when) => {
    const platform = chartOf('platform');
    const team = sibling(platform, 'team');
    if (when === 'before') reconciler(platform, { name: 'keeper' });
    cluster(team, 'orders');
    if (when === 'after') reconciler(platform, { name: 'keeper' });
    expect(synthesis(platform, team)).toEqual({ reconcilers: ['keeper'], accounts: { orders: 'keeper' } });
  });

  test('each namespace has its own', () => {
    const one = chartOf('one', { namespace: 'one' });
    const two = sibling(one, 'two', { namespace: 'two' });
    cluster(one, 'orders');
    cluster(two, 'orders');
    reconciler(two, { name: 'keeper' });
    expect(synthesis(one)).toEqual({ reconcilers: ['etcd-reconciler'], accounts: { orders: 'etcd-reconciler' } });
    expect(synthesis(two)).toEqual({ reconcilers: ['keeper'], accounts: { orders: 'keeper' } });
  });

  test('one of another app is not synthesized', () => {
    const chart = chartOf('a');
    cluster(chart, 'orders', { reconciler: EtcdReconciler.external() });
    cluster(chart, 'carts', { reconciler: EtcdReconciler.external({ name: 'keeper', serviceAccountName: 'k' }) });
    expect(synthesis(chart)).toEqual({ reconcilers: [], accounts: { orders: 'etcd-reconciler', carts: 'k' } });
  });

  test('of several each cluster names its own', () => {
    const chart = chartOf('a');
    const made = ['blue', 'green'].map((team) => new EtcdReconciler(chart, team, { name: team, selector: { team } }));
    for (const each of made) {
      const team = each.reconcilerName;
      cluster(chart, `${team}-orders`, { reconciler: each, labels: { team } });
    }
    expect(synthesis(chart)).toEqual({
      reconcilers: ['blue', 'green'],
      accounts: { 'blue-orders': 'blue', 'green-orders': 'green' },
    });
  });

  test("labels of the cluster's chart count for the selector", () => {
    const chart = chartOf('a', { ...shop, labels: { team: 'blue' } });
    reconciler(chart, { selector: { team: 'blue' } });
    cluster(chart, 'orders');
    expect(problemsOf(chart)).toEqual([]);
  });
});

describe('charts without a namespace', () => {
  const none: ChartProps = {};

  test('count as one', () => {
    const one = chartOf('one', none);
    const two = sibling(one, 'two', none);
    cluster(one, 'orders');
    cluster(two, 'carts');
    reconciler(sibling(one, 'shared', none));
    expect(synthesis(one, two, one.node.root.node.findChild('shared') as Chart)).toEqual({
      reconcilers: ['etcd-reconciler'],
      accounts: { orders: 'etcd-reconciler', carts: 'etcd-reconciler' },
    });
  });

  test('have nothing in common with those of a namespace', () => {
    const one = chartOf('one', none);
    const two = sibling(one, 'two');
    reconciler(one, { name: 'keeper' });
    cluster(two, 'carts');
    expect(synthesis(two)).toEqual({ reconcilers: ['etcd-reconciler'], accounts: { carts: 'etcd-reconciler' } });
  });

  test('the one of the own chart comes first', () => {
    const one = chartOf('one', none);
    const two = sibling(one, 'two', none);
    reconciler(one, { name: 'first' });
    reconciler(two, { name: 'second' });
    cluster(one, 'orders');
    cluster(two, 'orders');
    expect(problemsOf(one.node.root as App)).toEqual([]);
    expect(synthesis(one).accounts).toEqual({ orders: 'first' });
    expect(synthesis(two).accounts).toEqual({ orders: 'second' });
  });

  test('cannot share one when they have clusters of the same name, as they are of different namespaces', () => {
    const one = chartOf('one', none);
    const two = sibling(one, 'two', none);
    cluster(one, 'orders');
    cluster(two, 'orders');
    const app = one.node.root as App;
    const problem = expect.stringMatching(
      /^name: one\/orders is called 'orders' too, and neither chart has a namespace/,
    );
    expect(problemsOf(app)).toEqual([problem]);
    // A second validation reports the same.
    expect(problemsOf(app)).toEqual([problem]);
  });
});

describe('reports a problem when', () => {
  const two = (chart: Chart, selectors: (Record<string, string> | undefined)[]) =>
    selectors.map((selector, index) => new EtcdReconciler(chart, `r${index}`, { name: `r${index}`, selector }));

  test.each([
    [undefined, undefined],
    [undefined, { team: 'a' }],
    [{ team: 'a' }, { team: 'a' }],
  ])('two reconcilers manage the same clusters: %j and %j', (...selectors) => {
    const chart = chartOf('a');
    two(chart, selectors);
    expect(problemsOf(chart)).toEqual([
      expect.stringMatching(
        /^selector: a\/r1 manages clusters of this namespace too; remove one of the reconcilers, or give each its own selector/,
      ),
      expect.stringMatching(/^selector: a\/r0 manages clusters/),
    ]);
  });

  const least =
    'the limit of memory, %, is below 80Mi, which a reconciler needs for one cluster; raise memoryLimit (in YAML, spec.resources.limits.memory), or leave it out';
  const ofPod = (memory: string | number) => [
    {
      target: OverrideTarget.RECONCILER_PODS,
      patch: {
        spec: { containers: [{ name: 'reconciler', resources: { limits: { memory }, requests: { memory } } }] },
      },
    },
  ];
  test.each<[EtcdReconcilerProps, string[]]>([
    [{ resources: { memoryLimit: Size.mebibytes(1) } }, [`resources: ${least.replace('%', '1Mi')}`]],
    [{ resources: { memoryRequest: Size.mebibytes(79) } }, [`resources: ${least.replace('%', '79Mi')}`]],
    [{ resources: { memoryLimit: Size.mebibytes(80) } }, []],
    [{ overrides: ofPod('1Mi') }, [`overrides: ${least.replace('%', '1Mi')}`]],
    [{ overrides: ofPod(1000) }, [`overrides: ${least.replace('%', '1000')}`]],
    [{ overrides: ofPod('200Mi'), resources: { memoryLimit: Size.mebibytes(1) } }, []],
  ])('less memory than one cluster takes: %j', (props, problems) => {
    const chart = chartOf('a');
    new EtcdReconciler(chart, 'r', props);
    expect(problemsOf(chart)).toEqual(problems);
  });

  test('the memory of a reconciler of YAML, and that of all containers of its pod', () => {
    const found = (spec: object) =>
      errorsOf([{ apiVersion: 'cdk8s-etcd.dev/v1alpha1', kind: 'EtcdReconciler', metadata: { name: 'r' }, spec }]);
    expect(found({ resources: { limits: { memory: '1Mi' } } })).toEqual([
      expect.stringContaining(`resources: ${least.replace('%', '1Mi')}`),
    ]);
    const patch = { spec: { resources: { limits: { cpu: '1m' } } } };
    expect(found({ overrides: [{ target: 'ReconcilerPods', patch }] })).toEqual([
      expect.stringContaining('spec.resources.limits.cpu: cannot be overridden'),
    ]);
  });

  const cpu = { limits: { cpu: '2m' }, requests: { cpu: '1m' } };
  const patch = { spec: { containers: [{ name: 'reconciler', resources: cpu }] } };
  test.each<[string, EtcdReconcilerProps]>([
    ['', { resources: { cpuRequest: '1m', cpuLimit: '2m' } }],
    [' by an override', { overrides: [{ target: OverrideTarget.RECONCILER_PODS, patch }] }],
  ])('more clusters than its limit of CPU suffices for%s', (_, props) => {
    const chart = chartOf('a');
    new EtcdReconciler(chart, 'r', props);
    for (const id of ['one', 'two']) cluster(chart, id);
    expect(problemsOf(chart)).toEqual([]);
    for (const id of ['three', 'four']) cluster(chart, id);
    expect(problemsOf(chart)).toEqual([
      "reconciler: the limit of CPU of the reconciler 'etcd-reconciler' suffices for 2 clusters (1m each), and it has more; raise its cpuLimit (in YAML, spec.resources.limits.cpu), or leave it out",
    ]);
  });

  test('two have the same name', () => {
    const chart = chartOf('a');
    new EtcdReconciler(chart, 'one', { selector: { team: 'a' } });
    new EtcdReconciler(sibling(chart, 'b'), 'two', { selector: { team: 'b' } });
    expect(problemsOf(chart)).toEqual([
      "another reconciler of this namespace is called 'etcd-reconciler' too; give each its own name",
    ]);
  });

  test('a cluster does not select one of several reconcilers', () => {
    const chart = chartOf('a');
    two(chart, [{ team: 'a' }, { team: 'b' }]);
    const orders = cluster(chart, 'orders', { labels: { team: 'a' } });
    expect(problemsOf(orders)).toEqual([
      "reconciler: 'r0' and 'r1' all manage namespace 'shop'; give the one for this cluster",
    ]);
  });

  test('its reconciler does not select it', () => {
    const chart = chartOf('a');
    reconciler(chart, { selector: { team: 'a', tier: 'x' } });
    expect(problemsOf(cluster(chart, 'orders', { labels: { team: 'a' } }))).toEqual([
      "labels: reconciler 'etcd-reconciler' manages only clusters with team=a,tier=x; give this cluster these labels, or another reconciler",
    ]);
  });

  test('another one selects it, too', () => {
    const chart = chartOf('a');
    const [r0] = two(chart, [{ team: 'a' }, { tier: 'x' }]);
    expect(problemsOf(cluster(chart, 'orders', { reconciler: r0, labels: { team: 'a', tier: 'x' } }))).toEqual([
      "labels: also match the selector of reconciler 'r1', but a cluster has only one reconciler; change the labels or a selector",
    ]);
  });

  test('its reconciler is in another namespace', () => {
    const chart = chartOf('a');
    const other = reconciler(sibling(chart, 'b', { namespace: 'other' }), {});
    expect(problemsOf(cluster(chart, 'orders', { reconciler: other }))).toEqual([
      "reconciler: 'etcd-reconciler' manages only namespace 'other', but this cluster is in namespace 'shop'; add one there",
    ]);
  });

  test('the reconciler is external for one cluster, and created by another', () => {
    const chart = chartOf('a');
    cluster(chart, 'carts', { reconciler: EtcdReconciler.external() });
    expect(problemsOf(cluster(chart, 'orders'))).toEqual([
      "reconciler: 'etcd-reconciler' is external for a/carts, but belongs to this app for this cluster; give both the same reconciler",
    ]);
  });

  test('one of another app is named, but one of this app manages the cluster too', () => {
    const chart = chartOf('a');
    const orders = cluster(chart, 'orders', { reconciler: EtcdReconciler.external({ name: 'theirs' }) });
    expect(problemsOf(orders)).toEqual([]);
    const made = reconciler(chart, { name: 'keeper' });
    expect(problemsOf(orders)).toEqual([
      "reconciler: 'theirs' is of another app, but 'keeper' of this app manages this cluster too; leave it out, or give 'keeper' a selector",
    ]);
    chart.node.tryRemoveChild(made.node.id);
    reconciler(chart, { name: 'blue', selector: { team: 'blue' } });
    expect(problemsOf(orders)).toEqual([]);
  });

  test('the cluster that created it was removed with it', () => {
    const chart = chartOf('a');
    cluster(chart, 'carts');
    const orders = cluster(chart, 'orders');
    chart.node.tryRemoveChild('carts');
    expect(problemsOf(orders)).toEqual([
      "reconciler: the reconciler of this namespace was removed together with the cluster that created it; add new EtcdReconciler(chart, 'reconciler')",
    ]);
    reconciler(chart);
    expect(problemsOf(chart)).toEqual([]);
  });

  test.each([
    [shop, "namespace 'shop'", "'shop-etcd-reconciler', { namespace }"],
    [{}, 'the charts without a namespace', "'etcd-reconciler'"],
  ])('one of another chart, which may be deleted alone, created it: %j', (props, place, its) => {
    const chart = chartOf('a', props);
    cluster(chart, 'carts');
    const orders = cluster(sibling(chart, 'b', props), 'orders');
    const app = chart.node.root;
    expect(problemsOf(app as App)).toEqual([
      `reconciler: the one of ${place} lies in chart 'a', and would go with it; add new EtcdReconciler(new Chart(app, ${its}), 'reconciler')`,
    ]);
    expect(problemsOf(orders)).toHaveLength(1);
    reconciler(sibling(chart, 'own', props));
    expect(problemsOf(app as App)).toEqual([]);
  });

  test('the reconciler that it was given was removed', () => {
    const chart = chartOf('a');
    const orders = cluster(chart, 'orders', { reconciler: reconciler(chart) });
    chart.node.tryRemoveChild('reconciler');
    expect(problemsOf(orders)).toEqual([
      "reconciler: 'etcd-reconciler' was removed from the app; add another one, or leave it out",
    ]);
  });
});

test('a reconciler that was removed leaves its name free, and the next cluster creates one', () => {
  const chart = chartOf('a');
  reconciler(chart);
  chart.node.tryRemoveChild('reconciler');
  cluster(chart, 'orders');
  expect(problemsOf(chart)).toEqual([]);
  expect(synthesis(chart).reconcilers).toEqual(['etcd-reconciler']);
});

test('apps know nothing of each other', () => {
  cluster(chartOf('a'), 'orders');
  const other = chartOf('a');
  cluster(other, 'orders');
  expect(synthesis(other).reconcilers).toEqual(['etcd-reconciler']);
});

test('two copies of the library share one registry', async () => {
  const chart = chartOf('a');
  reconciler(chart, { name: 'keeper' });
  vi.resetModules();
  const copy = await import('../index.js');
  expect(copy.EtcdCluster).not.toBe(EtcdCluster);
  new copy.EtcdCluster(chart, 'orders');
  expect(synthesis(chart)).toEqual({ reconcilers: ['keeper'], accounts: { orders: 'keeper' } });
  expect(problemsOf(chart)).toEqual([]);
});

test('the order of clusters decides nothing but where the reconciler stands: the bytes are the same each time', () => {
  const yaml = () => {
    const one = chartOf('one');
    for (const id of ['c', 'a', 'b']) cluster(one, id);
    return Yaml.stringify(...Testing.synth(one));
  };
  expect(yaml()).toBe(yaml());
});

describe('the work for each cluster does not grow with their number', () => {
  class Cluster extends Construct {
    private readonly reconciler = new ClusterReconciler(this, this.node.id);
    problems = () => [this.reconciler.get().reconcilerName, ...this.reconciler.problems({})];
  }

  const withReconciler = (chart: Chart) => {
    reconciler(chart);
    return chart;
  };

  const shared = (chart: Chart, index: number) => (index === 0 ? withReconciler(chart) : chart);

  const layouts: [string, (app: App, index: number) => Chart][] = [
    ['in one chart', (app) => (app.node.tryFindChild('c') as Chart | undefined) ?? new Chart(app, 'c', shop)],
    ['in a chart each, of one namespace', (app, index) => shared(new Chart(app, `c${index}`, shop), index)],
    ['in a chart each, without a namespace', (app, index) => shared(new Chart(app, `c${index}`), index)],
    [
      'in a chart each with a reconciler, without a namespace',
      (app, index) => withReconciler(new Chart(app, `c${index}`)),
    ],
    ['in a namespace each', (app, index) => new Chart(app, `c${index}`, { namespace: `n${index}` })],
  ];

  test.each(layouts)('%s', (_, chart) => {
    const steps = (count: number): number => {
      const lookUps = vi.spyOn(Node.prototype, 'tryFindChild');
      const walks = vi.spyOn(Node.prototype, 'findAll');
      const app = Testing.app();
      const clusters = Array.from({ length: count }, (_, index) => new Cluster(chart(app, index), `cluster-${index}`));
      for (const each of clusters) expect(each.problems()).toEqual(['etcd-reconciler']);
      expect(walks).not.toHaveBeenCalled();
      const steps = lookUps.mock.calls.length;
      vi.restoreAllMocks();
      return steps;
    };
    const [few, many] = [steps(100), steps(1_000)];
    expect(many).toBeGreaterThan(1_000);
    expect(many).toBeLessThan(11 * few);
  });
});
