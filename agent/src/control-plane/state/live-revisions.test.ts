import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { freePorts } from '../../../test/harness/free-ports.ts';
import { liveRevisions } from './live-revisions.ts';

test('members that answer report their revision; others are skipped', async () => {
  const etcd = await EtcdCluster.start();
  const [free] = await freePorts(1);
  const urls = [...etcd.endpoints, ...etcd.endpoints, `http://127.0.0.1:${free}`];
  await etcd.put(20);
  const [seen, ...more] = await liveRevisions(urls, {});
  expect(more).toEqual([]);
  const { header } = JSON.parse(await etcd.etcdctl('get', 'x', '-w', 'json'));
  expect(seen).toMatchObject({ revision: header.revision, hasQuorum: true, where: expect.stringContaining('etcd at') });
  expect(seen?.clusterId).toMatch(/^[0-9a-f]{1,16}$/);
  await etcd.stop();
  expect(await liveRevisions(urls, {})).toEqual([]);
});
