import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sample } from '../../lib/metrics/sample.ts';
import { metrics } from '../../lib/metrics/table.ts';
import { writeMetrics } from './textfile.ts';

let directory: string;
let file: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'metrics-'));
  file = join(directory, 'etcd.prom');
});
afterEach(() => rm(directory, { recursive: true }));

const backup = { command: 'backup', etcd_cluster: 'orders' };
const store = { etcd_cluster: 'orders', store: 'file:///x' };
const lines = async () => (await readFile(file, 'utf8')).split('\n').filter((line) => line && !line.startsWith('#'));

test('the file has help, type and escaped labels as Prometheus reads them, and no temporary file is left', async () => {
  const labels = { etcd_cluster: 'orders', store: 'a"b\\c\nd' };
  await writeMetrics(file, [sample('etcd_backup_last_verified_timestamp_seconds', labels, 1795228687.5)], backup);
  expect(await readFile(file, 'utf8')).toBe(
    [
      `# HELP etcd_backup_last_verified_timestamp_seconds ${metrics.etcd_backup_last_verified_timestamp_seconds.help}`,
      '# TYPE etcd_backup_last_verified_timestamp_seconds gauge',
      'etcd_backup_last_verified_timestamp_seconds{etcd_cluster="orders",store="a\\"b\\\\c\\nd"} 1795228687.5',
      '',
    ].join('\n'),
  );
  expect(await readdir(directory)).toEqual(['etcd.prom']);
});

test('a run that failed early keeps the time of the last verified snapshot, and replaces its own series', async () => {
  const phase = sample('etcd_backup_last_run_phase_duration_seconds', { ...backup, phase: 'stream' }, 3);
  await writeMetrics(file, [sample('etcd_backup_last_verified_timestamp_seconds', store, 100), phase], backup);
  await writeMetrics(file, [sample('etcd_backup_last_run_exit_code', backup, 10)], backup);
  expect(await lines()).toEqual([
    'etcd_backup_last_verified_timestamp_seconds{etcd_cluster="orders",store="file:///x"} 100',
    'etcd_backup_last_run_exit_code{command="backup",etcd_cluster="orders"} 10',
  ]);
});

test('a series that is kept is the same afterwards, and one that no metric of ours has is left out', async () => {
  const labels = { namespace: 'shop', etcd_cluster: 'orders', store: 'a"b\\n\\c\nd{e="f",g} 5' };
  await writeMetrics(file, [sample('etcd_backup_snapshots', labels, 3)], backup);
  const before = await lines();
  await appendFile(file, 'etcd_backup_snapshots{etcd_cluster="orders"} 3\netcd_backup_gone{etcd_cluster="orders"} 3\n');
  for (let run = 0; run < 2; run++) await writeMetrics(file, [], backup);
  expect(await lines()).toEqual(before);
});

test('several commands and clusters share a file', async () => {
  const other = { command: 'backup', etcd_cluster: 'orders2' };
  const verify = { command: 'verify', etcd_cluster: 'orders' };
  for (const run of [backup, other, verify])
    await writeMetrics(file, [sample('etcd_backup_last_run_exit_code', run, 0)], run);
  await writeMetrics(file, [sample('etcd_backup_last_run_exit_code', backup, 20)], backup);
  expect(await lines()).toEqual([
    'etcd_backup_last_run_exit_code{command="backup",etcd_cluster="orders"} 20',
    'etcd_backup_last_run_exit_code{command="backup",etcd_cluster="orders2"} 0',
    'etcd_backup_last_run_exit_code{command="verify",etcd_cluster="orders"} 0',
  ]);
});

test('a file that cannot be written is reported', async () => {
  await expect(writeMetrics(join(directory, 'no', 'such.prom'), [], backup)).rejects.toThrow(/ENOENT/);
});
