import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { availableMinors } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { EtcdMember } from '../../etcd/etcd-member.ts';
import { WalTail, walState } from '../../etcd/offline/wal-state.ts';
import { parseEtcdMetrics } from './etcd-metrics.ts';
import { EtcdProbe } from './etcd-probe.ts';

const signal = new AbortController().signal;

test('metrics and log agree with the answers of a running etcd, in every version', async () => {
  const found = availableMinors().map(async (minor) => {
    await using etcd = await EtcdCluster.start({ minor });
    const { dataDir, clientUrl } = etcd.member(0);
    const tail = new WalTail(dataDir);
    const early = await tail.state();
    // More records than one read of the log covers.
    const value = 'x'.repeat(1_000_000);
    const client = await etcd.connect();
    // Concurrent readers of a growing log must not disturb each other.
    for (const key of ['a', 'b', 'c', 'd', 'e'])
      await Promise.all([client.put(key).value(value), tail.state(), tail.state()]);
    client.close();
    const member = await EtcdMember.connect(etcd.endpoints[0]!, { endpoints: etcd.endpoints, dialTimeout: 5_000 });
    let status = await member.status();
    // The last entry may be committed a moment before it is applied.
    while (status.raftAppliedIndex < status.raftIndex) {
      await setTimeout(20);
      status = await member.status();
    }
    member.close();

    const metrics = await new EtcdProbe(clientUrl, signal).metrics();
    expect({ minor, ...metrics }).toMatchObject({
      minor,
      ...{ version: etcd.binaries.version, clusterVersion: minor, memberId: status.memberId },
      ...{ hasLeader: true, isLeader: true, isLearner: false },
      ...{ committedIndex: status.raftIndex, appliedIndex: status.raftAppliedIndex },
    });
    expect(metrics!.dbInUse).toBeGreaterThan(0);
    expect(metrics!.dbSize).toBeGreaterThanOrEqual(metrics!.dbInUse);
    expect(Math.abs(Date.parse(metrics!.upSince) - Date.now())).toBeLessThan(10 * 60_000);

    const late = await tail.state();
    expect(await walState(dataDir)).toEqual(late);
    // The newest commit is written with the next entry.
    expect(late).toMatchObject({ term: status.raftTerm, lastIndex: status.raftIndex });
    expect(late!.commit).toBeGreaterThanOrEqual(status.raftIndex - 1);
    expect(early!.lastIndex).toBeLessThan(late!.lastIndex);
  });
  await Promise.all(found);
});

test('a cluster version of the past stays as a series with 0', () => {
  const metrics = parseEtcdMetrics(
    [
      '# TYPE etcd_cluster_version gauge',
      'etcd_cluster_version{cluster_version="3.5"} 0',
      'etcd_cluster_version{cluster_version="3.6"} 1',
      'etcd_server_version{server_version="3.6.16"} 1',
      'etcd_server_proposals_committed_total 1.234567e+06',
      'etcd_server_has_leader 0',
      'grpc_server_handled_total{grpc_code="OK",grpc_method="Range"} 5',
    ].join('\n'),
  );
  expect(metrics).toMatchObject({
    ...{ version: '3.6.16', clusterVersion: '3.6', memberId: undefined },
    ...{ committedIndex: 1_234_567, hasLeader: false, isLearner: false },
  });
});

test('a start that is not a valid time', () => {
  const metrics = parseEtcdMetrics(
    'etcd_server_version{server_version="3.6.16"} 1\nprocess_start_time_seconds 1e+30\n',
  );
  expect(metrics?.upSince).toBe('1970-01-01T00:00:00.000Z');
});

test('metrics of another program', async () => {
  expect(parseEtcdMetrics('go_goroutines 5\n')).toBeUndefined();
  expect(parseEtcdMetrics('')).toBeUndefined();
  expect(await new EtcdProbe('http://127.0.0.1:1', signal).metrics()).toBeUndefined();
  expect(await new EtcdProbe('http://127.0.0.1:1', signal).readyz()).toBeUndefined();
});

test('a directory without a log', async () => {
  expect(await walState('/nonexistent')).toBeUndefined();
});

test('a log that is damaged, and later intact again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'wal-'));
  const file = join(directory, 'member/wal/0000000000000000-0000000000000000.wal');
  await mkdir(dirname(file), { recursive: true });
  const frame = (record: Buffer) => Buffer.concat([Buffer.from([record.length, 0, 0, 0, 0, 0, 0, 0]), record]);
  const state = frame(Buffer.from([0x08, 3, 0x10, 0, 0x1a, 4, 0x08, 7, 0x18, 9]));
  await writeFile(file, state);
  const tail = new WalTail(directory);
  expect(await tail.state()).toEqual({ term: 7, commit: 9, lastIndex: 0 });
  const newer = frame(Buffer.from([0x08, 3, 0x10, 0, 0x1a, 4, 0x08, 8, 0x18, 9]));
  await writeFile(file, Buffer.concat([state, frame(Buffer.alloc(10, 0xff))]));
  await expect(tail.state()).rejects.toThrow(RangeError);
  await writeFile(file, Buffer.concat([state, newer]));
  expect(await tail.state()).toMatchObject({ term: 8 });
  await rm(directory, { recursive: true });
});
