import { Cron, Size } from 'cdk8s';
import { cluster, objectOf, tlsSecrets, userSecrets } from '../../../test/clusters';
import { type Manifest, s3 } from '../../../test/synth';
import { DeletionPolicy, type EtcdClusterProps, EtcdTls, ReplacePolicy } from '../..';

/** Each right on its own: `verb resource of API group: name`. */
function rights(role: Manifest): string[] {
  return role.rules
    .flatMap(({ apiGroups, resources, resourceNames, verbs, ...others }: Manifest) => {
      expect(others).toEqual({});
      return apiGroups.flatMap((group: string) =>
        resources.flatMap((resource: string) =>
          verbs.flatMap((verb: string) =>
            (resourceNames ?? ['*']).map((name: string) => `${verb} ${group || 'core'} ${resource} ${name}`),
          ),
        ),
      );
    })
    .sort();
}

const reconcilerRights = (props: EtcdClusterProps = {}) => {
  const subject = cluster(props);
  subject.addBackupSchedule('nightly', { schedule: Cron.daily(), store: s3 });
  return rights(objectOf(subject, 'Role', 'orders-etcd-reconciler'));
};

const ordinals = [0, 1, 2, 3, 4, 5, 6];
const jobs = ['pre-upgrade', 'final', 'safety', 'recovery', 'restore', 'salvage'];

const pods = ordinals.flatMap((i) => [
  `get core pods orders-${i}`,
  `delete core pods orders-${i}`,
  `create core pods/eviction orders-${i}`,
]);
const claims = ordinals.flatMap((i) => [
  `get core persistentvolumeclaims data-orders-${i}`,
  `patch core persistentvolumeclaims data-orders-${i}`,
  `delete core persistentvolumeclaims data-orders-${i}`,
]);
const withoutClaims = [
  'get core configmaps orders-record',
  'update core configmaps orders-record',
  'get apps statefulsets orders',
  'patch apps statefulsets orders',
  'get apps statefulsets/scale orders',
  'patch apps statefulsets/scale orders',
  ...pods,
  ...jobs.flatMap((job) => [`get batch jobs orders-${job}`, `delete batch jobs orders-${job}`]),
  'patch cdk8s-etcd.dev etcdclusters/status orders',
  'patch cdk8s-etcd.dev etcdclusters orders',
];
const plain = [...withoutClaims, ...claims];
const issues = [
  'orders-peer-ca',
  'orders-client-ca',
  'orders-peer-tls',
  'orders-server-tls',
  'orders-client-tls',
  'orders-root-tls',
  'orders-backup-tls',
].flatMap((name) => [`get core secrets ${name}`, `update core secrets ${name}`]);
const always = [...plain, ...issues];

test('a member may read its record, and nothing else', () => {
  expect(rights(objectOf(cluster(), 'Role', 'orders'))).toEqual(['get core configmaps orders-record']);
});

const discard = (discardVolume: boolean) =>
  ReplacePolicy.onVolumeLoss({ ordinal: 1, memberId: '8e9e05c52164694d', discardVolume });

test.each<[string, EtcdClusterProps, string[]]>([
  ['by default', {}, always],
  ['with another size', { size: 7 }, always],
  ['on shrinking: Delete', { onShrink: DeletionPolicy.DELETE }, always],
  ['on deletion: Delete', { onDelete: DeletionPolicy.DELETE }, [...always, 'delete core configmaps orders-record']],
  [
    'on deletion: Delete without a final backup',
    { onDelete: DeletionPolicy.DELETE, finalBackup: false },
    [...always, 'delete core configmaps orders-record'],
  ],
  ['with a final backup', { finalBackup: true }, always],
  ['with a member to replace', { replace: discard(false) }, always],
  ['with a volume to discard', { replace: discard(true) }, always],
  ['with ephemeral volumes', { volume: { size: Size.gibibytes(4), ephemeral: true } }, [...withoutClaims, ...issues]],
  ['without TLS', { tls: EtcdTls.none() }, plain],
  ['with Secrets of others', { tls: EtcdTls.fromSecrets(tlsSecrets) }, [...plain, 'get core secrets orders-client']],
  [
    'with Secrets of others, for users',
    { tls: EtcdTls.fromSecrets(userSecrets) },
    [...plain, 'get core secrets orders-client', 'get core secrets orders-root'],
  ],
])('what the reconciler may do with a cluster, %s', (_, props, expected) => {
  expect(reconcilerRights(props)).toEqual([...expected].sort());
});

test('the bindings name accounts of the own namespace, whichever that is', () => {
  const subject = cluster();
  const bound = (name: string) => {
    const { roleRef, subjects } = objectOf(subject, 'RoleBinding', name);
    return { role: roleRef, subjects };
  };
  const role = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name });
  expect(bound('orders')).toEqual({ role: role('orders'), subjects: [{ kind: 'ServiceAccount', name: 'orders' }] });
  expect(bound('orders-etcd-reconciler')).toEqual({
    role: role('orders-etcd-reconciler'),
    subjects: [{ kind: 'ServiceAccount', name: 'etcd-reconciler' }],
  });
  expect(objectOf(subject, 'ServiceAccount', 'orders').automountServiceAccountToken).toBe(false);
});
