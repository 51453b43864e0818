import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { metrics } from '../../src/lib/metrics/table.ts';

const root = join(import.meta.dirname, '../../..');
/** A metric of etcd itself. */
const notOurs = ['etcd_cluster_version'];

test('the documentation names no metric of ours that does not exist', async () => {
  const found: string[] = [];
  for await (const page of glob('{docs,quickstart,examples}/**/*.{md,mts,ts,yaml}', { cwd: root })) {
    const text = await readFile(join(root, page), 'utf8');
    const names = [...text.matchAll(/\betcd_(?:reconciler|cluster|agent|backup)_\w*[a-z]\b/g)].map(([name]) => name);
    found.push(...names);
    const unknown = names.filter((name) => !Object.hasOwn(metrics, name) && !notOurs.includes(name));
    expect({ page, unknown }).toEqual({ page, unknown: [] });
  }
  expect(new Set(found).size).toBeGreaterThan(20);
});
