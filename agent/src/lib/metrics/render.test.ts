import { render } from './render.ts';
import { type Sample, sample, samples } from './sample.ts';
import { metrics } from './table.ts';

test('a scrape has help, type and escaped labels as Prometheus reads them, in the order of the table', async () => {
  const text = await render([
    sample('etcd_backup_snapshots', { store: 'a"b\\c\nd', etcd_cluster: 'orders' }, 3),
    sample('etcd_reconciler_lists_total', { resource: 'pods' }, 2),
    sample('etcd_backup_snapshots', { store: 'other', etcd_cluster: 'orders', namespace: 'shop' }, 1.5),
  ]);
  expect(text).toBe(
    [
      '# HELP etcd_reconciler_lists_total Number of full lists of a kind.',
      '# TYPE etcd_reconciler_lists_total counter',
      'etcd_reconciler_lists_total{resource="pods"} 2',
      '',
      '# HELP etcd_backup_snapshots Number of snapshots in the store, verified or not.',
      '# TYPE etcd_backup_snapshots gauge',
      'etcd_backup_snapshots{etcd_cluster="orders",store="a\\"b\\\\c\\nd"} 3',
      'etcd_backup_snapshots{namespace="shop",etcd_cluster="orders",store="other"} 1.5',
      '',
    ].join('\n'),
  );
});

test('a value that is not known has no series, and a scrape keeps nothing of the one before', async () => {
  expect(samples('etcd_agent_epoch', {}, undefined)).toEqual([]);
  expect(samples('etcd_agent_epoch', {}, Number.NaN)).toEqual([]);
  expect(await render([sample('etcd_agent_epoch', {}, 0)])).toMatch(/^etcd_agent_epoch 0$/m);
  expect(await render([])).toBe('\n');
});

test.each<[string, Sample]>([
  // @ts-expect-error There is no such metric.
  ['an unknown name', sample('etcd_backup_nothing', {}, 1)],
  // @ts-expect-error It has the label `phase`.
  ['a missing label', sample('etcd_reconciler_backups', {}, 1)],
  // @ts-expect-error It has no label.
  ['an unknown label', sample('etcd_agent_epoch', { etcd_cluster: 'orders' }, 1)],
])('%s does not compile, and is refused', async (_, each) => {
  await expect(render([each])).rejects.toThrow(/table of metrics/);
});

test.each(Object.entries(metrics))('%s is named by the rules of Prometheus', (name, { type, help, from }) => {
  expect(name).toMatch(/^(etcd_(reconciler|cluster|agent|backup)|process)_[a-z_]+$/);
  expect(name.endsWith('_total')).toBe(type === 'counter');
  expect(name).not.toMatch(/_(milliseconds|ms|minutes|kilobytes|mib)(_|$)/);
  expect(help).toMatch(/^[A-Z0-9].*\.$/);
  expect(from.length).toBeGreaterThan(0);
});
