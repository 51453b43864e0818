import { ago, PluginTest, paths } from '../plugin.fixture.ts';

let plugin: PluginTest;
beforeEach(async () => {
  plugin = await PluginTest.start();
});
afterEach(() => plugin[Symbol.asyncDispose]());

const lease = (namespace: string, renewed: number, name = 'etcd-reconciler') => ({
  metadata: { name, namespace },
  spec: { holderIdentity: 'r', leaseDurationSeconds: 15, renewTime: ago(renewed) },
});

test('a line for each cluster, with what is old', async () => {
  plugin.putCluster('orders');
  plugin.putCluster('carts', { observedAt: ago(5400), lastBackup: undefined as never });
  const ended = await plugin.run('list');
  expect(ended.out).toMatch(/^NAME +READY +VERSION +PHASE +REASON +BACKUP +OBSERVED\n/);
  expect(ended.out).toMatch(/orders +3\/3 +3\.6\.16 +Ready +UpToDate +2\dm +\d+s\n/);
  expect(ended.out).toMatch(/carts +3\/3 .* none +1h OLD\n/);
  expect(Math.max(...ended.out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(JSON.parse((await plugin.run('list -o json')).out)).toMatchObject([
    { name: 'orders', current: true },
    { current: false },
  ]);
});

test('the backup of a cluster without a status is not known', async () => {
  plugin.api.put(paths.of('etcdclusters', 'orders'), { spec: { size: 3 } });
  expect((await plugin.run('list')).out).not.toContain('none');
});

test('-A asks for all namespaces', async () => {
  const items = [{ metadata: { name: 'orders', namespace: 'shop', resourceVersion: '1' }, spec: {}, status: {} }];
  plugin.texts.set('/apis/cdk8s-etcd.dev/v1alpha1/etcdclusters', JSON.stringify({ metadata: {}, items }));
  expect((await plugin.run('list -A')).out).toMatch(/^NAMESPACE +NAME .*\nshop +orders +\?\/\?/);
});

test('a status whose reconciler let its Lease expire is old, as for status', async () => {
  plugin.putCluster('orders');
  plugin.api.put(paths.of('leases', 'etcd-reconciler'), lease('shop', 600));
  expect((await plugin.run('list')).out).toMatch(/orders .* \d+s OLD\n/);
  expect(JSON.parse((await plugin.run('list -o json')).out)).toMatchObject([{ current: false }]);
  plugin.api.put(paths.of('leases', 'etcd-reconciler'), lease('shop', 5));
  expect((await plugin.run('list')).out).not.toContain('OLD');
});

test('of two reconcilers, each renews a Lease of its own, which the status names', async () => {
  plugin.putCluster('orders', { reconciler: { lease: 'second', version: '0.1.0' } });
  plugin.putCluster('carts');
  plugin.api.put(paths.of('leases', 'second'), lease('shop', 600, 'second'));
  plugin.api.put(paths.of('leases', 'etcd-reconciler'), lease('shop', 5));
  const old = (await plugin.run('list')).out.split('\n').filter((line) => line.endsWith('OLD'));
  expect(old).toEqual([expect.stringMatching(/^orders /)]);
  expect((await plugin.run('status orders')).exit).toBe(6);
  expect((await plugin.run('status carts')).exit).toBe(0);
});

test('a Lease that is missing, although the status names it, is renewed by nobody', async () => {
  plugin.putCluster('orders', { reconciler: { lease: 'etcd-reconciler', version: '0.1.0' } });
  expect((await plugin.run('list')).out).toMatch(/orders .* OLD\n/);
  expect((await plugin.run('status orders')).exit).toBe(6);
  const everywhere = (path: string, items: readonly object[]) =>
    plugin.texts.set(path, JSON.stringify({ metadata: {}, items }));
  everywhere('/apis/cdk8s-etcd.dev/v1alpha1/etcdclusters', [plugin.api.object(paths.of('etcdclusters', 'orders'))!]);
  everywhere('/apis/coordination.k8s.io/v1/leases', []);
  expect((await plugin.run('list -A')).out).toMatch(/orders .* OLD\n/);
});

test('-A judges each namespace by its own Lease', async () => {
  const cluster = (namespace: string) => ({
    metadata: { name: 'orders', namespace, resourceVersion: '1' },
    spec: { size: 3 },
    status: { observedAt: ago(12) },
  });
  const put = (path: string, items: object[]) => plugin.texts.set(path, JSON.stringify({ metadata: {}, items }));
  put('/apis/cdk8s-etcd.dev/v1alpha1/etcdclusters', ['shop', 'blog', 'mail'].map(cluster));
  put('/apis/coordination.k8s.io/v1/leases', [lease('shop', 5), lease('blog', 600)]);
  const { out } = await plugin.run('list -A');
  expect(out.split('\n').flatMap((line) => (line.endsWith('OLD') ? [line.split(' ')[0]] : []))).toEqual(['blog']);
});

test('without the right to read Leases, it says so and goes by the age', async () => {
  plugin.putCluster('orders');
  plugin.forbid('leases');
  expect(await plugin.run('list')).toMatchObject({
    exit: 0,
    out: expect.not.stringContaining('OLD'),
    err: 'cannot read leases: only the age of a status says if it is OLD\n',
  });
});
