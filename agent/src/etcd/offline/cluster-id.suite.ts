import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { etcdutl } from '../../../test/harness/etcd-binaries.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { clusterIdOf, idsOf, loneClusterId } from './cluster-id.ts';
import { Etcdutl } from './etcdutl.ts';
import { walIdentity } from './wal.ts';

test('a list of members and a token give the cluster id that etcdutl computes', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'cluster-id-'));
  await using etcd = await EtcdCluster.start();
  const file = join(directory, 'snapshot.db');
  await etcd.etcdctl('snapshot', 'save', file);
  const lists = [
    'a=http://10.0.0.1:2380',
    ',a=HTTP://10.0.0.1:2380,,b=Https://etcd-B:2380, b=http://10.0.0.9:2380,',
    'c=http://10.0.0.3:2380,a=http://10.0.0.1:2380,b=https://etcd-b:2380,a=http://10.0.0.9:2380',
  ];
  for (const [n, list] of lists.entries()) {
    const dataDir = join(directory, `${n}`);
    const urls = list.split(',').filter((pair) => pair.startsWith('a='));
    const args = [
      ...['snapshot', 'restore', file, '--data-dir', dataDir, '--name=a', '--initial-cluster-token=t'],
      ...['--initial-cluster', list, '--initial-advertise-peer-urls', urls.map((url) => url.slice(2)).join()],
    ];
    expect(await new Etcdutl(etcdutl()).run(args, {})).toMatchObject({ exitCode: 0 });
    const made = await walIdentity(dataDir);
    expect(clusterIdOf(list, 't')).toBe(made?.clusterId);
    expect(idsOf(list, 't')?.memberIds.get('a')).toBe(made?.memberId);
  }
  expect(clusterIdOf(lists[0]!, 't')).toBe(loneClusterId('http://10.0.0.1:2380', 't'));
  for (const list of ['nonsense', '', 'a=http://a:1,b']) expect(clusterIdOf(list, 't')).toBeUndefined();
  await rm(directory, { recursive: true });
});
