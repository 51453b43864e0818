import { render } from '../../lib/metrics/render.ts';
import { sample } from '../../lib/metrics/sample.ts';
import { metrics } from '../../lib/metrics/table.ts';
import { type Exported, exportedSamples } from './exported.ts';

const url = 'file:///backups';
const labels = { etcd_cluster: 'orders', store: url };
const found = { samples: [sample('etcd_backup_last_verified_timestamp_seconds', labels, 100)] };
const last = { value: found, at: 5_000 };

async function linesOf(read: Exported['stores'][number]['read'], etcd?: Exported['etcd']): Promise<string[]> {
  const text = await render(exportedSamples({ named: { cluster: 'orders' }, stores: [{ url, read }], etcd }));
  return text.split('\n').filter((line) => line.startsWith('etcd_'));
}

const store = (name: string, value: number) => `etcd_backup_${name}{etcd_cluster="orders",store="${url}"} ${value}`;

test('a store that was not read yet has no series', async () => {
  expect(await linesOf({ isUp: undefined, last: undefined })).toEqual([]);
});

test('a store that was never read is down, and nothing is claimed of its snapshots', async () => {
  expect(await linesOf({ isUp: false, last: undefined })).toEqual([store('store_up', 0)]);
});

test('a store that cannot be read any more is down, and keeps the time of its newest snapshot', async () => {
  const known = [store('store_last_read_timestamp_seconds', 5), store('last_verified_timestamp_seconds', 100)];
  expect(await linesOf({ isUp: true, last })).toEqual([store('store_up', 1), ...known]);
  expect(await linesOf({ isUp: false, last })).toEqual([store('store_up', 0), ...known]);
});

test('an etcd that does not answer is down, and has no revision', async () => {
  const of = (isUp: boolean | undefined) =>
    linesOf({ isUp: undefined, last: undefined }, { isUp, last: { value: { revision: 7 }, at: 1 } });
  expect(await of(true)).toEqual([
    'etcd_backup_etcd_up{etcd_cluster="orders"} 1',
    'etcd_backup_etcd_revision{etcd_cluster="orders"} 7',
  ]);
  expect(await of(false)).toEqual(['etcd_backup_etcd_up{etcd_cluster="orders"} 0']);
  expect(await of(undefined)).toEqual([]);
});

test('every sample is one that the table ascribes to the exporter', () => {
  const etcd = { isUp: true, last: { value: { revision: 7 }, at: 1 } };
  const all = exportedSamples({ named: { cluster: 'orders' }, stores: [{ url, read: { isUp: true, last } }], etcd });
  const others = all.filter(({ name }) => !metrics[name].from.some((each) => each === 'exporter'));
  expect(others).toEqual([]);
});
