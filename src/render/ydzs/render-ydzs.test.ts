import { errorsOf, only, type Rendering, rendering } from '../../../test/rendering';
import type { Manifest } from '../../../test/synth';

const resource = (kind: string, spec: Manifest) => ({
  apiVersion: 'etcd.ydzs.io/v1alpha1',
  kind,
  metadata: { name: 'demo' },
  spec,
});
const cluster = (spec: Manifest = {}) => resource('EtcdCluster', { size: 3, image: 'cnych/etcd:v3.4.13', ...spec });
const etcdUrl = 'http://demo-0.demo:2379';
const backup = (spec: Manifest = {}) =>
  resource('EtcdBackup', {
    etcdUrl,
    storageType: 's3',
    s3: { path: 'backups/demo.db', endpoint: 'play.min.io', secret: 'minio' },
    ...spec,
  });

const about = ({ lines }: Rendering, field: string) =>
  lines
    .filter((line) => line.includes(`: ${field}: `))
    .map((line) => line.replace(/ EtcdCluster demo \(document 1\):/, ''));

test('a cluster of size and image', () => {
  const rendered = rendering([cluster()]);
  expect(only(rendered, 'EtcdCluster').spec).toEqual({ size: 3, version: '3.5.11', storage: { size: '8Gi' } });
  const on = (text: string) => `EtcdCluster demo (document 1): ${text}`;
  expect(rendered.lines).toEqual([
    `note: ${on("metadata.name: the old cluster has a StatefulSet and a Service 'demo', and so does the new one; apply this to another namespace (--namespace), or after the old cluster has been deleted")}`,
    `note: ${on('metadata.name: clients reach the new cluster at demo-0-client:2379 and so on, or at demo:2379, and no longer at demo-0.demo:2379')}`,
    `note: ${on('spec: each member had a volume of 1Gi; each now has one of 8Gi')}`,
    `note: ${on('spec.image: 3.4.13 is older than 3.5.11, the oldest supported version of 3.5, and becomes 3.5.11; prefer 3.5.35, the newest. Members cannot be upgraded in place from 3.4: a backup and a restore carry the data over').replace('3.4.13', 'v3.4.13')}`,
    `not carried over: ${on("spec.image: 'cnych/etcd:v3.4.13': etcd's own image of 3.5.11 replaces it; --registry selects a mirror")}`,
    `note: ${on("spec: the new cluster starts empty; to keep the data, back up the old cluster, add an EtcdRestore of 'demo' from that snapshot to this file, and render it again")}`,
    expect.stringMatching(/^note: etcd 3\.5\.11 has known vulnerabilities: .*use 3\.5\.33 or newer/),
  ]);
});

test.each<[string, string, string[]]>([
  ['cnych/etcd:v3.5.20', 'cnych/etcd:v3.5.20', []],
  ['localhost:5000/etcd:3.6.16-0', 'localhost:5000/etcd:3.6.16-0', []],
  [
    'cnych/etcd:latest',
    'gcr.io/etcd-development/etcd:v3.6.16',
    [
      "not carried over: spec.image: 'cnych/etcd:latest' does not show which supported version of etcd it contains; etcd's own image of 3.6.16 replaces it; --registry selects a mirror",
    ],
  ],
  [
    'localhost:5000/etcd',
    'gcr.io/etcd-development/etcd:v3.6.16',
    [
      "not carried over: spec.image: 'localhost:5000/etcd' does not show which supported version of etcd it contains; etcd's own image of 3.6.16 replaces it; --registry selects a mirror",
    ],
  ],
])('%s becomes %s', (given, image, lines) => {
  const rendered = rendering([cluster({ image: given })]);
  expect(only(rendered, 'StatefulSet').spec.template.spec.containers[0].image).toBe(image);
  expect(about(rendered, 'spec.image')).toEqual(lines);
});

test.each<[string, Manifest, Manifest]>([
  ['S3', {}, { s3: { bucket: 'backups', endpoint: 'play.min.io', credentials: { secretName: 'minio' } } }],
  [
    'S3, with the former name of the Secret',
    { s3: { path: 'backups/demo.db', s3Secret: 'minio' } },
    { s3: { bucket: 'backups', credentials: { secretName: 'minio' } } },
  ],
  [
    'OSS',
    {
      storageType: 'oss',
      s3: undefined,
      oss: { path: 'backups/demo.db', secret: 'ali', endpoint: 'oss-cn-beijing.aliyuncs.com' },
    },
    { oss: { bucket: 'backups', endpoint: 'oss-cn-beijing.aliyuncs.com', credentials: { secretName: 'ali' } } },
  ],
  [
    'OSS, with the former name of the Secret',
    { storageType: 'oss', s3: undefined, oss: { path: 'backups/demo.db', ossSecret: 'ali' } },
    { oss: { bucket: 'backups', credentials: { secretName: 'ali' } } },
  ],
])('a backup to %s', (_, spec, store) => {
  const rendered = rendering([backup(spec)], { reconciler: false });
  expect(only(rendered, 'EtcdBackup').spec).toEqual({
    endpoints: [etcdUrl],
    key: 'demo.db',
    compression: 'none',
    store,
  });
  expect(rendered.lines).toEqual([
    'note: EtcdBackup demo (document 1): spec: is one plain snapshot under exactly this key; if the key already exists, the backup is refused and nothing is overwritten, so give each backup its own key',
    'note: EtcdBackup demo (document 1): spec.etcdUrl: still belongs to the old cluster; to back up an EtcdCluster, write spec.clusterName',
  ]);
});

test('a template for the path stays one', () => {
  const path = 'backups/{{ .Namespace }}/{{ .Name }}/{{ .CreationTimestamp }}/snapshot.db';
  const rendered = rendering([backup({ s3: { path, secret: 'minio' } })], { reconciler: false });
  expect(only(rendered, 'EtcdBackup').spec.key).toBe(
    '{{ .Namespace }}/{{ .Name }}/{{ .CreationTimestamp }}/snapshot.db',
  );
  expect(rendered.lines).toContain(
    'note: EtcdBackup demo (document 1): spec.s3.path: the creation time is written like 20261121T023807Z',
  );
});

test('our EtcdRestore determines the data that a cluster starts with', () => {
  const source = { backupName: 'demo' };
  const restore = {
    apiVersion: 'cdk8s-etcd.dev/v1alpha1',
    kind: 'EtcdRestore',
    metadata: { name: 'move' },
    spec: { clusterName: 'demo', source },
  };
  const rendered = rendering([cluster(), backup(), restore]);
  expect(only(rendered, 'EtcdCluster').spec.origin).toEqual({ source });
  expect(rendered.lines).toContain(
    "note: EtcdRestore move (document 3): spec.clusterName: 'demo' is a new cluster, so it starts with this snapshot as its spec.origin, and there is no EtcdRestore; for an empty cluster remove this document",
  );
});

test('the other store is left out', () => {
  const { lines } = rendering([backup({ oss: { path: 'a/b', ossSecret: 'c' } })]);
  expect(lines).toContain(
    'not carried over: EtcdBackup demo (document 1): spec.oss: has no effect, because storageType is s3; remove it',
  );
});

test.each<[string, Manifest, string]>([
  ['no image', cluster({ image: undefined }), 'spec.image: is missing; add it'],
  ['no kind of store', backup({ storageType: undefined }), 'spec.storageType: is missing; write s3 or oss'],
  ['no store', backup({ s3: undefined }), 'spec.s3: is missing, but storageType is s3; add it'],
  ['no Secret', backup({ s3: { path: 'a/b' } }), 'spec.s3.secret: is missing; add it'],
  [
    'two Secrets',
    backup({ s3: { path: 'backups/b', secret: 'a', s3Secret: 'b' } }),
    'spec.s3.s3Secret: differs from secret; remove one of them',
  ],
  [
    'a template for the bucket',
    backup({ s3: { path: '{{ .Name }}/b', secret: 'a' } }),
    'spec.s3.path: has a template in its bucket; write it like BUCKET/etcd/orders.db',
  ],
  ['an unknown template', backup({ s3: { path: 'backups/{{ .Spec.EtcdUrl }}', secret: 'a' } }), 'spec.s3.path: '],
  ['a bucket', backup({ s3: { path: 'A/b', secret: 'a' } }), "spec.s3.path: 'A' is not a valid bucket name"],
  ['a name of a Secret', backup({ s3: { path: 'backups/b', secret: 'A' } }), "spec.s3.secret: 'A' is not a valid"],
  ['too many members', cluster({ size: 9 }), 'spec.size: '],
  ['no endpoint', backup({ etcdUrl: 'demo' }), "spec.etcdUrl: 'demo' is not a valid etcd endpoint"],
  [
    'a restore',
    resource('EtcdRestore', {}),
    'kind: etcd.ydzs.io/v1alpha1 has no such kind; use EtcdCluster, EtcdBackup',
  ],
])('%s is an error', (_, object, text) => {
  expect(errorsOf([object])).toEqual([expect.stringContaining(`error: ${object.kind} demo (document 1): ${text}`)]);
});
