import { folderOf, misplacedManifest, namedCluster } from './folder.ts';

test('the folder contains the namespace, so that clusters of the same name do not share a folder', () => {
  expect(folderOf({ cluster: 'orders' })).toBe('orders');
  expect(folderOf({ cluster: 'orders', namespace: 'prod' })).toBe('prod/orders');
  expect(folderOf(namedCluster('orders', ''))).toBe('orders');
});

test.each(['', 'a/b', '..', '-a', 'a'.repeat(64)])('refuses the cluster name "%s"', (name) => {
  expect(() => namedCluster(name, undefined)).toThrow(expect.objectContaining({ at: 'cluster' }));
});

test.each(['a/b', '..', '.', '-a', 'A', 'a.b', 'a'.repeat(64)])('refuses the namespace "%s"', (namespace) => {
  expect(() => namedCluster('orders', namespace)).toThrow(expect.objectContaining({ at: 'namespace' }));
});

test.each([
  ['evil\u001b[31m\nFAKE', undefined, ''],
  ['orders', 'a\u001b[31m', ''],
  ['orders', undefined, 'evil\u001b[31m/orders'],
])('a manifest of cluster %j in namespace %j in folder %j says nothing of the place', (name, namespace, folder) => {
  const own = namespace === undefined ? name : `${namespace}/${name}`;
  const manifest = { object: { key: `${own}/x.db` }, cluster: { name, namespace } };
  expect(misplacedManifest(folder, manifest)).toBeUndefined();
});
