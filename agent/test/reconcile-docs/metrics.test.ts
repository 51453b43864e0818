import { readFile } from 'node:fs/promises';
import { families } from '../../src/backup/metrics/samples.ts';

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

/**
 * Returns the names at the beginning of each row: `a`, `b`: …, with `…_c` for a name that goes on like the one before.
 */
const named = (page: string, prefix: RegExp, short = ''): string[] =>
  [...page.matchAll(/^\| (`.*?) \| /gm)]
    .flatMap(([, cell]) => [...cell!.matchAll(/`(…?\w+)`/g)].map(([, name]) => name!.replace('…', short)))
    .filter((name) => prefix.test(name))
    .sort();

test('docs/operations/monitoring.md has every metric of a command, and no other', async () => {
  const page = await read('docs/operations/monitoring.md');
  expect(named(page, /^etcd_backup_/, 'etcd_backup_last_run')).toEqual(Object.keys(families).sort());
});

test('docs/reference/agent.md has every metric of the reconciler, and no other', async () => {
  const source = await read('agent/src/controllers/reconciler-metrics.ts');
  const own = [...source.matchAll(/'(etcd_\w+)'/g)].map(([, name]) => name!);
  expect(named(await read('docs/reference/agent.md'), /^etcd_/)).toEqual(own.sort());
});
