import { Chart, Cron, Testing } from 'cdk8s';
import { EtcdCluster } from '../../src';

import { grantedRights, guideRights, listedRights, rows } from '../rights';
import { type Manifest, s3 } from '../synth';

const chart = new Chart(Testing.app(), 'shop');
new EtcdCluster(chart, 'orders').addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
const manifests: Manifest[] = Testing.synth(chart);

const accounts = ['orders', 'etcd-reconciler', 'orders-nightly', 'default'];

test('the security model has a table for each account', () => {
  expect([...guideRights().keys()]).toEqual(accounts);
});

test.each(accounts)('and it lists the rights that the manifests give to %s', (account) => {
  expect(rows(guideRights().get(account)!)).toEqual(rows(grantedRights(manifests, account)));
});

test("the answer of kubectl's can-i is read", () => {
  const output = `Resources                              Non-Resource URLs   Resource Names   Verbs
pods/eviction                          []                  [orders-0]       [create]
etcdclusters.cdk8s-etcd.dev/status     []                  []               [patch get]
                                       [/healthz]          []               [get]
`;
  expect(listedRights(output)).toEqual([
    'get /healthz *',
    'get etcdclusters.cdk8s-etcd.dev/status *',
    'patch etcdclusters.cdk8s-etcd.dev/status *',
    'create pods/eviction orders-0',
  ]);
});
