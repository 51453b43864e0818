import { ApiObject, Chart, JsonPatch, Testing } from 'cdk8s';
import type { Construct } from 'constructs';
import {
  BackupStore,
  EtcdBackup,
  EtcdCluster,
  EtcdCrds,
  EtcdReconciler,
  EtcdRestore,
  RestoreSource,
  S3Credentials,
} from '../../src';
import { cronJobOf, schedule } from '../synth';

const chart = () => new Chart(Testing.app(), 'shop', { namespace: 'shop' });
const credentials = S3Credentials.workloadIdentity({ serviceAccountAnnotations: { 'example.com/role': 'backup' } });
const store = BackupStore.s3({ bucket: 'backups', region: 'eu-west-1', credentials });

const constructs: [string, () => Construct, string[]][] = [
  ['EtcdCrds', () => new EtcdCrds(chart(), 'crds'), ['EtcdBackups', 'EtcdClusters', 'EtcdRestores', 'EtcdUsers']],
  [
    'EtcdReconciler',
    () => new EtcdReconciler(chart(), 'reconciler'),
    ['Deployment', 'NetworkPolicy', 'Role', 'RoleBinding', 'Service', 'ServiceAccount'],
  ],
  ['EtcdBackupSchedule', () => schedule(), ['CronJob', 'ServiceAccount']],
  ['EtcdBackup', () => new EtcdBackup(chart(), 'now', { endpoints: ['a:1'], store }), ['EtcdBackup', 'ServiceAccount']],
  [
    'EtcdRestore',
    () => {
      const cluster = new EtcdCluster(chart(), 'orders');
      return new EtcdRestore(cluster, 'back', {
        cluster,
        source: RestoreSource.key(store, 'a.db'),
        safetyBackup: false,
      });
    },
    ['EtcdRestore', 'ServiceAccount'],
  ],
  [
    'EtcdUser',
    () => new EtcdCluster(chart(), 'orders').addUser('api', { can: [] }),
    ['EtcdUser', 'Role', 'RoleBinding', 'Secret'],
  ],
];

test.each(constructs)('each object of %s is a field, under a stable id', (_, make, ids) => {
  const construct = make();
  const children = construct.node.children.filter((child) => ApiObject.isApiObject(child));
  const fields: unknown[] = Object.values(construct).flat();
  expect(children.map(({ node }) => node.id).sort()).toEqual(ids);
  expect(children.filter((child) => !fields.includes(child))).toEqual([]);
});

test('a CronJob can be patched, although its stores come later', () => {
  const nightly = schedule();
  nightly.cronJob.addJsonPatch(JsonPatch.add('/spec/jobTemplate/spec/ttlSecondsAfterFinished', 60));
  nightly.addStore(BackupStore.filesystem({ claimName: 'backups' }));
  expect(cronJobOf(nightly).spec.jobTemplate.spec).toMatchObject({ ttlSecondsAfterFinished: 60 });
  expect(JSON.stringify(cronJobOf(nightly))).toContain('backups');
});
