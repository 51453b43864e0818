// The same through a real API server, of which only the dry run is asked.
import { TestNamespace } from '../apply/namespace';
import { collected, constructed, documents, rendered, resourceIn } from './drawn';
import { drawnCluster } from './props';

test('what an API server returns, with its defaults and the fields that it manages', async () => {
  const namespace = await TestNamespace.create('same-bytes');
  try {
    const all = collected(drawnCluster, (drawn) => constructed(drawn, namespace.name));
    for (let first = 0; first < all.length; first += 100) {
      const some = all.slice(first, first + 100);
      const items = some.map((yaml) => resourceIn(yaml)).join('\n---\n');
      const args = ['create', '--dry-run=server', '--show-managed-fields', '-o', 'yaml', '-f', '-'];
      const returned = documents((await namespace.kubectl(args, items)).stdout);
      expect(returned).toHaveLength(some.length);
      for (const [index, resource] of returned.entries()) {
        expect(resource).toMatch(/^status:$[\s\S]*observedGeneration: 0/m);
        expect(rendered(resource)).toBe(some[index]);
      }
    }
  } finally {
    await namespace.delete();
  }
});
