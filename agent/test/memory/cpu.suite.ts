// The default CPU of a pod that only backs up, and less.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLUSTER } from '../faults/commands.ts';
import { DirectoryPlace } from '../faults/directory-place.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { runConfined } from './confined-agent.ts';
import { fill } from './fill.ts';

const MIB = 1024 * 1024;

test('a CPU limit of 100m makes a backup slower, and never fails it', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'etcd-agent-cpu-'));
  try {
    await using etcd = await EtcdCluster.start({ tls: true, dataRoot: scratch });
    await fill(etcd, 0, 32);
    const { ca, client } = etcd.tls!;
    await using place = await DirectoryPlace.make();
    const { result, throttled } = await runConfined(
      { memory: 100 * MIB, cpu: 0.1 },
      [
        ...['backup', '--store', place.store, '--cluster', CLUSTER, '--endpoints', etcd.endpoints.join()],
        ...['--cacert', ca, '--cert', client.cert, '--key', client.key],
      ],
      scratch,
    );
    expect(result.stores).toMatchObject([{ verified: 'read' }]);
    expect(throttled).toBeGreaterThan(10);
  } finally {
    await rm(scratch, { recursive: true });
  }
});
