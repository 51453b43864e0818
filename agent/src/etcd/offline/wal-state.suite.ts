import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { walDirectory, walFiles } from './wal.ts';
import { type WalState, walState } from './wal-state.ts';

test('a log of etcd that a power failure cut off at any sector ends before the record that was cut off', async () => {
  await using etcd = await EtcdCluster.start({});
  const { dataDir } = etcd.member(0);
  const client = await etcd.connect();
  // A value of zeros looks as if sectors of it were missing.
  for (const length of [10, 3_000, 600, 10]) await client.put(`k${length}`).value(Buffer.alloc(length));
  client.close();
  const whole = (await walState(dataDir))!;
  const [file] = await walFiles(walDirectory(dataDir));
  const log = await readFile(join(walDirectory(dataDir), file!));

  const directory = await mkdtemp(join(tmpdir(), 'wal-'));
  await mkdir(join(directory, 'member/wal'), { recursive: true });
  const states: WalState[] = [];
  for (let cut = 512; cut < log.length && (states.at(-1)?.lastIndex ?? 0) < whole.lastIndex; cut += 512) {
    await writeFile(join(directory, 'member/wal', file!), Buffer.concat([log.subarray(0, cut), Buffer.alloc(2_048)]));
    states.push((await walState(directory))!);
  }
  await rm(directory, { recursive: true });
  expect(states.length).toBeGreaterThan(8);
  expect(states.at(-1)).toMatchObject({ lastIndex: whole.lastIndex });
  for (const [index, { lastIndex, commit }] of states.entries()) {
    expect(lastIndex).toBeGreaterThanOrEqual(commit);
    expect(lastIndex).toBeGreaterThanOrEqual(states[index - 1]?.lastIndex ?? 0);
  }
});
