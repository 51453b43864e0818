import { Writable } from 'node:stream';
import { ApiClient } from '../kube/api-client.ts';
import { Paths } from '../kube/paths.ts';
import { createLog } from '../lib/log.ts';
import { FakeApi } from './kubernetes/fake-api.fixture.ts';
import type { EtcdRestoreObject } from './objects/restore-object.ts';
import { reportOrphans } from './orphans.ts';

const paths = new Paths('shop');
const log = createLog(new Writable({ write: (_chunk, _encoding, done) => done() }));

test('a restore without its cluster says so, and not without the Lease', async () => {
  await using api = await FakeApi.listen();
  const client = new ApiClient(api.access, 10_000);
  api.put(paths.of('etcdrestores', 'r'), { spec: { clusterName: 'orders' } });
  let isHeld = false;
  const at = () => {
    if (!isHeld) throw new Error('another reconciler may hold the Lease');
  };
  const options = { client, paths, log, at, clusters: () => [] };
  const check = () => reportOrphans(options, api.objects<EtcdRestoreObject>(paths.of('etcdrestores')), []);
  await check();
  expect(api.requests).toEqual([]);
  isHeld = true;
  await check();
  const status = () => api.object<EtcdRestoreObject>(paths.of('etcdrestores', 'r'))?.status;
  expect(status()).toMatchObject({ phase: 'Pending', reason: 'ClusterNotFound' });
  // Past its fence it has changed the cluster that is gone, and must not begin anew in another one.
  api.put(paths.of('etcdrestores', 'r'), { spec: { clusterName: 'orders' }, status: { phase: 'Regrowing' } });
  await check();
  expect(status()).toMatchObject({ phase: 'Regrowing', reason: 'ClusterNotFound' });
  expect(status()?.conditions).toContainEqual(expect.objectContaining({ type: 'Reconciling', status: 'True' }));
  client.close();
});
