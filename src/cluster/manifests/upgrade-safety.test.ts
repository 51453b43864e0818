import { Size } from 'cdk8s';
import { cluster, manifestsOf } from '../../../test/clusters';
import type { Manifest } from '../../../test/synth';

// Immutable fields, as releases since 0.1.0 have written them. If they differ, `kubectl apply` of the new release fails
// for every existing cluster, or creates new volumes: then restore the manifests, and do not change this test.

const selector = {
  matchLabels: {
    'app.kubernetes.io/name': 'etcd',
    'app.kubernetes.io/instance': 'orders',
    'app.kubernetes.io/component': 'member',
  },
};

const claim = (spec: object) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem', ...spec },
  status: { phase: 'Pending' },
});

const statefulSet = { selector, serviceName: 'orders-peers', podManagementPolicy: 'Parallel' };
const storage = (amount: string) => ({ resources: { requests: { storage: amount } } });

/** Fields of a StatefulSet that may change are left out. */
function immutable({ kind, spec, roleRef }: Manifest): unknown {
  switch (kind) {
    case 'StatefulSet': {
      const { replicas, ordinals, template, updateStrategy, revisionHistoryLimit, minReadySeconds, ...others } = spec;
      const { persistentVolumeClaimRetentionPolicy, ...fixed } = others;
      return fixed;
    }
    case 'Deployment':
      return spec.selector;
    case 'RoleBinding':
      return roleRef;
    case 'Service':
      return { clusterIP: spec.clusterIP, type: spec.type };
    default:
      return undefined;
  }
}

const fixedOf = (manifests: Manifest[]) =>
  Object.fromEntries(
    manifests.flatMap((manifest) => {
      const fixed = immutable(manifest);
      return fixed === undefined ? [] : [[`${manifest.kind} ${manifest.metadata.name}`, fixed]];
    }),
  );

const role = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name });

test('a new release can be applied over the manifests of any other', () => {
  expect(fixedOf(manifestsOf(cluster()))).toEqual({
    'StatefulSet orders': { ...statefulSet, volumeClaimTemplates: [claim(storage('8Gi'))] },
    'Service orders': {},
    'Service orders-peers': { clusterIP: 'None' },
    ...Object.fromEntries(
      [0, 1, 2, 3, 4, 5, 6].map((ordinal) => [`Service orders-${ordinal}-client`, { clusterIP: 'None' }]),
    ),
    'RoleBinding orders': role('orders'),
    'RoleBinding orders-etcd-reconciler': role('orders-etcd-reconciler'),
    'RoleBinding etcd-reconciler': role('etcd-reconciler'),
    'Deployment etcd-reconciler': {
      matchLabels: { 'app.kubernetes.io/name': 'etcd-reconciler', 'app.kubernetes.io/instance': 'etcd-reconciler' },
    },
    'Service etcd-reconciler': {},
  });
});

test.each([
  [
    'a storage class',
    { size: Size.gibibytes(20), storageClass: 'fast' },
    { volumeClaimTemplates: [claim({ ...storage('20Gi'), storageClassName: 'fast' })] },
  ],
  [
    'volumes for one pod',
    { readWriteOncePod: true },
    { volumeClaimTemplates: [claim({ ...storage('8Gi'), accessModes: ['ReadWriteOncePod'] })] },
  ],
  ['ephemeral volumes', { ephemeral: true }, {}],
])('the same with %s', (_, volume, claims) => {
  expect(fixedOf(manifestsOf(cluster({ volume })))).toMatchObject({
    'StatefulSet orders': { ...statefulSet, ...claims },
  });
  expect(Object.keys(fixedOf(manifestsOf(cluster({ volume })))['StatefulSet orders'] as object).sort()).toEqual(
    Object.keys({ ...statefulSet, ...claims }).sort(),
  );
});

test('the names by which volumes, the record and the DNS of members are found stay', () => {
  const { spec } = manifestsOf(cluster()).find(({ kind }) => kind === 'StatefulSet');
  const { args } = spec.template.spec.initContainers[0];
  expect(spec.volumeClaimTemplates[0].metadata.name).toBe('data');
  expect(args).toEqual(expect.arrayContaining(['--record=orders-record', '--peer-service=orders-peers']));
});
